#!/usr/bin/env python3
"""Makes a site of the pages in docs/: `python3 docs/book.py OUT`. It needs nothing but Python, and the site needs no server.

Pages are Markdown as this project writes it: headings, paragraphs, lists, tables, fenced blocks, links, images, emphasis and code. Every page
gets a list of all pages, its own headings, and a search over all of them.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent

# The pages in the order in which they are best read, in parts.
PARTS: list[tuple[str, list[str]]] = [
    ("Start", ["../README.md", "first-world.md"]),
    ("Understand", ["concepts.md", "language.md", "recursion.md", "glossary.md", "faq.md"]),
    ("Use", ["worlds.md", "python.md", "settings.md", "verification.md", "signals.md", "pixels.md"]),
    ("Check", ["results.md", "reproducing.md", "../DESIGN.md", "../CONTRIBUTING.md"]),
]


def slug(title: str) -> str:
    """A heading as links name it."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain).strip())


def address(source: str) -> str:
    """The file of a page on the site."""
    name = Path(source).stem
    return "index.html" if name == "README" else f"{name.lower()}.html"


def picture(light: str, dark: str | None, words: str) -> str:
    """An image, with another one for dark pages where there is one."""
    shown = f'<img src="{light}" alt="{html.escape(words)}" loading="lazy">'
    return f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">{shown}</picture>' if dark else shown


def inline(text: str, link) -> str:
    """Text with code, links, images and emphasis."""
    kept: list[str] = []

    def keep(made: str) -> str:
        kept.append(made)
        return f"\0{len(kept) - 1}\0"

    text = re.sub(r"``(.+?)``|`([^`]+)`", lambda m: keep(f"<code>{html.escape(m[1] or m[2])}</code>"), text)
    text = re.sub(r"<(https?://[^>]+)>", lambda m: keep(f'<a href="{m[1]}">{m[1]}</a>'), text)
    text = html.escape(text, quote=False)
    image = lambda m: keep(picture(link(m[2]), link(m[2] + "#dark"), m[1]))
    text = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", image, text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda m: f'<a href="{keep(link(m[2]))}">{m[1]}</a>', text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*", r"<em>\1</em>", text)
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)
    return text


def cells(row: str) -> list[str]:
    """The cells of a row of a table; a bar inside code does not end one."""
    parts, code = [""], False
    for c in row.strip().strip("|"):
        code ^= c == "`"
        if c == "|" and not code:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def blocks(text: str, link) -> tuple[str, list[tuple[int, str, str]]]:
    """A page as HTML, with its headings: level, text, name."""
    lines = re.sub(r"<!--.*?-->", "", text, flags=re.S).split("\n")
    out: list[str] = []
    heads: list[tuple[int, str, str]] = []
    at = 0
    starts = re.compile(r"#{1,6} |```|\||[-*] |\d+\. |> ")
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            words = line[3:].split()
            kind = words[0] if words else "text"
            code = "\n".join(lines[at + 1 : end])
            shown = html.escape(code)
            if kind == "console":
                shown = re.sub(r"(?m)^(\$ .*(?:\\\n.*)*)", r'<b class="typed">\1</b>', shown)
            out.append(f'<pre class="{kind}" tabindex="0"><code>{shown}</code></pre>')
            at = end + 1
        elif head := re.match(r"(#{1,6}) (.+)", line):
            level, title = len(head[1]), head[2]
            heads.append((level, title, slug(title)))
            out.append(f'<h{level} id="{slug(title)}">{inline(title, link)}</h{level}>')
            at += 1
        elif line.startswith("<picture>"):
            end = next(i for i in range(at, len(lines)) if lines[i].startswith("</picture>"))
            whole = " ".join(lines[at : end + 1])
            source = re.search(r'<img[^>]* src="([^"]+)"', whole)[1]
            words = html.unescape(re.search(r'alt="([^"]*)"', whole)[1])
            out.append(f"<p>{picture(link(source), link(source + '#dark'), words)}</p>")
            at = end + 1
        elif line.startswith("|"):
            rows = []
            while at < len(lines) and lines[at].startswith("|"):
                rows.append(cells(lines[at]))
                at += 1
            # A corner without a word heads nothing.
            row = lambda tag, r: "<tr>" + "".join(f"<{tag if c else 'td'}>{inline(c, link)}</{tag if c else 'td'}>" for c in r) + "</tr>"
            body = "".join(row("td", r) for r in rows[2:])
            out.append(f'<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>{row("th", rows[0])}</thead><tbody>{body}</tbody></table></div>')
        elif item := re.match(r"([-*]|\d+\.) ", line):
            ordered = item[1][0].isdigit()
            mark = re.compile(r"\d+\. " if ordered else r"[-*] ")
            items: list[str] = []
            while at < len(lines) and (mark.match(lines[at]) or (lines[at].startswith("  ") and lines[at].strip())):
                if found := mark.match(lines[at]):
                    items.append(lines[at][found.end() :])
                else:
                    items[-1] += "\n" + lines[at].strip()
                at += 1
            tag = "ol" if ordered else "ul"
            out.append(f"<{tag}>" + "".join(f"<li>{inline(i, link)}</li>" for i in items) + f"</{tag}>")
        elif line.startswith("> "):
            quoted = []
            while at < len(lines) and lines[at].startswith("> "):
                quoted.append(lines[at][2:])
                at += 1
            out.append(f"<blockquote><p>{inline(' '.join(quoted), link)}</p></blockquote>")
        else:
            paragraph = [line]
            at += 1
            while at < len(lines) and lines[at].strip() and not starts.match(lines[at]):
                paragraph.append(lines[at])
                at += 1
            out.append(f"<p>{inline(chr(10).join(paragraph), link)}</p>")
    return "\n".join(out), heads


