// Numbers: a gauge for each measure over the episode, with thresholds as lines, and for two of them a plane coloured by decision.

// `angle = 0.02` as its name and its value.
function reading(fact) {
  const parts = /^(.+?) = (-?[\d.eE+-]+)$/.exec(fact);
  return parts && Number.isFinite(Number(parts[2])) ? [parts[1], Number(parts[2])] : null;
}

// A condition that compares one measure without objects with a number.
function threshold(atom) {
  const parts = /^([a-z]\w*) (>=|=<|>|<) (-?[\d.eE+-]+)$/.exec(atom.name);
  return parts && { of: parts[1], op: parts[2], at: Number(parts[3]) };
}

const COMPARE = { ">": (a, b) => a > b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, "=<": (a, b) => a <= b };

// The values of every measure at each step of an episode, `null` where it has none.
function series(run, episode) {
  const frames = [...episode.steps.map((step) => run.situations[step.at].facts), episode.end.facts].map((facts) => new Map(facts.map(reading).filter(Boolean)));
  const names = [...new Set(frames.flatMap((frame) => [...frame.keys()]))];
  return names.slice(0, 12).map((name) => ({ name, values: frames.map((frame) => frame.get(name) ?? null) }));
}

function limits(values, marks) {
  const all = [...values.filter((v) => v !== null), ...marks];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - room, high + room];
}

const shortly = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(3))).replace("-", "−"));

// In words: how far a number may be off, each way, before the decision changes.
function roomText([, down, up], now) {
  const by = (end) => shortly(Math.abs(end - now));
  if (down === null) return `another decision if ${by(up)} higher`;
  if (up === null) return `another decision if ${by(down)} lower`;
  return `another decision if ${by(down)} lower or ${by(up)} higher`;
}

