// Scores, training curves, all runs, and what a verification found.

function scoresNode(run) {
  if (!run.scores.length) return null;
  const values = run.scores.flatMap(({ score }) => [score.mean, score.best_known, ...Object.values(score.references || {})]).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const ends = [low < 0 ? low - 0.1 * (high - low) : 0, high];
  // Where tasks ask for nothing that is reached or not, there is no column of successes.
  const goals = run.scores.some(({ score }) => Number.isFinite(score.success_rate));
  const rows = run.scores.map(({ task, summary, score }) => {
    const references = Object.entries(score.references || {}).map(([name, value]) => `${name} ${number(value)}`).join(" · ");
    return el("tr", {},
      el("td", { class: "name" }, task, summary && el("span", { class: "sub" }, summary), references && el("span", { class: "sub" }, references)),
      el("td", {}, number(score.mean, 3), el("span", { class: "sub near" }, score.episodes > 1 ? `± ${number(score.stderr, 3)}` : `n = ${score.episodes}`)),
      el("td", {}, number(score.best_known, 3)),
      goals && el("td", {}, Number.isFinite(score.success_rate) ? percent(score.success_rate) : "–"),
      el("td", { class: "bar" }, barNode(score, ends)));
  });
  const counts = new Set(run.scores.map(({ score }) => score.episodes));
  const over = counts.size === 1 ? `${plural([...counts][0], "episode")} per task` : "the problems of each task";
  const best = run.scores.some(({ score }) => Number.isFinite(score.best_known));
  return el("section", { class: "card", "aria-label": "Scores" }, el("h2", {}, "Scores"),
    scroll(el("table", {},
      el("thead", {}, el("tr", {}, ["Task", "Return", "Best known", goals && "Success"].filter(Boolean).map((head) => el("th", { scope: "col" }, head)), el("th", { scope: "col", class: "bar" }, el("span", { class: "unseen" }, "Bar")))),
      el("tbody", {}, rows))),
    el("p", { class: "hint" }, `The final policy, always taking its best action: mean return over ${over}. Only the first task was trained on. `,
      el("span", { class: "for-bars" }, best ? "Longer bars are better; the line beside a bar is the best known return of the same instances." : "Longer bars are better.")));
}

