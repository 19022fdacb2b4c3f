// Symbols that were learned from pixels: what each brings and looks like, and names that whoever reads gives them.

const SIDE = 8;

// Names stay in this browser, by run.
const namesKey = (run) => `derrl names ${run.domain} ${run.seed} ${run.label}`;

function namesOf(run) {
  try {
    return JSON.parse(localStorage.getItem(namesKey(run)) || "{}");
  } catch {
    return {}; // A page in a sandbox keeps nothing.
  }
}

function keepName(run, symbol, name) {
  const names = { ...namesOf(run), [symbol]: name };
  if (!name) delete names[symbol];
  try {
    localStorage.setItem(namesKey(run), JSON.stringify(names));
  } catch {
    // See above.
  }
}

// The run with names in place of symbols, wherever a symbol stands by itself: `s1` in `s1(X)` and in `to_s1_past_s3`.
function named(run) {
  if (!run.sight) return run;
  let text = JSON.stringify({ ...run, sight: null, label: null });
  for (const [symbol, name] of Object.entries(namesOf(run))) {
    text = text.replace(new RegExp(`(?<![A-Za-z0-9])${symbol}(?![A-Za-z0-9])`, "g"), name);
  }
  return { ...JSON.parse(text), sight: run.sight, label: run.label };
}

// A cell as it was seen, from two hexadecimal digits per colour.
function patchNode(hex, size, label) {
  const canvas = el("canvas", { class: "patch", width: SIDE, height: SIDE, role: "img", "aria-label": label, style: `width: ${size}px; height: ${size}px` });
  const image = new ImageData(SIDE, SIDE);
  for (let i = 0; i < SIDE * SIDE; i += 1) {
    for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = parseInt(hex.slice(6 * i + 2 * c, 6 * i + 2 * c + 2), 16);
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function bringsText(perception, symbol) {
  if (symbol === 0) return `Oneself: it moved as the action says in ${percent(perception.moves)} of new steps.`;
  const { reward, ends } = perception.brings[symbol - 1];
  return `Entering it gives ${number(reward, 2)}${ends ? " and ends the episode" : ""}.`;
}

function symbolsNode(run, renamed) {
  if (!run.sight?.perception) return null;
  const { perception, symbols } = run.sight;
  const names = namesOf(run);
  const cards = symbols.means.map((mean, i) => {
    const symbol = `s${i}`;
    const rename = (event) => {
      const name = event.target.value.trim();
      if (name && !/^[a-z][A-Za-z0-9]*$/.test(name)) return event.target.setCustomValidity("a small letter, then letters and digits") || event.target.reportValidity();
      keepName(run, symbol, name);
      return renamed();
    };
    return el("div", { class: "symbol" },
      patchNode(mean, 64, `The mean image of ${symbol}`),
      el("div", {},
        el("p", {}, el("code", {}, symbol), " ", el("label", {}, el("span", { class: "unseen" }, `A name for ${symbol}`),
          el("input", { type: "text", size: 10, maxlength: 20, placeholder: "name it", value: names[symbol] || "", "data-symbol": symbol, onchange: rename }))),
        el("p", { class: "sub" }, bringsText(perception, i)),
        el("p", { class: "examples" }, symbols.examples[i].map((hex, n) => patchNode(hex, 28, `Example ${n + 1} of ${symbol}`)))));
  });
  const head = el("tr", {}, el("th", { scope: "col" }, "Truly"), symbols.means.map((_, i) => el("th", { scope: "col" }, names[`s${i}`] || `s${i}`)));
  const rows = symbols.kinds.map((kind, k) => el("tr", {}, el("td", { class: "name" }, kind), symbols.confusion[k].map((n) => el("td", {}, grouped(n)))));
  const scores = Number.isFinite(perception.soft) && ` Success in training mazes: ${percent(perception.crisp)} with the most likely symbols (crisp), ${percent(perception.soft)} with symbols drawn by their probabilities (soft).`;
  return el("section", { class: "card wide", "aria-label": "Symbols" }, el("h2", {}, "Symbols"),
    el("div", { class: "symbols" }, cards),
    scroll(el("table", {}, el("thead", {}, head), el("tbody", {}, rows))),
    el("p", { class: "hint" }, `Learned from ${grouped(perception.steps)} steps of random play and their rewards: nobody said what stands in a cell. The table counts cells by what truly is in them, which is used for this table only.`, scores));
}
