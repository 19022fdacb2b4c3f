// Intersections with lanes, queues and lights. Traffic keeps to the right.

const BLOCK_LENGTH = 190;
const CAR = 13;

scenes.roads = {
  frame(scene) {
    const xs = scene.nodes.map((n) => n.at[0]);
    const ys = scene.nodes.map((n) => n.at[1]);
    return { left: Math.min(...xs), top: Math.max(...ys), width: Math.max(...xs) - Math.min(...xs), height: Math.max(...ys) - Math.min(...ys) };
  },

  size(scene) {
    const frame = this.frame(scene);
    // Roads that lead out are drawn only in part: the margin is smaller than a block.
    return { width: frame.width * BLOCK_LENGTH - 60, height: frame.height * BLOCK_LENGTH - 60 };
  },

  label(scene) {
    const waiting = scene.queues.reduce((sum, q) => sum + q, 0);
    return `${plural(waiting, "vehicle")} waiting after ${scene.time} seconds, at ${plural(scene.nodes.filter((n) => n.lights).length, "intersection")}.`;
  },

  draw(stage, scene, marks) {
    const frame = this.frame(scene);
    const at = (i) => [(scene.nodes[i].at[0] - frame.left) * BLOCK_LENGTH - 30, (frame.top - scene.nodes[i].at[1]) * BLOCK_LENGTH - 30];
    stage.put("roads", "roads", 0, 0, "", () => scene.lanes.map((lane) => {
      const [[x1, y1], [x2, y2]] = [at(lane.from), at(lane.to)];
      return draw("line", { x1, y1, x2, y2, stroke: "var(--road)", "stroke-width": 44, "stroke-linecap": "butt" });
    }).concat(scene.lanes.map((lane) => {
      const [[x1, y1], [x2, y2]] = [at(lane.from), at(lane.to)];
      return draw("line", { x1, y1, x2, y2, stroke: "var(--sunk)", "stroke-width": 1.5, "stroke-dasharray": "8 8" });
    })));
    scene.nodes.forEach((node, i) => {
      if (!node.lights) return;
      const turn = scene.turn === i;
      const mark = markColour(marks, node.name);
      const [x, y] = at(i);
      stage.put("nodes", `node ${node.name}`, x, y, `${turn} ${mark}`, () => [
        draw("rect", { x: -22, y: -22, width: 44, height: 44, rx: 4, fill: "var(--road)", stroke: turn ? "var(--accent)" : "none", "stroke-width": 4 }),
        draw("text", { y: 6, "text-anchor": "middle", "font-size": 17, "font-weight": 650, style: `fill:${mark || (turn ? "var(--accent)" : "var(--ink)")}` }, mark ? `${markNames(marks, node.name)}=${node.name}` : node.name),
      ]);
    });
    scene.lanes.forEach((lane, i) => this.lane(stage, scene, lane, i, at, marks));
  },

  lane(stage, scene, lane, i, at, marks) {
    const [[x1, y1], [x2, y2]] = [at(lane.from), at(lane.to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [rx, ry] = [-dy, dx]; // to the right of the way it goes
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    const point = (back, side) => [x2 - dx * back + rx * side, y2 - dy * back + ry * side];
    const green = scene.green.includes(i);
    const wanted = scene.wanted.includes(i);
    const mark = markColour(marks, lane.name);
    const [lx, ly] = point(31, 11);
    const looks = `${green} ${wanted} ${mark}`;
    stage.put("lights", `light ${lane.name}`, lx, ly, looks, () => [
      draw("circle", { r: 8, fill: green ? "#2fa84f" : "#c9453b", stroke: wanted && !green ? "#2fa84f" : "var(--card)", "stroke-width": wanted && !green ? 4 : 2 }),
    ]);
    if (mark) {
      const [mx, my] = point(74, 11);
      stage.put("marks", `mark ${lane.name}`, mx, my, `${mark} ${angle}`, () => [
        draw("rect", { x: -36, y: -10, width: 72, height: 20, rx: 6, fill: "none", stroke: mark, "stroke-width": 3.5, transform: `rotate(${angle})` }),
      ]);
      const [bx, by] = point(100, 32);
      stage.put("marks", `name ${lane.name}`, bx, by, `${mark} ${markNames(marks, lane.name)}`, () => [
        draw("circle", { r: 11, fill: mark }),
        draw("text", { y: 5, "text-anchor": "middle", "font-size": 14, "font-weight": 700, style: "fill:var(--card)" }, markNames(marks, lane.name)),
      ]);
    }
    const queue = scene.queues[i] || 0;
    const shown = Math.min(queue, 5);
    for (let car = 0; car < shown; car += 1) {
      const [x, y] = point(48 + car * CAR, 11);
      stage.put("cars", `car ${lane.name} ${car}`, x, y, `${angle}`, () => [
        draw("rect", { x: -5, y: -4, width: 10, height: 8, rx: 2.5, fill: "var(--ink)", transform: `rotate(${angle})` }),
      ]);
    }
    if (queue > 0) {
      const [x, y] = point(48 + shown * CAR + 3, 11);
      stage.put("cars", `queue ${lane.name}`, x, y, `${queue}`, () => [
        draw("text", { y: 4.5, "text-anchor": "middle", "font-size": 13, "font-weight": 650, style: "fill:var(--soft)" }, String(queue)),
      ]);
    }
  },
};
