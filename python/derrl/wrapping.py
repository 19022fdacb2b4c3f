"""Gymnasium environments as worlds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .worlds import Atom


class Wrapped:
    """A Gymnasium environment as a world. Made by :func:`wrap`."""

    def __init__(
        self,
        env: Any,
        facts: Callable[[Any, Mapping[str, Any]], Iterable[Any]],
        action: Callable[..., Any],
        actions: Mapping[str, int | Sequence[str]],
        domain: str | Path | None = None,
        objects: Mapping[str, str] | None = None,
        succeeded: Callable[[Any, float, Mapping[str, Any]], bool] | None = None,
        has_goal: bool = True,
    ) -> None:
        if not callable(getattr(env, "reset", None)) or not callable(getattr(env, "step", None)):
            raise TypeError(f"wrap takes a Gymnasium environment, as gymnasium.make gives it, not {type(env).__name__}")
        for name, function in (("facts", facts), ("action", action), ("succeeded", succeeded)):
            if function is not None and not callable(function):
                raise TypeError(f"wrap: {name} is a function, not {function!r}")
        if not isinstance(actions, Mapping):
            raise TypeError(f'wrap: actions are names with arities or types, as in {{"move": ["room"]}}, not {actions!r}')
        self.has_goal = has_goal
        self.env, self._facts, self.action, self._actions = env, facts, action, dict(actions)
        self.domain = domain
        self._objects = dict(objects or {})
        self._succeeded = succeeded
        self._at: tuple[Any, float, Mapping[str, Any], list[Any]] = (None, 0.0, {}, [])
        if objects:
            self.objects = lambda: self._objects
        if succeeded is not None:
            self.succeeded = lambda: bool(succeeded(self._at[0], self._at[1], self._at[2]))
        _, info = env.reset(seed=0)
        self._masked = "action_mask" in info or callable(getattr(env.unwrapped, "action_masks", None))
        if self._masked:
            self.legal = lambda: self.legal_now(self._at[0], self._at[2], self._at[3]) or []

    def facts(self, observation: Any, info: Mapping[str, Any]) -> list[Any]:
        """The facts of an observation."""
        said = self._facts(observation, info)
        if isinstance(said, (str, Mapping)) or not isinstance(said, Iterable):
            raise TypeError(f'the facts function of wrap returns a list of facts, such as [("on", "a", "b")], not {said!r}')
        return list(said)

    def actions(self) -> dict[str, int | Sequence[str]]:
        """The actions with their arities or types."""
        return self._actions

    def objects_now(self) -> Mapping[str, str] | None:
        """Objects that no fact need name."""
        return self._objects or None

    def legal_now(self, observation: Any, info: Mapping[str, Any], facts: list[Any]) -> list[Atom] | None:
        """The actions that the environment's mask allows; none where it has no mask."""
        mask = info.get("action_mask")
        if mask is None:
            if not self._masked:
                return None
            mask = self.env.unwrapped.action_masks()
        named = {o for fact in facts if isinstance(fact, (tuple, list)) for o in fact[1:]} | set(self._objects)
        ordered = sorted(named, key=str)
        allowed: list[Atom] = []
        for name, types in self._actions.items():
            arity = types if isinstance(types, int) else len(types)
            for args in itertools.permutations(ordered, arity):
                if not isinstance(types, int) and any(
                    self._objects.get(o, t) != t for o, t in zip(args, types)
                ):
                    continue
                try:
                    chosen = self.action(name, *args)
                except LookupError:
                    continue  # no such action in the environment
                try:
                    may = mask[chosen]
                except IndexError as error:
                    raise IndexError(f"wrap: the action of {(name, *args)} is {chosen!r}, which the mask does not have: {error}") from None
                if may:
                    allowed.append((name, *args))
        return allowed

    def reset(self, seed: int) -> list[Any]:
        """Starts an episode, and returns its facts."""
        observation, info = self.env.reset(seed=int(seed))
        facts = self.facts(observation, info)
        self._at = (observation, 0.0, info, facts)
        return facts

    def step(self, action: Atom) -> tuple[list[Any], float, bool, bool]:
        """Acts, and returns facts, reward, terminated, truncated."""
        observation, reward, terminated, truncated, info = self.env.step(self.action(*action))
        facts = self.facts(observation, info)
        self._at = (observation, float(reward), info, facts)
        return facts, float(reward), bool(terminated), bool(truncated)

    def render(self) -> Any:
        """What the environment renders, where it was made with ``render_mode="rgb_array"`` or ``"ansi"``."""
        return self.env.render() if self.env.render_mode in ("rgb_array", "ansi") else None


def wrap(
    env: Any,
    *,
    facts: Callable[[Any, Mapping[str, Any]], Iterable[Any]],
    action: Callable[..., Any],
    actions: Mapping[str, int | Sequence[str]],
    domain: str | Path | None = None,
    objects: Mapping[str, str] | None = None,
    succeeded: Callable[[Any, float, Mapping[str, Any]], bool] | None = None,
    has_goal: bool = True,
) -> Wrapped:
    """A Gymnasium environment as a world.

    ``facts(observation, info)`` says what holds; ``action(name, *objects)`` gives the environment's action, and raises a LookupError
    (a KeyError, say) where it has none; ``actions`` are the names with their arities or types. Masks of the environment,
    ``info["action_mask"]`` or ``env.action_masks()``, are respected. ``objects`` are objects with their types that facts need not
    name. ``succeeded(observation, reward, info)`` says whether an episode that has ended reached its goal; by default it did if the
    last reward is positive. ``has_goal=False`` says that there is none, as where a pole is to be kept upright: then only returns
    count, and no share of successes is reported.
    """
    return Wrapped(env, facts, action, actions, domain, objects, succeeded, has_goal)
