"""What is wrong with a world in Python, before time is spent on training."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from . import spaces
from ._derrl import Error
from .inference import Inference, as_tuple, check_methods, listed, stepped


@dataclass(frozen=True)
class WorldCheck:
    """What :func:`check_world` found.

        >>> print(derrl.check_world(Delivery()).problems)
    """

    problems: list[str]
    """What breaks the contract of worlds: training would fail, or learn from chance."""
    notes: list[str]
    """What is probably not meant."""
    domain: str
    """The domain file, inferred where the world has none."""

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        lines = [f"problem: {text}" for text in self.problems] + [f"note: {text}" for text in self.notes]
        return "\n".join(lines) or "nothing is wrong with this world"


def _facts(said: Any) -> frozenset[tuple[Any, ...]]:
    return frozenset(as_tuple(fact, "a fact") for fact in listed(said, "reset(seed) and step(action) return", "facts"))


def _difference(first: frozenset[tuple[Any, ...]], second: frozenset[tuple[Any, ...]]) -> str:
    fact = min(first ^ second, key=repr)
    return f"{fact} holds once, and not the other time"


def _played(of: Any, seed: int, steps: int, choose: Inference | None) -> list[Any]:
    """What an episode of random play says, step by step. The same actions are tried every time."""
    # Before the episode: it plays some of its own.
    chance = choose if choose is not None else Inference(of, episodes=1, steps=steps)
    seen = _facts(of.reset(seed))
    told: list[Any] = [seen]
    chance.rng = random.Random(seed)
    for _ in range(steps):
        action = chance.choose(of, set(seen))
        if action is None:
            break
        facts, reward, terminated, truncated = stepped(of.step(action))
        seen = _facts(facts)
        told.append((action, seen, float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return told


def replay_fault(of: Any, seeds: int = 2, steps: int = 20, chance: Inference | None = None) -> str | None:
    """How a world differs when the same episode is played twice; none where it does not."""
    for seed in range(seeds):
        first = _played(of, seed, steps, chance)
        _played(of, seed + 1, 3, chance)  # another episode in between, as in training
        second = _played(of, seed, steps, chance)
        if first[0] != second[0]:
            return f"reset({seed}) gave other facts the second time: {_difference(first[0], second[0])}"
        for number, (was, now) in enumerate(zip(first[1:], second[1:]), 1):
            if was[:2] != now[:2] or was[2:] != now[2:]:
                same = was[0] == now[0] and was[1] != now[1]
                why = _difference(was[1], now[1]) if same else f"{was[0]} gave {was[2:]}, then {now[0]} gave {now[2:]}"
                return f"the same actions after reset({seed}) led to another state in step {number}: {why}"
    return None


REPEATABLE = "an episode has to depend on the seed of reset alone: make random.Random(seed) in reset, and draw from nothing else"


def check_world(world: Any, *, episodes: int = 20, steps: int = 200) -> WorldCheck:
    """Plays a world at random, and says what is wrong with it: what breaks the contract, and what is probably not meant.

    It is false where there are problems:

        >>> assert derrl.check_world(Delivery()), derrl.check_world(Delivery())
    """
    of = spaces.converted(world)
    check_methods(of)
    problems: list[str] = []
    notes: list[str] = []
    try:
        chance = Inference(of, episodes=episodes, steps=steps)
    except (Error, TypeError) as error:
        return WorldCheck([str(error)], [], "")
    given = getattr(of, "domain", None)
    from .worlds import domain_text, prepare

    domain = chance.text() if given is None else domain_text(given)
    try:
        played = prepare(of, domain=domain).world.episodes("train")
        for seed in range(episodes):
            played.reset(seed)
            for _ in range(steps):
                legal = played.legal()
                actions = played.actions() if legal is None else legal
                if not actions:
                    problems.append(f"no action is legal after reset({seed}), and the episode has not ended")
                    break
                if any(played.step(chance.rng.choice(actions))[1:]):
                    break
    except (Error, TypeError) as error:
        problems.append(str(error))
    if (fault := replay_fault(of, 3, steps, chance)) is not None:
        problems.append(f"{fault}; {REPEATABLE}")
    ends, rewards = _ends(of, chance, episodes, steps)
    if not ends["ended"]:
        notes.append(f"no episode of random play ended within {steps} steps: is there a horizon?")
    if len(rewards) == 1:
        notes.append(f"every step was rewarded with {next(iter(rewards)):g}: random play says nothing of what is better")
    if getattr(of, "has_goal", True) and getattr(of, "succeeded", None) is None and ends["terminated"] and max(rewards) <= 0:
        notes.append(NO_SUCCESS)
    return WorldCheck(list(dict.fromkeys(problems)), notes, domain)


NO_SUCCESS = (
    "without succeeded(), an episode has reached its goal if its last reward is positive, and none was: give the world succeeded(), or "
    "has_goal = False if there is nothing to reach"
)


def _ends(of: Any, chance: Inference, episodes: int, steps: int) -> tuple[dict[str, int], set[float]]:
    """How many episodes of random play ended, and which rewards came."""
    ends, rewards = {"ended": 0, "terminated": 0}, set()
    for seed in range(episodes):
        told = _played(of, seed, steps, chance)
        rewards |= {step[2] for step in told[1:]}
        if len(told) > 1:
            ends["terminated"] += told[-1][3]
            ends["ended"] += told[-1][3] or told[-1][4]
    return ends, rewards
