"""Verification of worlds written in Python that can be copied: every state that a policy can reach is walked."""

from __future__ import annotations

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
    on_path: dict[Any, None] = {}
    height: dict[Any, int] = {}  # states from which every way gets there, and how long the longest is
    path: list[tuple[Any, Any, list[Any], list[Any], int]] = []
    instance = f"the instance of seed {seed}"

    def refuted(kind: str, last: Any = None) -> dict[str, Any]:
        steps = [{"facts": sorted(map(str, at[2])), "action": str(at[3][at[4] - 1])} for at in path]
        found = {"kind": kind, "instance": instance, "steps": steps}
        if last is not None:
            found["end"] = sorted(map(str, last))
        return {"states": len(height) + len(on_path), "longest": 0, "counterexample": found}

    def enter(world: Any, facts: list[Any], legal: list[Any] | None) -> None:
        key = _key(facts, legal)
        on_path[key] = None
        path.append((key, world, facts, policy.best(facts, legal), 0))

    enter(world, facts, legal)
    below = 0
    while path:
        key, world, facts, actions, at = path.pop()
        if at == len(actions):
            del on_path[key]
            height[key] = below = max((height.get(key, 0), below + 1))
            if path:
                top = path[-1][0]
                height[top] = max(height.get(top, 0), below + 1)
            continue
        path.append((key, world, facts, actions, at + 1))
        if len(height) + len(on_path) > budget:
            raise Error("too many states to walk: fewer instances, or a larger most_states")
        after = world.copy()
        said, reward, terminated, truncated = after.step(actions[at])[:4]
        said, legal = look(after, said)
        if terminated or truncated or legal == []:
            if not (terminated and succeeded(after, reward)):
                return refuted("truncated" if truncated else "dead-end", said)
            below = 0
            height[key] = max(height.get(key, 0), 1)
            continue
        following = _key(said, legal)
        if following in on_path:
            return refuted("loop", said)
        if following in height:
            height[key] = max(height.get(key, 0), height[following] + 1)
            continue
        below = 0
        enter(after, said, legal)
    start = max(height.values(), default=0)
    return {"states": len(height), "longest": start, "counterexample": None}
