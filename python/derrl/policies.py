"""Policies: acting, explaining, proving, comparing, exporting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from . import _derrl
from ._derrl import Error, World
from .arguments import options as as_options, whole, whole_or_none
from .inference import Action
from .notebook import block, rules
from .soft import Soft
from .spaces import converted, is_environment
from .worlds import WorldLike, domain_text, world as as_world

Facts = Iterable[Sequence["str | int | float"] | str]


@dataclass(frozen=True)
class Score:
    """How a policy did on a task.

        >>> print(run.scores["train"].mean, run.scores["train"].success_rate)
    """

    mean: float
    """The mean undiscounted return."""
    stderr: float
    """The standard error of that mean."""
    success_rate: float | None
    """The share of episodes that reached what the task asks for; ``None`` where it asks for nothing that is reached or not."""
    episodes: int
    """How many episodes were played; 0 where it is what training saw of a run that has not ended."""
    best_known: float | None = None
    """The mean best-known return of the same instances, where the world knows it."""
    references: Mapping[str, float] = field(default_factory=dict)
    """The mean return of other controllers of note on the same instances."""
    problems: Sequence[Mapping[str, Any]] = ()
    """Of PDDL, each problem: its file, whether it was solved, steps, cost and seconds."""

    def __str__(self) -> str:
        if self.episodes == 0:
            success = "" if self.success_rate is None else f", success {self.success_rate:.0%}"
            return f"return {self.mean:.3f}{success}, as far as training tried it"
        spread = f"± {self.stderr:.3f}" if self.episodes > 1 else f"(n = {self.episodes})"
        success = "" if self.success_rate is None else f", success {self.success_rate:.0%}"
        return f"return {self.mean:.3f} {spread}{success}"

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Score:
        """The score that JSON describes."""
        known = {key: value[key] for key in Score.__dataclass_fields__ if key in value}
        return Score(**known)


def _match(match: Mapping[str, Any]) -> str:
    pairs = ", ".join(f"{v} = {o}" for v, o in match["substitution"])
    return f"{match['text']}" + (f"\n          with {pairs}" if pairs else "")


@dataclass(frozen=True)
class Explanation:
    """Why one decision was taken.

        >>> print(run.policy.explain(facts))
    """

    action: str
    """The action chosen, as text."""
    value: float
    fired: Mapping[str, Any] | None
    """The rule that derived it, its substitution and body; none where no rule fires."""
    ties: Sequence[str]
    """All actions of this value."""
    facts: Sequence[str]
    """What held."""
    outside: Sequence[str] = ()
    """In what the state lies outside what the policy was learned on, where that is known."""

    def __str__(self) -> str:
        outside = "".join(f"\n  outside what it knows: {why}" for why in self.outside)
        if self.fired is None:
            return f"{self.action}\n  no rule fires: any action will do{outside}"
        since = ", ".join(self.fired["body"])
        others = [tie for tie in self.ties if tie != self.action]
        ties = f"\n  ties with {', '.join(others)}" if others else ""
        return f"{self.action}\n  because {_match(self.fired)}\n          since {since}{ties}{outside}"

    def _repr_html_(self) -> str:
        return block(str(self))


@dataclass(frozen=True)
class WhyNot:
    """Why an action was not chosen.

        >>> print(run.policy.why_not(facts, "move(a, c)").reason)
    """

    action: str
    value: float
    reason: str
    """``tie``, ``weaker``, ``failed``, ``no-rule``, or another word of the engine."""
    nearest: Mapping[str, Any] | None
    """The rule that derives it, or the one that comes nearest."""
    failed: Sequence[str]
    """The atoms of that rule that failed."""

    def __str__(self) -> str:
        rule = _match(self.nearest) if self.nearest else ""
        said = {
            "tie": "it ties, and chance chose another",
            "weaker": f"its value is only {self.value:.2f}, by {rule}",
            "no-rule": "no rule is about it",
            "failed": f"false is {', '.join(self.failed)}\n          in {rule}",
        }
        return f"not {self.action}: {said.get(self.reason, self.reason)}"

    def _repr_html_(self) -> str:
        return block(str(self))


@dataclass(frozen=True)
class Proof:
    """What :func:`verify` found.

        >>> assert derrl.verify(run.policy, max_objects=4), "there is a counterexample"
    """

    verdict: str
    """``proved``, ``proved-if-ties-are-random`` or ``refuted``."""
    ties: str
    """What was asked for: ``worst`` or ``random`` ties."""
    report: Mapping[str, Any]
    """Everything found: sizes, the worst case, a counterexample."""

    @property
    def proved(self) -> bool:
        """Whether the policy gets there from every instance, with the ties asked for."""
        return self.verdict == "proved" or (self.ties == "random" and self.verdict == "proved-if-ties-are-random")

    @property
    def counterexample(self) -> Mapping[str, Any] | None:
        """The shortest run that does not get there, or, where it gets there if ties are random, a loop that bad luck allows."""
        found: Mapping[str, Any] | None = self.report.get("counterexample")
        return found

    def __bool__(self) -> bool:
        return self.proved

    def __str__(self) -> str:
        sizes = self.report.get("sizes", [])
        instances = sum(size["instances"] for size in sizes)
        if self.verdict == "proved":
            return f"proved: the policy gets there in all {instances:,} instances, however ties are broken"
        if self.verdict == "proved-if-ties-are-random":
            return f"proved if ties are random: the policy gets there in all {instances:,} instances with probability 1"
        found = self.counterexample
        where = f", as in {found['instance']}" if found and "instance" in found else ""
        return f"refuted: the policy does not always get there{where}"

    def _repr_html_(self) -> str:
        return block(str(self))


@dataclass(frozen=True)
class Difference:
    """What :func:`diff` found.

        >>> print(derrl.diff(first.policy, second.policy).difference)
    """

    equivalent: bool
    states: int
    """How many states were compared."""
    difference: Mapping[str, Any] | None
    """The first state in which the policies decide otherwise, and what each does."""

    def __bool__(self) -> bool:
        return not self.equivalent


@dataclass(frozen=True)
class Simplified:
    """What :func:`simplify` found.

        >>> print(derrl.simplify(run.policy, max_objects=3).policy)
    """

    policy: Policy
    """The policy with what is left."""
    removed: Sequence[str]
    """The rules and atoms that went, in that order."""
    states: int
    """In how many states it was looked whether a decision changes."""

    def __str__(self) -> str:
        return self.policy.text

    def _repr_html_(self) -> str:
        return self.policy._repr_html_()


@dataclass(frozen=True)
class Plan:
    """What a policy does in a PDDL problem.

        >>> run = derrl.train(derrl.pddl("ferry"))
        >>> print(derrl.plan(run.policy, "ferry/test/p1.pddl"))
    """

    solved: bool
    """Whether the goal was reached."""
    steps: Sequence[tuple[str, ...]]
    """The actions, in the names of the PDDL files."""
    cost: float

    def __bool__(self) -> bool:
        return self.solved

    def __str__(self) -> str:
        """One action per line, as validators of plans read it."""
        return "".join(f"({' '.join(step)})\n" for step in self.steps)

    def _repr_html_(self) -> str:
        return block(str(self) if self.solved else f"{self}; the goal was not reached")


class Policy:
    """Rules that act. Made by :func:`derrl.train` or :meth:`Policy.parse`.

        >>> policy = derrl.Policy.load("runs/blocks/policy.pl", "blocks")
    """

    def __init__(self, inner: _derrl.Policy) -> None:
        self._inner = inner
        self._source: Any = None

    @staticmethod
    def parse(text: str, domain: WorldLike | Path) -> Policy:
        """The policy that a text describes. The domain is the name of a built-in world, a world, or the text or path of a
        domain file.

            >>> policy = derrl.Policy.parse("move(X, Y) :- top(X), isFloor(Y).", "blocks")
        """
        return Policy(_derrl.Policy.parse(text, _described(domain)))

    @staticmethod
    def load(path: str | PathLike[str], domain: WorldLike | Path) -> Policy:
        """The policy in a file, such as the ``policy.pl`` of a run.

            >>> policy = derrl.Policy.load("runs/blocks/policy.pl", "blocks")
        """
        return Policy.parse(Path(path).read_text(encoding="utf-8"), domain)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes its rules into a file, which :meth:`load` and the command line read, and returns the path.

            >>> run.policy.save("blocks.pl")
            >>> derrl.Policy.load("blocks.pl", "blocks")
        """
        Path(path).write_text(self._inner.file, encoding="utf-8")
        return Path(path)

    @property
    def learned_on(self) -> str | None:
        """What it was learned on, as its file says: objects of each type, predicates that held, ranges of numbers. ``None`` where that
        is not known.

            >>> print(run.policy.learned_on)
            % learned on: objects block 3..3, place 1..1
            ...
        """
        return self._inner.learned_on

    @property
    def text(self) -> str:
        """The text of its rules."""
        return self._inner.text

    @property
    def world(self) -> World:
        """The world that it is about."""
        return self._inner.world

    def _legal(self, legal: Any) -> Any:
        """The legal actions given, or those that a world lists; an error where the policy was learned among them, and none are given."""
        listed = getattr(legal, "legal", None)
        if callable(listed):
            return listed()
        if legal is None and getattr(self._source, "legal", None) is not None:
            raise Error(
                "this policy was learned among legal actions: say which are legal here, as in policy.act(facts, world.legal()) or "
                "policy.act(facts, world)"
            )
        return legal

    def act(
        self,
        facts: Facts,
        legal: Facts | Any | None = None,
        *,
        seed: int | None = None,
        objects: Mapping[str, str] | None = None,
        strict: bool = False,
    ) -> Action:
        """The action taken in a state; of several as good, one by chance. Chance depends on ``seed``, or else on how often the
        policy was asked before. ``legal`` lists the legal actions, or is the world, in that state. ``objects`` are those that no
        fact names, with their types.

        With ``strict``, a state in which no rule fires, or which lies outside what the policy was learned on (:attr:`learned_on`),
        raises :class:`derrl.Outside`.

            >>> world = Delivery()
            >>> run = derrl.train(world)
            >>> run.policy.act(world.reset(seed=0), world)
        """
        return self._inner.act(facts, self._legal(legal), whole_or_none("seed", seed, 0), objects, strict)

    def best(
        self, facts: Facts, legal: Facts | None = None, *, objects: Mapping[str, str] | None = None
    ) -> list[Action]:
        """All actions that are as good as the one taken, in order.

            >>> for action in run.policy.best(facts):
            ...     print(action)
        """
        return self._inner.best(facts, self._legal(legal), objects)

    def explain(
        self,
        facts: Facts,
        legal: Facts | None = None,
        *,
        seed: int | None = None,
        objects: Mapping[str, str] | None = None,
    ) -> Explanation:
        """Why it acts as it does in a state: the rule that fires, the substitution, the facts.

            >>> print(run.policy.explain(facts))
            move(...)
              because ...
        """
        value = json.loads(self._inner.explain_json(facts, self._legal(legal), whole_or_none("seed", seed, 0), objects))
        return Explanation(**{key: value[key] for key in Explanation.__dataclass_fields__ if key in value})

    def why_not(
        self,
        facts: Facts,
        action: Sequence[str | int] | str,
        legal: Facts | None = None,
        *,
        objects: Mapping[str, str] | None = None,
    ) -> WhyNot:
        """Why it does not take an action in a state. The action is a tuple, or a text as explanations have it.

            >>> print(run.policy.why_not(facts, "move(b, floor)"))
            not move(b, floor): ...
        """
        value = json.loads(self._inner.why_not_json(facts, _action(action), self._legal(legal), objects))
        return WhyNot(**{key: value[key] for key in WhyNot.__dataclass_fields__})

    def soft(
        self, facts: Facts, atoms: Sequence[Sequence[str | int]], *, tnorm: str = "lukasiewicz", objects: Mapping[str, str] | None = None
    ) -> Soft:
        """The policy in a state in which ``facts`` are certain, and ``atoms`` hold with probabilities that are given later: to train what
        gives them. The t-norm is ``lukasiewicz``, ``godel`` or ``product``.

            >>> soft = run.policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "b")], tnorm="product")
            >>> print(soft.values([0.5, 1.0]))
        """
        atoms = list(atoms)
        return Soft(self._inner.soft(facts, atoms, tnorm, objects), atoms)

    def values(
        self, facts: Mapping[Sequence[str | int], float], *, tnorm: str = "lukasiewicz", objects: Mapping[str, str] | None = None
    ) -> dict[Action, float]:
        """What each action is worth where facts hold with these probabilities.

            >>> run.policy.values({("top", "a"): 0.9, ("top", "b"): 0.2, ("isFloor", "floor"): 1.0})
        """
        for fact, p in facts.items():
            if not 0 <= p <= 1:
                raise Error(f"the probability of {fact!r} is {p!r}: it must be from 0 to 1")
        certain = [fact for fact, p in facts.items() if p == 1]
        open_facts = [fact for fact, p in facts.items() if p != 1]
        soft = self.soft(certain, open_facts, tnorm=tnorm, objects=objects)
        if not open_facts:
            # Nothing is soft: there is no row to ask for.
            soft = self.soft(certain[1:], certain[:1], tnorm=tnorm, objects=objects)
            return dict(zip(soft.actions, soft.values([1.0]).tolist()))
        return dict(zip(soft.actions, soft.values([facts[fact] for fact in open_facts]).tolist()))

    def attach(self, source: object) -> Policy:
        """The same policy, for a world in Python: then :meth:`predict` works, and :meth:`act` asks for legal actions where the world has them.

            >>> world = Delivery()
            >>> policy = derrl.Policy.parse("drop(X) :- held(X).", world).attach(world)
        """
        attached = Policy(self._inner)
        attached._source = source
        return attached

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        *,
        info: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> tuple[Any, Any]:
        """The action of the environment for an observation, and None: the interface of Stable-Baselines3. For a batch of observations,
        as vector environments give them, an array of actions.

        The facts come from the ``facts`` function of :func:`derrl.wrap`, or from ``info["facts"]`` of the environments that
        derrl registers with Gymnasium. ``info`` may also be given as the second argument.

            >>> env = gymnasium.make("derrl/Blocks-v0")
            >>> observation, info = env.reset(seed=0)
            >>> action, _ = run.policy.predict(observation, info)
        """
        if info is None and isinstance(state, (Mapping, list, tuple)):
            info = state
        info = info or {}
        batch = self._batch(observation, info)
        if batch is not None:
            import numpy

            chosen = [self.predict(seen, info=told, deterministic=deterministic)[0] for seen, told in batch]
            return numpy.array(chosen), None
        if not isinstance(info, Mapping):
            raise Error(f"predict: info is a dict, or a list of one per observation, not {info!r}")
        seed = 0 if deterministic else None
        if hasattr(self._source, "legal_now"):
            facts = self._source.facts(observation, info)
            legal = self._source.legal_now(observation, info, facts)
            action = self._inner.act(facts, legal, seed, self._source.objects_now())
            return self._source.action(*action), None
        if "facts" not in info:
            raise Error('predict(observation, info) needs info["facts"], or a policy trained on an environment or derrl.wrap(env, ...)')
        action = self._inner.act(info["facts"], info.get("legal"), seed, None)
        actions = info.get("actions")
        return (action if actions is None else list(actions).index(action)), None

    def _batch(self, observation: Any, info: Any) -> list[tuple[Any, Any]] | None:
        """Observations with what is said of each, where they come from several environments at once; none for a single one."""
        space = getattr(getattr(self._source, "env", None), "observation_space", None)
        shape = getattr(observation, "shape", None)
        if isinstance(info, (list, tuple)):
            return list(zip(observation, info))
        if space is None or not shape or space.shape is None or len(shape) != len(space.shape) + 1:
            return None
        count = shape[0]
        # A vector environment says each thing of all: arrays, and which of them count.
        told = {key: value for key, value in info.items() if not key.startswith("_") and len(value) == count}
        return [(observation[i], {key: value[i] for key, value in told.items()}) for i in range(count)]

    def in_english(self) -> list[str]:
        """Each of its rules as an English sentence.

            >>> print(run.policy.in_english()[0])
        """
        return self._inner.in_english()

    def export(self, language: str) -> str:
        """The policy as a program: ``prolog``, ``problog``, ``asp``, ``rust``, ``python``, ``dot``, ``program``.

            >>> print(run.policy.export("prolog"))
            % A policy for blocks, exported by derrl.
            ...
        """
        return self._inner.export(language)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Policy.parse({self.text!r}, {self.world.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.text == other.text and self.world.domain == other.world.domain

    def __hash__(self) -> int:
        return hash(self.text)

    def _repr_html_(self) -> str:
        return rules(self.text, self.in_english())


def _action(action: Sequence[str | int] | str) -> Sequence[str | int] | str:
    """An action as a tuple, where it is a text with objects."""
    if not isinstance(action, str) or not action.rstrip().endswith(")"):
        return action
    words = re.findall(r"'((?:[^'\\]|\\.)*)'|([^\s(),']+)", action)
    if not words:
        raise Error(f"an action is a tuple such as (\"move\", \"a\", \"b\"), or a text such as 'move(a, b)', not {action!r}")
    return tuple(re.sub(r"\\(.)", r"\1", quoted) if quoted else word for quoted, word in words)


def _described(domain: WorldLike | Path) -> World:
    if isinstance(domain, Path):
        return as_world(str(domain)) if domain.suffix == ".pddl" else World.described(domain_text(domain))
    if isinstance(domain, str) and is_environment(domain):
        return as_world(domain)
    if isinstance(domain, str) and not domain.endswith(".pddl") and (":-" in domain or "/" in domain or domain.endswith(".pl")):
        return World.described(domain_text(domain))
    return as_world(domain)


def _playable(policy: Policy, world: WorldLike | None) -> World:
    """The world named, or else that of the policy; an error where only the domain of that is known."""
    if not isinstance(policy, Policy):
        raise TypeError(f"a policy is what Policy.parse or a run gives, not {policy!r}")
    of = policy.world if world is None else as_world(world)
    if not json.loads(of.tasks_json()):
        raise Error("only the domain of this policy is known, and nothing can be played in it: name the world, too")
    return of


def evaluate(
    policy: Policy,
    world: WorldLike | None = None,
    task: str = "train",
    *,
    episodes: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Score:
    """The score of a policy on a task, over seeded episodes: the same instances for every policy. In a PDDL domain, every problem
    of the task is played once.

        >>> derrl.evaluate(run.policy, "blocks", "dynamic-blocks", episodes=50).mean
    """
    of = _playable(policy, world)
    episodes, seed = whole_or_none("episodes", episodes), whole("seed", seed, 0)
    found = policy._inner.evaluate_json(of, task, episodes, seed, as_options(options))
    return Score.from_json(json.loads(found))


def verify(
    policy: Policy,
    world: WorldLike | None = None,
    *,
    max_objects: int | None = None,
    ties: str = "worst",
    instances: int = 100,
    most_states: int = 1_000_000,
) -> Proof:
    """Whether a policy gets there, however ties are broken (``ties="worst"``) or if they are broken at random.

    In a built-in world that lists its instances: from every one of them up to a size, by default one that takes about a second. In
    a PDDL domain: in every test problem, all of whose states are walked. In a world written in Python that has ``copy()``: from the
    first ``instances`` instances, by walking every state that the policy can reach.

        >>> print(derrl.verify(run.policy, max_objects=5))
    """
    if ties not in ("worst", "random"):
        raise Error(f"ties: `worst` or `random`, not `{ties}`")
    of = _playable(policy, world)
    if of.is_python:
        from .walking import walk

        whole("instances", instances)
        whole("most_states", most_states)

        return walk(policy, _own(policy, world), ties, instances, most_states)
    report = json.loads(policy._inner.verify_json(of, max_objects))
    return Proof(report["verdict"], ties, report)


def _own(policy: Policy, world: WorldLike | None) -> Any:
    """The object that plays a world in Python: the one named, or else that of the policy."""
    return policy._source if world is None or isinstance(world, (str, World)) else converted(world)


def diff(
    first: Policy,
    second: Policy,
    world: WorldLike | None = None,
    *,
    max_objects: int | None = None,
    instances: int = 100,
) -> Difference:
    """Where two policies decide otherwise, in every state up to a size, by default one that takes about a second. In a world
    written in Python: in the states that they come to in episodes of the first ``instances`` instances.

        >>> assert derrl.diff(run.policy, other.policy, max_objects=4).equivalent
    """
    of = _playable(first, world)
    _playable(second, of)
    if of.is_python:
        from . import comparing

        return comparing.diff(first, second, _own(first, world), whole("instances", instances))
    found = json.loads(first._inner.diff_json(second._inner, of, max_objects))
    return Difference(found["equivalent"], found["states"], found["difference"])


def simplify(
    policy: Policy, world: WorldLike | None = None, *, max_objects: int | None = None, instances: int = 100
) -> Simplified:
    """The policy without the rules and atoms that change no decision in any state up to a size, by default one that takes about a
    second. In a world written in Python: in the states of episodes of the first ``instances`` instances.

        >>> derrl.simplify(run.policy, max_objects=3).removed
    """
    of = _playable(policy, world)
    if of.is_python:
        from . import comparing

        return comparing.simplify(policy, _own(policy, world), whole("instances", instances))
    simpler, removed, states = policy._inner.simplified(of, max_objects)
    return Simplified(Policy(simpler), removed, states)


def plan(
    policy: Policy,
    problem: str | PathLike[str],
    world: WorldLike | None = None,
    *,
    horizon: int | None = None,
    seed: int = 0,
) -> Plan:
    """What a policy for a PDDL domain does in a problem of that domain. A plan that reaches the goal was checked by the rules of
    PDDL.

        >>> run = derrl.train(derrl.pddl("ferry"))
        >>> derrl.plan(run.policy, "ferry/test/p1.pddl").solved
    """
    of = _playable(policy, world)
    solved, steps, cost = policy._inner.solve(of, problem, horizon, seed)
    return Plan(solved, [tuple(step) for step in steps], cost)


def export(policy: Policy, language: str, path: str | PathLike[str] | None = None) -> str:
    """The policy as a program of another language, also written to a file if one is named.

        >>> derrl.export(run.policy, "prolog", "policy.pl")
    """
    text = policy.export(language)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
