"""Verification of worlds written in Python that can be copied: every state that a policy can reach is walked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._derrl import Error
from .policies import Policy, Proof


def walk(policy: Policy, source: Any, instances: int, most_states: int) -> Proof:
    """Whether a policy gets there from the first instances of a world, however ties are broken.

    Wherever several actions tie, all are followed. A state is known by its facts and legal actions; the world must be
    deterministic after ``reset``. It fails where an episode ends without success, or comes back to a state it was in.
    """
    if source is None or not hasattr(source, "copy"):
        raise Error("this world cannot be walked: give it copy(), and call verify(policy, world)")
    states = longest = 0
    for seed in range(instances):
        found = _walk_instance(policy, source, seed, most_states - states)
        states += found["states"]
        longest = max(longest, found["longest"])
        if found["counterexample"]:
            sizes = [{"title": f"seeds 0 to {seed}", "instances": seed + 1, "states": states, "failing": 1}]
            return Proof(False, {"verdict": "refuted", "sizes": sizes, "counterexample": found["counterexample"]})
    title = f"the first {instances} instances"
    sizes = [{"title": title, "instances": instances, "states": states, "failing": 0, "longest_run": longest}]
    return Proof(True, {"verdict": "proved", "ties": "worst", "sizes": sizes})


@dataclass
class _Place:
    """A state on the way, and how many of its actions were followed."""

    key: Any
    world: Any
    facts: list[Any]
    actions: list[Any]
    taken: int = 0
    longest: int = 0


def _key(facts: list[Any], legal: list[Any] | None) -> Any:
    return frozenset(map(tuple, facts)), None if legal is None else frozenset(map(tuple, legal))


def _walk_instance(policy: Policy, source: Any, seed: int, budget: int) -> dict[str, Any]:
    lists = hasattr(source, "legal")

    def look(world: Any, facts: Any) -> tuple[list[Any], list[Any] | None]:
        said = [*facts, *(world.background() if hasattr(world, "background") else ())]
        said = [(f,) if isinstance(f, str) else tuple(f) for f in said]
        return said, [tuple(a) for a in world.legal()] if lists else None

    def succeeded(world: Any, reward: float) -> bool:
        return bool(world.succeeded()) if hasattr(world, "succeeded") else reward > 0

    world = source.copy()
    facts, legal = look(world, world.reset(seed))
    path: list[_Place] = []
    on_path: set[Any] = set()
    known: dict[Any, int] = {}  # states from which every way gets there, with the length of the longest

    def enter(world: Any, facts: list[Any], legal: list[Any] | None) -> None:
        place = _Place(_key(facts, legal), world, facts, policy.best(facts, legal))
        on_path.add(place.key)
        path.append(place)

    def refuted(kind: str, end: list[Any]) -> dict[str, Any]:
        steps = [{"facts": sorted(map(str, at.facts)), "action": at.actions[at.taken - 1]} for at in path]
        found = {"kind": kind, "instance": f"the instance of seed {seed}", "steps": steps, "end": sorted(map(str, end))}
        return {"states": len(known) + len(path), "longest": 0, "counterexample": found}

    enter(world, facts, legal)
    while True:
        place = path[-1]
        if place.taken == len(place.actions):
            path.pop()
            on_path.remove(place.key)
            known[place.key] = place.longest
            if not path:
                return {"states": len(known), "longest": place.longest, "counterexample": None}
            path[-1].longest = max(path[-1].longest, place.longest + 1)
            continue
        if len(known) + len(path) > budget:
            raise Error("too many states to walk: ask for fewer instances, or a larger most_states")
        action = place.actions[place.taken]
        place.taken += 1
        after = place.world.copy()
        said, reward, terminated, truncated = after.step(action)[:4]
        said, legal = look(after, said)
        if terminated or truncated or legal == []:
            if not (terminated and succeeded(after, reward)):
                return refuted("truncated" if truncated else "dead-end", said)
            place.longest = max(place.longest, 1)
            continue
        following = _key(said, legal)
        if following in on_path:
            return refuted("loop", said)
        if following in known:
            place.longest = max(place.longest, known[following] + 1)
        else:
            enter(after, said, legal)
