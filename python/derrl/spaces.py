"""Gymnasium environments as they are: spaces become facts and actions by a convention.

| observation | facts |
|---|---|
| ``Box`` | a number per component: ``("angle", 0.03)`` |
| ``Discrete(2)``, ``MultiBinary`` | a proposition that holds or not: ``("ace",)`` |
| ``Discrete(n)``, ``MultiDiscrete`` | a number: ``("dealer", 7.0)`` |
| ``Text`` | a fact per word: ``("says", "door")`` |
| ``Dict``, ``Tuple`` | the facts of their parts, named by their keys |

| action | actions |
|---|---|
| ``Discrete`` | one per number, without objects: ``("left",)``, or ``("action0",)`` |
| ``MultiDiscrete``, ``MultiBinary``, ``Tuple``, ``Dict`` | one per combination, ``("action2_0",)``; of more than 32, one with an object per part |

Components with the same finite bounds may be compared with each other. :mod:`derrl.known` has the names and facts of well-known
environments.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._derrl import Error, builtin
from .inference import Atom, quote
from .known import KNOWN, Known
from .wrapping import Wrapped, _name

MOST_NUMBERS = 64
"""Numbers of an observation, at the most: more are an image."""
MOST_NAMED = 32
"""Actions of several parts that have a name each, at the most: of more, the parts are objects."""
MOST_ACTIONS = 1000
"""Actions, at the most."""


def is_environment(name: str) -> bool:
    """Whether a text names a Gymnasium environment, such as ``CartPole-v1``, and not a built-in world."""
    return re.fullmatch(r"([\w.-]+:)?([\w.-]+/)?[\w.-]+-v\d+", name) is not None and name not in builtin()


def make(name: str, **options: Any) -> Any:
    """The environment of that name, made by Gymnasium."""
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        raise Error(f"{name} is a Gymnasium environment: pip install gymnasium") from error
    if name.startswith(("MiniGrid-", "BabyAI-")):
        _import_minigrid()
    try:
        made = gymnasium.make(name, **options)
    except gymnasium.error.Error as error:
        raise Error(f"Gymnasium has no environment {name}: {error}") from error
    return made if options else _drawn(made, name)


def _drawn(made: Any, name: str) -> Any:
    """The same environment with frames for pages, where it can draw them here; else as it is."""
    import gymnasium

    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        # Frames need no screen, and what draws most of them complains where there is none.
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    for mode in ("rgb_array", "ansi"):
        if mode in made.metadata.get("render_modes", ()):
            # What drawing needs may not be installed: only trying tells.
            with contextlib.suppress(Exception):
                tried = gymnasium.make(name, render_mode=mode)
                tried.reset(seed=0)
                can_draw = tried.render() is not None
                tried.close()
                if can_draw:
                    # What has drawn holds a canvas, and could not be copied.
                    return gymnasium.make(name, render_mode=mode)
    return made


def _import_minigrid() -> None:
    try:
        import minigrid  # noqa: F401  registers its environments
    except ModuleNotFoundError as error:
        raise Error("MiniGrid environments are in a package of their own: pip install minigrid") from error


def converted(of: Any) -> Any:
    """An object as it is, or the world that a Gymnasium environment, or its name, amounts to."""
    if isinstance(of, str):
        return converted(make(of)) if is_environment(of) else of
    if not (hasattr(of, "action_space") and hasattr(of, "observation_space") and callable(getattr(of, "step", None))):
        return of
    if any(kind.__module__.startswith("minigrid.") for kind in type(of.unwrapped).__mro__):
        from .gridworlds import MinigridWorld

        return MinigridWorld(of)
    return adapted(of)


def adapted(env: Any) -> Wrapped:
    """A Gymnasium environment as a world, by the convention and what is known of it."""
    known = KNOWN.get(_name(env), Known())
    if known.world is not None:
        return known.world(env)
    observed, chosen = Observed(env.observation_space, known.observation), Chosen(env.action_space, known.actions)
    return Wrapped(
        env, lambda observation, info: chosen.facts() + observed.facts(observation), chosen.action, chosen.types,
        domain="\n".join(chosen.lines() + observed.lines) + "\n", objects=chosen.objects,
        succeeded=known.succeeded, has_goal=known.succeeded is not None,
    )


def _word(name: Any) -> str:
    """A name as a predicate."""
    word = re.sub(r"\W+", "_", str(name)).strip("_").lower() or "x"
    return word if word[0].isalpha() else "x" + word


class Observed:
    """What observations of a space say: declarations for the domain file, and facts."""

    def __init__(self, space: Any, names: Sequence[str] = ()) -> None:
        self.lines: list[str] = []
        self._names = list(names)
        self._units: dict[tuple[float, float], str] = {}
        self._read = self._reader(space, "")
        if not self.lines:
            raise Error(f"an observation of {space} says nothing")

    def facts(self, observation: Any) -> list[Atom]:
        """The facts of an observation."""
        return list(self._read(observation))

    def _name(self, name: str) -> str:
        """The name of the next component: from the table, or that of its place."""
        return self._names.pop(0) if self._names else name

    def _number(self, name: str, bounds: tuple[float, float] = (-math.inf, math.inf)) -> str:
        """Declares a number, and returns its name."""
        name = self._name(name)
        unit = self._units.setdefault(bounds, name) if all(map(math.isfinite, bounds)) else name
        self.lines.append(f":- number({name}, {unit}).")
        return name

    def _proposition(self, name: str) -> str:
        name = self._name(name)
        self.lines.append(f":- state({name}).")
        return name

    def _reader(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        """What turns an observation of a space into facts."""
        kind = type(space).__name__
        readers = {
            "Box": self._box, "Discrete": self._discrete, "MultiBinary": self._bits, "MultiDiscrete": self._numbers, "Text": self._text,
            "Dict": self._parts, "Tuple": self._parts,
        }
        if kind not in readers:
            raise Error(f"observations of {kind} have no facts by convention: say which by derrl.wrap(env, facts=..., ...)")
        return readers[kind](space, name)

    def _box(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        size = math.prod(space.shape)
        if size > MOST_NUMBERS or len(space.shape) > 2 or (len(space.shape) == 2 and space.dtype.kind == "u"):
            raise Error(
                f"an observation of {' x '.join(map(str, space.shape))} {space.dtype} is an image, and rules need objects or a few "
                "numbers: choose an observation that has them (such as obs_type=\"ram\", or the state without the picture), or say "
                "what is in it by derrl.wrap(env, facts=..., ...)"
            )
        low, high = space.low.flatten(), space.high.flatten()
        stem = name or "x"
        names = [self._number(stem if size == 1 and name else f"{stem}{i}", (float(low[i]), float(high[i]))) for i in range(size)]

        def read(observation: Any) -> Iterable[Atom]:
            for name, value in zip(names, observation.flatten()):
                if math.isfinite(value):
                    yield (name, float(value))

        return read

    def _discrete(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        if space.n == 2:
            holds = self._proposition(name or "on")
            return lambda observation: [(holds,)] if int(observation) != int(space.start) else []
        named = self._number(name or "at", (float(space.start), float(space.start + space.n - 1)))
        return lambda observation: [(named, float(observation))]

    def _bits(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        size = math.prod(space.shape)
        if size > MOST_NUMBERS:
            raise Error(f"an observation of {size} bits is too large: say what it means by derrl.wrap(env, facts=..., ...)")
        names = [self._proposition(f"{name or 'bit'}{i}") for i in range(size)]
        return lambda observation: [(name,) for name, bit in zip(names, observation.flatten()) if bit]

    def _numbers(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        sizes = space.nvec.flatten()
        if len(sizes) > MOST_NUMBERS:
            raise Error(f"an observation of {len(sizes)} numbers is too large: say what it means by derrl.wrap(env, facts=..., ...)")
        names = [self._number(f"{name or 'x'}{i}", (0.0, float(n - 1))) for i, n in enumerate(sizes)]
        return lambda observation: [(name, float(value)) for name, value in zip(names, observation.flatten())]

    def _text(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        says = self._name(f"{name}_says" if name else "says")
        self.lines.append(f":- state({says}(word)).")
        return lambda observation: [(says, word) for word in sorted(set(re.findall(r"[a-z]\w*", str(observation).lower())))]

    def _parts(self, space: Any, name: str) -> Callable[[Any], Iterable[Atom]]:
        keyed = space.spaces.items() if isinstance(space.spaces, dict) else enumerate(space.spaces)
        stem = f"{name}_" if name else "" if isinstance(space.spaces, dict) else "x"
        readers = [(key, self._reader(part, _word(f"{stem}{key}"))) for key, part in keyed]
        return lambda observation: [fact for key, read in readers for fact in read(observation[key])]


class Chosen:
    """The actions of a space: what the domain file declares, and the environment's action for one of them."""

    def __init__(self, space: Any, names: Sequence[str] = ()) -> None:
        self.types: dict[str, int | Sequence[str]] = {}
        self.objects: dict[str, str] = {}
        """The values of the parts, with the part of each, where there are too many actions to name each."""
        self._parts: dict[str, list[int]] = {}
        self._compose = self._composer(space, "part")
        count = math.prod(map(len, self._parts.values()))
        if count > MOST_ACTIONS:
            raise Error(f"{count:,} actions are too many: say which there are by derrl.wrap(env, ..., action=..., actions=...)")
        self._named: dict[str, Sequence[int]] = {}
        self._values = {f"{part}_{value}": value for part, values in self._parts.items() for value in values}
        if count <= MOST_NAMED or len(self._parts) == 1:
            combined = list(itertools.product(*self._parts.values()))
            given = names if len(names) == count else ["action" + "_".join(str(v).replace("-", "m") for v in values) for values in combined]
            self._named = dict(zip(given, combined))
            self.types.update(dict.fromkeys(given, 0))
        else:
            self.objects = {f"{part}_{value}": part for part, values in self._parts.items() for value in values}
            self.types["act"] = list(self._parts)

    def lines(self) -> list[str]:
        """The declarations of the actions."""
        if not self.objects:
            return [f":- action({quote(name)})." for name in self.types]
        return [f":- action(act({', '.join(self._parts)}))."] + [f":- number({part}_value({part}), {part}_value)." for part in self._parts]

    def facts(self) -> list[Atom]:
        """The number of each value of a part, where rules choose among them."""
        return [(f"{part}_value", name, float(self._values[name])) for name, part in self.objects.items()]

    def action(self, name: str, *parts: str) -> Any:
        """The environment's action."""
        values = self._named[name] if name in self._named else [self._values[part] for part in parts]
        return self._compose(iter(values))

    def _part(self, name: str, values: Iterable[int]) -> None:
        self._parts[name] = list(values)

    def _composer(self, space: Any, name: str) -> Callable[[Any], Any]:
        """What makes an action of a space from the values of its parts, which it takes from an iterator."""
        kind = type(space).__name__
        if kind == "Discrete":
            self._part(name, range(int(space.start), int(space.start + space.n)))
            return next
        if kind in ("MultiDiscrete", "MultiBinary") and len(space.shape) == 1:
            import numpy

            sizes = [2] * space.shape[0] if kind == "MultiBinary" else [int(n) for n in space.nvec]
            for i, size in enumerate(sizes):
                self._part(f"{name}{i}", range(size))
            return lambda values: numpy.array([next(values) for _ in sizes], dtype=space.dtype)
        if kind == "Tuple":
            of = [self._composer(part, f"{name}{i}") for i, part in enumerate(space.spaces)]
            return lambda values: tuple(compose(values) for compose in of)
        if kind == "Dict":
            keyed = {key: self._composer(part, _word(key)) for key, part in space.spaces.items()}
            return lambda values: {key: compose(values) for key, compose in keyed.items()}
        raise Error(
            f"actions of {space} are not a choice among a few, which rules make: say which few there are by derrl.wrap(env, "
            "facts=..., action=..., actions=...)"
        )
