"""Many runs: several worlds, seeds and settings, on all cores or on a Ray cluster."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _derrl
from ._derrl import Error, World
from .arguments import mapping, options, seconds_or_none, whole, whole_or_none
from .parallel import ATTEMPTS, ray_module
from .training import resume, train, world_of_run, written
from .worlds import world as as_world

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Job:
    """One run of a sweep."""

    name: str
    world: Any
    tests: Mapping[str, object] | None
    seed: int
    settings: Mapping[str, Any]
    folder: Path


def sweep(
    worlds: Iterable[Any] | Mapping[str, Any],
    seeds: Iterable[int],
    settings: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    *,
    out: str | PathLike[str],
    tests: Mapping[str, Mapping[str, object]] | None = None,
    backend: str = "local",
    workers: int | None = None,
) -> pandas.DataFrame:
    """Trains on every world with every seed and every set of settings, and returns the scores: a row per run and task.

    ``worlds`` are names of built-in worlds, or a mapping from names to objects; ``tests`` gives the tests of each by the same name.
    ``out`` is the ledger: a folder per run, and ``ledger.jsonl`` with what happened when. Runs that are finished there are not
    done again, and those that were interrupted are resumed, so calling the same sweep again goes on with it.

    ``backend="local"`` uses ``workers`` processes; ``backend="ray"`` runs tasks on Ray, on the cluster that ``ray.init`` joined, or on
    one that is started on this machine. There, ``out`` has to be a folder that all machines share. The results are the same bits.

        >>> table = derrl.sweep(["blocks", "countdown"], seeds=range(3), out="sweep")
    """
    if backend not in ("local", "ray"):
        raise Error(f"backend: `local` or `ray`, not `{backend}`")
    workers = whole_or_none("workers", workers)
    named, seeds, variants = _named(worlds), _seeds(seeds), _variants(settings)
    tests = mapping("tests", tests, '{"delivery": {"more": Delivery(balls=6)}}')
    if unknown := set(tests) - set(named):
        raise Error(f"tests: there is no world `{min(unknown)}` in this sweep; there are: {', '.join(named)}")
    top = Path(out).absolute()
    try:
        top.mkdir(parents=True, exist_ok=True)
        with open(top / "ledger.jsonl", "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise Error(f"out: cannot write the ledger in {top}: {error.strerror}") from error
    jobs = []
    for name, of in named.items():
        for number, variant in enumerate(variants):
            for seed in seeds:
                folder = top / name / (f"settings-{number}" if len(variants) > 1 else "") / f"seed-{seed}"
                jobs.append(Job(name, of, tests.get(name), seed, variant, folder))
    known: dict[str, World] = {}
    for job in jobs:
        _check(job, known)
    todo = [job for job in jobs if not _finished(job)]
    if backend == "ray":
        _on_ray(todo, top)
    else:
        _on_processes(todo, top, workers)
    return _frame(jobs)


def _named(worlds: Any) -> dict[str, Any]:
    """The worlds by name."""
    if isinstance(worlds, Mapping):
        named = dict(worlds)
    elif isinstance(worlds, (str, World)):
        named = {_name(worlds): worlds}
    elif isinstance(worlds, Iterable):
        named = {}
        for of in worlds:
            if named.setdefault(_name(of), of) is not of:
                raise Error(f'two worlds are called `{_name(of)}`: name them, as in {{"small": ..., "large": ...}}')
    else:
        raise Error(f"worlds: a list of names, or a dict from names to worlds, not {worlds!r}")
    if not named:
        raise Error("worlds: there are none")
    for name in named:
        if not isinstance(name, str) or name in ("", ".", "..") or not set(name).isdisjoint("/\\\0"):
            raise Error(f"worlds: a name is that of a folder, not {name!r}")
    return named


def _name(of: Any) -> str:
    return of if isinstance(of, str) else of.name if isinstance(of, World) else type(of).__name__.lower()


def _seeds(seeds: Any) -> list[int]:
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise Error(f"seeds: several whole numbers, such as range(8), not {seeds!r}")
    found = [whole("seeds", seed, 0) for seed in seeds]
    if not found or len(set(found)) < len(found):
        raise Error(f"seeds: at least one, each once, not {found}")
    return found


def _variants(settings: Any) -> list[dict[str, Any]]:
    if settings is None or isinstance(settings, Mapping):
        return [dict(settings or {})]
    if not isinstance(settings, Sequence) or not settings or not all(isinstance(one, Mapping) for one in settings):
        raise Error(f'settings: a dict such as {{"updates": 100}}, or a list of them, not {settings!r}')
    return [dict(one) for one in settings]


def _check(job: Job, known: dict[str, World]) -> None:
    """An error if a job cannot be done, or if its folder holds another run."""
    if (job.folder / "domain.pl").is_file():
        of = world_of_run(job.world, job.tests, job.folder).world
    elif job.name not in known:
        known[job.name] = of = as_world(job.world, job.tests)
    else:
        of = known[job.name]
    given = dict(job.settings)
    asked = {key: given.pop(key, None) for key in ("task", "episodes", "untyped", "options", "max_steps", "max_seconds")}
    changed = [written(key, value) for key, value in given.items()]
    _derrl.Request(
        of, job.seed, changed, asked["task"], whole_or_none("episodes", asked["episodes"]),
        bool(asked["untyped"]), options(asked["options"]),
        whole_or_none("max_steps", asked["max_steps"]), seconds_or_none("max_seconds", asked["max_seconds"]),
    ).check(job.folder)


def _finished(job: Job) -> bool:
    return (job.folder / "config.toml").is_file() and _derrl.result(job.folder) is not None


def run_job(job: Job, top: Path) -> None:
    """Does a job, or what is left of it, on one core."""
    if _finished(job):
        return
    begun = (job.folder / "config.toml").is_file()
    _note(top, job, "resumed" if begun else "started")
    if begun:
        resume(job.world, job.folder, tests=job.tests, threads=1, progress=False)
    else:
        train(
            job.world, tests=job.tests, seed=job.seed, out=job.folder, threads=1, progress=False,
            **job.settings,
        )
    _note(top, job, "finished")


def _note(top: Path, job: Job, event: str) -> None:
    """A line of the ledger: short, so that lines of several processes do not mix."""
    line = {"event": event, "run": str(job.folder.relative_to(top)), "pid": os.getpid(), "time": round(time.time(), 3)}
    with open(top / "ledger.jsonl", "a", encoding="utf-8") as ledger:
        ledger.write(json.dumps(line) + "\n")


def _child(pipe: Connection, job: Job, top: Path) -> None:
    text = ""
    try:
        run_job(job, top)
    except BaseException as error:
        text = "".join(traceback.format_exception(error))
    pipe.send(text)
    pipe.close()


def _on_processes(jobs: list[Job], top: Path, workers: int | None) -> None:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    workers = workers or os.cpu_count() or 1
    waiting, lost = list(jobs), dict.fromkeys((job.folder for job in jobs), 0)
    running: dict[Connection, tuple[Job, Any]] = {}
    try:
        while running or waiting:
            while waiting and len(running) < workers:
                job = waiting.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                child = context.Process(target=_child, args=(theirs, job, top), daemon=False)  # type: ignore[attr-defined]
                child.start()
                theirs.close()
                running[ours] = (job, child)
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                job, child = running.pop(ready)
                try:
                    text = ready.recv()
                except EOFError:  # the worker was killed: another one goes on
                    lost[job.folder] += 1
                    _note(top, job, "lost")
                    if lost[job.folder] >= ATTEMPTS:
                        raise Error(f"the worker of {job.folder} was lost {ATTEMPTS} times") from None
                    waiting.append(job)
                    text = ""
                child.join()
                if text:
                    raise Error(f"the run in {job.folder} failed:\n{text}")
    finally:
        for _, child in running.values():
            child.terminate()
            child.join()


def _on_ray(jobs: list[Job], top: Path) -> None:
    if not jobs:
        return
    ray = ray_module()
    # A task whose worker dies is given to another, which goes on from the checkpoint in the folder.
    task = ray.remote(max_retries=ATTEMPTS, num_cpus=1)(run_job)
    ray.get([task.remote(job, top) for job in jobs])


def _frame(jobs: list[Job]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise Error("the results of a sweep are a DataFrame: pip install 'derrl[sweep]'") from error
    rows = []
    for job in jobs:
        result = json.loads(_derrl.result(job.folder) or "{}")
        for task, score in result.get("scores", {}).items():
            rows.append({
                "world": job.name, "seed": job.seed, **job.settings, "task": task,
                "mean": score["mean"], "stderr": score["stderr"], "success_rate": score["success_rate"],
                "best_known": score["best_known"], "steps": result["steps"], "seconds": result["seconds"],
                "policy": result["policy"], "folder": str(job.folder),
            })
    return pandas.DataFrame(rows)
