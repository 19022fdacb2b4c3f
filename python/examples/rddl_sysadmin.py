"""A policy for SysAdmin of the IPPC 2011, in pyRDDLGym: trained on 10 computers, scored on more.

Computers fail, the sooner the more of their neighbours are down. One may be rebooted per step, at a cost.
"""

import random

import pyRDDLGym


class SysAdmin:
    domain = """
    :- environment(sysadmin).
    :- action(reboot(computer)).  :- action(wait).
    :- state(down(computer)).     :- background(connected(computer, computer)).
    :- background(computer(computer)).
    :- variables(2).
    """
    horizon, score_episodes = 40, 10

    def __init__(self, instance):
        self.env = pyRDDLGym.make("SysAdmin_MDP_ippc2011", str(instance))
        fixed = self.env.model.ground_vars_with_values(self.env.model.non_fluents)
        self.fixed = [("connected", *name.split("___")[1].split("__")) for name, holds in fixed.items()
                      if name.startswith("CONNECTED") and holds]

    def background(self):
        return self.fixed

    def reset(self, seed):
        observed, _ = self.env.reset(seed=seed)
        self.left = self.horizon
        return self.facts(observed)

    def facts(self, observed):
        running = {name.split("___")[1]: bool(on) for name, on in observed.items()}
        return [("computer", c) for c in running] + [("down", c) for c, on in running.items() if not on]

    def step(self, action):
        name, *computer = action
        chosen = {f"reboot___{computer[0]}": 1} if name == "reboot" else {}
        observed, reward, terminated, truncated, _ = self.env.step(chosen)
        self.left -= 1
        return self.facts(observed), float(reward), terminated, truncated or self.left == 0

    def mean_return(self, choose, episodes=10):
        """The mean return of a way to choose: a function from facts to an action."""
        total = 0.0
        for seed in range(episodes):
            facts, ended = self.reset(seed), False
            while not ended:
                facts, reward, terminated, truncated = self.step(choose(facts))
                total, ended = total + reward, terminated or truncated
        return total / episodes


def wait(facts):
    return ("wait",)


def at_random(facts, rng=random.Random(0)):
    return rng.choice([("wait",), *[("reboot", c) for name, c in facts if name == "computer"]])


SETTINGS = {"updates": 20, "batch": 256, "group": 2, "wave": 2, "restarts": 2}

if __name__ == "__main__":
    import derrl

    run = derrl.train(SysAdmin(1), tests={"twenty": SysAdmin(3), "thirty": SysAdmin(5)}, seed=0, **SETTINGS)
    print(run)
    for name, instance in [("train", 1), ("twenty", 3), ("thirty", 5)]:
        world = SysAdmin(instance)
        print(name, run.scores[name].mean, "waiting", world.mean_return(wait), "random", world.mean_return(at_random))
