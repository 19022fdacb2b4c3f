"""Learners of other packages train on the built-in worlds: the real stable-baselines3 and sb3-contrib.

They need PyTorch, so they have an environment of their own: see `python/test.sh`.
"""

import gymnasium
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor

import derrl

SETTINGS = {"n_steps": 128, "batch_size": 64, "learning_rate": 1e-3, "gamma": 0.95, "seed": 0, "device": "cpu"}


def played(env, model, episodes=50):
    """The mean return, and how many of the actions taken were none that the mask allows."""
    total, masked_out = 0.0, 0
    for seed in range(episodes):
        observation, info = env.reset(seed=seed)
        ended = False
        while not ended:
            masks = {"action_masks": info["action_mask"]} if isinstance(model, MaskablePPO) else {}
            action, _ = model.predict(observation, **masks)
            masked_out += not info["action_mask"][int(action)]
            observation, reward, terminated, truncated, info = env.step(action)
            total, ended = total + reward, terminated or truncated
    return total / episodes, masked_out


# Traffic has several agents, cartpole has no facts, and signals need scenarios.
@pytest.mark.parametrize("world", [world for world in derrl.builtin() if world not in ("traffic", "cartpole", "signals")])
def test_stable_baselines_own_checker_passes(world):
    check_env(gymnasium.make(derrl.gym.identifier(world)).unwrapped)


@pytest.mark.parametrize("learner", [PPO, MaskablePPO])
def test_a_learner_improves(learner):
    torch.set_num_threads(1)
    env = Monitor(gymnasium.make("derrl/Blocks-v0"))
    model = learner("MlpPolicy", env, **SETTINGS)
    before, _ = played(env, model)
    model.learn(4000)
    after, masked_out = played(env, model)
    print(f"{learner.__name__}: mean return {before:.2f} before, {after:.2f} after 4,000 steps")
    assert after > before + 0.1
    assert learner is PPO or masked_out == 0


def test_several_copies_train_together_and_masks_follow_the_state():
    env = make_vec_env("derrl/Doorkey-v0", n_envs=2, seed=0)
    model = MaskablePPO("MlpPolicy", env, **SETTINGS)
    model.learn(300)
    observations = env.reset()
    masks = get_action_masks(env)
    assert masks.shape == (2, env.action_space.n) and masks.any(axis=1).all()
    actions, _ = model.predict(observations, action_masks=masks)
    assert all(mask[action] for mask, action in zip(masks, actions))
