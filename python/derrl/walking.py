"""Verification of worlds written in Python that can be copied: every state that a policy can reach is walked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._derrl import Error
from .policies import Policy, Proof


def walk(policy: Policy, source: Any, ties: str, instances: int, most_states: int) -> Proof:
    """Whether a policy gets there from the first instances of a world.

    Wherever several actions tie, all are followed. A state is known by its facts and legal actions; the world must be
    deterministic after ``reset``. It fails where an episode ends without success, or no way of breaking ties leads on to
    success. Where a run could come back to a state, it gets there only if ties are broken at random.
    """
    if source is None or getattr(source, "copy", None) is None:
        raise Error("this world cannot be walked: give it copy(), and call verify(policy, world)")
    if getattr(source, "has_goal", True) is False:
        raise Error("this world has no goal, so there is nothing to prove: its has_goal is False")
    states = longest = 0
    luck: dict[str, Any] | None = None
    for seed in range(instances):
        graph = _Graph(policy, source, seed, most_states - states)
        states += len(graph.places)
        kind, failing = graph.failure()
        if kind is not None and kind != "luck":
            found = {"kind": kind, "instance": f"the instance of seed {seed}", "steps": graph.way(failing)}
            sizes = [{"title": f"seeds 0 to {seed}", "instances": seed + 1, "states": states, "failing": 1}]
            return Proof("refuted", ties, {"verdict": "refuted", "sizes": sizes, "counterexample": found})
        if kind == "luck" and luck is None:
            luck = {"kind": "loop", "instance": f"the instance of seed {seed}", "steps": graph.way(failing)}
        longest = max(longest, graph.longest)
    title = f"the first {instances} instances"
    sizes = [{"title": title, "instances": instances, "states": states, "failing": 0, "longest_run": longest}]
    verdict = "proved-if-ties-are-random" if luck else "proved"
    return Proof(verdict, ties, {"verdict": verdict, "sizes": sizes, "counterexample": luck})


@dataclass
class _Place:
    """A state, the way it was reached, and where its actions lead: to places by number, -1 to success, -2 to failure."""

    facts: list[Any]
    before: tuple[int, Any] | None
    leads: list[int] = field(default_factory=list)


def _copy(world: Any) -> Any:
    """An independent copy of a world."""
    copied = world.copy()
    if copied is world or not hasattr(copied, "step"):
        raise TypeError(f"copy() returns another world in the same state, not {'the world itself' if copied is world else repr(copied)}")
    return copied


class _Graph:
    """All states that a policy can reach in an instance."""

    def __init__(self, policy: Policy, source: Any, seed: int, budget: int) -> None:
        lists = getattr(source, "legal", None) is not None

        def look(world: Any, facts: Any) -> tuple[list[Any], list[Any] | None, Any]:
            said = [*facts, *(world.background() if getattr(world, "background", None) is not None else ())]
            said = [(f,) if isinstance(f, str) else tuple(f) for f in said]
            legal = [tuple(a) for a in world.legal()] if lists else None
            return said, legal, (frozenset(said), None if legal is None else frozenset(legal))

        world = _copy(source)
        facts, legal, key = look(world, world.reset(seed))
        self.places, self.longest = [_Place(facts, None)], 0
        self.lost: tuple[str, int] | None = None
        known, waiting = {key: 0}, [(0, world, facts, legal)]
        for at, world, facts, legal in waiting:
            for action in policy.best(facts, legal):
                after = _copy(world)
                came = after.step(action)
                if not isinstance(came, tuple) or not 4 <= len(came) <= 5:
                    raise TypeError(f"step(action) returns facts, reward, terminated, truncated; not {came!r}")
                said, reward, terminated, truncated = came[:4]
                said, allowed, key = look(after, said)
                if terminated or truncated or allowed == []:
                    succeeded = getattr(after, "succeeded", None)
                    good = terminated and reward > 0 if succeeded is None else succeeded()
                    self.places[at].leads.append(-1 if good else -2)
                    if not good and self.lost is None:
                        self.lost = ("cut-off" if truncated else "dead-end", at)
                    continue
                if key not in known:
                    known[key] = len(self.places)
                    if len(self.places) >= budget:
                        raise Error("too many states to walk: ask for fewer instances, or a larger most_states")
                    self.places.append(_Place(said, (at, action)))
                    waiting.append((known[key], after, said, allowed))
                self.places[at].leads.append(known[key])

    def failure(self) -> tuple[str | None, int]:
        """How the policy fails and where; ``luck`` where it gets there only if ties are broken at random."""
        if self.lost is not None:
            return self.lost
        # From the end: places of which all ways get there, and the length of the longest.
        before: dict[int, list[int]] = {}
        for at, place in enumerate(self.places):
            for to in place.leads:
                before.setdefault(to, []).append(at)
        left = [len(place.leads) for place in self.places]
        sure = {-1: 0}
        queue = [-1]
        for to in queue:
            for at in before.get(to, []):
                left[at] -= 1
                if left[at] == 0:
                    sure[at] = 1 + max(sure[s] for s in self.places[at].leads)
                    queue.append(at)
        if 0 in sure:
            self.longest = sure[0]
            return None, 0
        can, queue = {-1}, [-1]
        for to in queue:
            for at in before.get(to, []):
                if at not in can:
                    can.add(at)
                    queue.append(at)
        stuck = [at for at in range(len(self.places)) if at not in can]
        if stuck:
            return "loop", stuck[0]
        return "luck", next(at for at in range(len(self.places)) if at not in sure)

    def way(self, at: int) -> list[dict[str, Any]]:
        """The steps to a place."""
        steps: list[dict[str, Any]] = [{"facts": sorted(map(str, self.places[at].facts)), "action": None}]
        before = self.places[at].before
        while before is not None:
            at, action = before
            steps.append({"facts": sorted(map(str, self.places[at].facts)), "action": action})
            before = self.places[at].before
        return steps[::-1]
