// Rules, set in type: every variable has a colour, and keeps it in substitutions and pictures.

// The variables of a rule in the order in which substitutions list them: the head's, then the body's as they appear.
function variables(rule) {
  const all = [...rule.head.args];
  for (const atom of rule.body) for (const arg of atom.args) if (isVariable(arg) && !all.includes(arg)) all.push(arg);
  return all;
}

// An atom. With `phi`, the objects that its variables stand for, in the variables' colours.
function atomNode(rule, atom, phi) {
  const order = variables(rule);
  const args = atom.args.map((arg, i) => {
    const place = order.indexOf(arg);
    const shown = isVariable(arg) ? el("span", { class: `var v${place % 6}` }, phi ? phi[place] : arg) : arg;
    return [i ? ", " : "", shown];
  });
  return el("span", { class: "atom" }, atom.negated && "not ", atom.name, atom.args.length ? ["(", args, ")"] : null);
}

const headText = (rule, phi) => {
  const order = variables(rule);
  const args = rule.head.args.map((arg) => phi[order.indexOf(arg)]);
  return args.length ? `${rule.head.name}(${args.join(", ")})` : rule.head.name;
};

function clause(rule) {
  const body = rule.body.map((atom, i) => [i ? ", " : "", atomNode(rule, atom)]);
  return el("div", { class: "clause", title: rule.text }, el("span", { class: "head" }, atomNode(rule, rule.head)), el("span", { class: "if" }, "if"), body);
}

function bindings(rule, phi) {
  const pairs = variables(rule).map((name, i) => el("span", {}, el("span", { class: `var v${i % 6}` }, name), " = ", phi[i]));
  return pairs.length ? el("div", { class: "bindings" }, pairs) : null;
}

// The body under a substitution, each atom with whether it holds. `failed` lists those that do not.
function instances(rule, phi, failed, clashes) {
  const atoms = rule.body.map((atom, i) => el("span", { class: `fact ${failed.includes(i) ? "fails" : "holds"}` }, atomNode(rule, atom, phi)));
  return el("div", { class: "because" }, atoms, (clashes || []).map((text) => el("span", { class: "fact fails" }, text.replace("\\=", "≠"))));
}

// All rules, the one that fired lit up with its substitution.
function rulesNode(run, fired) {
  if (!run.rules.length) {
    return el("p", { class: "sub" }, "No rule was found: the policy acts at random.");
  }
  const list = el("ol", { class: "rules" }, run.rules.map((rule, i) => {
    const now = fired && fired.rule === i;
    return el("li", { class: now ? "rule fired" : "rule", "data-rule": i, "aria-current": now ? "step" : null },
      clause(rule),
      el("p", { class: "english" }, rule.english),
      useNode(run, rule, i),
      el("span", { class: "weight", title: "the value of the action when the rule fires" }, rule.weight.toFixed(2)),
      now && el("div", { class: "case" }, bindings(rule, fired.phi), instances(rule, fired.phi, [])));
  }));
  return run.definitions?.length ? [list, definitionsNode(run.definitions)] : list;
}

// What a rule is for: how often it fires in the episodes of this page, and what is lost without it.
function useNode(run, rule, i) {
  const steps = (run.tasks || []).flatMap((task) => task.episodes.flatMap((episode) => episode.steps));
  const fires = steps.filter((step) => step.fired?.rule === i).length;
  const parts = [];
  if (steps.length) parts.push(fires ? `fires in ${fires} of ${grouped(steps.length)} steps here` : "fires in no step here");
  if (rule.use?.success && rule.use.success[0] !== rule.use.success[1]) parts.push(`without it ${percent(rule.use.success[1])} succeed, with it ${percent(rule.use.success[0])}`);
  else if (rule.use) parts.push(Math.abs(rule.use.mean[0] - rule.use.mean[1]) < 0.0005 ? "without it nothing is lost in training" : `without it the return is ${number(rule.use.mean[1], 3)}, with it ${number(rule.use.mean[0], 3)}`);
  return parts.length > 0 && el("p", { class: "use" }, sentence(parts.join("; ")));
}

// What the policy defines for itself.
function definitionsNode(definitions) {
  const words = (text) => text.replace(/\.$/, "").replace(" :- ", " if ").replaceAll("\\+ ", "not ");
  return el("div", { class: "definitions" }, el("h3", {}, "What the policy defines"),
    definitions.map(([text, english]) => el("div", {}, el("p", { class: "mono", title: text }, words(text)), el("p", { class: "english" }, english))));
}

// Why an action was not chosen, and what would have to change.
function whyNot(run, step, other) {
  const near = other.nearest && run.rules[other.nearest.rule];
  const shown = near && [clause(near), bindings(near, other.nearest.phi), instances(near, other.nearest.phi, other.failed || [], other.clashes)];
  const count = (other.failed || []).length + (other.clashes || []).length;
  const words = {
    tie: step.fired ? "It is as good: chance chose among the ties." : "No rule fires, so any action may be chosen: chance chose.",
    weaker: `A rule derives it, but with a value of only ${number(other.value)}; the chosen action has ${number(step.value)}.`,
    failed: `No rule derives it. The nearest one fails in ${plural(count, "atom")}:`,
    "no-rule": "No rule is about this action.",
    illegal: "This action is not legal in this state.",
    forbidden: `This action is forbidden: ${other.by}`,
  };
  return [
    el("h3", { class: "unseen" }, `Why not ${other.action}?`),
    el("p", {}, el("strong", { class: "mono" }, other.action), " – ", words[other.why]),
    shown,
    changesNode(run, other),
  ];
}

// A state that is no step of the episode, drawn small.
function stillNode(run, at) {
  const { label, size: [width, height], pieces } = run.pictures[at];
  return el("div", { class: "scene small still" }, draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, fill: "var(--ink)" },
    pieces.map(([x, y, looks]) => draw("g", { transform: `translate(${x} ${y})` }, run.looks[looks].map(made).filter(Boolean)))));
}

function changesNode(run, other) {
  if (!other.changes || !other.changes.length) return null;
  const then = { alone: "then it is the only choice", tie: "then it ties with others", "any-action": "then no rule fires, and any action may be chosen" };
  const answers = other.changes.map((change) => {
    if (change.none) {
      return el("p", { class: "answer sub" }, change.for === "alone" ? `To be the only choice: ${change.none}.` : `${change.none[0].toUpperCase()}${change.none.slice(1)}.`);
    }
    if (change.number) return el("p", { class: "answer" }, el("span", { class: "fact comes" }, `if ${change.number}`));
    return el("div", { class: change.picture === undefined ? null : "changed" }, el("p", { class: "answer" },
      (change.removed || []).map((fact) => el("span", { class: "fact goes" }, fact)),
      (change.added || []).map((fact) => el("span", { class: "fact comes" }, fact)),
      el("span", { class: "sub" }, then[change.standing])), change.picture !== undefined && stillNode(run, change.picture));
  });
  return [el("h3", {}, "What would have to change"), answers];
}
