// Small helpers to make HTML and SVG, and a stage whose pieces move instead of being redrawn.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attrs, children) {
  for (const [key, value] of Object.entries(attrs || {})) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("aria-")) node.setAttribute(key, String(value));
    else if (value === false) continue;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const el = (tag, attrs, ...children) => fill(document.createElement(tag), attrs, children);
const draw = (tag, attrs, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);
const byId = (id) => document.getElementById(id);

function replace(node, ...children) {
  node.replaceChildren();
  return fill(node, {}, children);
}

// Replaces what a node holds. A focus inside goes to what has the same `data-${key}` now, else to the first that has any: a person at
// a keyboard must not be thrown back to the top of the page.
function replaceKept(node, key, ...children) {
  const held = node.contains(document.activeElement) ? document.activeElement.dataset[key] : undefined;
  replace(node, ...children);
  if (held === undefined) return;
  const now = [...node.querySelectorAll(`[data-${key}]`)];
  (now.find((other) => other.dataset[key] === held) || now[0])?.focus({ preventScroll: true });
}

const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
// A minus sign is as wide as a plus, unlike a hyphen.
const number = (n, digits = 2) =>
  typeof n === "number" && Number.isFinite(n) ? n.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−") : "–";

const isVariable = (name) => /^[A-Z_]/.test(name);
const quiet = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// A picture in layers. Each piece has a key: while the key stays, the piece moves to its new place; its looks are redrawn only when
// they change.
class Stage {
  constructor(width, height, label) {
    this.layers = new Map();
    this.pieces = new Map();
    this.svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "xMidYMid meet" });
  }

  layer(name) {
    if (!this.layers.has(name)) {
      const group = draw("g", {});
      this.layers.set(name, group);
      this.svg.append(group);
    }
    return this.layers.get(name);
  }

  begin(label) {
    this.svg.setAttribute("aria-label", label);
    this.seen = new Set();
  }

  // Puts a piece at a place. `looks` says what it looks like, and `make` draws it around (0, 0).
  put(layer, key, x, y, looks, make, path) {
    this.seen.add(key);
    let piece = this.pieces.get(key);
    if (!piece) {
      piece = { node: draw("g", {}), looks: null };
      this.pieces.set(key, piece);
      this.layer(layer).append(piece.node);
    } else {
      piece.node.classList.add("moving");
    }
    if (piece.looks !== looks) {
      piece.node.replaceChildren(...[make()].flat());
      piece.looks = looks;
    }
    piece.node.style.transform = `translate(${x}px, ${y}px)`;
    if (path && path.length > 2 && !quiet()) {
      piece.node.classList.remove("moving");
      const frames = path.map(([px, py]) => ({ transform: `translate(${px}px, ${py}px)` }));
      piece.node.animate(frames, { duration: Math.min(1000, 90 * path.length), easing: "linear" });
    }
  }

  end() {
    for (const [key, piece] of this.pieces) {
      if (!this.seen.has(key)) {
        piece.node.remove();
        this.pieces.delete(key);
      }
    }
  }
}

// How each kind of picture is drawn: `size(scene)` and `draw(stage, scene, marks, forward)`. `marks` says which variable stands for
// an object, by name.
const scenes = {};

const markColour = (marks, name) => (marks.has(name) ? `var(--v${marks.get(name).place % 6})` : null);
const markNames = (marks, name) => (marks.has(name) ? marks.get(name).names.join(" ") : "");
