"""Worlds: built-in ones by name, and objects of your own, whose domain can be inferred."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Union, runtime_checkable

from ._derrl import Error, World
from .arguments import mapping

Atom = tuple[Union[str, int], ...]
"""A fact such as ``("on", "a", "b")``, or an action such as ``("move", "a", "floor")``."""


@runtime_checkable
class PythonWorld(Protocol):
    """What an object needs to be a world. There is no base class to inherit from.

    Optional: ``domain`` (text or path of a domain file), ``actions()``, ``legal()``, ``succeeded()``, ``render()``,
    ``background()``, ``objects()``, ``copy()``, ``horizon`` (steps after which an episode is cut off, default 1000),
    ``has_goal`` (``False`` where episodes reach nothing and only the return counts) and ``score_episodes`` (for worlds with slow
    episodes: how many of them a score takes).
    """

    def reset(self, seed: int) -> Iterable[Any]:
        """Starts an episode, which depends on the seed alone, and returns its facts."""

    def step(self, action: Atom) -> tuple[Any, ...]:
        """Acts, and returns facts, reward, terminated and truncated."""


WorldLike = Union[str, World, PythonWorld]
_Paths = Union[str, "PathLike[str]", Iterable[Union[str, "PathLike[str]"]]]


def world(
    of: WorldLike,
    tests: Mapping[str, object] | None = None,
    name: str | None = None,
    domain: str | Path | None = None,
) -> World:
    """The world that a name, an object, or the path of a domain file (``.pl``, for a built-in world, or ``.pddl``) stands for.

    ``tests`` are further objects of the same kind, each a task that is scored after training. ``domain`` is used in place of that
    of the object. Where there is neither, one is inferred by :func:`infer_domain` and printed to standard error.
    """
    tests = mapping("tests", tests, '{"more": Delivery(balls=6)}')
    if isinstance(of, (World, str)):
        if tests:
            raise Error("tests go with a world of your own; a built-in world has tasks: evaluate(policy, world, task)")
        if isinstance(of, str) and (of.endswith(".pddl") or Path(of, "domain.pddl").is_file()):
            return pddl(of)
        if isinstance(of, str) and of.endswith(".pl"):
            return World.changed(of, domain_text(Path(of)))
        return of if isinstance(of, World) else World.find(of)
    for each in (of, *tests.values()):
        check_methods(each)
    given = getattr(of, "domain", None) if domain is None else domain
    if given is None:
        text = infer_domain(of, *tests.values())
        print(f"% Inferred by random play; correct it and set it as `domain`:\n{text}", file=sys.stderr)
    else:
        text = domain_text(given)
    if name is None:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(of).__name__).lower().strip("_") or "world"
    tasks: list[tuple[str, object]] = [("train", of)]
    for task, test in tests.items():
        if task == "train":
            raise Error("tests: `train` is the task trained on; give this one another name")
        if not isinstance(task, str) or not task.strip():
            raise Error(f"tests: the name of a task is text, not {task!r}")
        tasks.append((task, test))
    return World.python(name, text, tasks)


def pddl(
    domain: str | PathLike[str],
    train: _Paths = (),
    test: _Paths | Mapping[str, str | PathLike[str]] = (),
    *,
    max_steps: int | None = None,
) -> World:
    """The world of a PDDL domain: what ``derrl train DOMAIN.pddl --train ... --test ...`` reads.

    ``domain`` is a file, or a folder that holds ``domain.pddl``. ``train`` and ``test`` are problem files and folders of them. Each test is a
    task, named by its path as given, or by the key of a mapping; the task trained on is ``train``. A folder brings its own problems
    where none are named: those in ``train/``, and a test for each other subfolder. ``max_steps`` bounds an episode (by default 20 steps, and
    10 per object).
    """
    tests = dict(test) if isinstance(test, Mapping) else {str(path): path for path in _paths(test)}
    if "train" in tests:
        raise Error("test: `train` is the task trained on; give this one another name")
    if max_steps is not None and (not isinstance(max_steps, int) or max_steps < 1):
        raise Error(f"max_steps: a number of steps, from 1, not {max_steps!r}")
    place = Path(domain)
    beside = place if place.is_dir() else place.parent
    if not _paths(train) and not tests and place.exists() and not place.is_dir() and not (beside / "train").is_dir():
        raise Error(f"say which problems, as in derrl.pddl({str(domain)!r}, train=..., test=...)")
    return World.pddl(
        place, [Path(path).absolute() for path in _paths(train)],
        [(name, Path(path).absolute()) for name, path in tests.items()], max_steps,
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


class _Classes:
    """Places of arguments that hold the same kind of objects."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def find(self, x: Any) -> Any:
        root = x
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        while self.parent[x] != root:
            self.parent[x], x = root, self.parent[x]
        return root

    def join(self, a: Any, b: Any) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[max(a, b, key=repr)] = min(a, b, key=repr)


