"""Gymnasium both ways."""

import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import derrl

TASKS = [
    (world, task["name"])
    for world in derrl.builtin() if derrl.gym.identifier(world) in gymnasium.registry
    for task in json.loads(derrl.world(world).tasks_json()) if task["scored"]
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("world", "task"), TASKS)
def test_every_task_passes_the_checker(world, task):
    env = gymnasium.make(derrl.gym.identifier(world), task=task, render_mode="rgb_array")
    check_env(env.unwrapped)
    _, info = env.reset(seed=3)
    legal = info["actions"] if info["legal"] is None else info["legal"]
    assert info["action_mask"].sum() == len(legal) > 0 and info["facts"]
    assert env.render().ndim == 3
    other = gymnasium.make(derrl.gym.identifier(world), task=task, render_mode="ansi")
    other.reset(seed=3)
    assert str(info["facts"][0][0]) in other.render()


def test_importing_the_package_registers_the_worlds():
    """In a process of its own: here, other tests have imported everything."""
    code = "import derrl, gymnasium; print(gymnasium.make('derrl/Blocks-v0', task='dynamic-blocks').spec.id)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert said.stdout == "derrl/Blocks-v0\n", said.stderr


def test_a_policy_predicts_in_registered_worlds(blocks):
    env = gymnasium.make("derrl/Blocks-v0")
    solved = 0
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        ended = False
        while not ended:
            action, _ = blocks.policy.predict(observation, info)
            observation, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
        solved += info["success"]
    assert solved == 20


@pytest.mark.parametrize(("world", "task", "starts"), [
    ("blocks", "train", 4), ("blocks", "dynamic-blocks", 40), ("countdown", "train", 40), ("gridworld", "train", 90),
])
def test_observations_tell_states_apart(world, task, starts):
    """The blocks of the paper's training task start in 4 ways; the other tasks draw from many."""
    env = gymnasium.make(derrl.gym.identifier(world), task=task)
    seen = {}
    for seed in range(100):
        observation, info = env.reset(seed=seed)
        places = {name: i for i, name in enumerate(env.unwrapped._episodes.objects())}
        facts = frozenset((name, *(places[o] for o in args)) for name, *args in info["facts"])
        assert observation.sum() == len(facts)
        assert seen.setdefault(observation.tobytes(), facts) == facts
    assert len(set(seen.values())) == len(seen) and (len(seen) == starts if starts == 4 else len(seen) >= starts)


class Corridor(gymnasium.Env):
    """Walk to the right end; walls are masked."""

    observation_space = gymnasium.spaces.Discrete(6)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(5))
        return self.at, {"action_mask": self.mask()}

    def mask(self):
        return np.array([self.at > 0, True], dtype=np.int8)

    def step(self, action):
        assert self.mask()[action], "a masked action was taken"
        self.at += 1 if action == 1 else -1
        return self.at, 1.0 if self.at == 5 else -0.1, self.at == 5, False, {"action_mask": self.mask()}


def test_masks_are_respected():
    world = derrl.wrap(
        Corridor(), facts=lambda at, info: [("way", "left"), ("way", "right"), ("east", "right")],
        action=lambda name, way: {"left": 0, "right": 1}[way], actions={"go": ["way"]})
    run = derrl.train(world, progress=False, updates=20, restarts=2)
    assert run.solved
    assert run.policy.predict(2, {"action_mask": np.array([1, 1])})[0] == 1


def test_taxi_is_learned_directly():
    import taxi

    run = derrl.train(taxi.world, seed=0, progress=False, **taxi.SETTINGS)
    print(run)
    assert run.scores["train"].success_rate == 1
    assert run.scores["train"].mean > 7  # the best possible mean is near 8


def test_tireworld_is_learned_on_small_instances_and_holds_on_larger_ones():
    import rddl_tireworld as rddl

    run = derrl.train(rddl.training(), seed=0, progress=False, **rddl.SETTINGS)
    print(run)
    # The best means possible are 93.1, 85.9 and 76.4.
    for instance, least in ((1, 88), (3, 76), (5, 66)):
        score = derrl.evaluate(run.policy, derrl.world(rddl.Tireworld(rddl.make(instance))), episodes=20)
        print(f"instance {instance}: {score}")
        assert score.success_rate == 1 and score.mean > least
    others = rddl.beside(3, 5)
    assert others["no-op"] == -40 and others["random"] < 0, others


def test_the_learned_policy_drives_the_real_minigrid():
    import minigrid_doorkey as bridge

    policy = derrl.train("doorkey", seed=0, progress=False).policy
    for level in bridge.LEVELS:
        rate, steps, fewest = bridge.score(policy, level, 200)
        print(f"{level}: solved {rate:.0%}, steps {steps:.1f}, fewest {fewest:.1f}")
        assert rate == 1 and fewest <= steps <= 1.1 * fewest


@pytest.mark.parametrize("size", [5, 8, 16])
def test_our_doorkey_agrees_with_minigrid_move_by_move(size):
    import minigrid_doorkey as bridge

    assert all(bridge.agrees(f"MiniGrid-DoorKey-{size}x{size}-v0", seed, 100) for seed in range(10))
