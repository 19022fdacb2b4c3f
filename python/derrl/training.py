"""Training: runs in folders, the same as those of the command line."""

from __future__ import annotations

import contextlib
import html
import json
import shutil
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _derrl, arguments, progress as bars, spaces
from ._derrl import Error, World
from .arguments import seconds_or_none, whole, whole_or_none
from .inference import left_out
from .parallel import Watch, run_on_ray
from .policies import Policy, Score
from .checking import NO_SUCCESS, REPEATABLE, replay_fault
from .worlds import Prepared, WorldLike, prepare


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Settings


class _Temporary:
    """Removes a folder once no run refers to it. It stays behind where a run is pickled."""

    def __init__(self, folder: Path) -> None:
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


@dataclass(frozen=True)
class Best:
    """The best policy of a run that is under way: what ``on_best`` is told.

        >>> derrl.train("CartPole-v1", on_best=lambda best: best.mean >= 195)
    """

    policy: Policy
    """The policy."""
    mean: float
    """Its mean return, as far as it was tried."""
    success_rate: float | None
    """The share of the episodes tried that reached the goal; ``None`` where there is none."""
    steps: int
    """Steps of the environment that the run had taken when it was found."""


OnBest = Callable[[Best], Any]


class Run:
    """What training came to. The folder holds the same files as a run of the command line.

        >>> run = derrl.train("blocks", seed=0, out="runs/kept")
        >>> print(run.policy, run.scores["train"].success_rate, run.solved)
    """

    def __init__(self, world: World, folder: Path, result: Mapping[str, Any], source: object = None) -> None:
        self.world = world
        """The world."""
        self.folder = folder
        """Where the run is kept."""
        self.result = result
        """All that ``derrl train --json`` prints."""
        self.seed: int = result["seed"]
        """The seed."""
        policy = Policy.parse(result.get("learned_on", "") + result["policy"], world)
        self.policy = policy if source is None else policy.attach(source)
        """What was learned."""
        self.scores = {task: Score.from_json(score) for task, score in result["scores"].items()}
        """The score on each task."""
        self.steps: int = result["steps"]
        """Steps of the environment that training took."""
        self.seconds: float = result["seconds"]
        """How long it took."""
        self.restarts: int = result["restarts"]
        """How many restarts of the gradient there were: none where a world was solved without."""
        self.finished: bool = result.get("finished", True)
        """Whether training has ended. Where not, this is the best so far, and the scores are what training saw."""
        self.ended: str | None = (result.get("ended") or {}).get("why")
        """Why training ended before it would have by itself: its steps, its seconds, or ``on_best``."""
        self._temporary: _Temporary | None = None

    @staticmethod
    def load(folder: str | PathLike[str], world: WorldLike | None = None, *, tests: Mapping[str, object] | None = None) -> Run:
        """The finished run in a folder, of this package or of the command line.

        A world in Python has to be given to be played; without it, the policy acts on facts, explains and is exported.

            >>> run = derrl.Run.load("runs/blocks")
        """
        place = Path(folder)
        if not (place / "domain.pl").is_file():
            raise Error(f"there is no run in {folder}")
        text = _derrl.result(place)
        if text is None:
            raise Error(f"the run in {folder} is not finished: derrl.resume(world, folder) goes on with it")
        result = json.loads(text)
        if world is not None:
            of = _same_world(world, tests, place)
            return Run(of.world, place, result, of.source)
        name = result.get("domain", "")
        built_in = isinstance(name, str) and name in _derrl.builtin()
        domain = (place / "domain.pl").read_text(encoding="utf-8")
        return Run(World.changed(str(place / "domain.pl"), domain) if built_in else World.described(domain), place, result)

    @staticmethod
    def _so_far(of: Prepared, folder: Path) -> Run | None:
        """The best of a run that has not ended; none where nothing was found."""
        text = _derrl.so_far(folder)
        if text is None:
            return None
        found = json.loads(text)
        score = {"mean": found["mean"], "stderr": 0.0, "success_rate": found["success_rate"], "episodes": 0}
        result = {**found, "scores": {found["task"]: score}, "restarts": 0, "finished": False}
        return Run(of.world, folder, result, of.source)

    @property
    def solved(self) -> bool | None:
        """Whether every episode of every scored task reached what the task asks for; ``None`` where it asks for nothing."""
        rates = [score.success_rate for score in self.scores.values() if score.success_rate is not None]
        return all(rate == 1.0 for rate in rates) if rates else None

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Writes the page of the run, with its rules and a player of episodes, and returns its path.

            >>> run.report("blocks.html")
        """
        return Path(_derrl.report(self.world, self.folder, path))

    def metrics(self) -> list[dict[str, Any]]:
        """The training curves: a row for every few updates of every restart.

            >>> [row["mean_return"] for row in run.metrics() if row["restart"] == 0]
        """
        return self._lines("metrics.jsonl")

    def bests(self) -> list[dict[str, Any]]:
        """Each policy that was the best so far, in their order: its text, ``mean_return``, ``success``, and the ``decisions`` and
        ``seconds`` after which it was found.

            >>> print(run.bests()[-1]["policy"])
        """
        return self._lines("best.jsonl")

    def _lines(self, file: str) -> list[dict[str, Any]]:
        """The lines of a file of the run; none where it is not there yet."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return [json.loads(line) for line in text.splitlines()]

    def curve(self) -> Any:
        """The training curves as a pandas frame: a row per few updates, a column per figure, restarts by number. Where
        there was no restart of the gradient, a row per policy that was the best so far.

            >>> run.curve().plot(x="episodes", y="mean_return")
        """
        import pandas

        rows = self.metrics() or [{key: value for key, value in best.items() if key != "policy"} for best in self.bests()]
        return pandas.DataFrame(rows)

    def tensorboard(self, logdir: str | PathLike[str]) -> Path:
        """Writes the curves and scores as event files for TensorBoard, and returns the folder.

            >>> run.tensorboard("logs")
        """
        _derrl.tensorboard(self.folder, logdir)
        return Path(logdir)

    def __str__(self) -> str:
        lines = [f"{self.world.name}, seed {self.seed}: {self.restarts} restarts, {self.steps:,} steps, {self.seconds:.1f} s"]
        lines += [f"  {rule}" for rule in self.policy.text.splitlines()] or ["  (no rule was found)"]
        for task, score in self.scores.items():
            lines.append(f"  {task}: {score}")
        if not self.finished:
            return "\n".join([*lines, f"  not finished: derrl.resume(world, {str(self.folder)!r}) goes on with it"])
        if self.ended:
            lines.append(f"  {self.ended}")
        if self.solved is False:
            source = self.policy._source
            silent = source is not None and getattr(source, "succeeded", None) is None
            if silent and all(score.success_rate == 0 for score in self.scores.values()):
                lines.append(f"  not solved: {NO_SUCCESS}.")
                return "\n".join(lines)
            lines.append("  not solved. Look at the domain (are the predicates there that a rule would need? more variables")
            lines.append("  or rules per action?), at the reward, or raise updates, restarts or batch.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:640px;border:0"></iframe>'


def compare(runs: Iterable[Run] | Mapping[str, Run]) -> Any:
    """Runs side by side as a pandas frame: a row per run, by name or in order, with its rules, steps, seconds and the scores of each task.

        >>> derrl.compare({"one variable more": first, "plain": second})
    """
    import pandas

    named = runs if isinstance(runs, Mapping) else dict(enumerate(runs))
    rows = {}
    for name, run in named.items():
        if not isinstance(run, Run):
            raise TypeError(f"compare takes runs, or a dict of them by name, not {run!r}")
        rules = sum(1 for line in run.policy.text.splitlines() if line.strip())
        row: dict[str, Any] = {"world": run.world.name, "seed": run.seed, "rules": rules, "steps": run.steps, "seconds": run.seconds}
        for task, score in run.scores.items():
            row[f"{task} mean"] = score.mean
            if score.success_rate is not None:
                row[f"{task} success"] = score.success_rate
        rows[name] = row
    return pandas.DataFrame.from_dict(rows, orient="index")


def settings() -> dict[str, Any]:
    """The settings of training with their defaults: the keyword arguments of :func:`train`.

        >>> derrl.settings()["updates"]
    """
    found: dict[str, Any] = json.loads(_derrl.settings())
    return found


def written(key: str, value: Any) -> str:
    """A setting as the command line has it."""
    if not all(one.isprintable() for one in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(one, str)):
        raise Error(f"setting `{key}`: a number or a word, not {value!r}")
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
        value = ",".join(value)
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
    backend: str = "local",
    progress: bool | Callable[[int, int, str], None] = True,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    on_best: OnBest | None = None,
    **settings: Unpack[Settings],
) -> Run:
    """Learns a policy for a world, and scores it on all its tasks.

    ``world`` is the name of a built-in world, what :func:`pddl` gives, the name of a Gymnasium environment or the environment, or any object
    with ``reset(seed)`` and ``step(action)``. ``tests`` are further such objects, scored by name. ``out`` is the folder of the run; without it, the run is kept in a temporary folder for as long as
    the object returned. ``settings`` are those of ``derrl train --settings``, such as ``updates=300``. The same seed gives the same
    policy as the command line, bit for bit, on any number of threads.

    A run uses one core; :func:`sweep` runs many side by side. ``backend="ray"`` does the run on Ray; ``out`` is then a folder that all
    machines share.

    ``max_steps`` and ``max_seconds`` end the run with its best policy, which is then scored. ``on_best`` is called with every better
    policy, a :class:`Best`, and ends the run with it by returning true: it is good enough.

    Ctrl-C, and exceptions raised by the world, leave a run that :func:`resume` goes on with; a note on the exception says so, and its
    attribute ``run`` is a :class:`Run` of the best policy so far, where there is one. It is also in ``best.pl`` in the folder.

        >>> run = derrl.train("CartPole-v1", seed=0)
        >>> print(run.policy, run.scores["train"].mean)
    """
    _check(threads, backend, progress, on_best)
    max_steps, max_seconds = whole_or_none("max_steps", max_steps), seconds_or_none("max_seconds", max_seconds)
    seed, episodes = whole("seed", seed, 0), whole_or_none("episodes", episodes)
    told = arguments.options(options)
    changed = [written(key, value) for key, value in settings.items()]
    of = prepare(world, tests)
    _check_world(of, tests)
    while True:
        folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="derrl-"))
        before = set(folder.iterdir()) if folder.is_dir() else None
        try:
            _derrl.Request(of.world, seed, changed, task, episodes, untyped, told, max_steps, max_seconds).start(folder)
        except BaseException:
            if out is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        try:
            return _go_on(of, folder, (threads, backend), progress, on_best, None, temporary=out is None)
        except Error as error:
            _extend(of, error)
            _remove(folder, before)


