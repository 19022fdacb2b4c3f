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

// Code whose options stay whole: a line may end before `--seed`, not inside it.
const codeNode = (text) => el("code", {}, text.split(/(--[\w-]+)/).map((part, i) => (i % 2 ? el("span", { class: "whole" }, part) : part)));

// Gives a text as a file, and puts one where it can be pasted.
function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function copied(content) {
  try {
    await navigator.clipboard.writeText(content);
    return true;
  } catch {
    return false; // A page from a file may not.
  }
}

// A drawing of the page as a file of its own: with its colours, and where its pieces are now.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const style = getComputedStyle(document.documentElement);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  for (const [name, value] of [["xmlns", SVG], ["width", width], ["height", height], ["font-family", "DejaVu Sans, Verdana, sans-serif"]]) copy.setAttribute(name, value);
  copy.prepend(draw("rect", { width, height, fill: "var(--card)" }));
  for (const node of [copy, ...copy.querySelectorAll("*")]) {
    if (node.style.transform) node.setAttribute("transform", node.style.transform.replaceAll("px", ""));
    node.removeAttribute("style");
    node.removeAttribute("class");
    for (const { name, value } of [...node.attributes]) {
      node.setAttribute(name, value.replace(/var\((--[\w-]+)\)/g, (_, colour) => style.getPropertyValue(colour).trim()));
    }
  }
  return new XMLSerializer().serializeToString(copy);
}

// Says on a button for a moment what it did.
function said(button, word) {
  const label = button.dataset.label || button.textContent;
  button.dataset.label = label;
  button.textContent = word;
  setTimeout(() => { button.textContent = label; }, 1500);
}

const isVariable = (name) => /^[A-Z_]/.test(name);
const quiet = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// An element as the program wrote it: `[tag, {attributes}, ...what it holds]`, or text. A file may have been changed by others: what
// is not one of the shapes below, or could do more than look like something, is left out.
const SHAPES = new Set(["g", "rect", "circle", "line", "path", "polyline", "polygon", "text", "image"]);
const LOOKS = new Set(["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height", "d", "points", "transform", "fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-size", "font-weight", "font-family", "text-anchor", "image-rendering"]);
// An image comes with the page: inside an <image> even SVG runs no scripts and loads nothing.
const looksLike = (name, value) => LOOKS.has(name) ? !String(value).includes("url(") : name === "href" && String(value).startsWith("data:image/");
function made(node) {
  if (typeof node === "string") return document.createTextNode(node);
  if (!Array.isArray(node) || !SHAPES.has(node[0])) return null;
  const looks = Object.entries(node[1] || {}).filter(([name, value]) => looksLike(name, value));
  return draw(node[0], Object.fromEntries(looks), node.slice(2).map(made));
}

// A whole drawing.
const drawing = ({ width, height, label, nodes }) =>
  draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, fill: "var(--ink)", style: `max-width:${width}px` }, nodes.map(made));

// A picture whose pieces move. Each has a key: while the key stays, the piece moves to its new place; its looks are redrawn only when
// they change.
class Stage {
  constructor(run) {
    this.run = run;
    this.pieces = new Map();
    this.svg = draw("svg", { role: "img", preserveAspectRatio: "xMidYMid meet", fill: "var(--ink)" });
  }

  // Shows a picture: its label, its size, and its pieces from back to front.
  show({ label, size, pieces }, forward) {
    this.svg.setAttribute("aria-label", label);
    this.svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const keys = new Set(pieces.map(([key]) => key));
    for (const [key, piece] of this.pieces) {
      if (!keys.has(key)) {
        piece.node.remove();
        this.pieces.delete(key);
      }
    }
    let after = null;
    for (const [key, x, y, looks, path] of pieces) {
      const node = this.put(key, x, y, looks, forward ? path : null);
      const next = after ? after.nextSibling : this.svg.firstChild;
      if (next !== node) this.svg.insertBefore(node, next);
      after = node;
    }
  }

  put(key, x, y, looks, path) {
    let piece = this.pieces.get(key);
    if (!piece) {
      piece = { node: draw("g", {}), looks: null };
      this.pieces.set(key, piece);
    } else {
      piece.node.classList.add("moving");
    }
    if (piece.looks !== looks) {
      piece.node.replaceChildren(...this.run.looks[looks].map(made).filter(Boolean));
      piece.looks = looks;
    }
    piece.node.style.transform = `translate(${x}px, ${y}px)`;
    if (path && path.length > 2 && !quiet()) {
      piece.node.classList.remove("moving");
      const frames = path.map(([px, py]) => ({ transform: `translate(${px}px, ${py}px)` }));
      piece.node.animate(frames, { duration: Math.min(1000, 90 * path.length), easing: "linear" });
    }
    return piece.node;
  }
}
