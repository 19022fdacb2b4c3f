"""Restarts elsewhere: in processes, for worlds written in Python, where each has its own interpreter, and on Ray."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from . import _derrl
from ._derrl import Error, World
from .progress import Show


@dataclass
class Watch:
    """Who is told how restarts go, and what ends them."""

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

    def absorb(self, world: World, folder: Path, kept: str, seconds: float) -> None:
        """Takes in what a restart gave."""
        text = _derrl.absorb(world, folder, [kept], seconds)
        if text is not None and self.on_best is not None:
            best = json.loads(text)
            if self.on_best(best["policy"], best["mean"], best["success_rate"], best["steps"]):
                self.enough = True


def restarts_in_processes(world: World, folder: Path, processes: int | None, watch: Watch) -> None:
    """Does the restarts of a run in processes, where the platform can fork; elsewhere none, and the caller does them.

    A forked process has the world as it is: nothing needs to be pickled. What a restart gives comes back through a pipe.
    """
    if processes is None:
        processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if processes < 2 or "fork" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return
    done = 0
    while not watch.over and (pending := _derrl.pending(world, folder)):
        done += _wave(world, folder, pending, processes, watch, done)


def _wave(world: World, folder: Path, pending: list[int], processes: int, watch: Watch, before: int) -> int:
    context = multiprocessing.get_context("fork")
    waiting = list(pending)
    running: dict[Connection, tuple[int, Any]] = {}
    error: BaseException | None = None
    done, counted = 0, time.monotonic()
    try:
        while not watch.over and (running or (waiting and error is None)):
            while waiting and error is None and len(running) < processes:
                restart = waiting.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                child = context.Process(target=_child, args=(theirs, world, folder, restart, pending), daemon=True)
                child.start()
                theirs.close()
                running[ours] = (restart, child)
            for ready in wait(list(running), timeout=0.2):
                assert isinstance(ready, Connection)
                restart, child = running.pop(ready)
                try:
                    kept, failure = ready.recv()
                except EOFError:
                    child.join()
                    kept, failure = None, RuntimeError(
                        f"the process of restart {restart} ended before it was done, with exit code {child.exitcode}"
                    )
                child.join()
                if kept is not None:
                    now = time.monotonic()
                    watch.absorb(world, folder, kept, now - counted)
                    counted, done = now, done + 1
                if failure is not None and error is None:
                    error = failure
            if watch.show is not None:
                total = before + len(pending)
                watch.show(before + done, total, f"{before + done} of {total} restarts, {len(running)} at work")
        if running and error is None:
            _stop(world, folder, running, time.monotonic() - counted)
    except KeyboardInterrupt as interrupt:
        error = interrupt
        _stop(world, folder, running, time.monotonic() - counted)
    finally:
        for _, child in running.values():
            if child.is_alive():
                child.terminate()
                child.join()
    if error is not None:
        raise error
    return done


def _stop(world: World, folder: Path, running: dict[Connection, tuple[int, Any]], seconds: float) -> None:
    """Interrupts the processes, and takes in what they have; they were at work for so many seconds."""
    kept = _interrupted(running)
    _derrl.absorb(world, folder, kept, seconds)


PATIENCE = 0.8
"""Seconds that processes have to send what they have, once they are interrupted."""


def _interrupted(running: dict[Connection, tuple[int, Any]]) -> list[str]:
    """What the processes had done when they were interrupted.

    Ctrl-C in a terminal reaches them too; a signal to this process alone does not, so it is passed on.
    """
    for _, child in running.values():
        try:
            os.kill(child.pid, signal.SIGINT)
        except ProcessLookupError:
            pass
    kept = []
    waiting, until = list(running), time.monotonic() + PATIENCE
    while waiting and (left := until - time.monotonic()) > 0:
        for ready in wait(waiting, timeout=left):
            assert isinstance(ready, Connection)
            waiting.remove(ready)
            try:
                done, _ = ready.recv()
            except EOFError:
                continue
            if done is not None:
                kept.append(done)
    return kept


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


def restarts_on_ray(world: World, folder: Path, watch: Watch) -> None:
    """Does the restarts of a run as Ray tasks. All machines read the folder; this process alone writes it.

    A task whose worker dies is given to another.
    """
    ray = ray_module()
    task = ray.remote(max_retries=ATTEMPTS, num_cpus=1)(_result)
    done = 0
    while not watch.over and (pending := _derrl.pending(world, folder)):
        running = [task.remote(world, folder.absolute(), restart, pending) for restart in pending]
        total, counted = done + len(pending), time.monotonic()
        try:
            while running and not watch.over:
                ready, running = ray.wait(running, timeout=0.2)
                for kept, failure in ray.get(ready):
                    if kept is not None:
                        now = time.monotonic()
                        watch.absorb(world, folder, kept, now - counted)
                        counted, done = now, done + 1
                    if failure is not None:
                        raise failure
                if watch.show is not None:
                    watch.show(done, total, f"{done} of {total} restarts, {len(running)} on Ray")
        finally:
            for reference in running:
                ray.cancel(reference)


def _result(world: World, folder: Path, restart: int, pending: list[int]) -> tuple[str | None, BaseException | None]:
    """What a restart gives, with the exception that ended it, if one did."""
    kept: str | None = None
    failure: BaseException | None
    try:
        kept, failure = _derrl.restart(world, folder, restart, pending)
    except BaseException as error:
        failure = error
    return kept, None if failure is None else _portable(failure)


def _child(pipe: Connection, world: World, folder: Path, restart: int, pending: list[int]) -> None:
    interrupt = signal.getsignal(signal.SIGINT)

    def once(number: int, frame: Any) -> None:
        # The terminal and the parent may both interrupt: the second time, what was done is on its way already.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if callable(interrupt):
            interrupt(number, frame)

    signal.signal(signal.SIGINT, once)
    pipe.send(_result(world, folder, restart, pending))
    pipe.close()


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
