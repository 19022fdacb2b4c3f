"""What a newcomer gets: well-known environments, each learned by one line with default settings.

``python python/examples/newcomers.py`` makes the table of docs/results.md: seeds 0 to 2, at most 300,000 steps and 3 minutes each.
Names choose environments, ``--seconds`` and ``--steps`` the budget. Runs go one after another, on one thread.
"""

import argparse
import functools
import resource

import gymnasium

import derrl

SEEDS = range(3)


def lake(name):
    return gymnasium.make("FrozenLake-v1", map_name=name, is_slippery=True)


def best_of_lake(name):
    """The chance to reach the goal in time by the best policy there is: backwards from the last step."""
    env = lake(name)
    ways, steps = env.unwrapped.P, env.spec.max_episode_steps
    chance = [0.0] * len(ways)
    for _ in range(steps):
        worth = [[sum(p * (reward + (0 if over else chance[to])) for p, to, reward, over in way) for way in ways[at].values()] for at in ways]
        chance = [max(each) for each in worth]
    return chance[0]


def basic_strategy(hand, dealer, ace):
    """Whether to draw a card, by Thorp's basic strategy without doubling and splitting."""
    if ace:
        return hand <= 17 or (hand == 18 and dealer in (1, 9, 10))
    weak = dealer in (4, 5, 6) if hand == 12 else dealer in (2, 3, 4, 5, 6)
    return hand <= 11 or (hand <= 16 and not weak)


def best_of_blackjack(episodes=200_000):
    """What basic strategy earns per game, in as many games as settle it to 0.002."""
    env, total = gymnasium.make("Blackjack-v1"), 0.0
    env.reset(seed=0)
    for _ in range(episodes):
        (seen, _), over = env.reset(), False
        while not over:
            seen, reward, over, _, _ = env.step(int(basic_strategy(*seen)))
        total += reward
    return total / episodes


def grid(name, actions="high"):
    return functools.partial(derrl.minigrid, name, actions)


# The world, what is tested beside it, how many episodes score it, and the best there is where that is known.
ENVIRONMENTS = {
    "Taxi-v4": (lambda: "Taxi-v4", {}, 1000, None),
    "CliffWalking-v1": (lambda: "CliffWalking-v1", {}, 100, lambda: -13.0),
    "FrozenLake 4x4, slippery": (lambda: lake("4x4"), {}, 5000, lambda: best_of_lake("4x4")),
    "FrozenLake 8x8, slippery": (lambda: lake("8x8"), {}, 5000, lambda: best_of_lake("8x8")),
    "Blackjack-v1": (lambda: "Blackjack-v1", {}, 50_000, best_of_blackjack),
    "GoToDoor-5x5": (grid("MiniGrid-GoToDoor-5x5-v0"), {"8x8": grid("MiniGrid-GoToDoor-8x8-v0")}, 200, None),
    "Fetch-5x5-N2": (grid("MiniGrid-Fetch-5x5-N2-v0"), {"8x8-N3": grid("MiniGrid-Fetch-8x8-N3-v0")}, 200, None),
    "LavaCrossingS9N1": (grid("MiniGrid-LavaCrossingS9N1-v0"), {"S11N5": grid("MiniGrid-LavaCrossingS11N5-v0")}, 200, None),
    "BabyAI GoToObj": (grid("BabyAI-GoToObj-v0"), {}, 200, None),
    # Where one thing can be gone to, `goto` leaves nothing to decide, so these are learned with Minigrid's own actions, too.
    "LavaCrossingS9N1, primitive": (grid("MiniGrid-LavaCrossingS9N1-v0", "primitive"), {"S11N5": grid("MiniGrid-LavaCrossingS11N5-v0", "primitive")}, 200, None),
    "BabyAI GoToObj, primitive": (grid("BabyAI-GoToObj-v0", "primitive"), {}, 200, None),
    "Unlock": (grid("MiniGrid-Unlock-v0"), {}, 200, None),
    "DoorKey-6x6": (grid("MiniGrid-DoorKey-6x6-v0"), {"8x8": grid("MiniGrid-DoorKey-8x8-v0")}, 200, None),
    "KeyCorridorS3R1": (grid("MiniGrid-KeyCorridorS3R1-v0"), {"S3R2": grid("MiniGrid-KeyCorridorS3R2-v0")}, 200, None),
}


def used():
    """Seconds of a core that this process has taken."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def row(name, steps, seconds):
    """Learns an environment with each seed."""
    world, tests, episodes, best = ENVIRONMENTS[name]
    best = f"{best():.3f}" if best else ""
    for seed in SEEDS:
        begun = used()
        try:
            trained = derrl.train(world(), seed=seed, max_steps=steps, max_seconds=seconds, threads=1, progress=False)
        except derrl.Error as error:
            print(f"| {name} | {seed} | {str(error).splitlines()[0]} | {best} |  | {used() - begun:.0f} |  |  |", flush=True)
            continue
        took = used() - begun
        score = derrl.evaluate(trained.policy, world(), episodes=episodes, seed=1000)
        told = [told_of(score)]
        for test, larger in tests.items():
            told.append(f"{test}: {told_of(derrl.evaluate(trained.policy, larger(), episodes=episodes, seed=1000))}")
        ended = "budget used up" if trained.ended else ""
        cells = [name, seed, "; ".join(told), best, f"{trained.steps:,}", f"{took:.0f}", len(trained.policy.in_english()), ended]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def told_of(score):
    rate = score.success_rate
    return f"{score.mean:.3f}" + (f" ({100 * rate:.0f} %)" if rate is not None else "")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*", metavar="ENVIRONMENT", choices=[[], *ENVIRONMENTS], help="all but these are left out")
    asked.add_argument("--steps", type=int, default=300_000)
    asked.add_argument("--seconds", type=float, default=180)
    asked = asked.parse_args()
    print("| environment | seed | return (solved) | best known | steps | CPU s | rules | |\n|---|---|---|---|---|---|---|---|")
    for name in asked.names or ENVIRONMENTS:
        row(name, asked.steps, asked.seconds)
