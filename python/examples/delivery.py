"""A world of one's own in under 30 lines: balls are to be carried home."""

import random


class Delivery:
    domain = None  # inferred from what is seen, and printed

    def __init__(self, balls=2, rooms=3):
        self.balls, self.rooms = [f"ball{i}" for i in range(balls)], [f"room{i}" for i in range(rooms)]

    def reset(self, seed):
        rng = random.Random(seed)
        self.home, self.held, self.robot, self.left = {}, None, rng.choice(self.rooms), 10 * len(self.balls)
        for ball in self.balls:
            self.home[ball], *_ = rng.sample(self.rooms, 2)
        self.at = {b: rng.choice([r for r in self.rooms if r != self.home[b]]) for b in self.balls}
        return self.facts()

    def facts(self):
        away = [("away", b, r) for b, r in self.at.items() if r != self.home[b] and b != self.held]
        return [("robot", self.robot), *[("home", b, r) for b, r in self.home.items()], *away] + (
            [("held", self.held)] if self.held else [])

    def legal(self):
        here = [b for b, r in self.at.items() if r == self.robot and r != self.home[b]]
        hands = [("drop", self.held)] if self.held else [("pick", b) for b in here]
        return [("move", r) for r in self.rooms if r != self.robot] + hands

    def step(self, action):
        name, thing = action
        self.robot = thing if name == "move" else self.robot
        self.held = {"pick": thing, "drop": None}.get(name, self.held)
        self.at.update({self.held: self.robot} if self.held else {})
        done, self.left = not self.held and self.at == self.home, self.left - 1
        return self.facts(), (1.0 if done else -0.05), done, self.left == 0


if __name__ == "__main__":
    import derrl

    run = derrl.train(Delivery(), tests={"more": Delivery(balls=6, rooms=5)}, seed=0)
    print(run)
