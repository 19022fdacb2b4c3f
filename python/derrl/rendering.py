"""What ``render()`` of a world returns, as pages show it: text, SVG, or an array of pixels."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import Any


def read(rendered: Any) -> tuple[str, int, int] | None:
    """The text with sizes 0, or the address of an image with its width and height; none for ``None``."""
    if rendered is None:
        return None
    if isinstance(rendered, str):
        return _svg(rendered) if re.match(r"\s*(<\?xml|<svg)", rendered) else (rendered, 0, 0)
    shape = getattr(rendered, "shape", None)
    if shape is None or len(shape) != 3 or shape[2] not in (3, 4) or str(getattr(rendered, "dtype", "")) != "uint8":
        raise TypeError(
            f"render() returns text, SVG as text, or an array of uint8 of height x width x 3, not {_described(rendered)}"
        )
    height, width, channels = (int(n) for n in shape)
    return "data:image/png;base64," + _base64(_png(rendered.tobytes(), width, height, channels)), width, height


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"an array of {value.dtype} of {' x '.join(map(str, shape))}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _svg(text: str) -> tuple[str, int, int]:
    tag = re.search(r"<svg\b[^>]*>", text)
    head = tag.group() if tag else ""

    def number(name: str) -> float | None:
        found = re.search(rf"""\b{name}\s*=\s*["']\s*([\d.]+)(px)?\s*["']""", head)
        return float(found.group(1)) if found else None

    box = re.search(r"""viewBox\s*=\s*["']([-\d.\s,e]+)["']""", head)
    sides = [float(n) for n in re.split(r"[\s,]+", box.group(1).strip())][2:] if box else [320.0, 320.0]
    width, height = number("width") or sides[0], number("height") or sides[1]
    return "data:image/svg+xml;base64," + _base64(text.encode()), max(1, round(width)), max(1, round(height))


def _png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = width * channels
    lines = b"".join(b"\0" + pixels[y * row : (y + 1) * row] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
