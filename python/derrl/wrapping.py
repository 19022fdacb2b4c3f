"""Gymnasium environments as worlds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._derrl import Error
from .inference import Atom, is_measure

Facts = Callable[[Any, Mapping[str, Any]], Iterable[Any]]

LACKS = "wrap: `action` has none for"
"""How errors begin that say that the environment has no such action now."""


class Wrapped:
    """A Gymnasium environment as a world. Made by :func:`wrap`.

        >>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
        >>> run = derrl.train(env)
        >>> observation, info = env.reset(seed=0)
        >>> action, _ = run.policy.predict(observation, info)
        >>> observation, reward, terminated, truncated, info = env.step(action)
    """

    def __init__(
        self,
        env: Any,
        facts: Facts,
        action: Callable[..., Any],
        actions: Mapping[str, int | Sequence[str]],
        **more: Any,
    ) -> None:
        _check(env, facts, action, actions, more)
        self.env, self._facts, self.action, self._actions = env, facts, action, dict(actions)
        self.domain: str | Path | None = more.get("domain")
        self.has_goal: bool = more.get("has_goal", True)
        self.name: str = more.get("name") or _name(env)
        spec = getattr(env, "spec", None)
        self.horizon: int | None = more.get("horizon") or getattr(spec, "max_episode_steps", None)
        self._objects: dict[Any, str] = dict(more.get("objects") or {})
        self._at: tuple[Any, float, Mapping[str, Any], list[Any]] = (None, 0.0, {}, [])
        if self._objects:
            self.objects = lambda: self._objects
        if (succeeded := more.get("succeeded")) is not None:
            self.succeeded = lambda: bool(succeeded(self._at[0], self._at[1], self._at[2]))
        if (background := more.get("background")) is not None:
            self.background = lambda: list(background(self._at[0], self._at[2]))
        self._legal = more.get("legal")
        observation, info = env.reset(seed=0)
        self._masked = "action_mask" in info or callable(getattr(env.unwrapped, "action_masks", None))
        # Where an action of the world has none in the environment, those that have are listed.
        self._partial = self._legal is None and not self._masked and self._lacks_actions(self.facts(observation, info))
        if self._legal is not None or self._masked or self._partial:
            self._list_legal()

    def _list_legal(self) -> None:
        self.legal = lambda: self.legal_now(self._at[0], self._at[2], self._at[3]) or []

    def leave_out(self, error: Error) -> bool:
        """From now on lists the actions that the environment has, where an error says that it lacks one; whether that is new."""
        if LACKS not in str(error) or callable(getattr(self, "legal", None)):
            return False
        self._partial = True
        self._list_legal()
        return True

    def __repr__(self) -> str:
        return f"<derrl.wrap of {getattr(self.env, 'spec', None) and self.env.spec.id or self.env}>"

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

    def _candidates(self, facts: list[Any]) -> Iterable[Atom]:
        """All actions over the objects known now, as far as types are given."""
        named = {o for f in facts if isinstance(f, (tuple, list)) for o in f[1:] if not is_measure(o)} | set(self._objects)
        ordered = sorted(named, key=str)
        for name, types in self._actions.items():
            arity = types if isinstance(types, int) else len(types)
            for args in itertools.permutations(ordered, arity):
                if isinstance(types, int) or all(self._objects.get(o, t) == t for o, t in zip(args, types)):
                    yield (name, *args)

    def _lacks_actions(self, facts: list[Any]) -> bool:
        for atom in self._candidates(facts):
            try:
                self.action(*atom)
            except LookupError:
                return True
        return False

    def legal_now(self, observation: Any, info: Mapping[str, Any], facts: list[Any]) -> list[Any] | None:
        """The legal actions: those that ``legal`` says, that the environment's mask allows, or for which ``action`` gives one. None where
        any may be tried."""
        if self._legal is not None:
            return list(self._legal(observation, info))
        mask = info.get("action_mask")
        if mask is None and self._masked:
            mask = self.env.unwrapped.action_masks()
        if mask is None and not self._partial:
            return None
        allowed = []
        for atom in self._candidates(facts):
            try:
                chosen = self.action(*atom)
            except LookupError:
                continue  # no such action in the environment
            try:
                may = mask is None or mask[chosen]
            except IndexError as error:
                raise IndexError(f"wrap: the action of {atom} is {chosen!r}, which the mask does not have: {error}") from None
            if may:
                allowed.append(atom)
        return allowed

    def reset(self, seed: int) -> list[Any]:
        """Starts an episode, and returns its facts."""
        observation, info = self.env.reset(seed=int(seed))
        facts = self.facts(observation, info)
        self._at = (observation, 0.0, info, facts)
        return facts

    def step(self, action: Atom) -> tuple[list[Any], float, bool, bool]:
        """Acts, and returns facts, reward, terminated, truncated."""
        try:
            chosen = self.action(*action)
        except LookupError as error:
            raise Error(f"{LACKS} {action}: {error!r}. Say which there are by legal=, by types in actions=, or by objects=") from error
        observation, reward, terminated, truncated, info = self.env.step(chosen)
        facts = self.facts(observation, info)
        self._at = (observation, float(reward), info, facts)
        return facts, float(reward), bool(terminated), bool(truncated)

    def render(self) -> Any:
        """What the environment renders, where it was made with ``render_mode="rgb_array"`` or ``"ansi"``."""
        return self.env.render() if self.env.render_mode in ("rgb_array", "ansi") else None


def _check(env: Any, facts: Any, action: Any, actions: Any, more: Mapping[str, Any]) -> None:
    if not callable(getattr(env, "reset", None)) or not callable(getattr(env, "step", None)):
        raise TypeError(f"wrap takes a Gymnasium environment, as gymnasium.make gives it, not {type(env).__name__}")
    functions = {"facts": facts, "action": action, **{key: more.get(key) for key in ("succeeded", "background", "legal")}}
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError(f"wrap: {name} is a function, not {function!r}")
    if not isinstance(actions, Mapping):
        raise TypeError(f'wrap: actions are names with arities or types, as in {{"move": ["room"]}}, not {actions!r}')


def _name(env: Any) -> str:
    """The name of an environment without its version, such as ``CliffWalking`` of ``CliffWalking-v1``."""
    spec = getattr(env, "spec", None)
    named = spec.id.split("/")[-1].split(":")[-1] if spec is not None else type(getattr(env, "unwrapped", env)).__name__
    stem, _, version = named.rpartition("-v")
    return str(stem if stem and version.isdigit() else named).replace("-", "_")


def wrap(
    env: Any,
    *,
    facts: Facts,
    action: Callable[..., Any],
    actions: Mapping[str, int | Sequence[str]],
    domain: str | Path | None = None,
    objects: Mapping[str, str] | None = None,
    background: Facts | None = None,
    legal: Facts | None = None,
    succeeded: Callable[[Any, float, Mapping[str, Any]], bool] | None = None,
    has_goal: bool = True,
    horizon: int | None = None,
    name: str | None = None,
) -> Wrapped:
    """A Gymnasium environment as a world, in facts of your own.

    ``facts(observation, info)`` says what holds; ``action(name, *objects)`` gives the environment's action, and raises a LookupError
    (a KeyError, say) where it has none; ``actions`` are the names with their arities or types. Masks of the environment,
    ``info["action_mask"]`` or ``env.action_masks()``, are respected; ``legal(observation, info)`` lists the legal actions instead.
    ``background(observation, info)`` gives facts that stay for an episode. ``objects`` are objects with their types that facts need not
    name. ``succeeded(observation, reward, info)`` says whether an episode that has ended reached its goal; by default it did if the
    last reward is positive. ``has_goal=False`` says that there is none, as where a pole is to be kept upright: then only returns
    count, and no share of successes is reported. ``horizon`` cuts episodes off, by default where the environment does; ``name`` is that
    of the world, by default the environment's.

    An environment that is not wrapped becomes facts by a convention: ``derrl.train(gymnasium.make("CartPole-v1"))``.

        >>> world = derrl.wrap(gymnasium.make("Blackjack-v1"), facts=lambda hand, info: [("sum", float(hand[0]))],
        ...                    action=lambda name: int(name == "hit"), actions={"hit": 0, "stick": 0}, has_goal=False)
    """
    return Wrapped(
        env, facts, action, actions, domain=domain, objects=objects, background=background, legal=legal, succeeded=succeeded,
        has_goal=has_goal, horizon=horizon, name=name,
    )
