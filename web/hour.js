// An hour of traffic: the streets, the vehicles as they move, the lights, and what rules decided at the light that is chosen.

const data = JSON.parse(byId("data").textContent);
const { rules: told } = data;
const run = { rules: told.rules, tasks: [], definitions: [] };
const [begin, end] = data.seconds;
const SIGNAL = { G: "#2fa84f", g: "#8fd0a0", y: "#e0a100", Y: "#e0a100", u: "#e0a100" };
const RED = "#c9453b";

// Steps are added up once.
function points(steps) {
  let [x, y] = [0, 0];
  const all = [];
  for (let i = 0; i < steps.length; i += 2) all.push([x += steps[i], y += steps[i + 1]]);
  return all;
}
const roads = data.roads.map(([inside, steps]) => ({ inside, line: points(steps) }));
const ways = data.ways.map((steps) => {
  let [t, x, y] = [0, 0, 0];
  const all = [];
  for (let i = 0; i < steps.length; i += 3) all.push([t += steps[i], x += steps[i + 1], y += steps[i + 2]]);
  return { at: all, from: all[0][0], to: all.at(-1)[0], cursor: 0, angles: angles(all) };
});

// Where a vehicle looks on each stretch of its way: who stands looks where it went before, or will go.
function angles(at) {
  const all = at.map(([, x, y], i) => (i + 1 < at.length && Math.hypot(at[i + 1][1] - x, at[i + 1][2] - y) > 2 ? Math.atan2(at[i + 1][2] - y, at[i + 1][1] - x) : null));
  let known = all.find((angle) => angle !== null) ?? 0;
  return all.map((angle) => (known = angle ?? known));
}

// The last of a list of `[second, ...]` that is not after a second.
function latest(list, second) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][0] <= second) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Where a vehicle is at a moment, and whether it stands; `null` where it is not on the road.
function placeOf(way, second) {
  if (second < way.from || second > way.to) return null;
  const { at } = way;
  let i = Math.min(way.cursor, Math.max(0, at.length - 2));
  while (i > 0 && at[i][0] > second) i -= 1;
  while (i + 2 < at.length && at[i + 1][0] <= second) i += 1;
  way.cursor = i;
  const [from, to] = [at[i], at[i + 1] || at[i]];
  const span = to[0] - from[0];
  const share = span ? Math.min(1, (second - from[0]) / span) : 0;
  const [dx, dy] = [to[1] - from[1], to[2] - from[2]];
  const stands = span > 0 && Math.hypot(dx, dy) / span < 0.6;
  return { x: from[1] + dx * share, y: from[2] + dy * share, angle: way.angles[i], stands };
}