def _tuple(atom: Any, what: str) -> tuple[Any, ...]:
    if isinstance(atom, str):
        return (atom,)
    try:
        name, *objects = atom if isinstance(atom, (tuple, list)) else ()
        if isinstance(name, str) and all(isinstance(o, str) or (o is not True and o is not False and index(o) == o) for o in objects):
            return (name, *objects)
    except (TypeError, ValueError):
        pass
    raise TypeError(f'{what} is a tuple of a name and its objects, such as ("on", "a", "b"), not {atom!r}')


def check_methods(of: Any) -> None:
    """An error if an object cannot be a world."""
    if isinstance(of, type):
        raise TypeError(f"a world is an object, not a class: {of.__name__}()")
    if hasattr(of, "action_space") and hasattr(of, "observation_space"):
        raise TypeError("this is a Gymnasium environment: derrl.wrap(env, facts=..., action=..., actions=...) makes a world of it")
    for name in ("reset", "step"):
        if not callable(getattr(of, name, None)):
            raise TypeError(f"a world has the methods reset(seed) and step(action): {type(of).__name__} has no `{name}`")


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[a-z]\w*", name) else "'" + name.replace("'", "\\'") + "'"


def _declared(of: Any) -> Mapping[str, Any]:
    """What ``actions()`` of a world says."""
    given = getattr(of, "actions", None)
    said = given() if callable(given) else given
    if said is None and given is None:
        return {}
    if not isinstance(said, Mapping) or not all(isinstance(name, str) for name in said):
        raise TypeError(f'actions() gives names with arities or types, as in {{"move": ["room"]}}, not {said!r}')
    return said


_MOST_SAID = 1 << 20
"""Atoms of one state, at the most: something that never ends may give them."""


def _listed(atoms: Any, said: str, many: str) -> Iterator[Any]:
    """Goes through atoms; an error as from training where that cannot be done."""
    if isinstance(atoms, (str, Mapping)) or not isinstance(atoms, Iterable):
        example = '("on", "a", "b")' if many == "facts" else '("move", "a", "b")'
        raise TypeError(f"{said} a list of {many}, such as [{example}], not {atoms!r}")
    for number, atom in enumerate(atoms):
        if number == _MOST_SAID:
            raise TypeError(f"{said} a list of {many}: here are more than {_MOST_SAID}, from {atoms!r}")
        yield atom


def infer_domain(*worlds: Any, episodes: int = 20, steps: int = 200) -> str:
    """The text of a domain file for worlds, from what is seen in random play.

    Predicates and arities are those of the facts. A predicate whose facts never change within an episode is background. Places
    of arguments that share an object have one type; a type is named as ``actions()`` says, else after its objects or a predicate. What
    random play never shows is missing: look at the text, and correct it.
    """
    rng = random.Random(0)
    state: dict[tuple[str, int], bool] = {}  # whether it was seen to change
    actions: dict[tuple[str, int], list[str] | None] = {}
    objects: dict[Any, dict[Any, None]] = {}  # places by object
    unary: dict[str, set[Any]] = {}
    for of in worlds:
        check_methods(of)
        for name, types in _declared(of).items():
            if isinstance(types, (list, tuple)) and all(isinstance(t, str) for t in types):
                actions[name, len(types)] = list(types)
            elif isinstance(types, int) and not isinstance(types, bool) and types >= 0:
                actions[name, types] = None
            else:
                raise TypeError(f'actions() gives arities or lists of types, as in {{"move": ["room"]}}, not {types!r}')

    def see(facts: Any, said: str) -> set[tuple[Any, ...]]:
        seen = {_tuple(fact, "a fact") for fact in _listed(facts, said, "facts")}
        for fact in seen:
            state.setdefault((fact[0], len(fact) - 1), False)
            for i, o in enumerate(fact[1:]):
                objects.setdefault(str(o), {})[("fact", fact[0], len(fact) - 1, i)] = None
            if len(fact) == 2:
                unary.setdefault(fact[0], set()).add(str(fact[1]))
        return seen

    for of in worlds:
        for episode in range(episodes):
            before = see(of.reset(episode), "reset(seed) returns")
            if getattr(of, "background", None) is not None:
                see(of.background(), "background() returns")
            for _ in range(steps):
                action = _random_action(of, before, actions, objects, rng)
                if action is None:
                    break
                came = of.step(action)
                if not isinstance(came, tuple) or not 4 <= len(came) <= 5:
                    raise TypeError(f"step(action) returns facts, reward, terminated, truncated; not {came!r}")
                terminated, truncated = came[2:4]
                now = see(came[0], "step(action) returns facts, reward, terminated, truncated; facts are")
                for fact in before ^ now:
                    state[fact[0], len(fact) - 1] = True
                before = now
                if terminated or truncated:
                    break
    if not actions:
        raise Error("no action was seen: give the world actions() or legal(), or a domain")
    return _write(state, actions, objects, unary)


