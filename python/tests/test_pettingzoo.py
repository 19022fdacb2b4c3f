"""Traffic with PettingZoo's own test, in the real SUMO."""

import pytest
from pettingzoo.test import parallel_api_test

import derrl
from derrl.pettingzoo import Traffic


@pytest.fixture(scope="module")
def env():
    return Traffic(render_mode="ansi")


def play(env, seed, choose, rounds):
    observations, infos = env.reset(seed=seed)
    total, seen = 0.0, []
    for _ in range(rounds):
        actions = {agent: choose(agent, observations[agent], infos[agent]) for agent in env.agents}
        observations, rewards, _, _, infos = env.step(actions)
        seen.append({agent: o.tolist() for agent, o in observations.items()})
        total += sum(rewards.values()) / len(rewards)
    return total, seen


@pytest.mark.filterwarnings("error")
def test_it_passes_the_parallel_api_test(env):
    parallel_api_test(env, num_cycles=200)


def test_the_same_seed_gives_the_same_traffic_and_choices_matter(env):
    def longest(agent, observation, info):
        return int(observation[: len(info["lanes"])].argmax())

    def first(agent, observation, info):
        return 0

    total, seen = play(env, 3, longest, 40)
    again, same = play(env, 3, longest, 40)
    assert (again, same) == (total, seen)
    assert seen != play(env, 4, longest, 40)[1]
    assert total > play(env, 3, first, 40)[0]
    assert all(env.observation_space(agent).shape == (2 * env.action_space(agent).n,) for agent in env.possible_agents)
    assert env.render().count("\n") == len(env.possible_agents) - 1 and "*" in env.render()


def test_wrong_actions_are_clear_errors(env):
    env.reset(seed=0)
    with pytest.raises(derrl.Error, match="no action for"):
        env.step({})
    with pytest.raises(derrl.Error, match="it has the lanes 0 to"):
        env.step(dict.fromkeys(env.agents, 9))
