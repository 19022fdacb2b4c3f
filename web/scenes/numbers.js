// A stack of numbers, and a number line on which the sum moves towards the goal.

scenes.numbers = {
  size() {
    return { width: 480, height: 340 };
  },

  label(scene) {
    const rest = scene.numbers.slice(scene.taken);
    return `Sum ${scene.acc}, goal ${scene.goal}. Stack: ${rest.length ? rest.join(", ") : "empty"}.`;
  },

  draw(stage, scene, marks) {
    const { width } = this.size();
    const [low, high] = scene.range;
    const axis = 262;
    // The flag at the goal needs room on the right.
    const at = (n) => 40 + ((n - low) / (high - low)) * (width - 100);
    stage.put("back", "axis", 0, 0, "", () => [
      draw("line", { x1: at(low) - 20, x2: at(high) + 20, y1: axis, y2: axis, stroke: "var(--wall)", "stroke-width": 3, "stroke-linecap": "round" }),
    ]);
    for (let n = low; n <= high; n += 1) {
      const mark = markColour(marks, String(n));
      const names = markNames(marks, String(n));
      stage.put("back", `tick ${n}`, at(n), axis, `${mark} ${names}`, () => [
        draw("line", { y1: -6, y2: 6, stroke: mark || "var(--wall)", "stroke-width": mark ? 4 : 2 }),
        draw("text", { y: 30, "text-anchor": "middle", "font-size": 17, "font-weight": mark ? 700 : 400, style: `fill:${mark || "var(--soft)"}` }, String(n).replace("-", "−")),
        names && draw("text", { y: 53, "text-anchor": "middle", "font-size": 17, "font-weight": 700, style: `fill:${mark}` }, names),
      ].filter(Boolean));
    }
    stage.put("goal", "goal", at(scene.goal), axis, "goal", () => [
      draw("line", { y1: -4, y2: -96, stroke: "var(--good)", "stroke-width": 3, "stroke-linecap": "round" }),
      draw("path", { d: "M0 -97 h48 l-9 12 l9 12 h-48 z", fill: "var(--good)" }),
      draw("text", { x: 20, y: -80, "text-anchor": "middle", "font-size": 14, "font-weight": 650, style: "fill:var(--card)" }, "goal"),
    ]);
    stage.put("acc", "acc", at(scene.acc), axis, "acc", () => [
      draw("path", { d: "M0 -4 l-9 -15 h18 z", fill: "var(--accent)" }),
      draw("circle", { cy: -34, r: 21, fill: "var(--accent)", stroke: "var(--sunk)", "stroke-width": 3 }),
      draw("text", { y: -29, "text-anchor": "middle", "font-size": 15, "font-weight": 650, style: "fill:var(--card)" }, "acc"),
    ]);
    this.stack(stage, scene, width);
  },

  stack(stage, scene, width) {
    const step = 70;
    const left = width / 2 - (scene.numbers.length * step - 14) / 2;
    stage.put("back", "stack label", width / 2, 32, "", () => [
      draw("text", { "text-anchor": "middle", "font-size": 15, style: "fill:var(--faint)" }, "stack, from the top"),
    ]);
    scene.numbers.forEach((n, i) => {
      const used = i < scene.taken;
      const top = i === scene.taken;
      stage.put("stack", `card ${i}`, left + i * step, 50, `${used} ${top}`, () => [
        draw("rect", { width: 56, height: 64, rx: 10, fill: used ? "none" : "var(--card)", stroke: top ? "var(--accent)" : "var(--wall)", "stroke-width": top ? 4 : 1.5, "stroke-dasharray": used ? "4 5" : "none", opacity: used ? 0.55 : 1 }),
        draw("text", { x: 28, y: 42, "text-anchor": "middle", "font-size": 29, "font-weight": 620, opacity: used ? 0.4 : 1 }, String(n)),
      ]);
    });
  },
};
