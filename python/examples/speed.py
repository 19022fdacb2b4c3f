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


def alone(steps):
    """CPU seconds per step of the world with random legal actions."""
    rng, world, seed, done = random.Random(0), Delivery(), 0, 0
    begun = time.process_time()
    while done < steps:
        world.reset(seed)
        seed, ended = seed + 1, False
        while not ended:
            _, _, terminated, truncated = world.step(rng.choice(world.legal()))
            ended, done = terminated or truncated, done + 1
    return (time.process_time() - begun) / done


def trained():
    """CPU seconds per step of training on the same world, scores and page included."""
    world = Delivery()
    world.domain = derrl.infer_domain(Delivery())
    begun = time.process_time()
    run = derrl.train(world, seed=0, processes=1, progress=False, updates=60, wave=1, restarts=1, agree=1,
                      selection_episodes=100)
    return (time.process_time() - begun) / run.steps


def overhead():
    """The time of training over that of the world alone, the world measured before and after."""
    before, training, after = alone(20_000), trained(), alone(20_000)
    return training / ((before + after) / 2)


def throughput(backend, top, seeds):
    """Runs per second of a sweep on two workers, after the workers have started."""
    settings = {"updates": 300, "batch": 2048, "wave": 2, "restarts": 2, "selection_episodes": 200}
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
