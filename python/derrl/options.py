"""The settings of training, for completion and type checkers: what :func:`derrl.settings` lists, and docs/settings.md explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

Move = Literal[
    "look", "explore", "fit", "widen", "invent", "raise", "gradient", "draw", "change", "try", "sums", "shorten", "confirm",
]
"""A part of the search, which ``without`` switches off."""


class Settings(TypedDict, total=False):
    """Keyword arguments of :func:`derrl.train` that are settings."""

    estimator: Literal["straight-through", "paper", "score", "relaxed"]
    tnorm: Literal["lukasiewicz", "godel", "product"]
    constraints: Literal["soft", "hard", "off"]
    lambda_sem: float
    baseline: Literal["state", "group", "none"]
    gamma: float
    temperature: float
    learning_rate: float
    updates: int
    batch: int
    group: int
    hidden: Sequence[int]
    body_prior: float
    init_noise: float
    pull: float
    sharpen: float
    confidence: bool
    restarts: int
    doubling: bool
    without: Sequence[Move]
