// Scores, training curves, all runs, and what a verification found.

function scoresNode(run) {
  if (!run.scores.length) return null;
  const values = run.scores.flatMap(({ score }) => [score.mean, score.best_known, ...Object.values(score.references || {})]).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const rows = run.scores.map(({ task, summary, score }) => {
    const references = Object.entries(score.references || {}).map(([name, value]) => `${name} ${number(value)}`).join(" · ");
    return el("tr", {},
      el("td", { class: "name" }, task, summary && el("span", { class: "sub" }, summary), references && el("span", { class: "sub" }, references)),
      el("td", {}, number(score.mean, 3), el("span", { class: "sub near" }, `± ${number(score.stderr, 3)}`)),
      el("td", {}, number(score.best_known, 3)),
      el("td", {}, Number.isFinite(score.success_rate) ? `${Math.round(100 * score.success_rate)}%` : "–"),
      el("td", { class: "bar" }, barNode(score, low, high)));
  });
  const episodes = run.scores[0].score.episodes;
  return el("section", { class: "card", "aria-label": "Scores" }, el("h2", {}, "Scores"),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Task", "Return", "Best known", "Success"].map((head) => el("th", { scope: "col" }, head)), el("th", { scope: "col", class: "bar" }, el("span", { class: "unseen" }, "Bar")))),
      el("tbody", {}, rows))),
    el("p", { class: "hint" }, `Mean over ${plural(episodes, "episode")} a task, only the first of which was trained on. The line beside a bar is the best known return of the same instances.`));
}

