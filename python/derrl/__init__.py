"""Learns reinforcement-learning policies that a person can read: first-order rules.

    >>> import derrl
    >>> run = derrl.train("blocks", seed=0, out="runs/first")
    >>> print(run.policy)
    >>> run.scores["train"].success_rate

| to | use |
|---|---|
| learn | :func:`train`, :func:`resume`; :func:`sweep` for many runs, :func:`compare` to set them side by side; :func:`settings` |
| bring a world | any object with ``reset(seed)`` and ``step(action)``; :func:`check_world`, :func:`infer_domain`, :func:`world` |
| take one of others | ``derrl.train("Taxi-v4")``, :func:`minigrid`, :func:`wrap`, :func:`pddl`; :func:`builtin` lists those that are here |
| act and ask | ``Policy.act``, ``predict``, ``explain``, ``why_not``, ``save``; ``Run.report`` writes a page, ``Run.curve`` gives figures |
| train perception | ``Policy.soft``, ``Policy.values``: what actions are worth where facts are probabilities, with gradients |
| be sure | ``Policy.act(..., strict=True)``, :func:`verify`, :func:`diff`, :func:`simplify`, :func:`evaluate` |
| leave | :func:`export` to Prolog, answer sets, Python, Rust and others; :func:`plan` for the planning competition's format |

Where Gymnasium is installed, importing this package registers the built-in worlds: ``gymnasium.make("derrl/Blocks-v0")``. The guide is
``docs/python.md``.
"""

from ._derrl import Error, Outside, World, __version__, builtin
from .policies import (
    Difference, Explanation, Plan, Policy, Proof, Score, Simplified, WhyNot, diff, evaluate, export, plan, simplify, verify,
)
from .checking import WorldCheck, check_world
from .gridworlds import MinigridWorld, minigrid
from .soft import Soft
from .sweeping import sweep
from .training import Best, Run, compare, resume, settings, train
from .worlds import Atom, infer_domain, pddl, world
from .wrapping import Wrapped, wrap

__all__ = [
    "Atom", "Best", "Difference", "Error", "Explanation", "MinigridWorld", "Outside", "Plan", "Policy", "Proof", "Run", "Score", "Simplified", "Soft",
    "WhyNot", "World", "WorldCheck", "Wrapped", "__version__", "builtin", "check_world", "compare", "diff", "evaluate", "export", "infer_domain", "minigrid", "pddl",
    "plan", "resume", "settings", "simplify", "sweep", "train", "verify", "world", "wrap",
]

try:
    from . import gym as _gym  # registers the built-in worlds
except ModuleNotFoundError as _missing:  # Gymnasium is optional
    if _missing.name not in ("gymnasium", "numpy"):
        raise
