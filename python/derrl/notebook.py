"""What notebooks show: rules with colours and in words, and progress. Plain HTML that needs no script."""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Sequence

STYLE = (
    "font-family:ui-monospace,monospace;white-space:pre-wrap;padding:.5em .8em;margin:.3em 0;"
    "border-left:3px solid #c2410c;background:rgba(127,127,127,.08)"
)
WORDS = "font-family:system-ui,sans-serif;white-space:normal;opacity:.75;font-size:90%;margin:0 0 .5em 1.5em"

RULE = re.compile(r"^\s*(?:(?P<value>[\d.eE+-]+)::)?(?P<head>.+?)(?:\s*:-\s*(?P<body>.+?))?\s*\.\s*(?P<note>%.*)?$")
_NAME = re.compile(r"(\\\+\s*)|('(?:[^'\\]|\\.)*'|[a-z]\w*)(?=\()|\b([A-Z]\w*)\b")


def block(text: str) -> str:
    """A text as it is."""
    return f'<div style="{STYLE}">{html.escape(text)}</div>'


def _coloured(text: str) -> str:
    """A text of the language: a colour per predicate, which it has in every rule; variables in italics."""
    parts, at = [], 0
    for found in _NAME.finditer(text):
        parts.append(html.escape(text[at : found.start()]))
        said = html.escape(found.group())
        if found[3]:
            parts.append(f"<i>{said}</i>")
        elif found[2]:
            hue = zlib.crc32(found[2].encode()) % 360
            parts.append(f'<span style="color:hsl({hue},65%,42%)">{said}</span>')
        else:
            parts.append(f"<b>{said}</b>")
        at = found.end()
    return "".join(parts) + html.escape(text[at:])


def literals(body: str) -> list[str]:
    """The literals of a body: split at commas outside brackets and quotes."""
    found, depth, quoted, last = [], 0, False, 0
    for at, letter in enumerate(body):
        if letter == "'" and body[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (letter in "([") - (letter in ")]")
            if letter == "," and depth == 0:
                found.append(body[last:at].strip())
                last = at + 1
    return [*found, body[last:].strip()]


def rules(text: str, sentences: Sequence[str]) -> str:
    """A policy: each rule with colours, and its sentence; the strongest rule that fires decides."""
    said = iter(sentences)
    parsed = [(line, RULE.match(line)) for line in text.splitlines() if line.strip()]
    ranked = {value: i for i, value in enumerate(sorted({-float(m["value"] or 1) for _, m in parsed if m}))}
    lines = []
    for line, found in parsed:
        if found is None:
            lines.append(html.escape(line))
            continue
        value = float(found["value"] or 1)
        place = "first" if ranked[-value] == 0 else "else" if ranked[-value] == 1 else f"else ({ranked[-value] + 1}.)"
        weight = f'<span style="opacity:.6">{found["value"]}::</span>' if found["value"] else ""
        body = f" :- {_coloured(found['body'])}" if found["body"] else ""
        note = f'  <span style="opacity:.6">{html.escape(found["note"])}</span>' if found["note"] else ""
        # A line without a value defines a predicate, and is no rule of the policy.
        sentence = next(said, "") if found["value"] else ""
        words = f'<div style="{WORDS}">{html.escape(f"{place}: {sentence}")}</div>' if sentence else "<br>"
        lines.append(f"{weight}{_coloured(found['head'])}{body}.{note}{words}")
    return f'<div style="{STYLE}">{"".join(lines)}</div>' if lines else block("(no rule: the policy acts at random)")


WIDTH, HEIGHT = 420, 90
"""Of a curve, in pixels."""


def curve(points: Sequence[tuple[float, float]]) -> str:
    """The mean return of the best policy so far over the steps taken, as an SVG; nothing for a single point."""
    if len(points) < 2:
        return ""
    last, values = max(points[-1][0], 1), [value for _, value in points]
    low, high = min(values), max(values)

    def place(steps: float, value: float) -> tuple[float, float]:
        share = (value - low) / (high - low) if high > low else 0.5
        return WIDTH * steps / last, HEIGHT - 4 - (HEIGHT - 8) * share

    # What was the best stays so until there is a better one.
    drawn = [place(*points[0])]
    for steps, value in points[1:]:
        x, y = place(steps, value)
        drawn += [(x, drawn[-1][1]), (x, y)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    words = f"best so far: {values[-1]:.4g} after {points[-1][0]:,} steps; first: {values[0]:.4g}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{words}" '
        f'style="background:rgba(127,127,127,.08)"><polyline points="{line}" fill="none" stroke="#c2410c" stroke-width="2"/></svg>'
        f'<div style="{WORDS}">{words}</div>'
    )


def progress(title: str, share: float, message: str, seconds: float) -> str:
    """How far a run is, with a bar where that is known."""
    bar = (
        '<span style="display:inline-block;width:12em;height:.7em;background:rgba(127,127,127,.25)">'
        f'<span style="display:block;width:{share:.0%};height:100%;background:#c2410c"></span></span> {share:.0%} '
    )
    return f'<div style="{STYLE}">{html.escape(title)} {bar if share else ""}{html.escape(message)}, {seconds:.0f} s</div>'