class HourMap {
  constructor(chosen) {
    this.chosen = chosen;
    this.canvas = el("canvas", { class: "map", tabindex: 0, role: "img", "aria-label": "The streets; choose a light below, or point at one" });
    this.light = null;
    this.pointers = new Map();
    const at = data.lights.map((l) => l.at);
    const all = at.length ? at : roads.flatMap((r) => r.line);
    const low = [0, 1].map((k) => Math.min(...all.map((p) => p[k])) - 300);
    const high = [0, 1].map((k) => Math.max(...all.map((p) => p[k])) + 300);
    this.whole = { low, high };
    this.centre = low.map((l, k) => (l + high[k]) / 2);
    this.scale = null;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.up(event));
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
    new ResizeObserver(() => this.draw(this.second)).observe(canvas);
  }

  fit() {
    const { low, high } = this.whole;
    this.centre = low.map((l, k) => (l + high[k]) / 2);
    this.scale = Math.min(this.width / (high[0] - low[0]), this.height / (high[1] - low[1]));
  }

  zoom(by, x = this.width / 2, y = this.height / 2) {
    const before = this.world(x, y);
    this.scale = Math.max(0.01, Math.min(12, this.scale * by));
    const after = this.world(x, y);
    this.centre = this.centre.map((c, k) => c + before[k] - after[k]);
    this.draw(this.second);
  }

  world(x, y) {
    return [this.centre[0] + (x - this.width / 2) / this.scale, this.centre[1] + (y - this.height / 2) / this.scale];
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.moved = 0;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.moved += Math.hypot(dx, dy);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.pointers.set(event.pointerId, now);
    if (others.length) {
      const far = (a) => Math.hypot(a[0] - others[0][0], a[1] - others[0][1]);
      this.zoom(far(now) / Math.max(1, far(before)), (now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2);
    } else {
      this.centre = [this.centre[0] - dx / this.scale, this.centre[1] - dy / this.scale];
      this.draw(this.second);
    }
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    if (event.type !== "pointerup" || this.moved > 6) return;
    const [x, y] = this.world(event.offsetX, event.offsetY);
    const near = data.lights.map((light, n) => [Math.hypot(light.at[0] - x, light.at[1] - y), n]).sort((a, b) => a[0] - b[0])[0];
    if (near && near[0] * this.scale < 60) this.chosen(near[1]);
  }

  // Goes near a light.
  visit(n) {
    this.light = n;
    this.centre = [...data.lights[n].at];
    this.scale = Math.min(this.width, this.height) / 340;
    this.draw(this.second);
  }

  draw(second) {
    this.second = second;
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [canvas.clientWidth, canvas.clientHeight];
    if (!this.width) return;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(this.height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    }
    if (this.scale === null) this.fit();
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colour("--sunk");
    pen.fillRect(0, 0, this.width, this.height);
    pen.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * (this.width / 2 - this.centre[0] * this.scale), ratio * (this.height / 2 - this.centre[1] * this.scale));
    this.streets(pen, colour);
    this.signals(pen, second, colour);
    const count = this.vehicles(pen, second, colour);
    return count;
  }

  streets(pen, colour) {
    if (!this.paths) {
      this.paths = [new Path2D(), new Path2D()];
      for (const { inside, line } of roads) {
        const path = this.paths[inside];
        line.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
      }
    }
    pen.lineJoin = "round";
    pen.lineCap = "round";
    pen.strokeStyle = colour("--road");
    // A lane is 3.2 m wide; far away it is still to be seen.
    pen.lineWidth = Math.max(6.8, 1.3 / this.scale);
    pen.stroke(this.paths[0]);
    pen.stroke(this.paths[1]);
  }

  signals(pen, second, colour) {
    pen.lineCap = "butt";
    const near = this.scale > 0.35;
    data.lights.forEach((light, n) => {
      const state = light.shown[latest(light.shown, second)]?.[1] || "";
      if (this.light === n) {
        pen.strokeStyle = colour("--accent");
        pen.lineWidth = 3 / this.scale;
        pen.beginPath();
        pen.arc(light.at[0], light.at[1], Math.max(60, 16 / this.scale), 0, 7);
        pen.stroke();
      }
      for (const stop of near ? light.stops : []) {
        const [x, y] = stop.at;
        const turn = (stop.way * Math.PI) / 180;
        const [rx, ry] = [-Math.sin(turn), Math.cos(turn)];
        const part = 6.4 / stop.links.length;
        stop.links.forEach((link, i) => {
          const [from, to] = [i * part - 3.2, (i + 1) * part - 3.2];
          pen.strokeStyle = SIGNAL[state[link]] || RED;
          pen.lineWidth = 3;
          pen.beginPath();
          pen.moveTo(x + rx * from, y + ry * from);
          pen.lineTo(x + rx * to, y + ry * to);
          pen.stroke();
        });
      }
      if (near) return;
      pen.fillStyle = /[gG]/.test(state) ? SIGNAL.G : /y/i.test(state) ? SIGNAL.y : RED;
      pen.strokeStyle = colour("--card");
      pen.lineWidth = 1.5 / this.scale;
      pen.beginPath();
      pen.arc(light.at[0], light.at[1], 5.5 / this.scale, 0, 7);
      pen.fill();
      pen.stroke();
    });
  }

  vehicles(pen, second, colour) {
    const [ink, accent] = [colour("--ink"), colour("--accent")];
    const length = Math.max(9, 4 / this.scale);
    const width = Math.max(4, 2.4 / this.scale);
    const count = { all: 0, stand: 0 };
    for (const way of ways) {
      const place = placeOf(way, second);
      if (!place) continue;
      count.all += 1;
      count.stand += place.stands ? 1 : 0;
      const [c, s] = [Math.cos(place.angle), Math.sin(place.angle)];
      pen.fillStyle = place.stands ? ink : accent;
      pen.beginPath();
      // Its front is at its place.
      for (const [a, b] of [[0, -1], [0, 1], [-length, 1], [-length, -1]]) {
        const side = (b * width) / 2;
        pen.lineTo(place.x + a * c - side * s, place.y + a * s + side * c);
      }
      pen.fill();
    }
    return count;
  }
}

