// Blocks in stacks on a floor. A stack stands over the place of its bottom block, so that nothing moves but what was moved.

const BLOCK = 58;
const BLOCK_HUES = ["#7fa7d6", "#e2a76f", "#9cc38a", "#c79ad1", "#d98a8a", "#7fc2bf", "#d6c26b", "#a9a9c9", "#b7a08c", "#8fb7e8"];

scenes.stacks = {
  size(scene) {
    const n = scene.blocks.length;
    const tallest = Math.min(n, Math.max(4, n));
    return { width: Math.max(n, 4) * (BLOCK + 22) + 150, height: tallest * BLOCK + 92 };
  },

  label(scene) {
    const stacks = scene.stacks.map((stack) => stack.map((b) => scene.blocks[b]).join(" under "));
    const [x, y] = scene.goal.map((b) => scene.blocks[b]);
    return `Stacks: ${stacks.join("; ")}. Goal: ${x} on ${y}.`;
  },

  draw(stage, scene, marks) {
    const { width, height } = this.size(scene);
    const ground = height - 44;
    const left = 30;
    const right = width - 130;
    const floor = markColour(marks, scene.floor);
    stage.put("back", "floor", 0, 0, `${floor}`, () => [
      draw("rect", { x: left - 14, y: ground, width: right - left + 28, height: 8, rx: 4, fill: floor || "var(--wall)" }),
      draw("text", { x: left - 8, y: ground + 30, "font-size": 15, style: `fill:${floor || "var(--faint)"}`, "font-weight": floor ? 700 : 400 },
        floor ? `${markNames(marks, scene.floor)} = ${scene.floor}` : scene.floor),
    ]);
    this.goal(stage, scene, width, ground);
    const step = (right - left) / Math.max(scene.blocks.length, 4);
    for (const stack of scene.stacks) {
      const x = left + (stack[0] + 0.5) * step - BLOCK / 2;
      stack.forEach((block, height_) => {
        const name = scene.blocks[block];
        const mark = markColour(marks, name);
        const looks = `${mark} ${markNames(marks, name)}`;
        stage.put("blocks", `block ${name}`, x, ground - (height_ + 1) * BLOCK, looks, () => this.block(block, name, BLOCK, mark, markNames(marks, name)));
      });
    }
  },

  block(i, name, size, mark, variables) {
    return [
      draw("rect", { x: 1.5, y: 1.5, width: size - 3, height: size - 3, rx: 8, fill: BLOCK_HUES[i % BLOCK_HUES.length], stroke: mark || "none", "stroke-width": 5 }),
      draw("text", { x: size / 2, y: size / 2 + size * 0.14, "text-anchor": "middle", "font-size": size * 0.42, "font-weight": 650, style: "fill:#1c2024" }, name),
      variables && [
        draw("circle", { cx: size - 3, cy: 3, r: 11, fill: mark }),
        draw("text", { x: size - 3, y: 8, "text-anchor": "middle", "font-size": 13, "font-weight": 700, style: "fill:var(--card)" }, variables),
      ],
    ].flat().filter(Boolean);
  },

  goal(stage, scene, width, ground) {
    const [x, y] = scene.goal;
    const size = 34;
    stage.put("back", "goal", width - 92, ground - 2 * size, `${x} ${y}`, () => [
      draw("text", { x: size / 2, y: -14, "text-anchor": "middle", "font-size": 14, style: "fill:var(--faint)" }, "goal"),
      draw("g", { opacity: 0.9 }, this.block(x, scene.blocks[x], size, null, "")),
      draw("g", { opacity: 0.9, transform: `translate(0 ${size})` }, this.block(y, scene.blocks[y], size, null, "")),
      draw("rect", { x: -12, y: -34, width: size + 24, height: 2 * size + 46, rx: 10, fill: "none", stroke: "var(--line)", "stroke-width": 1.5, "stroke-dasharray": "4 4" }),
    ]);
  },
};
