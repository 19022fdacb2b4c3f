"""Minigrid and BabyAI environments as worlds: things with colours, doors, what is carried and where one faces, from the full grid."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from ._derrl import Error
from .inference import Atom
from .wrapping import _name

Cell = tuple[int, int]
Pose = tuple[int, int, int]

KINDS = ("key", "ball", "box", "door", "goal")
COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Where each direction leads."""
WANTED = ("wanted", "wanted_then")
"""What the mission names first, and second."""
PRIMITIVES = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
"""Minigrid's own actions, by their numbers."""

_SHARED = """
:- state(key(thing)).        :- state(ball(thing)).        :- state(box(thing)).
:- state(door(thing)).       :- state(goal(thing)).        :- state(colour(thing, colour)).
:- state(locked(thing)).     :- state(closed(thing)).      :- state(opened(thing)).
:- state(carried(thing)).    :- state(empty_handed).       :- state(facing(thing)).
:- state(reachable(thing)).  :- state(wanted(thing)).      :- state(wanted_then(thing)).
"""
_HIGH = ":- action(goto(thing)).  :- action(pickup(thing)).  :- action(open(thing)).  :- action(drop).\n" + _SHARED
_PRIMITIVE = (
    ":- action(walk(move)).  :- action(pickup).  :- action(drop).  :- action(toggle).\n" + _SHARED
    + ":- state(way(thing, move)).  :- state(ahead(kind)).  :- background(turn(move)).  :- background(onward(move)).\n"
)
_CELLS = """
:- state(here(cell)).        :- state(at(thing, cell)).    :- state(faces(compass)).
:- state(free(cell)).        :- state(lava(cell)).         :- background(next(cell, compass, cell)).
"""
_WORDS = """
goto(X): go to X
pickup(X): pick up X
open(X): open X
drop: put down what is carried
done: say that it is done
walk(X): make X
pickup: pick up what is ahead
toggle: open what is ahead
key(X): X is a key
ball(X): X is a ball
box(X): X is a box
door(X): X is a door
goal(X): X is a goal
colour(X, Y): X has the colour Y
locked(X): X is locked
closed(X): X is closed
opened(X): X is open
carried(X): X is carried
empty_handed: nothing is carried
facing(X): X is right ahead
reachable(X): there is a way to X
wanted(X): the mission names X
wanted_then(X): the mission names X second
way(X, Y): Y leads nearer to X
ahead(X): X is ahead
"""
COMPASS = ("east", "south", "west", "north")
"""Minigrid's directions, by their numbers."""


