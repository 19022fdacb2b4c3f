"""Sweeps, on processes and on Ray."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

import derrl
from conftest import ENDLESS, EXAMPLES, LONG, QUICK, Never
from delivery import Delivery
from derrl import parallel


def events(out):
    return [json.loads(line) for line in (out / "ledger.jsonl").read_text().splitlines()]


def test_a_sweep_is_a_table_and_is_not_done_twice(tmp_path):
    out = tmp_path / "sweep"
    table = derrl.sweep(["blocks", "countdown"], range(2), QUICK, out=out, workers=2)
    assert set(table["world"]) == {"blocks", "countdown"} and set(table["seed"]) == {0, 1}
    assert len(table[table["task"] == "train"]) == 4
    before = len(events(out))
    again = derrl.sweep(["blocks", "countdown"], range(2), QUICK, out=out, workers=2)
    assert again.equals(table) and len(events(out)) == before
    alone = derrl.train("blocks", seed=1, progress=False, **QUICK)
    assert set(table[(table.world == "blocks") & (table.seed == 1)]["policy"]) == {alone.policy.text}


def kill_one(out, done):
    """Kills the first worker that has started a run."""
    while not done.is_set():
        time.sleep(0.05)
        if (out / "ledger.jsonl").exists() and events(out):
            os.kill(events(out)[0]["pid"], signal.SIGKILL)
            return


@pytest.fixture(scope="module")
def ray_cluster():
    """The real Ray with two workers, which find the examples and what tests share."""
    import ray

    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), str(Path(__file__).parent), before])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    os.environ["PYTHONPATH"] = before


@pytest.mark.parametrize("backend", ["local", "ray"])
def test_a_worker_that_is_killed_loses_nothing(tmp_path, backend, request):
    if backend == "ray":
        request.getfixturevalue("ray_cluster")
    out, done = tmp_path / "sweep", threading.Event()
    killer = threading.Thread(target=kill_one, args=(out, done))
    killer.start()
    try:
        table = derrl.sweep(["blocks"], range(3), LONG, out=out, backend=backend, workers=2)
    finally:
        done.set()
        killer.join()
    finished = [event["run"] for event in events(out) if event["event"] == "finished"]
    assert sorted(finished) == ["blocks/seed-0", "blocks/seed-1", "blocks/seed-2"], "each once"
    assert any(event["event"] == "resumed" for event in events(out)) or len(events(out)) > 6
    killed = events(out)[0]["run"]
    seed = int(killed.rsplit("-", 1)[1])
    alone = derrl.train("blocks", seed=seed, progress=False, **LONG)
    assert set(table[table.seed == seed]["policy"]) == {alone.policy.text}


def test_a_run_is_done_on_ray_to_the_same_bits(tmp_path, ray_cluster, monkeypatch):
    def bits(run):
        return run.policy.text, run.scores, run.steps, run.restarts

    here = derrl.train("blocks", seed=2, progress=False, **LONG)
    told = []
    spread = derrl.train("blocks", seed=2, out=tmp_path / "ray", backend="ray", progress=lambda *now: told.append(now), **LONG)
    assert bits(spread) == bits(here) and here.restarts >= 1
    assert any("on Ray" in message for _, _, message in told)
    # In several tasks, each of which goes on where the one before it was.
    monkeypatch.setattr(parallel, "PIECE", 0.3)
    pieces = derrl.train("blocks", seed=2, out=tmp_path / "pieces", backend="ray", progress=False, **LONG)
    assert bits(pieces) == bits(here)
    # A world in Python goes to the workers by pickle.
    here = derrl.train(Delivery(), seed=0, progress=False, **QUICK)
    spread = derrl.train(Delivery(), seed=0, out=tmp_path / "python", backend="ray", progress=False, **QUICK)
    assert bits(spread) == bits(here)


def test_a_run_on_ray_ends_in_time_with_the_best_so_far(tmp_path, ray_cluster):
    run = derrl.train(Never(), out=tmp_path, backend="ray", max_seconds=4, **ENDLESS)
    assert run.policy.text and "4 s, as asked" in run.ended and run.steps > 0


@pytest.mark.parametrize("call", [
    lambda out: derrl.sweep(["blocks"], [0], out=out, backend="slurm"),
    lambda out: derrl.train("blocks", out=out, backend="slurm"),
])
def test_an_unknown_backend_is_an_error(tmp_path, call):
    with pytest.raises(derrl.Error, match="`local` or `ray`, not `slurm`"):
        call(tmp_path / "out")
