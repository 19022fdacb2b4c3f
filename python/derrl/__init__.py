"""Learns reinforcement-learning policies that a person can read: first-order rules.

    >>> import derrl
    >>> run = derrl.train("blocks", seed=0, out="runs/blocks")
    >>> print(run.policy)
    >>> run.scores["train"].success_rate

A world of your own is any object with ``reset(seed)`` and ``step(action)``: see :func:`train`. A Gymnasium environment becomes
one with :func:`wrap`, a PDDL domain with :func:`pddl`. Where Gymnasium is installed, importing this package registers the built-in
worlds: ``gymnasium.make("derrl/Blocks-v0")``. The guide is ``docs/python.md``.
"""

from ._derrl import Error, World, __version__, builtin
from .policies import (
    Difference, Explanation, Plan, Policy, Proof, Score, WhyNot, diff, evaluate, export, plan, verify,
)
from .checking import WorldCheck, check_world
from .gridworlds import MinigridWorld, minigrid
from .sweeping import sweep
from .training import Run, compare, resume, settings, train
from .worlds import Atom, infer_domain, pddl, world
from .wrapping import Wrapped, wrap

__all__ = [
    "Atom", "Difference", "Error", "Explanation", "MinigridWorld", "Plan", "Policy", "Proof", "Run", "Score", "WhyNot", "World",
    "WorldCheck", "Wrapped", "__version__", "builtin", "check_world", "compare", "diff", "evaluate", "export", "infer_domain", "minigrid", "pddl",
    "plan", "resume", "settings", "sweep", "train", "verify", "world", "wrap",
]

try:
    from . import gym as _gym  # registers the built-in worlds
except ModuleNotFoundError as _missing:  # Gymnasium is optional
    if _missing.name not in ("gymnasium", "numpy"):
        raise