class MinigridWorld:
    """A Minigrid environment, seen as a whole. Made by :func:`minigrid`.

        >>> world = derrl.minigrid("MiniGrid-DoorKey-5x5-v0")
    """

    def __init__(self, env: Any, actions: str = "high", cells: bool = False) -> None:
        if actions not in ("high", "primitive"):
            raise Error(f"actions: `high` or `primitive`, not {actions!r}")
        if not hasattr(getattr(env, "unwrapped", None), "grid"):
            raise Error(f"minigrid: an environment of the package minigrid or its name, not {env!r}")
        self.env, self.kind, self.cells = env, actions, bool(cells)
        self.name = _name(env)
        # Some environments end when `done` is said; in the others it does nothing.
        steps = [k.__dict__["step"] for k in type(env.unwrapped).__mro__ if "step" in k.__dict__ and k.__name__ != "MiniGridEnv"]
        self._ends = any("done" in getattr(getattr(step, "__code__", None), "co_names", ()) for step in steps)
        self.domain = (_HIGH if actions == "high" else _PRIMITIVE) + (":- action(done).\n" if self._ends else "")
        if self.cells:
            self.domain += _CELLS
        self.words = _WORDS
        self.summary = f"{self.name} of Minigrid"
        self._names: dict[int, tuple[str, Any]] = {}
        self._wanted: list[tuple[str | None, str | None]] = []
        self._now: dict[str, list[int]] = {}
        if actions == "primitive":
            self.objects = lambda: dict.fromkeys(PRIMITIVES[:3], "move")
        else:
            self.legal = self._legal

    def __repr__(self) -> str:
        named = self.env.spec.id if getattr(self.env, "spec", None) is not None else self.name
        return f"derrl.minigrid({named!r}, actions={self.kind!r}{', cells=True' if self.cells else ''})"

    def copy(self) -> MinigridWorld:
        """An independent copy in the same state."""
        other = MinigridWorld(copy.deepcopy(self.env), self.kind, self.cells)
        # The things of the copy are others, in the same cells.
        mine, theirs = dict(self._things()), dict(other._things())
        other._names = {
            id(theirs[cell]): (self._called(thing), theirs[cell]) for cell, thing in mine.items() if cell in theirs
        }
        other._wanted, other._now = self._wanted, self._now
        return other

    def render(self) -> Any:
        """What Minigrid draws, where the environment was made with ``render_mode="rgb_array"``."""
        return self.env.render() if self.env.render_mode == "rgb_array" else None

    # What is in the grid.

    def _things(self) -> Iterator[tuple[Cell, Any]]:
        """Things in cells, and what is carried, in the cell of the agent."""
        grid = self.env.unwrapped.grid
        for y in range(grid.height):
            for x in range(grid.width):
                thing = grid.get(x, y)
                if thing is not None and thing.type in KINDS:
                    yield (x, y), thing
        if self.env.unwrapped.carrying is not None:
            yield (-1, -1), self.env.unwrapped.carrying

    def _called(self, thing: Any) -> str:
        """The name of a thing, which it keeps for the episode: its kind with a number."""
        known = self._names.get(id(thing))
        if known is None:
            number = sum(name.startswith(thing.type) for name, _ in self._names.values())
            known = self._names[id(thing)] = (f"{thing.type}{number}", thing)
        return known[0]

    def _enters(self, cell: Cell) -> bool:
        """Whether the agent may walk onto a cell and live."""
        grid = self.env.unwrapped.grid
        if not (0 <= cell[0] < grid.width and 0 <= cell[1] < grid.height):
            return False
        thing = grid.get(*cell)
        return thing is None or (thing.can_overlap() and thing.type != "lava")

    def background(self) -> list[Atom]:
        """What stays for an episode: which moves are turns, and where cells are."""
        said: list[Atom] = [("turn", "left"), ("turn", "right"), ("onward", "forward")] if self.kind == "primitive" else []
        return said + (self._neighbours() if self.cells else [])

    def _neighbours(self) -> list[Atom]:
        """Which cells are beside which. Walls are no cells."""
        grid = self.env.unwrapped.grid
        floor = [(x, y) for y in range(grid.height) for x in range(grid.width) if getattr(grid.get(x, y), "type", "") != "wall"]
        among = set(floor)
        beside = (((x, y), way, (x + dx, y + dy)) for x, y in floor for way, (dx, dy) in zip(COMPASS, AHEAD))
        return [("next", _cell(at), way, _cell(there)) for at, way, there in beside if there in among]

    def _where(self) -> list[Atom]:
        """Where things are, and which cells one may walk onto."""
        grid = self.env.unwrapped.grid
        x, y, way = self._pose()
        said: list[Atom] = [("here", _cell((x, y))), ("faces", COMPASS[way])]
        said += [("at", self._called(thing), _cell(cell)) for cell, thing in self._things() if cell[0] >= 0]
        for cell in ((x, y) for y in range(grid.height) for x in range(grid.width)):
            if self._enters(cell):
                said.append(("free", _cell(cell)))
            elif getattr(grid.get(*cell), "type", "") == "lava":
                said.append(("lava", _cell(cell)))
        return said

    def _pose(self) -> Pose:
        x, y = self.env.unwrapped.agent_pos
        return int(x), int(y), int(self.env.unwrapped.agent_dir)

    def _ways(self) -> tuple[dict[Cell, list[int]], dict[Cell, list[int]]]:
        """The primitive actions by which to face each cell, and those by which to stand on it: the fewest."""
        faced: dict[Cell, list[int]] = {}
        stood: dict[Cell, list[int]] = {}
        start = self._pose()
        waiting: list[tuple[Pose, list[int]]] = [(start, [])]
        seen = {start}
        for (x, y, way), path in waiting:
            front = (x + AHEAD[way][0], y + AHEAD[way][1])
            faced.setdefault(front, path)
            stood.setdefault((x, y), path)
            after = [((x, y, (way - 1) % 4), 0), ((x, y, (way + 1) % 4), 1)]
            if self._enters(front):
                after.append(((*front, way), 2))
            for pose, action in after:
                if pose not in seen:
                    seen.add(pose)
                    waiting.append((pose, [*path, action]))
        return faced, stood

    def _paths(self) -> dict[str, list[int]]:
        """How to get to each thing that can be reached: onto a goal, in front of all else."""
        faced, stood = self._ways()
        found = {}
        for cell, thing in self._things():
            path = (stood if thing.type == "goal" else faced).get(cell)
            if path is not None:
                found[self._called(thing)] = path
        return found

    def _front(self) -> Any:
        """What is in the cell ahead."""
        x, y, way = self._pose()
        return self.env.unwrapped.grid.get(x + AHEAD[way][0], y + AHEAD[way][1])

    # The world.

    def reset(self, seed: int) -> list[Atom]:
        """Starts an episode, and returns its facts."""
        self.env.reset(seed=int(seed))
        self._names = {}
        self._wanted = _mission(str(self.env.unwrapped.mission))
        return self.facts()

    def facts(self) -> list[Atom]:
        """What holds now."""
        carried, front = self.env.unwrapped.carrying, self._front()
        self._now = self._paths()
        said: list[Atom] = [] if carried is not None else [("empty_handed",)]
        for _, thing in self._things():
            name = self._called(thing)
            said += [(thing.type, name), ("colour", name, thing.color)]
            said += [(WANTED[i], name) for i, (colour, kind) in enumerate(self._wanted) if _matches(thing, colour, kind)]
            if thing.type == "door":
                said.append(("locked" if thing.is_locked else "opened" if thing.is_open else "closed", name))
            if thing is carried:
                said.append(("carried", name))
            elif name in self._now:
                said.append(("reachable", name))
            if thing is front:
                said.append(("facing", name))
        if self.cells:
            said += self._where()
        if self.kind == "primitive":
            said += [("way", name, PRIMITIVES[path[0]]) for name, path in self._now.items() if path]
            if front is not None:
                said.append(("ahead", front.type))
        return said

    def _legal(self) -> list[Atom]:
        """The actions that do something now."""
        carried, front = self.env.unwrapped.carrying, self._front()
        allowed: list[Atom] = [("goto", name) for name, path in self._now.items() if path]
        if front is not None and front.type in KINDS:
            name = self._called(front)
            if front.can_pickup() and carried is None:
                allowed.append(("pickup", name))
            if front.type == "box" or (front.type == "door" and not front.is_open and (
                    not front.is_locked or (carried is not None and carried.type == "key" and carried.color == front.color))):
                allowed.append(("open", name))
        if carried is not None and self._free_side() is not None:
            allowed.append(("drop",))
        if self._ends:
            allowed.append(("done",))
        return allowed or [("goto", name) for name in self._now]

    def _free_side(self) -> list[int] | None:
        """The turns after which the cell ahead is free to put something down."""
        x, y, way = self._pose()
        for turns in ([], [0], [1], [1, 1]):
            turned = (way + sum(1 if turn else -1 for turn in turns)) % 4
            if self.env.unwrapped.grid.get(x + AHEAD[turned][0], y + AHEAD[turned][1]) is None:
                return turns
        return None

    def _plan(self, action: Atom) -> list[int]:
        """The primitive actions of an action."""
        name, *things = action
        if self.kind == "primitive":
            return [PRIMITIVES.index(str(things[0] if things else name))]
        if name == "goto":
            return self._now.get(str(things[0]), [])
        if name == "drop":
            return [*(self._free_side() or []), 4]
        return [{"pickup": 3, "open": 5, "done": 6}[str(name)]]

    def step(self, action: Atom) -> tuple[list[Atom], float, bool, bool]:
        """Acts: each primitive action is a step of Minigrid, whose rewards add up."""
        total = 0.0
        terminated = truncated = False
        # What is already done takes the time of a turn on the spot.
        for primitive in self._plan(action) or [6]:
            _, reward, terminated, truncated, _ = self.env.step(primitive)
            total += float(reward)
            if terminated or truncated:
                break
        return self.facts(), total, bool(terminated), bool(truncated)


