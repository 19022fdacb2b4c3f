"""Worlds: built-in ones by name, and objects of your own, whose domain can be inferred."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Union, runtime_checkable

from . import spaces
from ._derrl import Error, World
from .arguments import mapping
from .inference import Atom, Inference, check_methods, infer_domain

@runtime_checkable
class PythonWorld(Protocol):
    """What an object needs to be a world. There is no base class to inherit from.

    Optional: ``domain`` (text or path of a domain file), ``actions()``, ``legal()``, ``succeeded()``, ``render()``,
    ``background()``, ``objects()``, ``copy()``, ``horizon`` (steps after which an episode is cut off, default 1000),
    ``has_goal`` (``False`` where episodes reach nothing and only the return counts), ``score_episodes`` (for worlds with slow
    episodes: how many of them a score takes), ``name``, and ``words`` (how predicates and actions read, a line each: ``away(X, Y): X is away, at Y``).
    """

    def reset(self, seed: int) -> Iterable[Any]:
        """Starts an episode, which depends on the seed alone, and returns its facts."""
        ...

    def step(self, action: Any) -> tuple[Any, ...]:
        """Acts, and returns facts, reward, terminated and truncated."""
        ...


class Environment(Protocol):
    """What tells a Gymnasium environment."""

    observation_space: Any
    action_space: Any


WorldLike = Union[str, World, PythonWorld, Environment]
"""A name of a built-in world or of a Gymnasium environment, a world, an environment, or an object with ``reset`` and ``step``."""
__all__ = ["Atom", "Environment", "Prepared", "PythonWorld", "WorldLike", "domain_text", "infer_domain", "pddl", "prepare", "world"]

_Paths = Union[str, "PathLike[str]", Iterable[Union[str, "PathLike[str]"]]]


@dataclass
class Prepared:
    """What training needs of a world."""

    world: World
    """The world."""
    source: object
    """The Python object that is stepped; none for worlds in Rust."""
    inference: Inference | None = None
    """What was seen of the world, where its domain was inferred."""
    remake: Callable[[str], World] | None = None
    """The same world with another domain file."""
    sources: Sequence[object] = ()
    """The Python objects of all tasks."""


def prepare(
    of: WorldLike,
    tests: Mapping[str, object] | None = None,
    name: str | None = None,
    domain: str | Path | None = None,
) -> Prepared:
    """What :func:`world` says, with what it is made of."""
    tests = mapping("tests", tests, '{"more": Delivery(balls=6)}')
    if isinstance(of, str) and spaces.is_environment(of):
        of = spaces.make(of)
    if isinstance(of, (World, str)):
        if tests:
            raise Error("tests go with a world of your own; a built-in world has tasks: evaluate(policy, world, task)")
        if isinstance(of, str) and (of.endswith(".pddl") or Path(of, "domain.pddl").is_file()):
            return Prepared(pddl(of), None)
        if isinstance(of, str) and of.endswith(".pl"):
            return Prepared(World.changed(of, domain_text(Path(of))), None)
        return Prepared(of if isinstance(of, World) else World.find(of), None)
    of, tests = spaces.converted(of), {task: spaces.converted(test) for task, test in tests.items()}
    for each in (of, *tests.values()):
        check_methods(each)
    given = getattr(of, "domain", None) if domain is None else domain
    inference = None if given is not None else Inference(of, *tests.values())
    text = inference.text() if inference is not None else domain_text(given or "")
    if inference is not None:
        print(f"% Inferred by random play; correct it and set it as `domain`:\n{text}", file=sys.stderr)
    named = name or getattr(of, "name", None)
    if not isinstance(named, str):
        named = type(of).__name__
    named = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", named).lower().strip("_") or "world"
    tasks: list[tuple[str, object]] = [("train", of)]
    for task, test in tests.items():
        if task == "train":
            raise Error("tests: `train` is the task trained on; give this one another name")
        if not isinstance(task, str) or not task.strip():
            raise Error(f"tests: the name of a task is text, not {task!r}")
        tasks.append((task, test))

    words = getattr(of, "words", None) or ""
    if not isinstance(words, str):
        raise TypeError(f"words: a text with a line each, such as \"at(X, Y): X is at Y\", not {words!r}")

    def remake(text: str) -> World:
        return World.python(named, text, tasks, _summary(of), words)

    return Prepared(remake(text), of, inference, remake, [object for _, object in tasks])


def world(
    of: WorldLike,
    tests: Mapping[str, object] | None = None,
    name: str | None = None,
    domain: str | Path | None = None,
) -> World:
    """The world that a name, an object, or the path of a domain file (``.pl``, for a built-in world, or ``.pddl``) stands for.

    ``tests`` are further objects of the same kind, each a task that is scored after training. ``domain`` is used in place of that
    of the object. Where there is neither, one is inferred by :func:`infer_domain` and printed to standard error.

        >>> derrl.world("blocks")
        <World blocks, built in; ...>
    """
    return prepare(of, tests, name, domain).world


def _summary(of: object) -> str:
    """What a world is about, in one line: its attribute ``summary``, or the first sentence of the docstring of its class."""
    said = getattr(of, "summary", None)
    if not isinstance(said, str):
        said = type(of).__dict__.get("__doc__") or ""
    return re.split(r"\.\s|\n\s*\n", said.strip(), maxsplit=1)[0].replace("\n", " ").strip().rstrip(".")


def pddl(
    domain: str | PathLike[str],
    train: _Paths = (),
    test: _Paths | Mapping[str, str | PathLike[str]] = (),
    *,
    horizon: int | None = None,
) -> World:
    """The world of a PDDL domain: what ``derrl train DOMAIN.pddl --train ... --test ...`` reads.

    ``domain`` is a file, or a folder that holds ``domain.pddl``. ``train`` and ``test`` are problem files and folders of them. Each test is a
    task, named by its path as given, or by the key of a mapping; the task trained on is ``train``. A folder brings its own problems
    where none are named: those in ``train/``, and a test for each other subfolder. ``horizon`` bounds an episode (by default 20 steps, and
    10 per object).

        >>> run = derrl.train(derrl.pddl("ferry"), seed=0)
    """
    named = {str(path): path for path in _paths(test)} if not isinstance(test, Mapping) else test
    tests: dict[str, str | PathLike[str]] = {str(name): path for name, path in named.items()}
    if "train" in tests:
        raise Error("test: `train` is the task trained on; give this one another name")
    if horizon is not None and (not isinstance(horizon, int) or horizon < 1):
        raise Error(f"horizon: a number of steps, from 1, not {horizon!r}")
    place = Path(domain)
    beside = place if place.is_dir() else place.parent
    if not _paths(train) and not tests and place.exists() and not place.is_dir() and not (beside / "train").is_dir():
        raise Error(f"say which problems, as in derrl.pddl({str(domain)!r}, train=..., test=...)")
    return World.pddl(
        place, [Path(path).absolute() for path in _paths(train)],
        [(name, Path(path).absolute()) for name, path in tests.items()], horizon,
    )


def _paths(given: _Paths) -> list[str | PathLike[str]]:
    return [given] if isinstance(given, (str, PathLike)) else list(given)


def domain_text(domain: str | Path) -> str:
    """The text of a domain: given itself, or as the path of a file."""
    if not isinstance(domain, (str, Path)):
        raise TypeError(f"a domain is text, the path of a file, or None, not {type(domain).__name__}")
    if isinstance(domain, str) and (":-" in domain or "\n" in domain):
        return domain
    if not str(domain).strip():
        raise Error("the domain is empty: give its text, the path of a file, or None")
    try:
        return Path(domain).read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read the domain file {domain}: {error.strerror}") from error
    except ValueError as error:  # not UTF-8, or a path that no file can have
        raise Error(f"cannot read the domain file {str(domain)!r}: {error}") from error
