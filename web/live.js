// The runs of a folder, live: `derrl serve` is asked for their curves again and again.

const folder = JSON.parse(byId("data").textContent);
const known = new Map();
let all = [];
const view = { text: "", sort: "newest", chosen: [] };

const address = (page, label) => `${page}?run=${encodeURIComponent(label)}`;
const success = (run) => run.scores?.train?.success_rate ?? run.best?.success ?? null;
const earned = (run) => run.scores?.train?.mean ?? run.best?.mean_return ?? null;
const rank = (run) => (run.now ? 0 : run.finished ? 2 : 1);
const ORDERS = {
  newest: (a, b) => rank(a) - rank(b),
  world: (a, b) => a.domain.localeCompare(b.domain) || a.seed - b.seed,
  return: (a, b) => (earned(b) ?? -Infinity) - (earned(a) ?? -Infinity),
  seconds: (a, b) => (a.seconds ?? Infinity) - (b.seconds ?? Infinity),
};

const clock = (seconds) => (seconds < 60 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`);

// What a run is doing now, with a clock that ticks between two answers.
function nowNode(run) {
  const { phase, seconds, decisions, speed } = run.now;
  const since = Date.now() - 1000 * seconds;
  return [
    el("p", { class: "sub" }, el("span", { class: "pulse", "aria-hidden": "true" }), el("strong", { class: "under-way" }, phase), " · ", el("span", { class: "clock", "data-since": since }, clock(seconds))),
    decisions > 0 && el("p", { class: "sub" }, `${grouped(decisions)} decisions`, speed && `, ${grouped(Math.round(speed))} per second`),
  ];
}

const rulesText = (policy) => policy.split("\n").filter((line) => line.includes("::")).map((line) => line.replace(/^[\d.]+::/, ""));

function liveRun(run) {
  const name = run.label || folder.title;
  const part = success(run);
  const state = run.finished ? (run.solved === false ? `finished, ${part === null ? "not solved" : `${percent(part)} succeed`}` : "finished") : "stopped before its end";
  const scores = Object.entries(run.scores || {}).sort(([a], [b]) => (b === "train") - (a === "train")).map(([task, score]) => `${task} ${number(score.mean, 3)}`).join(" · ");
  const best = !run.finished && run.best;
  const rules = rulesText(run.policy || best?.policy || "");
  const box = el("input", { type: "checkbox", "data-compare": run.label, checked: view.chosen.includes(run.label), onchange: () => choose(run.label) });
  return el("section", { class: "card", "data-live": run.label, "data-state": run.now ? "running" : run.finished ? "finished" : "stopped", "aria-label": name }, el("h2", {}, name),
    el("p", { class: "sub" }, `${run.domain}, seed ${run.seed}`, !run.now && [": ", el("strong", { class: run.finished ? null : "broken" }, state)], Number.isFinite(run.seconds) && ` · ${number(run.seconds, run.seconds < 10 ? 2 : 0)} s`),
    run.now && nowNode(run),
    run.stopped && el("p", { class: "sub" }, "To go on: ", codeNode(run.resume), " ", el("button", { class: "link", type: "button", onclick: (event) => copied(run.resume).then((ok) => ok && said(event.target, "Copied")) }, "Copy")),
    best && el("p", { class: "sub" }, "Best so far: return ", el("strong", {}, number(best.mean_return, 3)), Number.isFinite(best.success) && `, ${percent(best.success)} succeed`),
    scores && el("p", { class: "sub" }, scores),
    rules.length > 0 && el("ol", { class: "brief" }, rules.slice(0, 5).map((rule) => el("li", { class: "mono" }, rule)), rules.length > 5 && el("li", { class: "sub" }, `and ${plural(rules.length - 5, "more rule")}`)),
    run.chart ? chartNode(run.chart) : !run.finished && el("p", { class: "sub" }, "No curve yet."),
    el("p", { class: "edit" }, run.finished && el("a", { href: address("page", run.label) }, "See it act"), run.finished && run.playable && el("a", { href: address("playground", run.label) }, "Playground: change its rules"),
      el("label", { class: "pick" }, box, " Compare")));
}

// Two runs side by side, with what only one of them says.
function choose(label) {
  view.chosen = view.chosen.includes(label) ? view.chosen.filter((other) => other !== label) : [...view.chosen, label].slice(-4);
  for (const box of document.querySelectorAll("[data-compare]")) box.checked = view.chosen.includes(box.dataset.compare);
  compare();
}

function compare() {
  const runs = view.chosen.map((label) => all.find((run) => run.label === label)).filter(Boolean);
  if (runs.length < 2) {
    replace(byId("compare"), view.chosen.length === 1 && el("p", { class: "hint" }, "Choose another run to compare it with."));
    return;
  }
  const texts = runs.map((run) => rulesText(run.policy || run.best?.policy || ""));
  const column = (run, i) => el("div", {}, el("h3", {}, run.label, `: return ${number(earned(run), 3)}`),
    el("ol", { class: "brief" }, texts[i].map((rule) => {
      const shared = texts.every((other) => other.includes(rule));
      return el("li", { class: shared ? "mono" : "mono own" }, rule);
    })));
  replace(byId("compare"), el("section", { class: "card", "aria-label": "Compared" }, el("h2", {}, `${runs.length} runs beside each other`),
    overlaid(runs), el("div", { class: "split" }, runs.map(column)), el("p", { class: "hint" }, "Rules that not all of them have are marked."),
    el("button", { class: "tab", type: "button", onclick: () => { view.chosen = []; draw_(); compare(); } }, "Close")));
}

const COLOURS = ["var(--v0)", "var(--v1)", "var(--v2)", "var(--v4)"];

// The curves of the chosen restarts in one chart, with values where the pointer is.
function overlaid(runs) {
  // Curves of training go by episodes, those of runs without a gradient by decisions.
  const byDecisions = runs.every((run) => !run.chart?.restarts);
  const lines = runs.filter((run) => byDecisions || run.chart?.restarts).map((run, i) => [run.label, COLOURS[i], (run.chart?.plot.lines.at(0) || run.chart?.plot.lines.at(-1) || [])[2] || []]).filter(([, , points]) => points.length);
  if (!lines.length) return null;
  const xs = lines.flatMap(([, , p]) => p.map((q) => q[2]));
  const ys = lines.flatMap(([, , p]) => p.map((q) => q[3]));
  const [width, height, left, right, top, bottom] = [640, 240, 46, 626, 12, 206];
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (right - left);
  const y = (v) => bottom - ((v - y0) / (y1 - y0 || 1)) * (bottom - top);
  const text = (at, value, more) => ["text", { x: at[0], y: at[1], "font-size": 12, fill: "var(--faint)", ...more }, value];
  const nodes = [
    ["line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "var(--line)" }],
    text([left - 6, top + 8], number(y1), { "text-anchor": "end" }), text([left - 6, bottom], number(y0), { "text-anchor": "end" }),
    text([left, bottom + 18], grouped(Math.round(x0))), text([right, bottom + 18], `${grouped(Math.round(x1))} ${byDecisions ? "decisions" : "episodes"}`, { "text-anchor": "end" }),
    ...lines.map(([, colour, p]) => ["polyline", { points: p.map((q) => `${x(q[2])},${y(q[3])}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 }]),
  ];
  const plot = { frame: [left, right, top, bottom], lines: lines.map(([name, colour, p]) => [name, colour, p.map((q) => [x(q[2]), y(q[3]), q[2], q[3]])]) };
  const key = el("p", { class: "hint" }, lines.map(([name, colour]) => [el("span", { class: "swatch", style: `background:${colour}` }), ` ${name}  `]));
  return [chartNode({ chart: { width, height, label: `Return of ${lines.map(([name]) => name).join(", ")}`, nodes }, plot }), key];
}

