"""Runs on other machines, by Ray."""

from __future__ import annotations

import json
import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _derrl
from ._derrl import Error, World
from .progress import Show


@dataclass
class Watch:
    """Who is told how a run goes, and what ends it."""

    show: Show | None
    """Shows progress."""
    on_best: Callable[[str, float, float | None, int], Any] | None = None
    """Told of every better policy; where it returns true, that is good enough."""
    until: float | None = None
    """When the time of the run is up, by the monotonic clock."""
    enough: bool = False
    """Whether what there is is good enough."""

    @property
    def over(self) -> bool:
        """Whether the run is to end with what there is."""
        return self.enough or (self.until is not None and time.monotonic() >= self.until)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return float("inf") if self.until is None else max(0.0, self.until - time.monotonic())

    def absorb(self, world: World, folder: Path, kept: str, seconds: float) -> None:
        """Takes in what a run gave."""
        text = _derrl.absorb(world, folder, [kept], seconds)
        if text is not None and self.on_best is not None:
            best = json.loads(text)
            if self.on_best(best["policy"], best["mean"], best["success_rate"], best["steps"]):
                self.enough = True


def ray_module() -> Any:
    """Ray, on the cluster that ``ray.init`` joined, or else on one that is started on this machine."""
    try:
        import ray
    except ImportError as error:
        raise Error("backend='ray' needs Ray: pip install 'derrl[ray]'") from error
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    return ray


ATTEMPTS = 3
"""How often what a worker did not finish is tried."""
PIECE = 10.0
"""Seconds that the first task of a run takes; each later one takes twice as many. In between, the folder has what there is."""
PATIENCE = 10.0
"""Seconds that a task may take longer where the time of the run is up."""


def run_on_ray(world: World, folder: Path, watch: Watch) -> None:
    """Does a run as Ray tasks, one after the other. All machines read the folder; this process alone writes it.

    A task whose worker dies is given to another.
    """
    ray = ray_module()
    task = ray.remote(max_retries=ATTEMPTS, num_cpus=1)(_result)
    piece = PIECE
    while not watch.over and _derrl.pending(world, folder):
        seconds, counted = min(piece, watch.left), time.monotonic()
        running, piece = [task.remote(world, folder.absolute(), seconds)], 2 * piece
        try:
            while running and not (watch.over and time.monotonic() > counted + seconds + PATIENCE):
                ready, running = ray.wait(running, timeout=0.2)
                for kept, failure in ray.get(ready):
                    if kept is not None:
                        watch.absorb(world, folder, kept, time.monotonic() - counted)
                    if failure is not None:
                        raise failure
                if watch.show is not None:
                    watch.show(0, 0, "at work on Ray")
        finally:
            for reference in running:
                ray.cancel(reference)


def _result(world: World, folder: Path, seconds: float) -> tuple[str | None, BaseException | None]:
    """What a run gives in so many seconds, with the exception that ended it, if one did."""
    until, late = time.monotonic() + seconds, False

    def look(*_: object) -> None:
        nonlocal late
        if time.monotonic() >= until:
            late = True
            raise TimeoutError

    kept: str | None = None
    failure: BaseException | None
    try:
        kept, failure = _derrl.restart(world, folder, look)
    except BaseException as error:
        failure = error
    return kept, None if failure is None or late else _portable(failure)


def _portable(error: BaseException) -> BaseException:
    """An exception that can be sent, with its traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.__traceback__ = None
    if isinstance(error, KeyboardInterrupt):
        return error
    # A cause travels with its text, as in concurrent.futures.
    error.__cause__ = _Remote(text)
    return _Sent(error, text)


class _Remote(Exception):
    """The traceback of another process, as text."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


class _Sent(BaseException):
    """Pickles as an exception with its cause."""

    def __init__(self, error: BaseException, text: str) -> None:
        super().__init__()
        self.error, self.text = error, text

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.error, self.text)


def _received(error: BaseException, text: str) -> BaseException:
    error.__cause__ = _Remote(text)
    return error
