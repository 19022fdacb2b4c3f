"""Arguments that are checked before anything is done."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from operator import index
from typing import Any

from ._derrl import Error


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number from ``least``, as Python has it; an error that names the argument where it is something else."""
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number < 1 << 64:
        raise Error(f"{name}: a whole number from {least}, not {value!r}")
    return number


def whole_or_none(name: str, value: Any, least: int = 1) -> int | None:
    """The same, where nothing may be given."""
    return None if value is None else whole(name, value, least)


def seconds_or_none(name: str, value: Any) -> float | None:
    """A number of seconds, more than 0, where one is given."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise Error(f"{name}: a number of seconds, more than 0, not {value!r}")
    return float(value)


def mapping(name: str, value: Any, example: str) -> dict[Any, Any]:
    """A dict, empty where nothing is given; an error that shows an example where it is something else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Error(f"{name}: a dict such as {example}, not {value!r}")
    return dict(value)


def options(value: Any) -> str:
    """Options of a world, as JSON."""
    try:
        return json.dumps(mapping("options", value, '{"noise": 0.1}'))
    except TypeError as error:
        raise Error(f"options: {error}") from error