function draw_() {
  const list = byId("live");
  const wanted = all.filter((run) => `${run.label} ${run.domain} ${run.policy || ""}`.toLowerCase().includes(view.text.toLowerCase())).sort(ORDERS[view.sort]);
  const labels = new Set(wanted.map((run) => run.label));
  for (const node of [...list.children]) if (!labels.has(node.dataset.live)) { node.remove(); known.delete(node.dataset.live); }
  wanted.forEach((run, i) => {
    const shown = JSON.stringify(run);
    let node = [...list.children].find((other) => other.dataset.live === run.label);
    if (!node || known.get(run.label) !== shown) {
      // A person at the keyboard stays where they are.
      const held = node?.contains(document.activeElement) && document.activeElement.dataset.compare;
      const fresh = liveRun(run);
      if (node) node.replaceWith(fresh);
      node = fresh;
      known.set(run.label, shown);
      if (list.children[i] !== node) list.insertBefore(node, list.children[i] || null);
      if (held) node.querySelector("[data-compare]").focus({ preventScroll: true });
    } else if (list.children[i] !== node) list.insertBefore(node, list.children[i] || null);
  });
  byId("tools").hidden = all.length < 2;
  byId("count").textContent = `${plural(wanted.length, "run")}${wanted.length < all.length ? ` of ${all.length}` : ""}`;
}

async function refresh() {
  try {
    const answer = await fetch("runs.json");
    if (!answer.ok) {
      // It answers, and says why there is nothing to show.
      replace(byId("trouble"), el("p", { class: "note" }, `${(await answer.text()).trim()}. This page asks again.`));
      return;
    }
    all = (await answer.json()).runs;
    replace(byId("trouble"), all.length ? null : el("p", { class: "note" }, "There is no run in this folder yet: derrl train blocks --out ", folder.title, "/blocks"));
    draw_();
    if (view.chosen.length) compare();
  } catch {
    replace(byId("trouble"), el("p", { class: "note" }, "derrl serve does not answer: it has ended, or is busy. This page asks again."));
  }
}

const filter = el("input", { type: "search", id: "filter", placeholder: "world, folder or rule", "aria-label": "Filter", oninput: (event) => { view.text = event.target.value; draw_(); } });
const order = el("select", { id: "sort", "aria-label": "Sort by", onchange: (event) => { view.sort = event.target.value; draw_(); } }, [["newest", "Running first"], ["world", "By world"], ["return", "Best return first"], ["seconds", "Fastest first"]].map(([value, label]) => el("option", { value }, label)));
replace(byId("head"), el("div", {}, el("p", { class: "brand" }, "derrl serve"), el("h1", {}, folder.title), el("p", { class: "lead" }, "Runs in this folder. Those under way grow as you watch.")));
replace(byId("main"), el("div", { id: "trouble" }), el("div", { id: "tools", class: "edit tools", hidden: true }, filter, order, el("span", { class: "sub", id: "count" })), el("div", { id: "compare" }), el("div", { id: "live", class: "live" }));
byId("foot").textContent = "Served from this machine to this machine.";
refresh();
setInterval(refresh, 1500);
setInterval(() => {
  for (const node of document.querySelectorAll(".clock")) node.textContent = clock((Date.now() - Number(node.dataset.since)) / 1000);
}, 500);
