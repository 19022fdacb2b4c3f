"""Sweeps, on processes and on Ray."""

import json
import os
import signal
import threading
import time

import pytest

import derrl
from conftest import LONG, QUICK


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


@pytest.mark.parametrize("backend", ["local", "ray"])
def test_a_worker_that_is_killed_loses_nothing(tmp_path, backend):
    if backend == "ray":
        import ray
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    out, done = tmp_path / "sweep", threading.Event()
    killer = threading.Thread(target=kill_one, args=(out, done))
    killer.start()
    try:
        table = derrl.sweep(["blocks"], range(3), LONG, out=out, backend=backend, workers=2)
    finally:
        done.set()
        killer.join()
        if backend == "ray":
            ray.shutdown()
    finished = [event["run"] for event in events(out) if event["event"] == "finished"]
    assert sorted(finished) == ["blocks/seed-0", "blocks/seed-1", "blocks/seed-2"], "each once"
    assert any(event["event"] == "resumed" for event in events(out)) or len(events(out)) > 6
    killed = events(out)[0]["run"]
    seed = int(killed.rsplit("-", 1)[1])
    alone = derrl.train("blocks", seed=seed, progress=False, **LONG)
    assert set(table[table.seed == seed]["policy"]) == {alone.policy.text}
