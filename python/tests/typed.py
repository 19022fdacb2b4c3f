"""A user's program as type checkers see it: mypy and pyright read it, and nothing runs it."""

from __future__ import annotations

import derrl


class Orders:
    """A world of one's own."""

    def reset(self, seed: int) -> list[tuple[str, str]]:
        return [("wanted", "tea")]

    def step(self, action: tuple[str, ...]) -> tuple[list[tuple[str, str]], float, bool, bool]:
        return [("wanted", "tea")], 1.0, True, False


run: derrl.Run = derrl.train(Orders(), tests={"more": Orders()}, seed=0, updates=3, hidden=[8], tnorm="godel", without=["explore"])
policy: derrl.Policy = run.policy
action: tuple[str | int, ...] = policy.act([("wanted", "tea"), ("weight", "tea", 2.5), "late"], Orders(), seed=1)
mean: float = run.scores["train"].mean
solved: bool | None = run.solved
print(policy.why_not([("wanted", "tea")], "order(tea)").reason, policy.best([])[0], derrl.Run.load("runs/x", Orders()).steps)
print(derrl.evaluate(policy, "blocks", episodes=3).success_rate, derrl.check_world(Orders()).problems)
print(derrl.train("CartPole-v1").policy.save("policy.pl"), derrl.minigrid("MiniGrid-DoorKey-5x5-v0").name)
