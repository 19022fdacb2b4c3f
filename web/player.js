// The episode player: a picture of the state, the rule that fired, the facts, and why no other action was chosen.

const ICONS = {
  first: "M4 3h2.4v12H4zM15 3v12L7 9z",
  back: "M13 3v12L4.5 9z",
  play: "M4.5 2.5v13l11-6.5z",
  pause: "M4 3h3.6v12H4zM10.4 3H14v12h-3.6z",
  next: "M5 3v12l8.5-6z",
  last: "M11.6 3H14v12h-2.4zM3 3v12l8-6z",
};

const icon = (name) => draw("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" }, draw("path", { d: ICONS[name] }));

class Player {
  // `more`: cards that belong below, one list per column.
  constructor(run, changed, more = [[], []]) {
    this.run = run;
    this.more = more;
    this.changed = changed;
    this.frame = 0;
    this.playing = null;
    this.pinned = null;
    this.parts = {};
    this.node = this.build();
  }

  build() {
    const p = this.parts;
    const button = (name, label, act) => el("button", { class: "control", type: "button", "aria-label": label, title: label, "data-act": name, onclick: act }, icon(name));
    p.tasks = el("div", { class: "tabs", role: "group", "aria-label": "Task" });
    p.summary = el("span", {});
    p.episodes = el("div", { class: "tabs", role: "group", "aria-label": "Episode" });
    p.scene = el("div", { class: "scene" });
    p.first = button("first", "First step", () => this.go(0));
    p.back = button("back", "Step back", () => this.go(this.frame - 1));
    p.play = el("button", { class: "control play", type: "button", "data-act": "play", onclick: () => this.toggle() });
    p.next = button("next", "Step forward", () => this.go(this.frame + 1));
    p.last = button("last", "Last step", () => this.go(Infinity));
    p.scrub = el("input", { class: "scrub", type: "range", min: 0, value: 0, "aria-label": "Step", oninput: () => this.go(Number(p.scrub.value)) });
    p.speed = el("select", { "aria-label": "Speed" }, [["0.5×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4]].map(([text, value]) => el("option", { value, selected: value === 1 }, text)));
    p.caption = el("div", { class: "caption" });
    p.command = el("p", { class: "hint" });
    p.rules = el("div", {});
    p.decision = el("div", { class: "outcome" });
    p.others = el("div", { class: "chips" });
    p.why = el("div", { class: "why", id: "why", role: "region", "aria-label": "Why not", hidden: true });
    p.point = el("div", { class: "point" });
    p.facts = el("div", { class: "facts" });
    p.numbers = el("div", {});
    const card = (area, title, ...children) => el("section", { class: `card area-${area}`, "aria-label": title }, el("h2", {}, title), children);
    const player = el("section", { class: "card area-player", id: "player", tabindex: -1, "aria-label": "Episodes" },
      p.tasks, el("div", { class: "about" }, p.summary, p.episodes), p.scene,
      el("div", { class: "controls" }, p.first, p.back, p.play, p.next, p.last, p.scrub, el("label", { class: "speed" }, p.speed)),
      p.caption, p.decision, p.numbers,
      el("p", { class: "hint keys" }, "Keys: ", el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " step, ", el("kbd", {}, "space"), " play, ", el("kbd", {}, "Home"), " ", el("kbd", {}, "End")),
      p.command);
    const take = this.run.label !== undefined && takeNode(this.run, this.run.tasks.length ? () => p.scene.querySelector("svg") : null);
    const rules = card("rules", "The policy", p.rules, take);
    if (!this.run.tasks.length) return this.withoutEpisodes(rules);
    // "Why not" stays near the picture: under it where a long policy would push it away.
    // It has its room before it is there, so that nothing moves under a pointer.
    const others = card("others", "Why not another action?", p.others, el("div", { class: "why-room", tabindex: 0, role: "group", "aria-label": "The answer" }, p.why, p.point));
    const isLong = this.run.rules.length > 4;
    this.columns = [[player, isLong && others, this.more[0]], [rules, !isLong && others, card("facts", "What holds", p.facts), this.more[1]]];
    return el("div", { class: "stage" }, this.columns.map((column) => el("div", { class: "column" }, column)));
  }

  withoutEpisodes(rules) {
    replace(this.parts.rules, rulesNode(this.run, null));
    const none = el("section", { class: "card area-player", id: "player", tabindex: -1 }, el("h2", {}, "Episodes"), el("p", { class: "sub" }, "This page holds no episodes of this run."));
    this.columns = [[rules, this.more[0]], [none, this.more[1]]];
    return el("div", { class: "stage" }, this.columns.map((column) => el("div", { class: "column" }, column)));
  }

  // Shows a step of an episode of a task; what is not there falls back to the first, and the step to the one to open with.
  show(task, number, frame) {
    if (!this.run.tasks.length) return;
    const tasks = this.run.tasks;
    this.task = tasks.find((t) => t.task === task) || tasks[0];
    // The first in the file is the one that shows most.
    this.episode = this.task.episodes.find((e) => e.number === number) || this.task.episodes[0];
    const inOrder = [...this.task.episodes].sort((a, b) => a.number - b.number);
    const p = this.parts;
    replaceKept(p.tasks, "task", tasks.map((t) => el("button", { class: "tab", type: "button", "aria-pressed": t === this.task, "data-task": t.task, onclick: () => { this.stop(); this.show(t.task); } }, t.task)));
    replace(p.summary, this.task.summary);
    const many = this.task.episodes.length > 1;
    replaceKept(p.episodes, "episode", many && el("span", {}, "Episode "), many && inOrder.map((e) => el("button", { class: "tab small", type: "button", "aria-pressed": e === this.episode, "aria-label": `Episode ${e.number}`, "data-episode": e.number, onclick: () => { this.stop(); this.show(this.task.task, e.number); } }, e.number)));
    replace(p.command, this.episode.command && ["In a terminal: ", codeNode(this.episode.command)]);
    this.frames = merged(this.episode);
    this.stage = null;
    p.scrub.max = this.episode.steps.length;
    this.frame = -1;
    this.go(frame ?? this.episode.opens ?? 0);
  }

  go(frame) {
    const last = this.episode.steps.length;
    const to = Math.max(0, Math.min(last, frame));
    if (to === this.frame) return;
    const forward = to === this.frame + 1;
    this.frame = to;
    this.pinned = null;
    this.render(forward);
    if (to === last) this.stop();
    this.changed({ task: this.task.task, episode: this.episode.number, step: to });
  }

  render(forward) {
    const p = this.parts;
    const { steps, end } = this.episode;
    const step = steps[this.frame];
    const over = this.frame === steps.length;
    p.scrub.value = this.frame;
    p.scrub.setAttribute("aria-valuetext", over ? "end" : `step ${this.frame + 1} of ${steps.length}`);
    // Not `disabled`, which would lose the focus of who steps to the end by keyboard.
    for (const control of [p.first, p.back]) control.setAttribute("aria-disabled", this.frame === 0);
    for (const control of [p.next, p.last]) control.setAttribute("aria-disabled", over);
    this.icon();
    const fired = step ? step.fired : null;
    this.situation = step ? this.run.situations[step.at] : { facts: end.facts, others: [] };
    this.picture(forward);
    replace(p.rules, rulesNode(this.run, fired));
    replace(p.numbers, numbersNode(this.run, this.episode, this.frame, fired));
    replace(p.decision, step ? this.decision(step) : this.ending(end));
    this.renderOthers(step);
    this.renderFacts(step);
    this.renderCaption(step, end);
    if (this.playing === null) byId("say").textContent = this.spoken(step, end);
  }

  picture(forward) {
    if (!this.stage) {
      this.stage = new Stage(this.run);
      replace(this.parts.scene, this.stage.svg);
    }
    this.stage.show(this.frames[this.frame], forward);
  }

  decision(step) {
    const who = step.place ? ` at ${step.place}` : step.agent === undefined ? null : ` for agent ${step.agent}`;
    const rule = step.fired ? ["Rule ", step.fired.rule + 1, " fires"] : "No rule fires: any action may be chosen, and chance chose";
    return [
      el("p", { class: "decision", "data-action": step.action }, step.action),
      el("p", { class: "sub" }, rule, who, step.fired && [", with value ", number(step.value)], step.reward !== 0 && [" · reward ", number(step.reward)], "."),
      step.ties && el("p", { class: "tied" }, "It ties with ", step.ties.map((tie, i) => [i ? ", " : "", el("span", { class: "mono" }, tie)]), ": chance chose."),
    ];
  }

  ending(end) {
    const words = { terminated: end.success ? "The goal is reached." : "The episode is over.", truncated: "The time is up.", running: "The page shows no more of this episode." };
    const best = this.episode.best;
    return [
      el("p", { class: "decision end" }, words[end.status]),
      el("p", { class: "sub" }, `Return ${number(end.return)} after ${plural(this.episode.steps.length, "step")}`, best !== undefined && end.status !== "running" && `; the best known is ${number(best)}`, "."),
    ];
  }

  renderOthers(step) {
    const p = this.parts;
    p.why.hidden = true;
    replace(p.point);
    if (!step) {
      replace(p.others, el("p", { class: "sub" }, "Nothing is left to decide."));
      return;
    }
    const { others, unexplained } = this.situation;
    // Where nothing is pointed at, the first answer fills the room. Who hears the page hears the answers of the actions instead.
    const first = others.find((other) => other.why !== "tie") || others[0];
    replace(p.point, others.length > 0 && [el("p", { class: "hint" }, "Point at an action to see why it was not chosen; click to keep the answer."), el("div", { class: "why-first", "aria-hidden": true, inert: true }, whyNot(this.run, step, first))]);
    const chips = others.map((other) => {
      const chip = el("button", {
        class: other.why === "tie" ? "chip tie" : "chip", type: "button", "aria-expanded": "false", "aria-controls": "why", "data-other": other.action,
        onclick: () => this.pin(step, other),
        // A finger does not hover: what it touches must not move before the touch is over.
        onpointerenter: (event) => event.pointerType === "mouse" && this.hint(step, other),
        onpointerleave: (event) => event.pointerType === "mouse" && this.hint(step, null),
        // By keyboard only: a click focuses too, and pins by itself.
        onfocus: (event) => event.target.matches(":focus-visible") && this.hint(step, other),
        onblur: () => this.hint(step, null),
      }, other.action);
      return chip;
    });
    replaceKept(p.others, "other", chips, unexplained && el("span", { class: "sub" }, `and ${grouped(unexplained)} more`), !chips.length && el("p", { class: "sub" }, "There is no other action."));
  }

  // A pinned answer stays until it is let go or another is pinned: neither hovering nor scrolling replaces it, because chips move under
  // a pointer that stands still.
  pin(step, other) {
    this.pinned = this.pinned === other ? null : other;
    this.explain(step, this.pinned);
  }

  hint(step, other) {
    if (!this.pinned) this.explain(step, other);
  }

  explain(step, other) {
    const p = this.parts;
    p.why.hidden = !other;
    if (other) replace(p.why, whyNot(this.run, step, other));
    for (const chip of p.others.querySelectorAll(".chip")) {
      chip.setAttribute("aria-expanded", String(Boolean(other) && chip.dataset.other === other.action));
    }
  }

  renderFacts(step) {
    const { facts } = this.situation;
    const used = step && step.fired ? usedFacts(this.run.rules[step.fired.rule], step.fired.phi) : new Set();
    const fixed = (fact) => this.run.background.includes(fact.split("(")[0].replace(/^'|'$/g, ""));
    const background = [...this.episode.background, ...facts.filter(fixed)];
    const group = (list) => el("div", { class: "group" }, list.map((fact) => {
      const number = reading(fact);
      return el("span", { class: used.has(fact) ? "fact used" : "fact", title: number && fact }, number ? `${number[0]} = ${shortly(number[1])}` : fact);
    }));
    const usedBackground = background.filter((fact) => used.has(fact));
    const rest = background.filter((fact) => !used.has(fact));
    const long = background.length > 14;
    const open = this.parts.facts.querySelector("details")?.open;
    replace(this.parts.facts,
      group(facts.filter((fact) => !fixed(fact))),
      background.length > 0 && el("div", {}, el("h3", {}, "Never changes in this episode"), group(long ? usedBackground : background),
        long && el("details", { open }, el("summary", {}, `${rest.length} more`), group(rest))));
  }

  renderCaption(step, end) {
    const { steps } = this.episode;
    const time = step?.time === undefined ? "" : ` · ${step.time} s`;
    replace(this.parts.caption,
      el("span", {}, step ? [el("strong", {}, `Step ${this.frame + 1}`), ` of ${steps.length}${time}`] : [el("strong", {}, "End"), ` after ${plural(steps.length, "step")}${time}`]),
      el("span", {}, "return so far ", el("strong", {}, number(step ? step.total : end.return))));
  }

  spoken(step, end) {
    if (!step) return `End: return ${number(end.return)}.`;
    return `Step ${this.frame + 1} of ${this.episode.steps.length}: ${step.action}, ${step.fired ? `by rule ${step.fired.rule + 1}` : "no rule fires"}.`;
  }

  toggle() {
    if (this.playing !== null) {
      this.stop();
      return;
    }
    if (this.frame === this.episode.steps.length) this.go(0);
    this.playing = 0;
    this.icon();
    this.tick();
  }

  tick() {
    const base = this.episode.steps[this.frame]?.time === undefined ? 1300 : 320;
    this.playing = setTimeout(() => {
      this.go(this.frame + 1);
      if (this.playing !== null) this.tick();
    }, base / Number(this.parts.speed.value));
  }

  stop() {
    if (this.playing !== null) clearTimeout(this.playing);
    this.playing = null;
    this.icon();
  }

  icon() {
    const { play } = this.parts;
    const label = this.playing === null ? "Play" : "Pause";
    if (play.getAttribute("aria-label") === label) return;
    play.setAttribute("aria-label", label);
    play.title = label;
    replace(play, icon(this.playing === null ? "play" : "pause"));
  }

  // Returns whether the key meant something.
  key(event) {
    if (!this.run.tasks.length) return false;
    const acts = {
      ArrowLeft: () => this.go(this.frame - 1),
      ArrowRight: () => this.go(this.frame + 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      " ": () => this.toggle(),
    };
    const act = acts[event.key];
    if (!act) return false;
    if (event.key !== " ") this.stop();
    act();
    return true;
  }
}

// Arrow keys, space, Home and End belong to the player wherever the focus is, but where somebody types or presses a button.
function listenForKeys(current) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    const pressing = event.target.matches("button, a, summary") && event.key === " ";
    if (typing || pressing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (current()?.key(event)) event.preventDefault();
  });
}

// The pictures of all frames: each step holds only what changed.
function merged(episode) {
  let [size, keys] = [[1, 1], []];
  const pieces = new Map();
  return [...episode.steps, episode.end].map(({ frame }) => {
    size = frame.size || size;
    keys = frame.pieces || keys;
    // The way a piece came belongs to the step in which it came.
    for (const [key, piece] of pieces) if (piece[4]) pieces.set(key, piece.slice(0, 4));
    for (const piece of frame.moved) pieces.set(piece[0], piece);
    return { label: frame.label, size, pieces: keys.map((key) => pieces.get(key)) };
  });
}

// The facts that made a rule fire, as they are written in a state.
function usedFacts(rule, phi) {
  const order = variables(rule);
  const text = (atom) => {
    const args = atom.args.map((arg) => (isVariable(arg) ? phi[order.indexOf(arg)] : arg));
    return args.length ? `${atom.name}(${args.join(", ")})` : atom.name;
  };
  return new Set(rule.body.filter((atom) => !atom.negated).map(text));
}