def make(out: Path) -> list[Path]:
    """Writes the site, and returns its pages. An error where a link leads nowhere."""
    sources = [source for _, part in PARTS for source in part]
    pages = {(DOCS / source).resolve(): address(source) for source in sources}
    out.mkdir(parents=True, exist_ok=True)
    made: list[tuple[str, str, str, list[tuple[int, str, str]]]] = []
    wrong: list[str] = []

    def linker(source: Path):
        def link(target: str) -> str:
            if "://" in target or target.startswith("#") or target.startswith("mailto:"):
                return target
            file, _, place = target.partition("#")
            path = (source.parent / file).resolve()
            if path in pages:
                return pages[path] + (f"#{place}" if place else "")
            if path.suffix in {".png", ".gif", ".svg"} and path.is_file():
                if place == "dark":
                    path = path.with_stem(path.stem + "-dark")
                    if not path.is_file():
                        return None
                (out / "images").mkdir(exist_ok=True)
                shutil.copy(path, out / "images" / path.name)
                return f"images/{path.name}"
            if not path.exists():
                wrong.append(f"{source.name}: the link `{target}` leads nowhere")
            # Other files of the project are named, not shown.
            return "#"

        return link

    for source in sources:
        path = (DOCS / source).resolve()
        text = path.read_text(encoding="utf-8")
        body, heads = blocks(text, linker(path))
        made.append((address(source), heads[0][1] if heads else path.stem, body, heads))
    if wrong:
        raise SystemExit("\n".join(wrong))
    titles = {file: title for file, title, _, _ in made}
    index = []
    for file, title, body, _ in made:
        for part in re.split(r"(?=<h[1-3] id=)", body):
            place = re.match(r'<h[1-3] id="([^"]*)">(.*?)</h', part)
            plain = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", part))).strip()
            if plain:
                head = html.unescape(re.sub(r"<[^>]+>", "", place[2])) if place else title
                index.append([f"{file}#{place[1]}" if place else file, title, head, plain[:1500]])
    (out / "search.js").write_text("const PAGES = " + json.dumps(index, ensure_ascii=False) + ";\n" + SEARCH, encoding="utf-8")
    (out / "book.css").write_text(STYLE, encoding="utf-8")
    for file, title, body, heads in made:
        nav = "".join(
            f"<h2>{part}</h2><ul>"
            + "".join(
                f'<li><a href="{address(s)}"{" aria-current=page" if address(s) == file else ""}>{inline(titles[address(s)], lambda t: t)}</a></li>'
                for s in of
            )
            + "</ul>"
            for part, of in PARTS
        )
        toc = "".join(f'<li><a href="#{name}">{inline(text, lambda t: t)}</a></li>' for level, text, name in heads if level == 2)
        order = [address(s) for s in sources]
        at = order.index(file)
        near = "".join(
            f'<a rel="{rel}" href="{order[i]}">{arrow.format(inline(titles[order[i]], lambda t: t))}</a>'
            for rel, i, arrow in (("prev", at - 1, "← {}"), ("next", at + 1, "{} →"))
            if 0 <= i < len(order)
        )
        plain = re.sub(r"[`*]", "", title)
        page = TEMPLATE.format(title=html.escape(plain), nav=nav, toc=f"<ul>{toc}</ul>" if toc else "", body=body, near=near)
        (out / file).write_text(page, encoding="utf-8")
    return [out / file for file, *_ in made]


TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · derrl</title>
<link rel="stylesheet" href="book.css">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<details class="menu" id="menu"><summary>derrl: all pages</summary>
<nav aria-label="Pages"><input type="search" id="search" placeholder="Search" aria-label="Search all pages" autocomplete="off"><ol id="found" aria-live="polite"></ol>{nav}</nav></details>
<main id="main">{body}<p class="near">{near}</p></main>
<aside aria-label="On this page">{toc}</aside>
<script src="search.js"></script>
</body>
</html>
"""

STYLE = """:root { color-scheme: light dark; --page: #f7f6f3; --card: #fff; --sunk: #f1efea; --line: #e2dfd8; --ink: #1c2024; --soft: #5b636c; --accent: #14716b; }
@media (prefers-color-scheme: dark) { :root { --page: #121417; --card: #1b1e22; --sunk: #23272c; --line: #343a41; --ink: #e9ebed; --soft: #aab2ba; --accent: #5cc6bd; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, "DejaVu Sans", sans-serif; display: grid; grid-template-columns: 270px minmax(0, 780px) 200px; gap: 36px; justify-content: center; padding: 0 20px; }
.menu, aside { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 22px 0; font-size: 0.93rem; }
.menu summary { font-weight: 650; cursor: pointer; color: var(--accent); }
.menu h2 { font-size: 0.8rem; color: var(--soft); margin: 16px 0 4px; }
.menu ul, aside ul, #found { list-style: none; margin: 0; padding: 0; }
.menu li a, aside a, #found a { display: block; padding: 4px 8px; border-radius: 6px; color: inherit; text-decoration: none; }
.menu li a:hover, #found a:hover, [aria-current] { background: var(--sunk); color: var(--accent) !important; }
aside a { color: var(--soft); font-size: 0.87rem; }
input { width: 100%; margin-top: 12px; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; }
#found small { display: block; color: var(--soft); line-height: 1.35; }
main { padding: 22px 0 60px; min-width: 0; overflow-wrap: anywhere; }
h1 { font-size: 2.1rem; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 18px; }
h2 { margin: 36px 0 10px; font-size: 1.4rem; } h3 { margin: 26px 0 8px; font-size: 1.1rem; }
a { color: var(--accent); text-underline-offset: 3px; }
code { font: 0.9em ui-monospace, Menlo, "DejaVu Sans Mono", monospace; background: var(--sunk); border-radius: 5px; padding: 1px 5px; overflow-wrap: anywhere; }
pre { background: var(--sunk); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; overflow-x: auto; line-height: 1.45; }
pre code { background: none; padding: 0; font-size: 0.86rem; overflow-wrap: normal; }
.typed { color: var(--accent); }
td:first-child code { overflow-wrap: normal; }
p:has(picture + picture) { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); gap: 12px; align-items: start; }
img { max-width: 100%; border-radius: 10px; border: 1px solid var(--line); background: #fff; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border-top: 1px solid var(--line); overflow-wrap: normal; } th { border-top: 0; color: var(--soft); }
.near { display: flex; justify-content: space-between; gap: 16px; margin-top: 48px; padding-top: 16px; border-top: 1px solid var(--line); }
.near [rel=next] { margin-left: auto; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--card); padding: 8px; z-index: 2; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 1180px) { body { grid-template-columns: 240px minmax(0, 1fr); } aside { display: none; } }
@media (max-width: 760px) { body { display: block; padding: 0 16px; } .menu { position: static; max-height: none; padding: 14px 0 0; } h1 { font-size: 1.7rem; } .menu li a, #found a { padding: 9px 8px; } }
@media print { .menu, aside, .near { display: none; } body { display: block; } }
"""

SEARCH = """
const menu = document.getElementById("menu");
menu.open = matchMedia("(min-width: 761px)").matches;
const box = document.getElementById("search");
const found = document.getElementById("found");
const item = ([address, page, head, text], words) => {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = head === page ? page.replaceAll("`", "") : `${page.replaceAll("`", "")}: ${head}`;
  const near = document.createElement("small");
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 30);
  near.textContent = `${at ? "…" : ""}${text.slice(at, at + 110)}…`;
  link.append(near);
  const li = document.createElement("li");
  li.append(link);
  return li;
};
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const score = ([, page, head, text]) => {
    const all = `${page} ${head} ${text}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return 0;
    return 1 + words.filter((word) => head.toLowerCase().includes(word)).length * 3;
  };
  const hits = words.length ? PAGES.map((page) => [score(page), page]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 8) : [];
  found.replaceChildren(...hits.map(([, page]) => item(page, words)));
  if (words.length && !hits.length) found.textContent = "Nothing found.";
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input, textarea")) { menu.open = true; box.focus(); event.preventDefault(); }
});
"""


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python3 docs/book.py OUT: the folder to write the site to")
    written = make(Path(sys.argv[1]))
    print(f"{written[0]}: {len(written)} pages")