// One measure over the episode. The measure that made the rule fire is lit; the band is how far it may be off.
function gaugeNode(run, { name, values }, frame, fired, room) {
  const marks = run.rules.flatMap((rule, i) => rule.body.map(threshold).filter((t) => t?.of === name).map((t) => ({ ...t, rule: i })));
  const [low, high] = limits(values, marks.map((mark) => mark.at));
  const [width, height] = [220, 64];
  const x = (i) => 4 + (i / Math.max(1, values.length - 1)) * (width - 8);
  const y = (v) => height - 5 - ((v - low) / (high - low)) * (height - 10);
  const within = (v) => Math.max(0, Math.min(height, y(v)));
  const band = room && [within(room[2] ?? Infinity), within(room[1] ?? -Infinity)];
  const line = values.map((v, i) => (v === null ? null : `${x(i).toFixed(1)},${y(v).toFixed(1)}`)).filter(Boolean).join(" ");
  const used = fired && run.rules[fired.rule].body.some((atom) => threshold(atom)?.of === name || atom.name.includes(name));
  return el("div", { class: used ? "gauge used" : "gauge", "data-measure": name },
    el("p", {}, el("span", { class: "mono" }, name), el("strong", {}, shortly(values[frame]))),
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: ${shortly(values[frame])}${marks.length ? `; thresholds ${[...new Set(marks.map((mark) => `${mark.op} ${shortly(mark.at)}`))].join(", ")}` : ""}` },
      draw("rect", { x: 0, y: 0, width, height, rx: 6, fill: "var(--sunk)" }),
      band && draw("rect", { class: "room", x: 0, y: band[0], width, height: Math.max(1, band[1] - band[0]), fill: "var(--accent)", "fill-opacity": 0.16 }),
      marks.map((mark) => draw("line", { x1: 0, x2: width, y1: y(mark.at), y2: y(mark.at), stroke: fired?.rule === mark.rule ? "var(--accent)" : "var(--unsure)", "stroke-width": fired?.rule === mark.rule ? 2 : 1, "stroke-dasharray": "5 4" })),
      draw("polyline", { points: line, fill: "none", stroke: "var(--v0)", "stroke-width": 1.5 }),
      values[frame] !== null && values[frame] !== undefined && draw("circle", { cx: x(frame), cy: y(values[frame]), r: 4.5, fill: "var(--ink)" })),
    marks.length > 0 && el("p", { class: "sub" }, [...new Set(marks.map((mark) => `${mark.op} ${shortly(mark.at)}`))].join(" · ")),
    room && el("p", { class: "sub" }, roomText(room, values[frame])));
}

// What a list of rules that compare single measures decides for these values; `null` where no rule fires.
function decides(rules, values) {
  let best = null;
  for (const rule of rules) {
    const fires = rule.conditions.every((c) => COMPARE[c.op](values[c.of], c.at));
    if (fires && (!best || rule.weight > best.weight)) best = rule;
  }
  return best?.action ?? null;
}

// The plane of the two measures that rules compare most, coloured by what is decided there; all others stay as they are now.
function planeNode(run, all, frame) {
  const rules = run.rules.map((rule) => ({ weight: rule.weight, action: rule.head.name, conditions: rule.body.map(threshold) }));
  if (!rules.length || rules.some((rule) => !rule.conditions.length || rule.conditions.some((c) => !c))) return null;
  const counts = new Map();
  for (const rule of rules) for (const c of rule.conditions) counts.set(c.of, (counts.get(c.of) || 0) + 1);
  const [first, second] = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => all.find((s) => s.name === name)).filter(Boolean);
  if (!first || !second) return null;
  const now = Object.fromEntries(all.map(({ name, values }) => [name, values[frame]]));
  const marks = (name) => rules.flatMap((rule) => rule.conditions.filter((c) => c.of === name).map((c) => c.at));
  const [x0, x1] = limits(first.values, marks(first.name));
  const [y0, y1] = limits(second.values, marks(second.name));
  const [width, height, cells] = [320, 240, 32];
  const x = (v) => ((v - x0) / (x1 - x0)) * width;
  const y = (v) => height - ((v - y0) / (y1 - y0)) * height;
  // Within a cell between two thresholds nothing changes, so cells end at thresholds.
  const cuts = (low, high, at) => [...new Set([...Array.from({ length: cells + 1 }, (_, i) => low + ((high - low) * i) / cells), ...at])].sort((a, b) => a - b);
  const [xs, ys] = [cuts(x0, x1, marks(first.name)), cuts(y0, y1, marks(second.name))];
  const actions = [...new Set(rules.map((rule) => rule.action))];
  const colour = (action) => (action === null ? "var(--sunk)" : `var(--v${actions.indexOf(action) % 6})`);
  const areas = [];
  for (let i = 0; i + 1 < xs.length; i += 1) {
    for (let j = 0; j + 1 < ys.length; j += 1) {
      const action = decides(rules, { ...now, [first.name]: (xs[i] + xs[i + 1]) / 2, [second.name]: (ys[j] + ys[j + 1]) / 2 });
      const last = areas.at(-1);
      if (last && last.action === action && last.i === i && last.to === j) last.to = j + 1;
      else areas.push({ action, i, from: j, to: j + 1 });
    }
  }
  const note = (at, text) => draw("text", { ...at, "font-size": 11, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 3, "paint-order": "stroke" }, text);
  const seen = first.values.map((v, i) => (v === null || second.values[i] === null ? null : `${x(v).toFixed(1)},${y(second.values[i]).toFixed(1)}`)).filter(Boolean).join(" ");
  const here = now[first.name] !== null && now[second.name] !== null;
  return el("div", { class: "plane", "data-plane": `${first.name} ${second.name}` }, el("p", { class: "heading" }, `What is decided by ${first.name} (across) and ${second.name} (up)`),
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The plane of ${first.name} and ${second.name}, coloured by decision` },
      areas.map(({ action, i, from, to }) => draw("rect", { x: x(xs[i]), y: y(ys[to]), width: x(xs[i + 1]) - x(xs[i]), height: y(ys[from]) - y(ys[to]), "shape-rendering": "crispEdges", fill: colour(action), "fill-opacity": 0.55 })),
      draw("polyline", { points: seen, fill: "none", stroke: "var(--ink)", opacity: 0.45 }),
      // Where the boundaries are, at the edges.
      [...new Set(marks(first.name))].map((v) => note({ x: x(v) + 3, y: height - 5 }, shortly(v))),
      [...new Set(marks(second.name))].map((v) => note({ x: 4, y: y(v) - 4 }, shortly(v))),
      here && draw("circle", { cx: x(now[first.name]), cy: y(now[second.name]), r: 6, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 2 })),
    el("p", { class: "hint" }, actions.map((action) => [el("span", { class: "swatch", style: `background:${colour(action)}` }), ` ${action}  `]), "The line is the episode; the disc is this step. ", all.length > 2 && "All other numbers are as they are at this step."));
}

function numbersNode(run, episode, frame, fired) {
  const all = series(run, episode);
  if (!all.length || all.every(({ values }) => values.every((v) => v === null))) return null;
  const leeway = episode.steps[frame]?.leeway || [];
  return [el("div", { class: "gauges" }, all.map((one) => gaugeNode(run, one, frame, fired, leeway.find(([name]) => name === one.name)))), planeNode(run, all, frame)];
}
