"""Domain files for worlds in Python, inferred from what is seen in random play."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, NamedTuple, Union

from ._derrl import Error

Action = tuple[Union[str, int], ...]
"""An action such as ``("move", "a", "floor")``."""
Atom = tuple[Union[str, int, float], ...]
"""A fact such as ``("on", "a", "b")``. A float in the last place is a number that is measured: ``("weight", "a", 2.5)``."""


class Place(NamedTuple):
    """Where objects stand: an argument of a fact or an action, a type of that name, or the object itself."""

    kind: str
    name: str
    arity: int = 0
    argument: int = 0


class _Classes:
    """Places that hold the same kind of objects."""

    def __init__(self) -> None:
        self.parent: dict[Place, Place] = {}

    def find(self, place: Place) -> Place:
        root = place
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        while self.parent[place] != root:
            self.parent[place], place = root, self.parent[place]
        return root

    def join(self, a: Place, b: Place) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[max(a, b)] = min(a, b)


def check_methods(of: Any) -> None:
    """An error if an object cannot be a world."""
    if isinstance(of, type):
        raise TypeError(f"a world is an object, not a class: {of.__name__}()")
    for name in ("reset", "step"):
        if not callable(getattr(of, name, None)):
            raise TypeError(f"a world has the methods reset(seed) and step(action): {type(of).__name__} has no `{name}`")


def as_tuple(atom: Any, what: str) -> tuple[Any, ...]:
    """An atom as a tuple; an error if it is none. The last place of a fact may be a number that is measured."""
    try:
        parts: Any = (atom,) if isinstance(atom, str) else atom if isinstance(atom, (tuple, list)) else ()
        name, *objects = parts
        if isinstance(name, str) and "(" not in name:
            measured = objects and what == "a fact" and is_measure(objects[-1])
            if all(_is_name(o) for o in (objects[:-1] if measured else objects)):
                return (name, *objects)
    except (TypeError, ValueError):
        pass
    raise TypeError(f'{what} is a tuple of a name and its objects, such as ("on", "a", "b"), not {atom!r}')


def is_measure(value: Any) -> bool:
    """Whether a value is a number that is measured, and not the name of an object: a float."""
    if isinstance(value, float):
        return True
    return not isinstance(value, (str, int)) and getattr(getattr(value, "dtype", None), "kind", "") == "f" and not getattr(value, "shape", 1)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) or (value is not True and value is not False and index(value) == value)


_MOST_SAID = 1 << 20
"""Atoms of one state, at the most: something that never ends may give them."""


def listed(atoms: Any, said: str, many: str) -> Iterator[Any]:
    """Goes through atoms; an error as from training where that cannot be done."""
    if isinstance(atoms, (str, Mapping)) or not isinstance(atoms, Iterable):
        example = '("on", "a", "b")' if many == "facts" else '("move", "a", "b")'
        raise TypeError(f"{said} a list of {many}, such as [{example}], not {atoms!r}")
    for number, atom in enumerate(atoms):
        if number == _MOST_SAID:
            raise TypeError(f"{said} a list of {many}: here are more than {_MOST_SAID}, from {atoms!r}")
        yield atom


def declared_actions(of: Any) -> dict[str, int | list[str]]:
    """What ``actions()`` of a world says: arities, or lists of types."""
    given = getattr(of, "actions", None)
    said = given() if callable(given) else given
    if said is None and given is None:
        return {}
    if not isinstance(said, Mapping) or not all(isinstance(name, str) for name in said):
        raise TypeError(f'actions() gives names with arities or types, as in {{"move": ["room"]}}, not {said!r}')
    found: dict[str, int | list[str]] = {}
    for name, types in said.items():
        if isinstance(types, (list, tuple)) and all(isinstance(t, str) for t in types):
            found[name] = list(types)
        elif isinstance(types, int) and not isinstance(types, bool) and types >= 0:
            found[name] = types
        else:
            raise TypeError(f'actions() gives arities or lists of types, as in {{"move": ["room"]}}, not {types!r}')
    return found


def stepped(came: Any) -> tuple[Any, float, bool, bool]:
    """What ``step`` returned; an error if it is not of that form."""
    if not isinstance(came, tuple) or not 4 <= len(came) <= 5:
        raise TypeError(f"step(action) returns facts, reward, terminated, truncated; not {came!r}")
    return came[:4]


def left_out(worlds: Iterable[Any], error: Error) -> bool:
    """Whether one of these worlds goes on without the action that it lacks by an error: a wrapped environment may."""
    return any([of.leave_out(error) for of in worlds if hasattr(of, "leave_out")])


def quote(name: str) -> str:
    """A name as the language writes it."""
    return name if re.fullmatch(r"[a-z]\w*", name) else "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Inference:
    """What was seen of worlds so far, and the domain file that it amounts to."""

    def __init__(self, *worlds: Any, episodes: int = 20, steps: int = 200) -> None:
        self.worlds = worlds
        self.state: dict[tuple[str, int], bool] = {}
        """Predicates, and whether they were seen to change within an episode."""
        self.measures: set[tuple[str, int]] = set()
        """Predicates whose last place is a number that is measured."""
        self.actions: dict[tuple[str, int], list[str] | None] = {}
        self.classes = _Classes()
        self.unary: dict[str, set[str]] = {}
        self.types: dict[str, None] = {}
        self.rng = random.Random(0)
        for of in worlds:
            check_methods(of)
            for name, types in declared_actions(of).items():
                self.declare(name, types)
        for of in worlds:
            for episode in range(episodes):
                self.play(of, episode, steps)
        if not self.actions:
            raise Error("no action was seen: give the world actions() or legal(), or a domain")

    def declare(self, name: str, types: int | list[str]) -> None:
        """Takes in an action that the world declares."""
        if isinstance(types, int):
            self.actions[name, types] = None
            return
        self.actions[name, len(types)] = types
        for i, t in enumerate(types):
            self.types[t] = None
            self.classes.join(Place("type", t), Place("action", name, len(types), i))
            # A declared type is also known by its name: a predicate room/1 holds of rooms.
            self.classes.join(Place("type", t), Place("fact", t, 1, 0))

    def play(self, of: Any, seed: int, steps: int) -> None:
        """Takes in an episode of random play."""
        before = self.see(of.reset(seed), "reset(seed) returns")
        if getattr(of, "background", None) is not None:
            self.see(of.background(), "background() returns")
        for _ in range(steps):
            action = self.choose(of, before)
            if action is None:
                return
            try:
                came = of.step(action)
            except Error as error:
                if not left_out([of], error):
                    raise
                continue
            facts, _, terminated, truncated = stepped(came)
            now = self.see(facts, "step(action) returns facts, reward, terminated, truncated; facts are")
            for fact in before ^ now:
                self.state[fact[0], len(fact) - 1] = True
            before = now
            if terminated or truncated:
                return

    def see(self, facts: Any, said: str) -> set[tuple[Any, ...]]:
        """Takes in the facts of a state."""
        seen = {as_tuple(fact, "a fact") for fact in listed(facts, said, "facts")}
        for fact in seen:
            self.see_fact(fact)
        return seen

    def see_fact(self, fact: tuple[Any, ...]) -> None:
        """Takes in a fact."""
        name, arity = fact[0], len(fact) - 1
        self.state.setdefault((name, arity), False)
        for i, o in enumerate(fact[1:]):
            if is_measure(o):
                self.measures.add((name, arity))
            else:
                self.classes.join(Place("object", str(o)), Place("fact", name, arity, i))
        if arity == 1 and (name, arity) not in self.measures:
            self.unary.setdefault(name, set()).add(str(fact[1]))

    def objects_of(self, of: Any) -> dict[Any, str]:
        """Takes in the objects that no fact need name."""
        method = getattr(of, "objects", None)
        said = method() if callable(method) else None
        if said is None:
            return {}
        if not isinstance(said, Mapping):
            raise TypeError(f'objects() returns a dict of objects with their types, as in {{"room1": "room"}}, not {said!r}')
        for o, t in said.items():
            self.types[t] = None
            self.classes.join(Place("type", t), Place("object", str(o)))
            self.classes.join(Place("type", t), Place("fact", t, 1, 0))
        return dict(said)

    def choose(self, of: Any, facts: set[tuple[Any, ...]]) -> tuple[Any, ...] | None:
        """An action at random, of those that the world lists, or else by the types of the objects known now."""
        objects = self.objects_of(of)
        if getattr(of, "legal", None) is not None:
            legal = [as_tuple(a, "an action") for a in listed(of.legal(), "legal() returns", "actions")]
            for action in legal:
                self.actions.setdefault((action[0], len(action) - 1), None)
                for i, o in enumerate(action[1:]):
                    self.classes.join(Place("object", str(o)), Place("action", action[0], len(action) - 1, i))
            return self.rng.choice(sorted(legal, key=repr)) if legal else None
        named = {o for fact in facts for o in fact[1:] if not is_measure(o)} | set(objects)
        ordered = sorted(named, key=str)
        ways = list(self.actions.items())
        self.rng.shuffle(ways)
        for (name, arity), types in ways:
            args = self.arguments(ordered, arity, types)
            if args is not None:
                return (name, *args)
        return None

    def arguments(self, objects: list[Any], arity: int, types: list[str] | None) -> list[Any] | None:
        """Different objects for an action, of the types that it asks for; none where there are too few."""
        if types is None:
            return self.rng.sample(objects, arity) if arity <= len(objects) else None
        roots = {self.classes.find(Place("type", t)) for t in self.types}
        chosen: list[Any] = []
        for t in types:
            root = self.classes.find(Place("type", t))
            classes = {o: self.classes.find(Place("object", str(o))) for o in objects if o not in chosen}
            # Of a type of which nothing is known yet: what is known to be of no other.
            fitting = [o for o, c in classes.items() if c == root] or [o for o, c in classes.items() if c not in roots]
            if not fitting:
                return None
            chosen.append(self.rng.choice(fitting))
        return chosen

    def extend(self, error: Error) -> bool:
        """Takes in the predicate or action of which an error says that the domain does not declare it; whether there is one."""
        found = re.search(r"the world spoke of (predicate|number|action) `(.+)/(\d+)`(?:, as in `\2\((.*)\)`)?, which its domain", str(error), re.DOTALL)
        if not found:
            return False
        kind, name, arity = found[1], found[2], int(found[3])
        if kind == "action":
            self.actions.setdefault((name, arity), None)
        elif kind == "number":
            self.state[name, arity + 1] = True
            self.measures.add((name, arity + 1))
        else:
            # What random play did not show cannot be said to stay.
            self.state[name, arity] = True
        args = (found[4] or "").split(", ")
        if len(args) == arity:
            for i, o in enumerate(args):
                if Place("object", o) in self.classes.parent:
                    at = Place("action", name, arity, i) if kind == "action" else Place("fact", name, arity + (kind == "number"), i)
                    self.classes.join(Place("object", o), at)
        return True

    def names(self) -> dict[Place, str]:
        """The type of each class of places."""
        names: dict[Place, str] = {}
        for t in sorted(self.types):
            names.setdefault(self.classes.find(Place("type", t)), t)
        members: dict[Place, set[str]] = {}
        for place in list(self.classes.parent):
            if place.kind == "object":
                members.setdefault(self.classes.find(place), set()).add(place.name)
        for root in sorted(members):
            if root in names:
                continue
            here = members[root]
            fitting = sorted((p for p, held in self.unary.items() if held <= here), key=lambda p: (-len(self.unary[p]), p))
            taken = set(names.values())
            # ball1 and ball2 are balls.
            stems = {re.sub(r"[_\d]*$", "", o) for o in here}
            common = [stem for stem in stems if len(stems) == 1 and re.fullmatch(r"[a-z]\w*", stem)]
            candidates = [p for p in common + fitting if p not in taken] + [f"type{n}" for n in range(1, len(taken) + 2)]
            names[root] = next(c for c in candidates if c not in taken)
        return names

    def text(self) -> str:
        """The domain file."""
        names = self.names()

        def signature(kind: str, name: str, arity: int, shown: int | None = None) -> str:
            types = (names.get(self.classes.find(Place(kind, name, arity, i)), "any") for i in range(arity if shown is None else shown))
            written = ", ".join(map(quote, types))
            return f"{quote(name)}({written})" if written else quote(name)

        plain = sorted(set(self.state) - self.measures)
        lines = [f":- action({signature('action', *key)})." for key in sorted(self.actions)]
        lines += [f":- state({signature('fact', *key)})." for key in plain if self.state[key]]
        lines += [f":- background({signature('fact', *key)})." for key in plain if not self.state[key]]
        lines += [f":- number({signature('fact', *key, key[1] - 1)})." for key in sorted(self.measures)]
        # Two declared types of which objects are in one place are one, which either name may say.
        for t in sorted(self.types):
            chosen = names[self.classes.find(Place("type", t))]
            if chosen != t:
                lines.append(f":- subtype({quote(t)}, {quote(chosen)}).")
        # Numbers of variables and rules are left out: as limits they would be in the way.
        return "\n".join(lines) + "\n"


def infer_domain(*worlds: Any, episodes: int = 20, steps: int = 200) -> str:
    """The text of a domain file for worlds, from what is seen in random play.

    Predicates and arities are those of the facts. A predicate whose facts never change within an episode is background. Places
    of arguments that share an object have one type; a type is named as ``actions()`` and ``objects()`` say, else after its objects or a
    predicate. What random play never shows is missing: :func:`derrl.train` adds it when it first sees it, or correct the text.

        >>> print(derrl.infer_domain(Delivery()))
        :- action(drop(ball)).
        ...
    """
    return Inference(*worlds, episodes=episodes, steps=steps).text()
