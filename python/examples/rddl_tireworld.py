"""Triangle Tireworld of the probabilistic planning competition of 2014, as pyRDDLGym simulates it.

A policy is learned on small instances and scored on larger ones, beside pyRDDLGym's own random and no-op agents. After each move
the tire is flat with a probability above one half, so that only the long way round, past the spare tires, is safe. In the smallest
instance "move to where a spare is" is enough. In the next larger one, some places with a spare lead to none: from there, a
policy has to look one place further. Both are trained on.
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
        chosen = {name: self.env.action_space[name].sample() * 0}
        if self.places[name] == [()]:
            chosen[name] = 1
        else:
            chosen[name].flat[self.places[name].index(action[1:])] = 1
        values, reward, terminated, truncated, _ = self.env.step(chosen)
        self.facts = self.said(values)
        return self.facts, float(reward), bool(terminated), bool(truncated)


class Tireworld(Relational):
    """Returns are those of the whole 40 steps, but where no action has an effect any more the rest is not played.

    At the goal, a no-op collects the reward, and nothing is earned or lost afterwards. With a flat tire and no spare at hand,
    every step that is left costs 1.
    """

    score_episodes = 50
    domain = """
        :- environment(tireworld).
        :- action(move_car(location, location)).   :- action(loadtire(location)).
        :- action(changetire).
        :- state(vehicle_at(location)).             :- state(spare_in(location)).
        :- state(not_flattire).                     :- state(no_not_flattire).
        :- state(hasspare).                         :- state(no_hasspare).
        :- background(road(location, location)).    :- background(goal_location(location)).
        :- variables(3).                            :- rules(move_car/2, 3).
    """

    def said(self, values):
        return [fact for fact in super().said(values) if "goal_reward" not in fact[0]]

    def reset(self, seed):
        self.left = self.env.horizon
        return super().reset(seed)

    def here(self):
        return next(place for name, *place in self.facts if name == "vehicle_at")[0]

    def legal(self):
        """The actions that have an effect."""
        here, facts = self.here(), set(self.facts)
        moves = [("move_car", *ends) for name, *ends in self.fixed if name == "road" and ends[0] == here]
        return (
            (moves if ("not_flattire",) in facts else [])
            + [("loadtire", here)] * (("spare_in", here) in facts) + [("changetire",)] * (("hasspare",) in facts)
        )

    def succeeded(self):
        return ("goal_location", self.here()) in self.fixed

    def step(self, action):
        facts, reward, _, truncated = super().step(action)
        self.left -= 1
        if self.succeeded() and not truncated:
            _, collected, *_ = self.env.step({})
            return facts, reward + float(collected), True, False
        if not self.legal():
            return facts, reward - self.left, True, False
        return facts, reward, False, truncated


class Several:
    """Several worlds of one domain: the seed says which of them an episode is in."""

    def __init__(self, *worlds):
        self.worlds, self.domain, self.score_episodes = worlds, worlds[0].domain, worlds[0].score_episodes

    def reset(self, seed):
        self.now = self.worlds[seed % len(self.worlds)]
        return self.now.reset(seed)

    def step(self, action):
        return self.now.step(action)

    def legal(self):
        return self.now.legal()

    def background(self):
        return self.now.background()

    def succeeded(self):
        return self.now.succeeded()


def training():
    """The two smallest instances that differ in their maps."""
    return Several(Tireworld(make(1)), Tireworld(make(3)))


SETTINGS = {"updates": 150, "batch": 1024, "restarts": 8, "episodes": 50}


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

    run = derrl.train(training(), seed=0, **SETTINGS)
    print(run)
    for instance in (1, 3, 5, 7):
        score = derrl.evaluate(run.policy, derrl.world(Tireworld(make(instance))), episodes=50)
        others = ", ".join(f"{name} {mean:.1f}" for name, mean in beside(instance, 20).items())
        print(f"instance {instance}: return {score.mean:.1f}, goal reached {score.success_rate:.0%}; {others}")
