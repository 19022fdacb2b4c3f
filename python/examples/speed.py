"""How much time derrl adds to a world written in Python, and how Ray compares with local processes on one machine.

Ratios within one run, so that other work on the machine disturbs both sides alike.
"""

import os
import random
import tempfile
import time
from pathlib import Path

import derrl
from delivery import Delivery


class Counted(Delivery):
    """Counts its steps."""

    domain = derrl.infer_domain(Delivery())
    steps = 0

    def step(self, action):
        Counted.steps += 1
        return super().step(action)


def per_step(play):
    """CPU seconds per step of the world that something takes."""
    before, begun = Counted.steps, time.process_time()
    play()
    return (time.process_time() - begun) / (Counted.steps - before)


def alone():
    """Plays random legal actions."""
    rng, world = random.Random(0), Counted()
    for seed in range(1500):
        world.reset(seed)
        ended = False
        while not ended:
            _, _, terminated, truncated = world.step(rng.choice(world.legal()))
            ended = terminated or truncated


def trained():
    """Trains on the same world, scores and page included."""
    derrl.train(Counted(), seed=0, processes=1, progress=False, updates=60, wave=1, restarts=1, improve=False, short_waves=0)


def overhead():
    """The time of training over that of the world alone, the world measured before and after."""
    before, training, after = per_step(alone), per_step(trained), per_step(alone)
    return training / ((before + after) / 2)


def throughput(backend, top, seeds):
    """Runs per second of a sweep on two workers, after the workers have started."""
    # Without what ends a run early: runs of seconds.
    settings = {"updates": 1000, "batch": 4096, "wave": 2, "restarts": 2, "improve": False, "short_waves": 0}
    derrl.sweep(["blocks"], range(100, 102), settings | {"updates": 2}, out=top / f"{backend}-warm", backend=backend, workers=2)
    begun = time.monotonic()
    derrl.sweep(["blocks"], seeds, settings, out=top / backend, backend=backend, workers=2)
    return len(seeds) / (time.monotonic() - begun)


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores")
    print(f"overhead over the world alone: {overhead():.2f}")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    with tempfile.TemporaryDirectory() as top:
        local = [throughput("local", Path(top) / str(n), range(6)) for n in range(2)]
        on_ray = [throughput("ray", Path(top) / str(n), range(6)) for n in range(2)]
    print(f"runs per second: local {max(local):.2f}, Ray {max(on_ray):.2f}: {max(on_ray) / max(local):.2f} of local")
