"""Triangle Tireworld of the probabilistic planning competition of 2014, as pyRDDLGym simulates it.

A policy is learned on the smallest instance and scored on larger ones, beside pyRDDLGym's own random and no-op agents. After
each move the tire is flat with a probability above one half, so that only the long way round, past the spare tires, is safe.
"""

import itertools

import pyRDDLGym
from pyRDDLGym.core.policy import NoOpAgent, RandomAgent
from rddlrepository.core.manager import RDDLRepoManager

PROBLEM = "TriangleTireworld_MDP_ippc2014"


def make(instance, vectorized=True):
    problem = RDDLRepoManager().get_problem(PROBLEM)
    return pyRDDLGym.make(problem.get_domain(), problem.get_instance(instance), vectorized=vectorized)


class Relational:
    """The boolean fluents of an RDDL environment as facts: `spare-in(?l)` becomes ("spare_in", "la2a1").

    A fluent without arguments is stated either way: ("hasspare",) or ("no_hasspare",).
    """

    def __init__(self, env):
        self.env, model = env, env.model
        self.places = {
            name: [tuple(o) for o in itertools.product(*(model.type_to_objects[t] for t in model.variable_params[name]))]
            for name in [*model.state_fluents, *model.non_fluents, *model.action_fluents]
        }
        given = {name: env.sampler.subs[name] for name in model.non_fluents if model.variable_ranges[name] == "bool"}
        self.fixed = self.said(given)

    def said(self, values):
        facts = []
        for name, value in values.items():
            written = name.replace("-", "_")
            if self.places[name] == [()]:
                facts.append((written if value else f"no_{written}",))
            else:
                facts += [(written, *o) for o, holds in zip(self.places[name], value.ravel()) if holds]
        return facts

    def reset(self, seed):
        values, _ = self.env.reset(seed=seed)
        self.facts = self.said(values)
        return self.facts

    def background(self):
        return self.fixed

    def step(self, action):
        name = action[0].replace("_", "-")
        chosen = {}
        if name != "noop":
            chosen[name] = self.env.action_space[name].sample() * 0
            chosen[name].flat[self.places[name].index(action[1:])] = 1
        values, reward, terminated, truncated, _ = self.env.step(chosen)
        self.facts = self.said(values)
        return self.facts, float(reward), bool(terminated), bool(truncated)


class Tireworld(Relational):
    """Ends when the reward of the goal was received: nothing is earned or lost afterwards."""

    score_episodes = 50
    domain = """
        :- environment(tireworld).
        :- action(move_car(location, location)).   :- action(loadtire(location)).
        :- action(changetire).                      :- action(noop).
        :- state(vehicle_at(location)).             :- state(spare_in(location)).
        :- state(not_flattire).                     :- state(no_not_flattire).
        :- state(hasspare).                         :- state(no_hasspare).
        :- state(goal_reward_received).             :- state(no_goal_reward_received).
        :- background(road(location, location)).    :- background(goal_location(location)).
        :- variables(2).                            :- rules(move_car/2, 2).
    """

    def legal(self):
        """The actions that have an effect, and `noop`."""
        facts = set(self.facts)
        (_, here), = [f for f in facts if f[0] == "vehicle_at"]
        moves = [("move_car", a, b) for name, a, *b in self.fixed if name == "road" and a == here for b in b]
        return (
            [("noop",)] + (moves if ("not_flattire",) in facts else [])
            + [("loadtire", here)] * (("spare_in", here) in facts) + [("changetire",)] * (("hasspare",) in facts)
        )

    def step(self, action):
        facts, reward, terminated, truncated = super().step(action)
        return facts, reward, terminated or ("goal_reward_received",) in facts, truncated

    def succeeded(self):
        return ("goal_reward_received",) in self.facts


SETTINGS = {"updates": 30, "batch": 256, "wave": 1, "restarts": 2, "selection_episodes": 30, "episodes": 50}


def beside(instance, episodes, seed=0):
    """The mean returns of pyRDDLGym's random and no-op agents."""
    env = make(instance, vectorized=False)
    agents = {
        "random": RandomAgent(env.action_space, num_actions=env.max_allowed_actions, seed=seed),
        "no-op": NoOpAgent(env.action_space, num_actions=env.max_allowed_actions),
    }
    return {name: float(agent.evaluate(env, episodes=episodes, seed=seed)["mean"]) for name, agent in agents.items()}


if __name__ == "__main__":
    import derrl

    run = derrl.train(Tireworld(make(1)), seed=0, **SETTINGS)
    print(run)
    for instance in (1, 3, 5, 7):
        score = derrl.evaluate(run.policy, derrl.world(Tireworld(make(instance))), episodes=50)
        others = ", ".join(f"{name} {mean:.1f}" for name, mean in beside(instance, 20).items())
        print(f"instance {instance}: return {score.mean:.1f}, goal reached {score.success_rate:.0%}; {others}")
