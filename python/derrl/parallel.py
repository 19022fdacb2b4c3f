"""Restarts in processes, for worlds written in Python: each process has its own interpreter."""

from __future__ import annotations

from pathlib import Path

from ._derrl import World
from .progress import Show


def restarts_in_processes(world: World, folder: Path, processes: int | None, show: Show | None) -> None:
    """Does the restarts of a run in processes, where that is possible."""
