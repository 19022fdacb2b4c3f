"""Training: runs in folders, the same as those of the command line."""

from __future__ import annotations

import html
import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from . import _derrl, progress as bars
from ._derrl import Error, World
from .parallel import restarts_in_processes, restarts_on_ray
from .policies import Policy, Score
from .worlds import WorldLike, world as as_world


class Run:
    """What training came to. The folder holds the same files as a run of the command line."""

    def __init__(self, world: World, folder: Path, result: Mapping[str, Any], source: object = None) -> None:
        self.world = world
        """The world."""
        self.folder = folder
        """Where the run is kept."""
        self.result = result
        """All that ``derrl train --json`` prints."""
        self.seed: int = result["seed"]
        """The seed."""
        policy = Policy.parse(result["policy"], world)
        self.policy = policy if source is None else policy.attach(source)
        """What was learned."""
        self.scores = {task: Score.from_json(score) for task, score in result["scores"].items()}
        """The score on each task."""
        self.steps: int = result["steps"]
        """Steps of the environment that training took."""
        self.seconds: float = result["seconds"]
        """How long it took."""
        self.restarts: int = result["restarts"]
        """How many restarts there were."""

    @property
    def solved(self) -> bool:
        """Whether every episode of every scored task reached what the task asks for, if it asks for anything."""
        return all(score.success_rate in (1.0, None) for score in self.scores.values())

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Writes the page of the run, with its rules and a player of episodes, and returns its path."""
        return Path(_derrl.report(self.world, self.folder, path))

    def metrics(self) -> list[dict[str, Any]]:
        """The training curves: a row for every few updates of every restart."""
        text = (self.folder / "metrics.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def tensorboard(self, logdir: str | PathLike[str]) -> Path:
        """Writes the curves and scores as event files for TensorBoard, and returns the folder."""
        _derrl.tensorboard(self.folder, logdir)
        return Path(logdir)

    def __str__(self) -> str:
        lines = [f"{self.world.name}, seed {self.seed}: {self.restarts} restarts, {self.steps:,} steps, {self.seconds:.1f} s"]
        lines += [f"  {rule}" for rule in self.policy.text.splitlines()] or ["  (no rule was found)"]
        for task, score in self.scores.items():
            lines.append(f"  {task}: {score}")
        if not self.solved:
            lines.append("  not solved. Look at the domain (are the predicates there that a rule would need? more variables")
            lines.append("  or rules per action?), at the reward, or raise updates, restarts or batch.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:640px;border:0"></iframe>'


def settings() -> dict[str, Any]:
    """The settings of training with their defaults: the keyword arguments of :func:`train`."""
    found: dict[str, Any] = json.loads(_derrl.settings())
    return found


def _written(key: str, value: Any) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, (list, tuple)):
        value = "[" + ", ".join(map(str, value)) + "]"
    return f"{key}={value}"


def train(
    world: WorldLike,
    *,
    tests: Mapping[str, object] | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    task: str | None = None,
    episodes: int | None = None,
    untyped: bool = False,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    processes: int | None = None,
    backend: str = "local",
    progress: bool | Callable[[int, int, str], None] = True,
    **settings: Any,
) -> Run:
    """Learns a policy for a world, and scores it on all its tasks.

    ``world`` is the name of a built-in world, what :func:`pddl` gives, or any object with ``reset(seed)`` and ``step(action)``. ``tests`` are further such
    objects, scored by name. ``out`` is the folder of the run; without it, the run is kept in a temporary folder for as long as
    the object returned. ``settings`` are those of ``derrl train --settings``, such as ``updates=300``. The same seed gives the same
    policy as the command line, bit for bit, on any number of threads or processes.

    Rust runs built-in worlds on all cores. A world in Python is stepped by ``processes`` processes, each with its own
    interpreter, one restart each: by default as many as there are cores, where the platform can fork. ``backend="ray"`` does the
    restarts on Ray, on as many machines as its cluster has; ``out`` is then a folder that all of them share.

    Ctrl-C, and exceptions raised by the world, leave a run that :func:`resume` goes on with; a note on the exception says so.
    """
    if backend not in ("local", "ray"):
        raise Error(f"backend: `local` or `ray`, not `{backend}`")
    of = as_world(world, tests)
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="derrl-"))
    changed = [_written(key, value) for key, value in settings.items()]
    try:
        _derrl.start(of, folder, seed, changed, task, episodes, untyped, json.dumps(dict(options or {})))
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return _go_on(of, folder, world, threads, processes, backend, progress, temporary=out is None)


def resume(
    world: WorldLike,
    folder: str | PathLike[str],
    *,
    tests: Mapping[str, object] | None = None,
    threads: int | None = None,
    processes: int | None = None,
    backend: str = "local",
    progress: bool | Callable[[int, int, str], None] = True,
) -> Run:
    """Goes on with a run that was interrupted. The result is the same as without the interruption."""
    if isinstance(world, (str, World)) or getattr(world, "domain", None) is not None:
        of = as_world(world, tests)
    else:
        # The domain that was inferred when the run began.
        if not (Path(folder) / "domain.pl").is_file():
            raise Error(f"there is no run in {folder}")
        text = (Path(folder) / "domain.pl").read_text(encoding="utf-8")
        name = World.described(text).name
        of = World.python(name, text, [("train", world), *(tests or {}).items()])
    return _go_on(of, Path(folder), world, threads, processes, backend, progress, temporary=False)


def _go_on(
    of: World,
    folder: Path,
    source: object,
    threads: int | None,
    processes: int | None,
    backend: str,
    progress: bool | Callable[[int, int, str], None],
    temporary: bool,
) -> Run:
    show = progress if callable(progress) else bars.bar(of.name) if progress else None
    try:
        if backend == "ray":
            restarts_on_ray(of, folder, show)
        elif of.is_python:
            restarts_in_processes(of, folder, processes, show)
        result = json.loads(_derrl.learn(of, folder, threads, show))
    except BaseException as error:
        if isinstance(error, Error) and temporary:
            shutil.rmtree(folder, ignore_errors=True)
        elif hasattr(error, "add_note"):
            error.add_note(f"the run can be resumed: derrl.resume(world, {str(folder)!r})")
        raise
    finally:
        bars.close(show)
    run = Run(of, folder, result, source if of.is_python else None)
    if temporary:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run
