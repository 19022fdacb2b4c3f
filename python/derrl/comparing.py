"""Policies set side by side in a world written in Python, whose states cannot be listed: in those that episodes come to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ._derrl import Error
from .inference import stepped
from .notebook import RULE, literals
from .policies import Difference, Policy, Simplified

MOST_STEPS = 1000
"""Steps of an episode, at the most, where the world has no horizon."""


def states(policy: Policy, source: Any, instances: int) -> Iterator[tuple[int, list[Any], list[Any] | None]]:
    """The states of an episode from each of the first instances: its seed, the facts, and the legal actions where they are listed."""
    if source is None:
        raise Error("this policy is not of a world that can be played: name the world, too")
    for seed in range(instances):
        facts = source.reset(seed)
        background = list(source.background()) if getattr(source, "background", None) is not None else []
        for step in range(getattr(source, "horizon", None) or MOST_STEPS):
            said = [*facts, *background]
            legal = list(source.legal()) if getattr(source, "legal", None) is not None else None
            if legal == []:
                break
            yield seed, said, legal
            facts, _, terminated, truncated = stepped(source.step(policy._inner.act(said, legal, step, None)))
            if terminated or truncated:
                break


def diff(first: Policy, second: Policy, source: Any, instances: int) -> Difference:
    """Where two policies decide otherwise, in the states that either comes to."""
    looked = 0
    for played in (first, second):
        for seed, facts, legal in states(played, source, instances):
            looked += 1
            one, other = (set(policy._inner.best(facts, legal, None)) for policy in (first, second))
            if one != other:
                shown = {"instance": f"the instance of seed {seed}", "facts": [_written(fact) for fact in facts]}
                sides = {"first": {"actions": sorted(map(_written, one))}, "second": {"actions": sorted(map(_written, other))}}
                return Difference(False, looked, {**shown, **sides})
    return Difference(True, looked, None)


def simplify(policy: Policy, source: Any, instances: int) -> Simplified:
    """A policy without the rules and atoms that make no difference in the states that it comes to."""
    met = [(facts, legal) for _, facts, legal in states(policy, source, instances)]
    wanted = [set(policy._inner.best(facts, legal, None)) for facts, legal in met]

    def same(lines: list[str]) -> bool:
        try:
            tried = Policy.parse("\n".join(lines), policy.world)
        except Error:  # a variable of the head that nothing else names, say
            return False
        return all(set(tried._inner.best(facts, legal, None)) == want for (facts, legal), want in zip(met, wanted))

    lines, removed = [line.strip() for line in policy.text.splitlines() if line.strip()], []
    for line in reversed(list(lines)):
        if same(without := [other for other in lines if other is not line]):
            lines = without
            removed.append(line)
    for at, line in enumerate(lines):
        found = RULE.match(line)
        if found is None or not found["body"]:
            continue
        body = literals(found["body"])
        for literal in reversed(list(body)):
            shorter = [other for other in body if other is not literal]
            head = f"{found['value']}::{found['head']}" if found["value"] else found["head"]
            rule = f"{head} :- {', '.join(shorter)}." if shorter else f"{head}."
            if same([*lines[:at], rule, *lines[at + 1 :]]):
                lines[at], body = rule, shorter
                removed.append(f"{literal} of {line}")
    simpler = Policy.parse("\n".join(lines), policy.world)
    simpler._source = policy._source
    return Simplified(simpler, removed, len(met))


def _written(atom: Any) -> str:
    """An atom as rules have it."""
    if isinstance(atom, str):
        return atom
    name, *args = (a if not isinstance(a, str) or re.fullmatch(r"[a-z]\w*", a) else repr(a) for a in atom)
    return f"{name}({', '.join(map(str, args))})" if args else str(name)