// A bar from 0 to the mean, and a line at the best known.
function barNode(score, low, high) {
  const at = (value) => 2 + ((value - low) / (high - low || 1)) * 196;
  const [from, to] = [at(0), at(score.mean)].sort((a, b) => a - b);
  return draw("svg", { viewBox: "0 0 200 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { x: 2, y: 6, width: 196, height: 8, rx: 4, fill: "var(--sunk)" }),
    draw("rect", { x: from, y: 6, width: Math.max(1, to - from), height: 8, rx: 4, fill: "var(--accent)" }),
    Number.isFinite(score.best_known) && draw("rect", { x: at(score.best_known) - 1, y: 2, width: 2, height: 16, fill: "var(--ink)" }));
}

// Drawn smaller on a phone, so that its letters are not.
const chartSize = () => ({ ...(window.innerWidth < 560 ? { width: 380, height: 240 } : { width: 640, height: 290 }), left: 66, right: 14, top: 14, bottom: 44 });

// Round numbers that cover a range.
function ticks(low, high) {
  if (high - low < 1e-9) return ticks(low - 0.5, high + 0.5);
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const list = [];
  for (let i = Math.floor(low / step + 1e-9); i <= Math.ceil(high / step - 1e-9); i += 1) list.push(Number((i * step).toPrecision(12)));
  return list;
}

const short = (n) => (n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : String(n));

function curveNode(run) {
  const points = run.curves.flatMap((curve) => curve.points);
  if (!points.length) return null;
  const { width, height, left, right, top, bottom } = chartSize();
  const xs = ticks(0, Math.max(1, ...points.map((p) => p[0])));
  const ys = ticks(Math.min(...points.map((p) => p[1])), Math.max(...points.map((p) => p[1])));
  const x = (v) => left + ((v - xs[0]) / (xs.at(-1) - xs[0])) * (width - left - right);
  const y = (v) => height - bottom - ((v - ys[0]) / (ys.at(-1) - ys[0])) * (height - top - bottom);
  const text = (attrs, ...children) => draw("text", { "font-size": 13, style: "fill:var(--faint)", ...attrs }, ...children);
  const lines = run.curves.map((curve) => (curve.points.length === 1 ? draw("circle", { cx: x(curve.points[0][0]), cy: y(curve.points[0][1]), r: 4, fill: curve.chosen ? "var(--accent)" : "var(--faint)" }) : draw("polyline", {
    points: curve.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" "),
    fill: "none", stroke: curve.chosen ? "var(--accent)" : "var(--faint)", "stroke-width": curve.chosen ? 2.8 : 1, opacity: curve.chosen ? 1 : 0.4, "stroke-linejoin": "round",
  })));
  const chosen = run.curves.find((curve) => curve.chosen);
  const label = chosen ? `Training curve: the mean return went from ${number(chosen.points[0][1])} to ${number(chosen.points.at(-1)[1])}.` : "Training curves";
  return el("section", { class: "card", "aria-label": "Training" }, el("h2", {}, "Training"),
    el("div", { class: "chart" }, draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      xs.map((v) => [draw("line", { x1: x(v), x2: x(v), y1: top, y2: height - bottom, stroke: "var(--line)" }), text({ x: x(v), y: height - bottom + 19, "text-anchor": "middle" }, short(v))]),
      ys.map((v) => [draw("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: "var(--line)" }), text({ x: left - 8, y: y(v) + 4, "text-anchor": "end" }, String(v).replace("-", "−"))]),
      lines,
      text({ x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "episodes of the restart"),
      text({ x: 13, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(top + height - bottom) / 2})` }, "mean return"))),
    el("p", { class: "hint" }, run.curves.length > 1 ? `Mean return while exploring. The chosen restart is the strong line, ${plural(run.curves.length - 1, "other restart")} faint.` : "Mean return while exploring, of the chosen restart."));
}

// What is proved or refuted about the policy.
function verifyNode(run) {
  const result = run.verification;
  const card = (...children) => el("section", { class: "card wide", "aria-label": "Verification" }, el("h2", {}, "Verification"), children);
  if (result.state === "never") return card(el("p", { class: "sub" }, `Not verified: ${result.reason}.`));
  const proved = result.verdict === "proved";
  return card(
    el("p", { class: `verdict ${proved ? "good" : "bad"}` }, sentence(result.summary)),
    result.remark && el("p", { class: "sub remark" }, sentence(result.remark)),
    sizesNode(result),
    result.worst_case && worstNode(result.worst_case),
    result.counterexample && counterexampleNode(result),
    el("p", { class: "hint" }, result.quick ? "Checked while this page was written, up to a small size. To go further: " : "Found by ", el("code", {}, result.command)));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function sizesNode(result) {
  const heads = ["Size", "Instances", "States", result.ties === "random" ? "Luck needed" : "Failing", "Longest run", "Excess at worst", "Excess on average", "Optimal"];
  const rows = result.sizes.map((size) => {
    const none = String(size.failing) === String(size.instances);
    const solved = (text) => (none ? "–" : text);
    return el("tr", {}, [size.title, grouped(size.instances), grouped(size.states), grouped(size.failing), solved(size.longest_run), solved(`+${size.excess.worst}`), solved(`+${number(size.excess.mean)}`), solved(`${number(100 * size.excess.optimal, 1)}%`)]
      .map((text, i) => el("td", { class: i ? null : "name" }, text)));
  });
  return [
    el("div", { class: "scroll" }, el("table", { class: "dense" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows))),
    el("p", { class: "hint" }, `Every state and goal, ${result.ties === "random" ? "ties broken at random" : "every way of breaking ties"}. Excess: actions beyond the fewest possible, with the worst ties; optimal: the share of instances without any.`),
  ];
}

function worstNode(worst) {
  return el("p", { class: "sub example" }, `Worst case: ${plural(worst.actions, "action")} where ${worst.fewest} would do, in ${worst.instance}: `, el("span", { class: "mono" }, worst.facts.join(", ")));
}

function counterexampleNode(result) {
  const found = result.counterexample;
  const kind = found.kind === "loop" ? "loop" : "dead end";
  const steps = found.steps.map((step, i) => el("li", { class: i + 1 === found.wrong_step ? "wrong" : null },
    el("span", { class: "sub" }, step.facts.join(", ")), el("br", {}),
    el("strong", { class: "mono" }, step.action), step.ties > 1 && el("span", { class: "sub" }, ` one of ${step.ties} that tie`)));
  const fault = found.why
    ? [`It goes wrong at step ${found.wrong_step}, by `, el("code", {}, found.why.text), found.why.substitution.length > 0 && ` with ${found.why.substitution.map(([v, o]) => `${v} = ${o}`).join(", ")}.`]
    : `It goes wrong at step ${found.wrong_step}: no rule fires there, and any action will do.`;
  return el("div", { class: "counterexample" },
    el("h3", {}, `${found.is_shortest ? "Shortest counterexample" : "Counterexample"}: a ${kind} in ${found.instance}`),
    el("div", { class: "split" },
      el("div", {},
        el("ol", { class: "run" }, steps),
        el("p", { class: "sub" }, found.left_out ? `${plural(found.left_out, "more step")} left out. ` : null, found.back_to ? `Then back to step ${found.back_to}, ${result.ties === "random" ? "and no way of breaking ties leads out" : "and so on for ever"}.` : "From there, no way leads to what is asked for."),
        el("p", { class: "example" }, fault, found.instead && [" Nearer would have been ", el("code", {}, found.instead.action), "."])),
      result.picture && el("a", { class: "picture", href: `data:image/svg+xml,${encodeURIComponent(result.picture)}`, download: "counterexample.svg", title: "Save the picture" },
        el("img", { alt: `The states of the run: a ${kind}`, src: `data:image/svg+xml,${encodeURIComponent(result.picture)}` }))));
}

// All runs of a domain, side by side.
function runsNode(runs, here, summary, choose) {
  if (runs.length < 2) return null;
  const tasks = [...new Set(runs.flatMap((run) => run.scores.map((s) => s.task)))];
  const mean = (run, task) => run.scores.find((s) => s.task === task)?.score.mean;
  return el("section", { class: "card wide", "aria-label": "All runs" }, el("h2", {}, "All runs"),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Run"), tasks.map((task) => el("th", { scope: "col" }, task)))),
      el("tbody", {}, runs.map((run) => el("tr", { class: run === here ? "here" : null },
        el("td", {}, el("button", { class: "link", type: "button", "data-run": run.label, onclick: () => choose(run) }, runName(run, runs))),
        tasks.map((task) => el("td", {}, number(mean(run, task), 3))))),
      el("tr", {}, el("td", {}, "mean"), tasks.map((task) => el("td", {}, number(summary.means[task], 3))))))),
    el("p", { class: "hint" }, summary.rule_sets === 1 ? `All ${runs.length} runs learned the same rules.` : `${summary.rule_sets} different sets of rules among ${runs.length} runs.`));
}

// What tells a run apart from the others of its domain.
function runName(run, runs) {
  const folder = run.label.replace(/\/?seed-\d+$/, "");
  const folders = new Set(runs.map((other) => other.label.replace(/\/?seed-\d+$/, "")));
  return folders.size > 1 ? (folder === run.label ? run.label : `${folder}, seed ${run.seed}`) : `seed ${run.seed}`;
}
