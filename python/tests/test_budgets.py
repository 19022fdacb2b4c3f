"""Runs that end before they would by themselves, and the best policy so far: in callbacks, on Ctrl-C, and on disk."""

import os
import signal
import threading
import time

import pytest

import derrl
from conftest import ENDLESS, Never


class Interrupt:
    """Presses Ctrl-C a while after the first policy was told."""

    def __init__(self, after):
        self.timer, self.pressed = threading.Timer(after, self.press), 0.0

    def press(self):
        self.pressed = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def __call__(self, best):
        if self.timer.ident is None:
            self.timer.start()


# Runs of many seconds: rules about objects, about numbers, and a world of one's own.
WORLDS = {"objects": lambda: "gridworld", "numbers": lambda: "CartPole-v1", "python": Never}


def started(kind, **more):
    return derrl.train(WORLDS[kind](), **{**ENDLESS, **({"without": []} if kind == "objects" else {}), **more})


@pytest.mark.parametrize("kind", WORLDS)
def test_ctrl_c_is_answered_within_a_second_with_the_best_so_far(kind, tmp_path):
    interrupt = Interrupt(0.3)
    with pytest.raises(KeyboardInterrupt) as stopped:
        started(kind, out=tmp_path, on_best=interrupt)
    assert time.monotonic() - interrupt.pressed < 1.2
    run = stopped.value.run
    assert not run.finished and run.policy.text and run.steps > 0 and "not finished" in str(run)
    score = run.scores["train"]
    assert score.episodes == 0 and "as far as training" in str(score)
    text = (tmp_path / "best.pl").read_text()
    assert text.startswith("% The best so far, after") and run.policy.text in text
    assert run.bests()[-1]["policy"] == run.policy.text and len(run.curve()) > 0


@pytest.mark.parametrize("kind", WORLDS)
def test_a_run_ends_after_so_many_seconds(kind, tmp_path):
    most = 1.5
    began = time.monotonic()
    run = started(kind, out=tmp_path, max_seconds=most)
    # Its page has the frames that Gymnasium draws, which take most of the rest, and longer on a busy machine.
    assert most <= time.monotonic() - began < most + 60
    assert run.finished and run.ended == f"ended after {most} s, as asked: the best rules so far" and run.ended in str(run)
    assert run.policy.text and run.scores["train"].episodes == 10
    again = derrl.Run.load(tmp_path)
    assert again.ended == run.ended and again.policy.text == run.policy.text
    longer = derrl.resume(WORLDS[kind](), tmp_path, max_seconds=most + 0.2, progress=False)
    assert longer.seconds >= run.seconds and longer.ended


@pytest.mark.parametrize(("kind", "most"), [("objects", 40_000), ("numbers", 80_000), ("python", 5_000)])
def test_a_run_ends_within_so_many_steps(kind, most):
    run = started(kind, max_steps=most)
    assert 0 < run.steps <= 1.25 * most and "within" in run.ended and run.scores["train"].episodes == 10


@pytest.mark.parametrize("kind", WORLDS)
def test_a_run_ends_where_its_best_is_good_enough(kind):
    told = []

    def look(best):
        told.append(best)
        return True

    run = started(kind, on_best=look)
    assert "good enough" in run.ended and run.policy.text == told[-1].policy.text
    assert told[-1].steps > 0 and isinstance(told[-1].mean, float)


class Breaks(Never):
    """Fails after a while."""

    steps = 0

    def step(self, action):
        self.steps += 1
        if self.steps > 5_000:
            raise RuntimeError("broken")
        return super().step(action)


def test_a_world_that_fails_leaves_the_best_so_far():
    with pytest.raises(RuntimeError, match="broken") as failed:
        derrl.train(Breaks(), **ENDLESS)
    assert failed.value.run.policy.text


def test_the_last_of_the_best_is_told():
    """Also where the run has ended before anybody looked."""
    for seed in range(3):
        told = []
        run = derrl.train("countdown", seed=seed, on_best=lambda best: told.append(best) and False, progress=False, episodes=10)
        assert told and told[-1].policy.text == run.bests()[-1]["policy"]


def test_what_on_best_raises_ends_the_run():
    def look(best):
        raise LookupError("seen")

    with pytest.raises(LookupError, match="seen") as stopped:
        started("objects", on_best=look)
    assert stopped.value.run is not None


@pytest.mark.parametrize("wrong", [{"max_steps": 0}, {"max_steps": 1.5}, {"max_seconds": 0}, {"max_seconds": "a minute"},
                                   {"max_seconds": float("nan")}, {"on_best": 3}])
def test_wrong_limits_are_refused(wrong):
    with pytest.raises(derrl.Error, match=next(iter(wrong))):
        derrl.train("blocks", progress=False, **wrong)