// A bar from the low end to the mean, so that better results have longer bars, and a line at the best known.
function barNode(score, [low, high]) {
  const at = (value) => 2 + ((value - low) / (high - low || 1)) * 196;
  return draw("svg", { viewBox: "0 0 200 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { x: 2, y: 6, width: 196, height: 8, rx: 4, fill: "var(--sunk)" }),
    draw("rect", { class: "value", x: 2, y: 6, width: Math.max(1, at(score.mean) - 2), height: 8, rx: 4, fill: "var(--accent)" }),
    Number.isFinite(score.best_known) && draw("rect", { x: at(score.best_known) - 1, y: 2, width: 2, height: 16, fill: "var(--ink)" }));
}

// A chart as the program drew it; where the pointer is, the values of its lines.
function chartNode({ chart, plot }, digits = 2) {
  const svg = drawing(chart);
  const [left, right, top, bottom] = plot.frame;
  const cursor = draw("line", { y1: top, y2: bottom, stroke: "var(--soft)", visibility: "hidden" });
  const dots = draw("g", {});
  svg.append(cursor, dots);
  const tip = el("p", { class: "tip", hidden: true });
  const nearest = (points, x) => points.reduce((best, p) => (Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best));
  const hide = () => {
    cursor.setAttribute("visibility", "hidden");
    dots.replaceChildren();
    tip.hidden = true;
  };
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * chart.width;
    const lines = plot.lines.filter(([, , points]) => points.length);
    if (x < left - 8 || x > right + 8 || !lines.length) return hide();
    const found = lines.map(([name, colour, points]) => [name, colour, nearest(points, x)]).reverse();
    const at = found[0][2][0];
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    cursor.setAttribute("visibility", "visible");
    dots.replaceChildren(...found.map(([, colour, p]) => draw("circle", { cx: p[0], cy: p[1], r: 4, fill: colour })));
    replace(tip, `${grouped(Math.round(found[0][2][2]))}: `, found.map(([name, , p], i) => [i ? " · " : "", `${name} `, el("strong", {}, number(p[3], digits))]));
    tip.hidden = false;
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", hide);
  return el("div", { class: "chart" }, svg, tip);
}

function curveNode(run) {
  if (!run.chart) return null;
  const others = run.chart.restarts - 1;
  return el("section", { class: "card", "aria-label": "Training" }, el("h2", {}, "Training"),
    chartNode(run.chart),
    el("p", { class: "hint" }, others > 0 ? `The chosen restart is the strong line, ${plural(others, "other restart")} faint. ` : null,
      "The lines are running means of the mean return per update, while exploring: rules are sampled and actions drawn at random. The scores are those of the final policy, which always takes its best action, so they can lie above the end of the line."));
}

const VERDICTS = {
  proved: { class: "good", words: "Proved" },
  "proved-if-ties-are-random": { class: "unsure", words: "Proved if ties are random" },
  refuted: { class: "bad", words: "Refuted" },
};

// What is proved or refuted about the policy.
function verifyNode(run) {
  const result = run.verification;
  const card = (...children) => el("section", { class: "card wide", "aria-label": "Verification" }, el("h2", {}, "Verification"), children);
  if (result.state === "never") return card(el("p", { class: "sub" }, "Not verified: ", withCode(result.reason), "."));
  return card(
    verdictNode(result),
    sizesNode(result),
    result.worst_case && worstNode(result.worst_case),
    result.counterexample && counterexampleNode(result),
    result.properties.map(propertyNode),
    el("p", { class: "hint" }, result.quick ? "Checked while this page was written, up to a small size. To go further: " : "Found by ", codeNode(result.command)));
}

// Instances that fail however ties are broken.
const failing = (size) => BigInt(size.failing) - BigInt(size.failing_by_bad_luck_only);

function verdictNode(result) {
  const verdict = VERDICTS[result.verdict];
  const rest = result.summary.slice(result.summary.indexOf(":") + 1).trim();
  return [
    el("p", { class: `verdict ${verdict.class}`, "data-verdict": result.verdict }, el("span", { class: "badge" }, verdict.words), sentence(rest)),
    result.remark && el("p", { class: "sub remark" }, sentence(result.remark)),
  ];
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function sizesNode(result) {
  const luck = result.sizes.some((size) => String(size.failing_by_bad_luck_only) !== "0");
  // Counts beyond what a number holds come as text.
  const heads = ["Size", "Instances", "States", "Failing", luck && "Need luck", "Longest run", "Excess at worst", "Excess on average", "Optimal"];
  const rows = result.sizes.map((size) => {
    const none = String(size.failing) === String(size.instances);
    const solved = (text) => (none ? "–" : text);
    const cells = [size.title, grouped(size.instances), grouped(size.states), grouped(failing(size)), luck && grouped(size.failing_by_bad_luck_only), solved(size.longest_run), solved(`+${size.excess.worst}`), solved(`+${number(size.excess.mean)}`), `${number(100 * size.excess.optimal, 1)}%`];
    return el("tr", {}, cells.filter((cell) => cell !== false).map((text, i) => el("td", { class: i ? null : "name" }, text)));
  });
  return [
    scroll(el("table", { class: "dense" }, el("thead", {}, el("tr", {}, heads.filter(Boolean).map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows))),
    el("p", { class: "hint" }, "Every state and goal, every way of breaking ties. Excess: actions beyond the fewest possible, with the worst ties, over instances that do not fail; optimal: the share of all instances that are solved without any.",
      luck && " Need luck: the goal is reached with probability 1 if ties are broken at random, but an adversary who breaks them could prevent it."),
  ];
}

// A table that may be wider than the page. Its shadows say so.
const scroll = (table) => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table" }, table);

function worstNode(worst) {
  return el("p", { class: "sub example" }, `Worst case: ${plural(worst.actions, "action")} where ${worst.fewest} would do, in ${worst.instance}: `, el("span", { class: "mono" }, worst.facts.join(", ")));
}

// What was asked for beside the goal: that it holds, or a shortest run in which it does not.
function propertyNode(asked) {
  const found = asked.counterexample;
  const badge = (words) => el("span", { class: "badge" }, words);
  if (asked.holds) return el("p", { class: "verdict good", "data-property": "holds" }, badge("Holds"), sentence(`${asked.property}, in all ${grouped(asked.states)} states that can be reached`));
  const steps = found.steps.map(([facts, action], i) => el("li", { class: action ? null : "wrong" },
    found.pictures[i] && el("div", { class: "scene small" }, drawing(found.pictures[i])),
    action && el("p", {}, el("strong", { class: "mono" }, action)),
    (!found.pictures[i] || !action) && el("p", { class: "sub" }, facts.join(", "))));
  return el("div", { class: "counterexample" },
    el("p", { class: "verdict bad", "data-property": "violated" }, badge("Violated"), sentence(`not ${asked.property}, in ${found.instance}`)),
    el("ol", { class: "run" }, steps),
    (found.starved || found.left_out) && el("p", { class: "sub" }, found.left_out ? `${plural(found.left_out, "more state")} left out. ` : null, found.starved && `No action names ${found.starved}.`));
}

function counterexampleNode(result) {
  const found = result.counterexample;
  const refuted = result.verdict === "refuted";
  const kind = found.kind === "loop" ? "loop" : "dead end";
  const name = refuted ? "counterexample" : "unlucky run";
  const state = (i) => result.pictures[i] && el("div", { class: "scene small" }, drawing(result.pictures[i]));
  const steps = found.steps.map((step, i) => el("li", { class: i + 1 === found.wrong_step ? "wrong" : null },
    state(i),
    el("p", {}, el("strong", { class: "mono" }, step.action), step.ties > 1 && el("span", { class: "sub" }, ` one of ${step.ties} that tie`)),
    !result.pictures[i] && el("p", { class: "sub" }, step.facts.join(", "))));
  const end = result.pictures.length > found.steps.length && el("li", { class: "end" }, state(found.steps.length), el("p", { class: "sub" }, "No actions lead from here to the goal."));
  const fault = found.why
    ? [`It goes wrong at step ${found.wrong_step}, by `, el("code", {}, found.why.text), found.why.substitution.length > 0 && ` with ${found.why.substitution.map(([v, o]) => `${v} = ${o}`).join(", ")}.`]
    : `It goes wrong at step ${found.wrong_step}: no rule fires there, and any action may be chosen.`;
  const loop = refuted ? "and no way of breaking ties leads out" : "which an adversary who breaks ties can repeat for ever; chance ends it";
  return el("div", { class: "counterexample" },
    el("h3", {}, `${found.is_shortest ? "Shortest " : ""}${name}: a ${kind} in ${found.instance}`),
    el("ol", { class: "run" }, steps, end),
    el("p", { class: "sub" }, found.left_out ? `${plural(found.left_out, "more step")} left out. ` : null, found.back_to ? `Then back to step ${found.back_to}, ${loop}.` : "From there, no actions lead to the goal."),
    el("p", { class: "example" }, fault, found.instead && [" Nearer would have been ", el("code", {}, found.instead.action), "."]));
}

// The share of the training episodes that succeed, where that is known.
const share = (run) => run.scores.find(({ score }) => Number.isFinite(score.success_rate))?.score.success_rate;
const percent = (part) => `${Math.round(100 * part)}%`;

// A run that did not learn all that it should: how much it learned, and what to try. What is good but not perfect is no failure.
function failedNode(run) {
  if (run.solved !== false && run.rules.length) return null;
  const part = share(run);
  const isGood = run.rules.length > 0 && part >= 0.5;
  const words = !run.rules.length ? "This run failed: no rule was found, so the policy acts at random." : part === undefined ? "This run did not solve its training task." : `${percent(part)} of the training episodes succeed.`;
  const advice = run.advice.filter((text) => !/^\d+% of the training episodes/.test(text));
  return el("section", { class: isGood ? "card partly" : "card failed", role: isGood ? null : "alert", "aria-label": isGood ? "Not perfect" : "Not solved" }, el("h2", {}, words),
    el("p", { class: "sub" }, isGood ? "What may help with the rest:" : "What was found, and what to try:"), el("ul", { class: "advice" }, advice.filter((text) => !told(run.diagnosis, text)).map((text) => el("li", {}, withCode(text)))), pairNode(run.diagnosis));
}

// What the pictures of two states say better than words.
const told = (found, text) => found?.pair && /^(two states look alike|told apart by|`[^`]*` is (right|wrong) where )/.test(text);

// Two states that look alike and need different actions, side by side.
function pairNode(found) {
  if (!found?.pair) return null;
  const { alike_to: to, first, second, told_apart_by: rule } = found.pair;
  const state = (shown, i) => el("li", { class: shown.is_right ? null : "wrong" },
    el("div", { class: "scene small" }, drawing(found.pictures[i])),
    el("p", {}, codeNode(shown.action), shown.is_right ? " is right here." : [" is wrong here: ", codeNode(shown.right), " is right."]),
    el("details", {}, el("summary", {}, plural(shown.facts.length, "fact")), el("p", { class: "sub mono" }, shown.facts.join(", "))));
  return el("div", { class: "counterexample" }, el("h3", {}, `Two ${String(first.facts) === String(second.facts) ? "actions" : "states"} that look alike to ${to}`),
    el("ul", { class: "run pair" }, state(first, 0), state(second, 1)),
    rule && el("p", { class: "example" }, "Told apart by ", codeNode(rule)));
}

// Text in which `backticks` mark what is typed.
const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? codeNode(part) : part));

const noteNode = (text) => el("p", { class: "note" }, withCode(text));

// All runs of all domains: what each learned, and how. Columns can be sorted.
function overviewNode(choose) {
  return data.summaries.map((summary) => {
    const runs = data.runs.filter((run) => run.domain === summary.domain);
    return el("section", { class: "card wide", "aria-label": summary.domain }, el("h2", {}, `${summary.domain}: ${plural(runs.length, "run")}`),
      runs.length > 1 && el("p", { class: "sub" }, summary.rule_sets === 1 ? "All runs learned the same rules." : `${summary.rule_sets} different sets of rules.`),
      el("div", { class: "beside" },
        runsTable(runs, null, summary, choose),
        // A single run has no band to show, but rules.
        summary.chart
          ? el("div", {}, chartNode(summary.chart), el("p", { class: "hint" }, "Mean return while exploring, of the chosen restart of each run. Faint: single runs. Band: from the lowest to the highest."))
          : firstRulesNode(runs[0])));
  });
}

const FEW_RULES = 4;

function firstRulesNode(run) {
  const more = run.rules.length - FEW_RULES;
  return el("div", {}, rulesNode({ ...run, rules: run.rules.slice(0, FEW_RULES) }, null), more > 0 && el("p", { class: "hint" }, `and ${plural(more, "more rule")}`));
}

// The runs of a domain, side by side.
function runsNode(runs, here, summary, choose) {
  if (runs.length < 2) return null;
  return el("section", { class: "card wide", "aria-label": "All runs" }, el("h2", {}, "All runs of this domain"),
    runsTable(runs, here, summary, choose), besideNode(runs, here),
    el("p", { class: "hint" }, summary.rule_sets === 1 ? `All ${runs.length} runs learned the same rules.` : `${summary.rule_sets} different sets of rules among ${runs.length} runs.`));
}

// This run beside another one: what each earns, and the rules that only one of them has.
function besideNode(runs, here) {
  const room = el("div", { id: "beside" });
  const others = runs.filter((run) => run !== here);
  const clause = (rule) => rule.text.replace(/^[\d.]+::/, "");
  const column = (run, other) => {
    const has = new Set(other.rules.map(clause));
    return el("div", {}, el("h3", {}, runName(run, runs)),
      el("p", { class: "sub" }, run.scores.map(({ task, score }) => `${task} ${number(score.mean, 3)}`).join(" · ")),
      el("ol", { class: "brief" }, run.rules.map((rule) => el("li", { class: has.has(clause(rule)) ? "mono" : "mono own" }, clause(rule), !has.has(clause(rule)) && el("span", { class: "unseen" }, " (only here)")))));
  };
  const show = (label) => {
    const other = others.find((run) => run.label === label);
    replace(room, other && [el("div", { class: "split" }, column(here, other), column(other, here)), el("p", { class: "hint" }, "Rules that only one of them has are marked.")]);
  };
  return el("div", {}, el("label", { class: "pick" }, "Compare with ", el("select", { "data-choose": "beside", onchange: (event) => show(event.target.value) }, el("option", { value: "" }, "–"), others.map((run) => el("option", { value: run.label }, runName(run, runs))))), room);
}

// What can be taken along: rules, the picture that is shown, and all that the page knows of the run.
function takeNode(run, picture) {
  const button = (id, label, act) => el("button", { class: "tab", type: "button", "data-take": id, onclick: (event) => act(event.target) }, label);
  const text = `${run.rules.map((rule) => rule.text).join("\n")}\n`;
  const name = run.label ? run.label.replace(/\W+/g, "-") : run.domain.replace(/\W+/g, "-");
  return el("p", { class: "edit" },
    button("copy", "Copy rules", async (node) => said(node, (await copied(text)) ? "Copied" : "Not allowed here")),
    button("rules", "Download rules", () => download(`${name}.pl`, text, "text/plain")),
    picture && button("svg", "Download picture", () => download(`${name}.svg`, standalone(picture()), "image/svg+xml")),
    button("json", "Download data (JSON)", () => download(`${name}.json`, JSON.stringify(run, null, 1), "application/json")));
}

function runsTable(runs, here, summary, choose) {
  const tasks = [...new Set(runs.flatMap((run) => run.scores.map((s) => s.task)))];
  const mean = (run, task) => run.scores.find((s) => s.task === task)?.score.mean;
  const columns = [
    { title: "Run", value: (run) => run.seed, cell: (run) => el("button", { class: "link", type: "button", "data-run": run.label, onclick: () => choose(run) }, runName(run, runs), !run.rules.length ? " (no rules)" : run.solved === false && ` (${share(run) === undefined ? "not solved" : percent(share(run))})`) },
    ...tasks.map((task) => ({ title: task, value: (run) => mean(run, task) ?? -Infinity, cell: (run) => number(mean(run, task), 3) })),
    { title: "Rules", value: (run) => run.rules.length, cell: (run) => run.rules.length },
    { title: "Seconds", value: (run) => run.counts.seconds ?? Infinity, cell: (run) => number(run.counts.seconds, run.counts.seconds < 10 ? 2 : 0) },
  ];
  const body = el("tbody", {});
  let sorted = { column: 0, down: false };
  const heads = columns.map((column, i) => el("th", { scope: "col", "aria-sort": "none" }, el("button", { class: "sort", type: "button", onclick: () => sort(i) }, column.title)));
  const fill = () => {
    const { column, down } = sorted;
    const order = [...runs].sort((a, b) => (down ? -1 : 1) * (columns[column].value(a) - columns[column].value(b)));
    heads.forEach((head, i) => head.setAttribute("aria-sort", i === column ? (down ? "descending" : "ascending") : "none"));
    replaceKept(body, "run", order.map((run) => el("tr", { class: run === here ? "here" : null }, columns.map((c) => el("td", {}, c.cell(run))))));
  };
  const sort = (column) => {
    sorted = { column, down: sorted.column === column ? !sorted.down : column > 0 };
    fill();
  };
  fill();
  const foot = (title, values) => el("tr", { class: "foot" }, el("td", {}, title), tasks.map((task) => el("td", {}, number(values[task], 3))), el("td", {}), el("td", {}));
  return scroll(el("table", { class: "sortable" }, el("thead", {}, el("tr", {}, heads)), body, el("tfoot", {}, runs.length > 1 && foot("mean", summary.means), foot("best known", summary.best_known))));
}

// What tells a run apart from the others of its domain.
function runName(run, runs) {
  const folder = run.label.replace(/\/?seed-\d+$/, "");
  const folders = new Set(runs.map((other) => other.label.replace(/\/?seed-\d+$/, "")));
  return folders.size > 1 ? (folder === run.label ? run.label : `${folder}, seed ${run.seed}`) : `seed ${run.seed}`;
}