def _cell(cell: Cell) -> str:
    """The name of a cell: its column and row."""
    return f"cell{cell[0]}_{cell[1]}"


def _mission(text: str) -> list[tuple[str | None, str | None]]:
    """The colours and kinds of things that a mission names, the first two; none stands for any."""
    phrase = rf"\b(?:({'|'.join(COLOURS)}) )?({'|'.join(KINDS)}|object)\b"
    found = re.findall(phrase, text.lower())
    return [(colour or None, None if kind == "object" else kind) for colour, kind in dict.fromkeys(found)][: len(WANTED)]


def _matches(thing: Any, colour: str | None, kind: str | None) -> bool:
    return (colour is None or thing.color == colour) and (kind is None or thing.type == kind)


def minigrid(env: Any, actions: str = "high", *, cells: bool = False, **options: Any) -> MinigridWorld:
    """A Minigrid or BabyAI environment as a world, from its full grid.

    ``env`` is its name or the environment; ``options`` go to ``gymnasium.make``. Things are ``key0``, ``door0``, ``ball0``, ... with their
    kinds and colours: facts are ``key(T)``, ``colour(T, C)``, ``locked(T)``, ``closed(T)``, ``opened(T)``, ``carried(T)``, ``empty_handed``,
    ``facing(T)``, ``reachable(T)`` (without opening or moving anything), and ``wanted(T)`` and ``wanted_then(T)`` for what the mission names
    first and second. ``actions="high"`` gives ``goto(T)``, ``pickup(T)``, ``open(T)`` and ``drop``, each of as many steps as it takes, and ``done``
    where the environment waits for it; ``actions="primitive"`` gives Minigrid's own: ``walk(left)``, ``walk(right)``,
    ``walk(forward)``, ``pickup``, ``drop`` and ``toggle``, with ``way(T, M)``, the move that brings one nearer to a thing, ``ahead(K)``, the
    kind of what is in the cell ahead, and ``turn(M)`` and ``onward(M)``.

    ``cells=True`` adds the cells, such as ``cell3_1`` in column 3 and row 1: ``here(C)``, ``faces(D)``, ``at(T, C)``, ``free(C)``, ``lava(C)``, and
    ``next(C, D, C2)`` for the cell to the east, south, west or north. Rules seldom need them, and learning takes longer.

        >>> run = derrl.train(derrl.minigrid("MiniGrid-DoorKey-5x5-v0"), tests={"larger": derrl.minigrid("MiniGrid-DoorKey-8x8-v0")})
    """
    if isinstance(env, str):
        from .spaces import make

        env = make(env, **options)
    elif options:
        raise Error(f"minigrid: {', '.join(options)} is for gymnasium.make, and this environment is made already")
    return MinigridWorld(env, actions, cells)
