"""How much time derrl adds to a world written in Python, and how Ray compares with local processes on one machine.

The overhead is the time of training over that of the world alone: the very calls that training made, reset by reset and step by
step, made again by a plain loop. Training with random play instead would be unfair: random play rarely reaches the goal, so its
episodes are longer, and a reset costs more than a step.

Both sides take turns, and the median over rounds counts, so that other work on the machine disturbs them little.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

import derrl
from delivery import Delivery

GRADIENT = {"without": ["explore", "draw", "change", "try"], "doubling": False}
"""Settings: the gradient alone, in whole restarts."""


class Plain(Delivery):
    """The delivery world, with its domain given."""

    domain = derrl.infer_domain(Delivery())


class Recorded(Plain):
    """Keeps the calls that are made."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def reset(self, seed):
        self.calls.append(seed)
        return super().reset(seed)

    def step(self, action):
        self.calls.append(action)
        return super().step(action)


def train(world):
    """The same seed makes the same calls."""
    derrl.train(world, seed=0, progress=False, updates=60, restarts=1, **GRADIENT)


def play(world, calls):
    """Makes calls as Python alone would."""
    reset, step, legal = world.reset, world.step, world.legal
    for call in calls:
        if type(call) is int:
            reset(call)
        else:
            step(call)
        legal()


def act(world):
    """Acts at random, driven by derrl: no learning."""
    derrl.evaluate(derrl.Policy.parse("", world), world, episodes=1500)


def seconds(do, *args):
    """CPU seconds that something takes."""
    begun = time.process_time()
    do(*args)
    return time.process_time() - begun


def overhead(do=train, rounds=15):
    """The time of training, or of acting, over that of the same calls made by Python alone just before and after."""
    recorded = Recorded()
    do(recorded)
    ratios = []
    before = seconds(play, Plain(), recorded.calls)
    for _ in range(rounds):
        ours = seconds(do, Plain())
        after = seconds(play, Plain(), recorded.calls)
        ratios.append(2 * ours / (before + after))
        before = after
    return statistics.median(ratios)


def throughput(backend, top, seeds):
    """Runs per second of a sweep on two workers, after the workers have started."""
    # Runs of seconds.
    settings = {"updates": 1000, "batch": 4096, "restarts": 2, **GRADIENT}
    derrl.sweep(["blocks"], range(100, 102), settings | {"updates": 2}, out=top / f"{backend}-warm", backend=backend, workers=2)
    begun = time.monotonic()
    derrl.sweep(["blocks"], seeds, settings, out=top / backend, backend=backend, workers=2)
    return len(seeds) / (time.monotonic() - begun)


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores")
    print(f"time over the same calls made by Python alone: acting {overhead(act):.2f}, training {overhead(train):.2f}")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    best = {"local": 0.0, "ray": 0.0}
    with tempfile.TemporaryDirectory() as top:
        for turn in range(3):
            for backend in best:
                best[backend] = max(best[backend], throughput(backend, Path(top) / str(turn), range(6)))
    print(f"runs per second: local {best['local']:.2f}, Ray {best['ray']:.2f}: {best['ray'] / best['local']:.2f} of local")