def _check_world(of: Prepared, tests: Mapping[str, object] | None) -> None:
    """What would fail or mislead training, before it begins."""
    for test in tests or ():
        of.world.episodes(test).reset(0)  # what cannot be scored fails now, not after training
    if of.source is not None:
        try:
            fault = replay_fault(of.source, chance=of.inference)
        except Exception:  # training meets it again, and leaves a run that can be resumed
            return
        if fault is not None:
            warnings.warn(f"{fault}; {REPEATABLE}", stacklevel=3)


def _extend(of: Prepared, error: Error) -> None:
    """Adds to an inferred domain what it lacks by an error of training, or leaves out an action that a wrapped environment lacks; the
    error again where neither helps."""
    if of.remake is None:
        raise error
    if left_out(of.sources, error):
        print("% Some actions are missing in some states of the environment: from now on, those that it has are listed.", file=sys.stderr)
        of.world = of.remake(of.world.domain)
        return
    if of.inference is None:
        raise error
    before = of.inference.text()
    if not of.inference.extend(error) or of.inference.text() == before:
        raise Error(
            f"{error}\n  The domain was inferred by random play. Correct it, and set it as `domain` of the world:\n"
            f'domain = """\n{before}"""'
        ) from error
    added = [line for line in of.inference.text().splitlines() if line not in before.splitlines()]
    print(f"% Not seen by random play, and added to the inferred domain:\n{chr(10).join(added)}", file=sys.stderr)
    of.world = of.remake(of.inference.text())


