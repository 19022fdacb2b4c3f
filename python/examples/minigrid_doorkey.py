"""The real Minigrid, driven by a policy that was learned in derrl's own doorkey world.

The policy speaks of objects: pick(key), open(door), goto(goal). `Driver` turns each into Minigrid's turns and steps by the
shortest way. The result is compared with the fewest steps that Minigrid's rules allow.
"""

import heapq
import itertools

import gymnasium
import minigrid  # noqa: F401  (registers its levels)

LEFT, RIGHT, FORWARD, PICKUP, TOGGLE = 0, 1, 2, 3, 5
AHEAD = [(1, 0), (0, 1), (-1, 0), (0, -1)]


class Driver:
    """Reads facts off a Minigrid level, and carries out actions of the doorkey domain in it."""

    def __init__(self, env):
        self.env, self.level = env, env.unwrapped

    def things(self):
        grid, found = self.level.grid, {}
        for x, y in itertools.product(range(grid.width), range(grid.height)):
            thing = grid.get(x, y)
            if thing is not None and thing.type in ("key", "door", "goal"):
                found[f"{thing.color}_{thing.type}"] = (thing, (x, y))
        if self.level.carrying:
            held = self.level.carrying
            found[f"{held.color}_{held.type}"] = (held, None)
        return found

    def facts(self):
        things = self.things()
        held = self.level.carrying
        locked = [name for name, (t, _) in things.items() if t.type == "door" and t.is_locked]
        facts = [(t.type, name) for name, (t, _) in things.items()]
        facts += [("locked", name) for name in locked] or [("unlocked",)]
        facts.append(("carrying", f"{held.color}_{held.type}") if held else ("notcarrying",))
        for a, b in itertools.permutations(things, 2):
            if things[a][0].color == things[b][0].color:
                facts.append(("samecolor", a, b))
        return facts

    def start(self):
        """Where the agent is, how it looks, whether it has a key, and which doors it has opened."""
        opened = frozenset(at for t, at in self.things().values() if t.type == "door" and t.is_open)
        return (*map(int, self.level.agent_pos), int(self.level.agent_dir), self.level.carrying is not None, opened)

    def plan(self, reached, unlocks):
        """The shortest way to a state: primitive actions. Doors that are locked open if `unlocks` and a key is held."""
        grid, tie = self.level.grid, itertools.count()
        queue, seen = [(0, next(tie), self.start(), ())], set()
        while queue:
            cost, _, state, way = heapq.heappop(queue)
            if reached(state):
                return list(way)
            if state in seen:
                continue
            seen.add(state)
            x, y, facing, key, opened = state
            dx, dy = AHEAD[facing]
            front = (x + dx, y + dy)
            after = [(LEFT, (x, y, (facing - 1) % 4, key, opened)), (RIGHT, (x, y, (facing + 1) % 4, key, opened))]
            thing = grid.get(*front)
            taken = thing is not None and thing.type == "key" and key
            if thing is None or thing.type == "goal" or taken or front in opened:
                after.append((FORWARD, (*front, facing, key, opened)))
            elif thing.type == "key":
                after.append((PICKUP, (x, y, facing, True, opened)))
            elif thing.type == "door" and (not thing.is_locked or (unlocks and key)):
                after.append((TOGGLE, (x, y, facing, key, opened | {front})))
            for action, following in after:
                heapq.heappush(queue, (cost + 1, next(tie), following, (*way, action)))
        return None

    def way(self, action):
        """The primitive actions that carry out an action of the domain; none where it would change nothing."""
        name, thing = action
        there, at = self.things()[thing]
        if name != "goto" and (there.type, name) != ("key", "pick") and not (there.type == "door" and there.is_locked):
            return []
        had = self.start()[3]

        def facing(state):
            dx, dy = AHEAD[state[2]]
            return (state[0] + dx, state[1] + dy) == at and state[3] == had

        if name == "goto":
            return self.plan(lambda s: s[:2] == at and s[3] == had, unlocks=False) or []
        way = self.plan(facing, unlocks=False)
        return [] if way is None else [*way, PICKUP if name == "pick" else TOGGLE]

    def fewest(self):
        """The fewest steps to the goal that the rules of the level allow."""
        goal = next(at for t, at in self.things().values() if t.type == "goal")
        way = self.plan(lambda s: s[:2] == goal, unlocks=True)
        return len(way) if way is not None else None


def play(env, policy, seed):
    """Plays a level: whether it was solved, in how many steps, and the fewest possible."""
    env.reset(seed=seed)
    driver = Driver(env)
    fewest, steps = driver.fewest(), 0
    for decision in range(50):
        for action in driver.way(policy.act(driver.facts(), seed=decision)):
            _, reward, terminated, truncated, _ = env.step(action)
            steps += 1
            if terminated or truncated:
                return reward > 0, steps, fewest
    return False, steps, fewest


LEVELS = ["MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-DoorKey-16x16-v0", "MiniGrid-LockedRoom-v0"]


def score(policy, level, seeds):
    """The share of levels solved, the mean number of steps, and the mean of the fewest possible."""
    env = gymnasium.make(level)
    played = [play(env, policy, seed) for seed in range(seeds)]
    solved = [p for p in played if p[0]]
    mean = lambda i: sum(p[i] for p in solved) / max(1, len(solved))  # noqa: E731
    return len(solved) / seeds, mean(1), mean(2)


if __name__ == "__main__":
    import derrl

    policy = derrl.train("doorkey", seed=0).policy
    print(policy)
    for level in LEVELS:
        rate, steps, fewest = score(policy, level, 200)
        print(f"{level:28}  solved {rate:.0%}  steps {steps:.1f}  fewest {fewest:.1f}")
