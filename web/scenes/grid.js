// Squares with walls, keys, doors, a goal and an agent.

const CELL = 44;
const THING_HUES = { red: "#d8483e", green: "#3f9b4f", blue: "#3b78d8", purple: "#9257c9", yellow: "#d3a413", grey: "#87909a" };

scenes.grid = {
  size(scene) {
    const labels = scene.columns.length ? 52 : 0;
    return { width: scene.rows[0].length * CELL + 24 + labels, height: scene.rows.length * CELL + 24 + labels / 2, labels };
  },

  label(scene) {
    const where = (at) => (scene.columns.length ? `${scene.columns[at[0]]}, ${scene.lines[at[1]]}` : `column ${at[0]}, row ${at[1]}`);
    const things = scene.things.map((t) => [t.state, t.colour, t.kind, t.name].filter(Boolean).join(" "));
    const holds = scene.agent.holds ? `, carrying ${scene.agent.holds.name}` : "";
    return `Agent at ${where(scene.agent.at)}${holds}. There are: ${things.join("; ")}.`;
  },

  draw(stage, scene, marks, forward) {
    const { labels } = this.size(scene);
    const place = ([x, y]) => [12 + labels + x * CELL, 12 + y * CELL];
    stage.put("back", "squares", 0, 0, scene.rows.join(), () => scene.rows.flatMap((row, y) => [...row].map((square, x) => {
      const [px, py] = place([x, y]);
      const wall = square === "#";
      return draw("rect", { x: px + (wall ? 0 : 1), y: py + (wall ? 0 : 1), width: CELL + (wall ? 0.7 : -2), height: CELL + (wall ? 0.7 : -2), rx: wall ? 0 : 5, fill: wall ? "var(--wall)" : "var(--floor)" });
    })));
    const axis = (names, key, anchor, at) => names.forEach((name, i) => {
      const mark = markColour(marks, name);
      const [x, y] = at(i);
      const text = mark ? `${markNames(marks, name)}=${name}` : name;
      stage.put("back", `${key} ${name}`, x, y, `${mark} ${text}`, () => [
        draw("text", { "text-anchor": anchor, "font-size": mark ? 14 : 13, "font-weight": mark ? 700 : 400, style: `fill:${mark || "var(--faint)"}` }, text),
      ]);
    });
    axis(scene.columns, "column", "middle", (i) => [place([i, 0])[0] + CELL / 2, place([0, scene.rows.length])[1] + 20]);
    axis(scene.lines, "line", "end", (i) => [place([0, 0])[0] - 9, place([0, i])[1] + CELL / 2 + 5]);
    this.highlight(stage, scene, marks, place);
    const path = forward ? scene.trail.map(place) : [];
    if (scene.trail.length > 1) {
      const points = scene.trail.map(place).map(([x, y]) => `${x + CELL / 2},${y + CELL / 2}`).join(" ");
      stage.put("trail", "trail", 0, 0, points, () => [
        draw("polyline", { points, fill: "none", stroke: "var(--accent)", "stroke-width": 4, "stroke-linecap": "round", "stroke-linejoin": "round", "stroke-dasharray": "1 9", opacity: 0.65 }),
      ]);
    }
    scene.things.forEach((thing, i) => {
      const mark = thing.name ? markColour(marks, thing.name) : null;
      const names = thing.name ? markNames(marks, thing.name) : "";
      const [x, y] = place(thing.at);
      const looks = `${thing.kind} ${thing.state} ${mark} ${names}`;
      stage.put("things", `thing ${thing.name || thing.kind + i}`, x, y, looks, () => this.thing(thing, mark, names));
    });
    const [x, y] = place(scene.agent.at);
    const { facing, holds } = scene.agent;
    const mark = holds ? markColour(marks, holds.name) : null;
    stage.put("agent", "agent", x, y, `${facing} ${holds ? holds.name : ""} ${mark}`, () => this.agent(facing, holds, mark, holds ? markNames(marks, holds.name) : ""), path);
  },

  // Where columns and rows have names, the square that the rule speaks of is what its variables meet in.
  highlight(stage, scene, marks, place) {
    const columns = scene.columns.map((name, i) => [i, markColour(marks, name)]).filter(([, mark]) => mark);
    const lines = scene.lines.map((name, i) => [i, markColour(marks, name)]).filter(([, mark]) => mark);
    for (const [i, mark] of columns) {
      stage.put("marks", `column mark ${i}`, place([i, 0])[0], place([0, 0])[1], mark, () => [
        draw("rect", { x: 1, width: CELL - 2, height: scene.rows.length * CELL, rx: 6, fill: mark, opacity: 0.13 }),
      ]);
    }
    for (const [i, mark] of lines) {
      stage.put("marks", `line mark ${i}`, place([0, 0])[0], place([0, i])[1], mark, () => [
        draw("rect", { y: 1, height: CELL - 2, width: scene.rows[0].length * CELL, rx: 6, fill: mark, opacity: 0.13 }),
      ]);
    }
  },

  thing(thing, mark, names) {
    const hue = THING_HUES[thing.colour] || "var(--wall)";
    const middle = CELL / 2;
    const parts = [];
    if (thing.kind === "obstacle") {
      parts.push(draw("rect", { x: 3, y: 3, width: CELL - 6, height: CELL - 6, rx: 6, fill: "var(--wall)" }));
    } else if (thing.kind === "goal") {
      parts.push(draw("rect", { x: 4, y: 4, width: CELL - 8, height: CELL - 8, rx: 7, fill: "var(--good-soft)", stroke: "var(--good)", "stroke-width": 2 }));
      parts.push(draw("path", { d: `M${middle - 7} ${CELL - 10} V10 l17 7 l-17 7`, fill: "var(--good)", stroke: "var(--good)", "stroke-width": 3, "stroke-linejoin": "round" }));
    } else if (thing.kind === "key") {
      parts.push(draw("g", { transform: "translate(-2 -5)" }, this.key(hue, 1)));
    } else if (thing.kind === "door") {
      parts.push(...this.door(hue, thing.state));
    }
    if (mark) {
      parts.push(draw("rect", { x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 7, fill: "none", stroke: mark, "stroke-width": 4 }));
    }
    if (thing.name && thing.kind !== "goal") {
      const solid = thing.kind === "door" && thing.state !== "open";
      parts.push(draw("text", { x: solid ? 5 : CELL - 5, y: CELL - 6, "text-anchor": solid ? "start" : "end", "font-size": 12, "font-weight": 650, style: `fill:${solid ? "#fff" : "var(--soft)"}` }, thing.name));
    }
    if (names) parts.push(...this.badge(mark, names));
    return parts;
  },

  badge(mark, names) {
    return [
      draw("circle", { cx: CELL - 4, cy: 4, r: 10, fill: mark }),
      draw("text", { x: CELL - 4, y: 8.5, "text-anchor": "middle", "font-size": 12, "font-weight": 700, style: "fill:var(--card)" }, names),
    ];
  },

  key(hue, scale) {
    return draw("g", { transform: `translate(${CELL / 2} ${CELL / 2}) scale(${scale}) rotate(-35)` },
      draw("circle", { cx: -8, cy: 0, r: 6.5, fill: "none", stroke: hue, "stroke-width": 4 }),
      draw("path", { d: "M-1 0 H14 M9 0 v6 M13.5 0 v5", fill: "none", stroke: hue, "stroke-width": 4, "stroke-linecap": "round" }));
  },

  door(hue, state) {
    if (state === "open") {
      return [draw("rect", { x: 3, y: 3, width: CELL - 6, height: CELL - 6, rx: 4, fill: "var(--floor)", stroke: hue, "stroke-width": 3, "stroke-dasharray": "7 5" })];
    }
    const lock = state === "locked"
      ? [draw("circle", { cx: CELL / 2 + 5, cy: CELL / 2 - 7, r: 4.5, fill: "#fff" }), draw("path", { d: `M${CELL / 2 + 2.6} ${CELL / 2 - 4} h4.8 l1.6 9 h-8 z`, fill: "#fff" })]
      : [draw("circle", { cx: CELL - 12, cy: CELL / 2, r: 3, fill: "#fff" })];
    return [draw("rect", { x: 1, y: 1, width: CELL - 2, height: CELL - 2, rx: 4, fill: hue }), ...lock];
  },

  agent(facing, holds, mark, names) {
    const middle = CELL / 2;
    const body = facing === undefined
      ? draw("circle", { cx: middle, cy: middle, r: 14, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2.5 })
      : draw("path", { d: "M15 0 L-10 11.5 L-5 0 L-10 -11.5 Z", transform: `translate(${middle} ${middle}) rotate(${facing * 90})`, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2, "stroke-linejoin": "round" });
    const held = holds ? [
      draw("circle", { cx: CELL - 6, cy: CELL - 6, r: 12, fill: "var(--card)", stroke: mark || "var(--line)", "stroke-width": mark ? 3 : 1.5 }),
      draw("g", { transform: `translate(${CELL - 6 - middle * 0.55} ${CELL - 6 - middle * 0.55}) scale(0.55)` }, this.key(THING_HUES[holds.colour] || "var(--wall)", 1)),
      names && draw("text", { x: CELL + 9, y: CELL + 4, "font-size": 13, "font-weight": 700, style: `fill:${mark}` }, names),
    ] : [];
    return [body, ...held].filter(Boolean);
  },
};