def _remove(folder: Path, before: set[Path] | None) -> None:
    """Removes what a run that begins anew left in its folder."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if before is None or path not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def resume(
    world: WorldLike,
    folder: str | PathLike[str],
    *,
    tests: Mapping[str, object] | None = None,
    threads: int | None = None,
    backend: str = "local",
    progress: bool | Callable[[int, int, str], None] = True,
    max_seconds: float | None = None,
    on_best: OnBest | None = None,
) -> Run:
    """Goes on with a run that was interrupted. The result is the same as without the interruption.

    ``max_seconds`` is a new limit in place of that of the run, and counts what it took before: a run that ended because of its
    limit goes on with more.

        >>> run = derrl.resume("blocks", "runs/blocks")
    """
    _check(threads, backend, progress, on_best)
    max_seconds = seconds_or_none("max_seconds", max_seconds)
    of = _same_world(world, tests, Path(folder))
    return _go_on(of, Path(folder), (threads, backend), progress, on_best, max_seconds, temporary=False)


def world_of_run(world: WorldLike, tests: Mapping[str, object] | None, folder: Path) -> Prepared:
    """The world of the run in a folder: where it has no domain, with the one that was inferred when the run began."""
    if not (folder / "domain.pl").is_file():
        raise Error(f"there is no run in {folder}")
    text = (folder / "domain.pl").read_text(encoding="utf-8")
    world = spaces.converted(world)
    if isinstance(world, (str, World)) or getattr(world, "domain", None) is not None:
        return prepare(world, tests)
    return prepare(world, tests, domain=text)


def _same_world(world: WorldLike, tests: Mapping[str, object] | None, folder: Path) -> Prepared:
    """The world of the run in a folder; an error if the world given has another domain."""
    of = world_of_run(world, tests, folder)
    if of.world.is_python and of.world.domain != (folder / "domain.pl").read_text(encoding="utf-8"):
        raise Error(f"the run in {folder} has another domain than this world: see domain.pl there, or start a new run")
    return of


def _check(threads: Any, backend: Any, progress: Any, on_best: Any) -> None:
    """An error if an argument that training and resuming share is wrong."""
    if backend not in ("local", "ray"):
        raise Error(f"backend: `local` or `ray`, not `{backend}`")
    whole_or_none("threads", threads)
    if not isinstance(progress, bool) and not callable(progress):
        raise Error(f"progress: True, False or a function, not {progress!r}")
    if on_best is not None and not callable(on_best):
        raise Error(f"on_best: a function that is told of every better policy, not {on_best!r}")


def _best_or_none(of: Prepared, folder: Path) -> Run | None:
    """The best of a run that did not end; none where there is none, or where that cannot be told."""
    try:
        return Run._so_far(of, folder)
    except Error:
        return None


def _go_on(
    prepared: Prepared,
    folder: Path,
    how: tuple[int | None, str],
    progress: bool | Callable[[int, int, str], None],
    on_best: OnBest | None,
    max_seconds: float | None,
    temporary: bool,
) -> Run:
    of, (threads, backend) = prepared.world, how
    show = progress if callable(progress) else bars.bar(of.name) if progress else None

    draws = getattr(show, "best", None)

    def told(policy: str, mean: float, success_rate: float | None, steps: int) -> Any:
        found = Policy.parse(policy, of)
        if draws is not None:
            draws(found._repr_html_(), mean, steps)
        if on_best is None:
            return False
        return on_best(Best(found if prepared.source is None else found.attach(prepared.source), mean, success_rate, steps))

    best = told if on_best is not None or draws is not None else None
    try:
        left = _derrl.seconds_left(folder, max_seconds)
        watch = Watch(show, best, None if left is None else time.monotonic() + left)
        if backend == "ray":
            run_on_ray(of, folder, watch)
        result = json.loads(_derrl.learn(of, folder, threads, show, best, max_seconds, watch.enough))
    except BaseException as error:
        if isinstance(error, Error) and temporary:
            shutil.rmtree(folder, ignore_errors=True)
        elif (note := getattr(error, "add_note", None)) is not None:
            note(f"the run can be resumed: derrl.resume(world, {str(folder)!r})")
        if folder.is_dir():
            with contextlib.suppress(AttributeError):
                error.run = _best_or_none(prepared, folder)  # type: ignore[attr-defined]
        raise
    finally:
        bars.close(show)
    run = Run(of, folder, result, prepared.source)
    if temporary:
        run._temporary = _Temporary(folder)
    return run
