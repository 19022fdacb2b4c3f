"""Learns reinforcement-learning policies that a person can read: first-order rules.

    >>> import derrl
    >>> run = derrl.train("blocks", seed=0, out="runs/blocks")
    >>> print(run.policy)
    >>> run.scores["train"].success_rate

A world of your own is any object with ``reset(seed)`` and ``step(action)``: see :func:`train`. A Gymnasium environment becomes
one with :func:`wrap`. The guide is ``docs/python.md``.
"""

from ._derrl import Error, World, __version__, builtin
from .policies import Difference, Explanation, Policy, Proof, Score, WhyNot, diff, evaluate, export, verify
from .sweeping import sweep
from .training import Run, resume, settings, train
from .worlds import Atom, infer_domain, world
from .wrapping import Wrapped, wrap

__all__ = [
    "Atom", "Difference", "Error", "Explanation", "Policy", "Proof", "Run", "Score", "WhyNot", "World", "Wrapped",
    "__version__", "builtin", "diff", "evaluate", "export", "infer_domain", "resume", "settings", "sweep", "train",
    "verify", "world", "wrap",
]
