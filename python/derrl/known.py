"""Well-known Gymnasium environments: names of their numbers and actions, when they are solved, and facts of those that are maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .wrapping import Wrapped


@dataclass(frozen=True)
class Known:
    """What is known of an environment."""

    observation: Sequence[str] = ()
    """The names of the components of an observation, in order."""
    actions: Sequence[str] = ()
    """The names of its actions, in order."""
    succeeded: Callable[[Any, float, Mapping[str, Any]], bool] | None = None
    """Whether an episode that has ended reached the goal; without it, there is none."""
    world: Callable[[Any], Wrapped] | None = None
    """The world, where facts are more than the components."""


WAYS = ("north", "east", "south", "west")


class _Map:
    """A map of squares: which way leads where, and how far it is to squares."""

    def __init__(self, rows: Sequence[str], walls: str = "") -> None:
        self.rows, self.walls = rows, walls
        self._far: dict[tuple[int, int], dict[tuple[int, int], int]] = {}

    def beside(self, at: tuple[int, int], way: str) -> tuple[int, int] | None:
        """The square beside one; none beyond the edge."""
        row, column = at
        down, right = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}[way]
        there = (row + down, column + right)
        return there if 0 <= there[0] < len(self.rows) and 0 <= there[1] < len(self.rows[0]) else None

    def kind(self, at: tuple[int, int]) -> str:
        """The letter of a square."""
        return self.rows[at[0]][at[1]]

    def far(self, goal: tuple[int, int]) -> dict[tuple[int, int], int]:
        """The number of steps to a square from each from which it can be reached without entering a wall."""
        if goal not in self._far:
            found, waiting = {goal: 0}, [goal]
            for at in waiting:
                for way in WAYS:
                    there = self.beside(at, way)
                    if there is not None and there not in found and self.kind(there) not in self.walls:
                        found[there] = found[at] + 1
                        waiting.append(there)
            self._far[goal] = found
        return self._far[goal]


def _frozen_lake(env: Any) -> Wrapped:
    """Which ways lead nearer to the goal, into a hole or against the edge, and where ice makes one slip."""
    rows = [b"".join(row).decode() for row in env.unwrapped.desc]
    chart = _Map(rows, walls="H")
    goals = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == "G"]
    slips = any(len(outcomes) > 1 for outcomes in env.unwrapped.P[0].values())

    def facts(at: Any, info: Mapping[str, Any]) -> list[tuple[str, ...]]:
        here = divmod(int(at), len(rows[0]))
        said: list[tuple[str, ...]] = []
        for i, way in enumerate(WAYS):
            there = chart.beside(here, way)
            if there is None:
                said.append(("edge", way))
            elif chart.kind(there) == "H":
                said.append(("hole", way))
            elif any(chart.far(goal).get(there, 1 << 30) < chart.far(goal).get(here, 0) for goal in goals):
                said.append(("nearer", way))
            if slips:
                said += [("slips", way, WAYS[(i + 1) % 4]), ("slips", way, WAYS[(i + 3) % 4])]
        return said

    lines = [":- action(go(way)).", ":- state(nearer(way)).", ":- state(hole(way)).", ":- state(edge(way))."]
    lines += [":- background(slips(way, way)).", ":- negation(hole/1)."] if slips else []
    return Wrapped(
        env, facts, lambda name, way: ("west", "south", "east", "north").index(way), {"go": ["way"]}, domain="\n".join(lines) + "\n",
        objects=dict.fromkeys(WAYS, "way"),
    )


def _cliff_walking(env: Any) -> Wrapped:
    """Which ways lead nearer to the goal along the cliff, over it, or against the edge."""
    rows = ["............"] * 3 + ["SCCCCCCCCCCG"]
    chart = _Map(rows, walls="C")

    def facts(at: Any, info: Mapping[str, Any]) -> list[tuple[str, ...]]:
        here = divmod(int(at), 12)
        said: list[tuple[str, ...]] = []
        for way in WAYS:
            there = chart.beside(here, way)
            if there is None:
                said.append(("edge", way))
            elif chart.kind(there) == "C":
                said.append(("cliff", way))
            elif chart.far((3, 11)).get(there, 1 << 30) < chart.far((3, 11)).get(here, 0):
                said.append(("nearer", way))
        return said

    lines = [":- action(go(way)).", ":- state(nearer(way)).", ":- state(cliff(way)).", ":- state(edge(way))."]
    return Wrapped(
        env, facts, lambda name, way: WAYS.index(way), {"go": ["way"]}, domain="\n".join(lines) + "\n",
        objects=dict.fromkeys(WAYS, "way"), succeeded=lambda at, reward, info: int(at) == 47,
    )


def _taxi(env: Any) -> Wrapped:
    """Which moves lead nearer to each stand, where the passenger is and where to."""
    moves = {"south": 0, "north": 1, "east": 2, "west": 3}
    stands = dict(zip(("red", "green", "yellow", "blue"), ((0, 0), (0, 4), (4, 0), (4, 3))))
    taxi = env.unwrapped

    def place(state: int) -> tuple[int, int]:
        return tuple(taxi.decode(state))[:2]

    # Where each move leads, by the environment's own table; the rest of the state makes no difference.
    squares = [(row, column) for row in range(5) for column in range(5)]
    leads = {at: {m: place(taxi.P[taxi.encode(*at, 0, 1)][a][0][1]) for m, a in moves.items()} for at in squares}
    far: dict[str, dict[tuple[int, int], int]] = {}
    for stand, goal in stands.items():
        far[stand], waiting = {goal: 0}, [goal]
        for to in waiting:
            for at in squares:
                if at not in far[stand] and to in leads[at].values():
                    far[stand][at] = far[stand][to] + 1
                    waiting.append(at)

    def facts(observation: Any, info: Mapping[str, Any]) -> list[tuple[str, ...]]:
        row, column, passenger, goal = taxi.decode(int(observation))
        at, names = (row, column), list(stands)
        said: list[tuple[str, ...]] = [("goal", names[goal]), ("riding",) if passenger == 4 else ("waiting", names[passenger])]
        said += [("nearer", m, s) for s in names for m, there in leads[at].items() if far[s][there] < far[s][at]]
        return said + [("here", stand) for stand, square in stands.items() if square == at]

    lines = [
        ":- action(move(way)).", ":- action(pickup).", ":- action(dropoff).", ":- state(riding).", ":- state(waiting(stand)).",
        ":- state(here(stand)).", ":- state(nearer(way, stand)).", ":- background(goal(stand)).",
    ]
    return Wrapped(
        env, facts, lambda name, *way: moves[way[0]] if way else {"pickup": 4, "dropoff": 5}[name],
        {"move": ["way"], "pickup": 0, "dropoff": 0}, domain="\n".join(lines) + "\n", objects=dict.fromkeys(moves, "way"),
    )


KNOWN = {
    "CartPole": Known(("position", "speed", "angle", "spin"), ("left", "right")),
    "MountainCar": Known(("position", "speed"), ("left", "coast", "right"), lambda seen, reward, info: bool(seen[0] >= 0.5)),
    "Acrobot": Known(
        ("cos1", "sin1", "cos2", "sin2", "speed1", "speed2"), ("left", "rest", "right"), lambda seen, reward, info: reward == 0
    ),
    "LunarLander": Known(
        ("x", "y", "speed_x", "speed_y", "tilt", "spin", "left_leg", "right_leg"), ("rest", "fire_left", "fire_main", "fire_right")
    ),
    "Blackjack": Known(("sum", "dealer", "ace"), ("stick", "hit")),
    "FrozenLake": Known(world=_frozen_lake),
    "FrozenLake8x8": Known(world=_frozen_lake),
    "CliffWalking": Known(world=_cliff_walking),
    "CliffWalkingSlippery": Known(world=_cliff_walking),
    "Taxi": Known(world=_taxi),
}
