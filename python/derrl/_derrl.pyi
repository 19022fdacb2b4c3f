"""The compiled part of the package. Structured results are JSON; the modules beside this one read it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str

class Error(ValueError):
    """Something is wrong with what derrl was given. The text says what, where, and what would be right."""

class Outside(Error):
    """A policy does not know a state: no rule fires in it, or it lies outside what the policy was learned on."""

    reasons: list[str]
    """Why, each in words."""

class World:
    """A world: its alphabet and its tasks."""

    @staticmethod
    def find(name: str) -> World:
        """The built-in world of that name."""
    @staticmethod
    def changed(file: str, domain: str) -> World:
        """A built-in world with a domain file of one's own, which says in `:- environment(...)` which world it describes."""
    @staticmethod
    def pddl(
        domain: str | PathLike[str],
        train: Sequence[str | PathLike[str]],
        test: Sequence[tuple[str, str | PathLike[str]]],
        horizon: int | None = None,
    ) -> World:
        """The world of a PDDL domain with its problems."""
    @staticmethod
    def python(name: str, domain: str, tasks: Sequence[tuple[str, object]], summary: str = "", words: str = "") -> World:
        """A world from the text of its domain file and Python objects by task, the one to train on first."""
    @staticmethod
    def described(domain: str) -> World:
        """A world of which only the domain file is known: nothing can be played in it."""
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def domain(self) -> str:
        """The text of its domain file."""
    @property
    def is_python(self) -> bool:
        """Whether it is written in Python."""
    @property
    def is_pddl(self) -> bool:
        """Whether it is a PDDL domain."""
    def tasks_json(self) -> str: ...
    def actions(self) -> list[tuple[str, int]]:
        """Its actions: name and number of objects."""
    def predicates(self) -> list[tuple[str, int]]:
        """Its predicates: name and number of objects, those that are derived left out."""
    def episodes(self, task: str, options: str = "{}") -> Episodes:
        """Episodes of a task, to be played from Python."""

class Episodes:
    """Episodes of a task, one after the other."""

    def reset(self, seed: int) -> None:
        """Draws an instance and starts an episode in it."""
    def facts(self) -> list[tuple[str | int, ...]]:
        """What holds now."""
    def objects(self) -> list[str | int]:
        """The objects of the instance, in order."""
    def actions(self) -> list[tuple[str | int, ...]]:
        """All actions of the instance, in order."""
    def legal(self) -> list[tuple[str | int, ...]] | None:
        """The legal actions; none where any may be tried."""
    def step(self, action: Sequence[str | int]) -> tuple[float, bool, bool]:
        """Acts, and returns the reward, whether the episode has ended by itself and whether it was cut off."""
    def succeeded(self) -> bool: ...
    def turn(self) -> tuple[int, int]:
        """The agent whose turn it is, and how many there are."""
    def round_rewards(self) -> list[float]: ...
    def best_return(self) -> float | None: ...
    def scene_json(self) -> str: ...

class Level:
    """A level of the doorkey world, moved by Minigrid's primitive actions."""

    @staticmethod
    def doorkey(size: int, seed: int) -> Level:
        """The level of ``MiniGrid-DoorKey-{size}x{size}-v0`` after ``reset(seed=seed)``."""
    def step(self, action: int) -> bool:
        """Does an action by Minigrid's number, and returns whether it stepped on the goal."""
    def encode(self) -> bytes:
        """The bytes of Minigrid's ``grid.encode()``."""
    def agent(self) -> tuple[int, int, int, int | None]:
        """Column, row, direction, and the number of the colour of the key in its hand."""

_Facts = Iterable[Sequence[str | int | float] | str]
_Objects = Mapping[str, str] | None

class Policy:
    """Rules that act."""

    @staticmethod
    def parse(text: str, world: World) -> Policy: ...
    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def learned_on(self) -> str | None: ...
    @property
    def world(self) -> World: ...
    def act(
        self, facts: _Facts, legal: _Facts | None = None, seed: int | None = None, objects: _Objects = None, strict: bool = False
    ) -> tuple[str | int, ...]: ...
    def best(
        self, facts: _Facts, legal: _Facts | None = None, objects: _Objects = None
    ) -> list[tuple[str | int, ...]]: ...
    def explain_json(
        self, facts: _Facts, legal: _Facts | None = None, seed: int | None = None, objects: _Objects = None
    ) -> str: ...
    def why_not_json(
        self, facts: _Facts, action: Sequence[str | int] | str, legal: _Facts | None = None, objects: _Objects = None
    ) -> str: ...
    def soft(self, facts: _Facts, atoms: _Facts, tnorm: str, objects: _Objects = None) -> Soft: ...
    def evaluate_json(
        self, world: World, task: str, episodes: int | None = None, seed: int = 0, options: str = "{}"
    ) -> str: ...
    def verify_json(self, world: World, max_objects: int | None = None, threads: int | None = None) -> str: ...
    def diff_json(self, other: Policy, world: World, max_objects: int | None = None) -> str: ...
    def simplified(self, world: World, max_objects: int | None = None) -> tuple[Policy, list[str], int]: ...
    def solve(
        self, world: World, problem: str | PathLike[str], horizon: int | None = None, seed: int = 0
    ) -> tuple[bool, list[list[str]], float]: ...
    def export(self, language: str) -> str: ...
    def in_english(self) -> list[str]: ...

class Soft:
    """A policy in one state, some facts of which are soft."""

    @property
    def actions(self) -> list[list[str]]: ...
    def values(self, probabilities: bytes) -> bytes: ...
    def gradient(self, probabilities: bytes, d_values: bytes) -> bytes: ...

def main(args: list[str]) -> int: ...
def builtin() -> list[str]:
    """The names of the built-in worlds."""

class Request:
    """What is asked of a run."""

    def __init__(
        self,
        world: World,
        seed: int,
        settings: list[str],
        task: str | None = None,
        episodes: int | None = None,
        untyped: bool = False,
        options: str = "{}",
        max_steps: int | None = None,
        max_seconds: float | None = None,
    ) -> None: ...
    def start(self, folder: str | PathLike[str]) -> None: ...
    def check(self, folder: str | PathLike[str]) -> None: ...

def learn(
    world: World,
    folder: str | PathLike[str],
    threads: int | None = None,
    progress: Callable[[int, int, str], Any] | None = None,
    on_best: Callable[[str, float, float | None, int], Any] | None = None,
    max_seconds: float | None = None,
    enough: bool = False,
) -> str: ...
def so_far(folder: str | PathLike[str]) -> str | None: ...
def seconds_left(folder: str | PathLike[str], max_seconds: float | None = None) -> float | None: ...
def report(world: World, folder: str | PathLike[str], out: str | PathLike[str] | None = None) -> PathLike[str]: ...
def tensorboard(folder: str | PathLike[str], logdir: str | PathLike[str]) -> None: ...
def result(folder: str | PathLike[str]) -> str | None: ...
def settings() -> str: ...
def pending(world: World, folder: str | PathLike[str]) -> list[int]: ...
def restart(
    world: World,
    folder: str | PathLike[str],
    progress: Callable[[int, int, str], Any] | None = None,
) -> tuple[str | None, BaseException | None]: ...
def absorb(world: World, folder: str | PathLike[str], results: list[str], seconds: float = 0.0) -> str | None: ...
