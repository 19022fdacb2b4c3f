"""The real Minigrid, driven by a policy that was learned in derrl's own doorkey world.

The policy speaks of objects: pick(key), open(door), goto(goal). `Driver` turns each into Minigrid's turns and steps by the
shortest way. The result is compared with the fewest steps that Minigrid's rules allow.
"""

import collections
import itertools
import random
import sys

import gymnasium
from minigrid.core.constants import COLOR_TO_IDX  # registers the levels as well

import derrl

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
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
        # As in derrl's doorkey, where a key is put down once its door is open.
        serves = held and any(things[door][0].color == held.color for door in locked)
        facts.append(("carrying", f"{held.color}_{held.type}") if serves else ("notcarrying",))
        for a, b in itertools.permutations(things, 2):
            if things[a][0].color == things[b][0].color:
                facts.append(("samecolor", a, b))
        return facts

    def start(self):
        """Where the agent is, how it looks, whether it has a key, and which doors it has opened."""
        opened = frozenset(at for t, at in self.things().values() if t.type == "door" and t.is_open)
        return (*map(int, self.level.agent_pos), int(self.level.agent_dir), self.level.carrying is not None, opened)

    def useless_doors(self):
        """Doors to rooms with one door and nothing in them: no shortest way leads through them."""
        grid, room, doors = self.level.grid, {}, {}
        squares = [(x, y) for x in range(grid.width) for y in range(grid.height)]
        floor = {at for at in squares if (t := grid.get(*at)) is None or t.type in ("key", "goal")}
        for start in squares:
            if start in floor and start not in room:
                room[start], waiting = start, [start]
                for x, y in waiting:
                    for to in ((x + dx, y + dy) for dx, dy in AHEAD):
                        if to in floor and to not in room:
                            room[to] = start
                            waiting.append(to)
        for x, y in squares:
            if (t := grid.get(x, y)) is not None and t.type == "door":
                doors[x, y] = {room[to] for dx, dy in AHEAD if (to := (x + dx, y + dy)) in room}
        here = tuple(map(int, self.level.agent_pos))
        needed = {room.get(at) for t, at in self.things().values() if at} | {room.get(here)}
        if here in doors:
            return set()  # in a doorway
        ways = {r: [d for d, rooms in doors.items() if r in rooms] for r in room.values()}
        return {d for r, of in ways.items() if len(of) == 1 and r not in needed for d in of}

    def plan(self, reached, unlocks):
        """The shortest way to a state: primitive actions. Doors that are locked open if `unlocks` and a key is held."""
        grid, useless, start = self.level.grid, self.useless_doors(), self.start()
        before, queue = {start: None}, collections.deque([start])
        while queue:
            state = queue.popleft()
            if reached(state):
                way = []
                while before[state] is not None:
                    state, action = before[state]
                    way.append(action)
                return way[::-1]
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
            elif thing.type == "door" and front not in useless and (not thing.is_locked or (unlocks and key)):
                after.append((TOGGLE, (x, y, facing, key, opened | {front})))
            for action, following in after:
                if following not in before:
                    before[following] = (state, action)
                    queue.append(following)
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


def agrees(level, seed, moves):
    """Whether derrl's own simulator says the same as Minigrid before and after each of some random moves."""
    env = gymnasium.make(level).unwrapped
    env.reset(seed=seed)
    ours, rng = derrl._derrl.Level.doorkey(env.width, seed), random.Random(seed)

    def same():
        held = None if env.carrying is None else COLOR_TO_IDX[env.carrying.color]
        agent = (*map(int, env.agent_pos), int(env.agent_dir), held)
        return ours.encode() == env.grid.encode().tobytes() and ours.agent() == agent

    for _ in range(moves):
        if not same():
            return False
        action = rng.choice([LEFT, RIGHT, FORWARD, FORWARD, FORWARD, PICKUP, DROP, TOGGLE, DONE])
        if ours.step(action) != env.step(action)[2]:
            return False
    return same()


LEVELS = ["MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-DoorKey-16x16-v0", "MiniGrid-LockedRoom-v0"]


def score(policy, level, seeds):
    """The share of levels solved, the mean number of steps, and the mean of the fewest possible."""
    env = gymnasium.make(level)
    played = [play(env, policy, seed) for seed in range(seeds)]
    solved = [p for p in played if p[0]]
    mean = lambda i: sum(p[i] for p in solved) / max(1, len(solved))  # noqa: E731
    return len(solved) / seeds, mean(1), mean(2)


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    policy = derrl.train("doorkey", seed=0, progress=False).policy
    print(policy)
    for level in LEVELS:
        rate, steps, fewest = score(policy, level, seeds)
        said = f"{level:28} {seeds} seeds  solved {rate:.1%}  steps {steps:.2f}  fewest {fewest:.2f}"
        if "DoorKey" in level:
            agreed = sum(agrees(level, seed, 200) for seed in range(seeds))
            said += f"  our simulator agrees on {agreed} of {seeds}"
        print(said, flush=True)