def _random_action(
    of: Any,
    facts: set[tuple[Any, ...]],
    actions: dict[tuple[str, int], list[str] | None],
    objects: dict[Any, dict[Any, None]],
    rng: random.Random,
) -> tuple[Any, ...] | None:
    if getattr(of, "legal", None) is not None:
        legal = [_tuple(a, "an action") for a in _listed(of.legal(), "legal() returns", "actions")]
        for action in legal:
            actions.setdefault((action[0], len(action) - 1), None)
            for i, o in enumerate(action[1:]):
                objects.setdefault(str(o), {})[("action", action[0], len(action) - 1, i)] = None
        return rng.choice(sorted(legal, key=repr)) if legal else None
    named = sorted({o for fact in facts for o in fact[1:]}, key=str)
    fitting = [(name, arity) for name, arity in actions if arity <= len(named)]
    if not fitting:
        return None
    name, arity = rng.choice(fitting)
    return (name, *rng.sample(named, arity))


def _write(
    state: dict[tuple[str, int], bool],
    actions: dict[tuple[str, int], list[str] | None],
    objects: dict[Any, dict[Any, None]],
    unary: dict[str, set[Any]],
) -> str:
    classes = _Classes()
    for places in objects.values():
        first, *others = places
        for other in others:
            classes.join(first, other)
    for (name, arity), types in actions.items():
        for i, t in enumerate(types or []):
            # Places of one declared type are alike.
            classes.join(("type", t), ("action", name, arity, i))
    members: dict[Any, set[Any]] = {}
    for o, places in objects.items():
        members.setdefault(classes.find(next(iter(places))), set()).add(o)
    # A declared type is also known by its name: a predicate room/1 holds of rooms.
    declared = {t for types in actions.values() for t in types or []}
    for t in sorted(declared & set(unary)):
        classes.join(("type", t), ("fact", t, 1, 0))
    names: dict[Any, str] = {}
    for t in sorted(declared):
        names.setdefault(classes.find(("type", t)), t)
    known = {(kind, name, arity, i) for places in objects.values() for kind, name, arity, i in places}
    for root in sorted({classes.find(place) for place in known}, key=repr):
        if root in names:
            continue
        here = {o for o, places in objects.items() if classes.find(next(iter(places))) == root}
        fitting = sorted((p for p, held in unary.items() if held <= here), key=lambda p: (-len(unary[p]), p))
        taken = set(names.values())
        # ball1 and ball2 are balls.
        stems = {re.sub(r"[_\d]*$", "", o) for o in here}
        common = [stem for stem in stems if len(stems) == 1 and re.fullmatch(r"[a-z]\w*", stem)]
        candidates = [p for p in common + fitting if p not in taken] + [f"type{n}" for n in range(1, len(taken) + 2)]
        names[root] = next(c for c in candidates if c not in taken)

    def signature(kind: str, name: str, arity: int) -> str:
        if arity == 0:
            return _quote(name)
        types = (names.get(classes.find((kind, name, arity, i)), "any") for i in range(arity))
        return f"{_quote(name)}({', '.join(map(_quote, types))})"

    lines = [f":- action({signature('action', *key)})." for key in sorted(actions)]
    lines += [f":- state({signature('fact', *key)})." for key in sorted(state) if state[key]]
    lines += [f":- background({signature('fact', *key)})." for key in sorted(state) if not state[key]]
    # Numbers of variables and rules are left out: as limits they would be in the way.
    return "\n".join(lines) + "\n"