const clock = (second) => {
  const s = Math.floor(second);
  return [s / 3600, (s / 60) % 60, s % 60].map((n) => String(Math.floor(n)).padStart(2, "0")).join(":");
};

const text = (n) => told.texts[n];

class Watch {
  constructor() {
    const p = (this.parts = {});
    const button = (label, act, words, name) => el("button", { class: "control", type: "button", "aria-label": label, title: label, "data-act": name, onclick: act }, words);
    this.map = new HourMap((n) => this.choose(n));
    this.second = begin;
    this.speed = 8;
    this.light = null;
    p.play = button("Play", () => this.toggle(), "▶", "play");
    p.scrub = el("input", { class: "scrub", type: "range", min: begin, max: end, value: begin, "aria-label": "Second", oninput: () => this.go(Number(p.scrub.value)) });
    p.time = el("strong", { class: "mono" });
    p.count = el("span", {});
    p.speed = el("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(p.speed.value); } }, [1, 4, 8, 20, 60].map((n) => el("option", { value: n, selected: n === 8 }, `${n}×`)));
    p.lights = el("select", { "aria-label": "Light", "data-choose": "light", onchange: () => this.choose(Number(p.lights.value), true) },
      data.lights.map((light, n) => el("option", { value: n }, light.phases.length > 1 ? light.id : `${light.id} (own program)`)));
    p.phases = el("div", { class: "phases" });
    p.decision = el("div", { class: "outcome" });
    p.why = el("div", {});
    p.rules = el("div", {});
    const zoom = el("div", { class: "zoom" }, button("Nearer", () => this.map.zoom(1.5), "+", "nearer"), button("Farther", () => this.map.zoom(1 / 1.5), "−", "farther"), button("All", () => { this.map.fit(); this.map.draw(this.second); }, "⤢", "all"));
    const map = el("section", { class: "card area-player", id: "player", tabindex: -1, "aria-label": "The hour" },
      el("div", { class: "mapframe" }, this.map.canvas, zoom),
      el("div", { class: "controls" }, p.play, p.scrub, p.time, el("label", { class: "speed" }, p.speed)),
      el("p", { class: "caption" }, p.count),
      el("p", { class: "hint" }, "Dark vehicles stand; light green gives way. Drag to move, pinch or turn the wheel to zoom, click a light. Keys: ", el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " a decision, ", el("kbd", {}, "space"), " play."));
    const light = el("section", { class: "card area-light", "aria-label": "Light" }, el("h2", {}, "The light"), p.lights, p.phases, p.decision, p.why);
    const policy = told.rules.length > 0 && el("section", { class: "card area-rules", "aria-label": "The policy" }, el("h2", {}, "The policy"), p.rules);
    this.node = el("div", { class: "stage" }, el("div", { class: "column" }, map), el("div", { class: "column" }, light, policy));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  choose(n, visit = false) {
    this.light = n;
    this.map.light = n;
    this.parts.lights.value = n;
    if (visit || this.map.scale < 0.8) this.map.visit(n);
    this.shown = undefined;
    this.render();
  }

  go(second) {
    this.second = Math.max(begin, Math.min(end, second));
    this.render();
  }

  render() {
    const p = this.parts;
    const count = this.map.draw(this.second);
    p.scrub.value = this.second;
    p.scrub.setAttribute("aria-valuetext", clock(this.second));
    p.time.textContent = clock(this.second);
    if (count) p.count.textContent = `${plural(count.all, "vehicle")} on the road, ${count.stand} of them ${count.stand === 1 ? "stands" : "stand"}.`;
    this.renderLight();
  }

  renderLight() {
    if (this.light === null) return;
    const p = this.parts;
    const light = data.lights[this.light];
    const state = light.shown[latest(light.shown, this.second)]?.[1] || "";
    const at = latest(told.decisions[this.light], this.second);
    // Only what changes is written anew.
    const key = `${this.light} ${state} ${at}`;
    if (key === this.shown) return;
    this.shown = key;
    const green = light.phases.indexOf(state);
    const letters = (letters) => [...letters].map((l) => el("span", { class: "signal", style: `background:${SIGNAL[l] || RED}` }));
    replace(p.phases, light.phases.map((phase, n) => el("div", { class: n === green ? "phase now" : "phase" }, el("strong", { class: "mono" }, `p${n + 1}`), el("span", { class: "signals", "aria-label": phase }, letters(phase)), n === green && el("span", { class: "sub" }, "green"))),
      green < 0 && el("div", { class: "phase now" }, el("strong", {}, "between"), el("span", { class: "signals", "aria-label": state }, letters(state))));
    const decision = told.decisions[this.light][at];
    replace(p.decision, decision ? this.decision(decision) : el("p", { class: "sub" }, told.rules.length ? "It has not decided yet." : `${data.controller} operates it: there are no rules to show.`));
    replace(p.why, decision && this.why(decision));
    const fired = decision && decision[2] >= 0 ? { rule: decision[2], phi: decision[3].map(text) } : null;
    if (told.rules.length) replace(p.rules, rulesNode(run, fired), el("p", { class: "hint" }, `In this hour they acted ${told.acted.map(grouped).join(", ")} times.`));
  }

  decision([second, action, rule]) {
    return [
      el("p", { class: "decision", "data-action": text(action) }, text(action)),
      el("p", { class: "sub" }, rule < 0 ? "No rule fires: chance chose. " : `Rule ${rule + 1}: ${told.rules[rule].english} `, `Decided at ${clock(second)}.`),
    ];
  }

  why([, , rule, , others]) {
    if (!others.length) return null;
    // What comes after the rule that fired was never asked.
    const asked = (rules) => rules.filter(([n]) => rule < 0 || told.rules[n].weight >= told.rules[rule].weight);
    return [el("h3", {}, "Why nothing else?"), el("dl", { class: "whynot" }, others.map(([action, rules]) => [
      el("dt", { class: "mono" }, text(action)),
      el("dd", {}, asked(rules).map(([n, reasons]) => el("p", {}, el("span", { class: "sub" }, `rule ${n + 1}: `), reasons.map(text).join("; "))),
        !asked(rules).length && el("p", { class: "sub" }, rule < 0 ? "no rule speaks of it" : `rule ${rule + 1} comes first`)),
    ]))];
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.second >= end) this.second = begin;
    this.parts.play.textContent = this.playing ? "❚❚" : "▶";
    this.parts.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.last = null;
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    if (this.last !== null) this.go(this.second + (Math.min(200, now - this.last) / 1000) * this.speed);
    this.last = now;
    if (this.second >= end) this.toggle();
    else requestAnimationFrame((next) => this.tick(next));
  }

  // The next decision of the light, or the one before; without decisions ten seconds.
  step(by) {
    const decisions = this.light === null ? [] : told.decisions[this.light];
    const next = decisions[latest(decisions, this.second) + by];
    this.go(next ? next[0] : this.second + 10 * by);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.matches("input, select")) return;
    const acts = { ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), " ": () => this.toggle() };
    if (!acts[event.key] || (event.key === " " && event.target.matches("button, a, summary"))) return;
    event.preventDefault();
    acts[event.key]();
  }
}

replace(byId("head"), el("div", {}, el("p", { class: "brand" }, "derrl · signals"), el("h1", {}, `${data.scenario} under ${data.controller}`),
  el("p", { class: "meta" }, data.figures.map(([name, value], i) => [i ? " · " : "", `${name} `, el("strong", {}, value)])),
  el("p", { class: "meta" }, `${clock(begin)} to ${clock(end)}, seed ${data.seed}, ${data.simulator}`)));
const watch = new Watch();
replace(byId("main"), watch.node);
byId("foot").textContent = "Written by derrl. This file is complete: it loads nothing from anywhere.";
const asked = new URLSearchParams(location.hash.slice(1));
watch.go(Number(asked.get("second")) || begin + (end - begin) / 2);
const first = data.lights.findIndex((light) => light.phases.length > 1);
const named = data.lights.findIndex((light) => light.id === asked.get("light"));
// Until somebody chooses, all lights are in view.
if (data.lights.length) {
  watch.light = Math.max(0, named >= 0 ? named : first);
  watch.parts.lights.value = watch.light;
  if (named >= 0) watch.choose(named, true);
  else {
    watch.map.light = watch.light;
    watch.render();
  }
}
