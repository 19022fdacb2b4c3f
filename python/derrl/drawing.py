"""States of the built-in worlds as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL = 16
COLOURS = {
    "red": (224, 112, 112), "green": (127, 194, 127), "blue": (127, 159, 224), "purple": (181, 143, 208),
    "yellow": (234, 214, 106), "grey": (170, 170, 170),
}
PAPER, WALL, FLOOR, THING, GOAL, AGENT = (
    (255, 255, 255), (107, 104, 98), (232, 230, 225), (188, 208, 232), (244, 207, 122), (192, 80, 77),
)

Picture = NDArray[np.uint8]


def draw(scene: Mapping[str, Any]) -> Picture:
    """The picture of a scene: squares, 16 pixels each. A scene without a picture is a white square."""
    kind = scene.get("kind")
    if kind == "grid":
        return _grid(scene)
    if kind == "stacks":
        return _stacks(scene)
    if kind == "numbers":
        return _numbers(scene)
    return _paper(1, 1)


def _paper(width: int, height: int) -> Picture:
    return np.full((height * CELL, width * CELL, 3), PAPER, dtype=np.uint8)


def _fill(picture: Picture, x: int, y: int, colour: tuple[int, int, int], margin: int = 1) -> None:
    picture[y * CELL + margin : (y + 1) * CELL - margin, x * CELL + margin : (x + 1) * CELL - margin] = colour


def _grid(scene: Mapping[str, Any]) -> Picture:
    rows = scene["rows"]
    picture = _paper(max(map(len, rows), default=1), max(1, len(rows)))
    for y, row in enumerate(rows):
        for x, square in enumerate(row):
            _fill(picture, x, y, WALL if square == "#" else FLOOR, 0)
    for thing in scene["things"]:
        colour = COLOURS.get(thing.get("colour") or "", GOAL if thing["kind"] == "goal" else WALL)
        margin = {"key": 5, "door": 1}.get(thing["kind"], 2)
        x, y = thing["at"]
        _fill(picture, x, y, colour, margin)
        if thing.get("state") == "open":
            _fill(picture, x, y, FLOOR, 4)
    x, y = scene["agent"]["at"]
    _fill(picture, x, y, AGENT, 4)
    return picture


def _stacks(scene: Mapping[str, Any]) -> Picture:
    stacks = scene["stacks"]
    height = max(1, len(scene["blocks"])) + 1
    picture = _paper(max(1, len(scene["blocks"])), height)
    picture[-CELL // 2 :] = FLOOR
    for x, stack in enumerate(stacks):
        for y, block in enumerate(stack):
            _fill(picture, x, height - 2 - y, GOAL if block in scene["goal"] else THING)
    return picture


def _numbers(scene: Mapping[str, Any]) -> Picture:
    least, most = scene["range"]
    width = most - least + 1
    picture = _paper(width, len(scene["numbers"]) + 2)
    _fill(picture, scene["goal"] - least, 0, GOAL)
    if least <= scene["acc"] <= most:
        _fill(picture, scene["acc"] - least, 1, AGENT)
    for y, number in enumerate(scene["numbers"]):
        _fill(picture, number - least, y + 2, WALL if y < scene["taken"] else THING)
    return picture
