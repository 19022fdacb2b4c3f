"""Records what the real numpy and Minigrid do, and checks our plans in the real Minigrid.

The Rust tests never run Python: they read the fixtures that this script wrote. Usage, from this folder:

    python3 -m venv venv && venv/bin/pip install minigrid==3.2.0
    venv/bin/python record_minigrid.py record     # rewrites fixtures/minigrid/{numpy,layouts,moves}.txt
    UPDATE_FIXTURES=1 cargo test -p derrl-env --test doorkey   # rewrites fixtures/minigrid/plans.txt
    venv/bin/python record_minigrid.py verify     # replays plans.txt in the real Minigrid

`verify` ends with exit code 0 only if every plan reaches the goal with a positive reward on its very last move: from
the level that Minigrid itself makes for the seed (`doorkey`), or from our level drawn above the plan (`rooms`).
"""

import pathlib
import random
import sys

import gymnasium
import numpy as np
from minigrid.core.constants import COLOR_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Door, Goal, Key, Wall
from minigrid.minigrid_env import MiniGridEnv

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "minigrid"

COLOURS = {"r": "red", "g": "green", "b": "blue", "p": "purple", "y": "yellow", "e": "grey"}
LETTERS = {name: letter for letter, name in COLOURS.items()}
AGENTS = {">>": 0, "vv": 1, "<<": 2, "^^": 3}

# A small level with everything a door can be: locked, closed, open; and more keys than hands.
SCENES = {
    "hall": """
        [][][][][][][][][][]
        []>>Kr..[]........[]
        []..Kb..Cg..Ky....[]
        []......[]........[]
        [][]Lr[][][]Ob[][][]
        []......[]....Kg..[]
        []..Ke..Ly......GG[]
        [][][][][][][][][][]
    """,
    "cell": """
        [][][][][]
        []KyvvKp[]
        []..Lp..[]
        []Cy..GG[]
        [][][][][]
    """,
}


class Drawn(MiniGridEnv):
    """A level drawn as text, two characters a cell, as the Rust `Grid` prints it."""

    def __init__(self, text):
        self.rows = [line.strip() for line in text.strip().splitlines()]
        super().__init__(
            mission_space=MissionSpace(mission_func=lambda: "get to the goal"),
            width=len(self.rows[0]) // 2,
            height=len(self.rows),
            max_steps=100_000,
        )

    def _gen_grid(self, width, height):
        self.grid = Grid(width, height)
        for y, row in enumerate(self.rows):
            for x in range(width):
                token = row[2 * x : 2 * x + 2]
                if token in AGENTS:
                    self.agent_pos, self.agent_dir = (x, y), AGENTS[token]
                elif token == "[]":
                    self.put_obj(Wall(), x, y)
                elif token == "GG":
                    self.put_obj(Goal(), x, y)
                elif token[0] == "K":
                    self.put_obj(Key(COLOURS[token[1]]), x, y)
                elif token[0] in "OCL":
                    self.put_obj(Door(COLOURS[token[1]], token[0] == "O", token[0] == "L"), x, y)
                elif token != "..":
                    raise ValueError(f"unknown cell {token!r}")
        self.mission = "get to the goal"


def fnv(data, digest=0xCBF29CE484222325):
    """FNV-1a, 64 bits: short enough to write again in the Rust test."""
    for byte in data:
        digest = ((digest ^ byte) * 0x100000001B3) % 2**64
    return digest


def snapshot(env):
    """Every cell, then the agent's x, y, direction and carried colour (255: empty hands)."""
    carried = 255 if env.carrying is None else COLOR_TO_IDX[env.carrying.color]
    x, y = (int(v) for v in env.agent_pos)
    return env.grid.encode().tobytes() + bytes([x, y, int(env.agent_dir), carried])


def doorkey(size, seed):
    env = gymnasium.make(f"MiniGrid-DoorKey-{size}x{size}-v0").unwrapped
    env.reset(seed=seed)
    return env


def record_numpy():
    """seed, then low:high:value for integers, then the bits of two uniform draws in [-1, 3)."""
    bounds = [(0, 2), (0, 3), (2, 6), (0, 8), (1, 2), (0, 4), (0, 10**9), (7, 7 + 3 * 2**30), (0, 16), (0, 5)]
    seeds = [0, 1, 2, 42, 1000, 2**31, 2**32 - 1, 2**32, 2**40 + 17, 2**63 + 12345, 2**64 - 1]
    lines = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        draws = [f"{low}:{high}:{rng.integers(low, high)}" for low, high in bounds * 2]
        floats = [f"{np.float64(rng.uniform(-1, 3)).view(np.uint64):x}" for _ in range(2)]
        lines.append(f"{seed} {' '.join(draws)} {' '.join(floats)}")
    return lines


def record_layouts():
    """size, seed, and the digest of the level that `env.reset(seed=seed)` makes."""
    lines = []
    for size in (5, 6, 8, 16):
        for seed in range(200):
            lines.append(f"{size} {seed} {fnv(snapshot(doorkey(size, seed))):016x}")
    return lines


def record_moves():
    """scene, digest over every snapshot of the walk, and the walk: one digit a primitive action.

    A `!` after a digit is a move that reached the goal.
    """
    lines = []
    for name, text in SCENES.items():
        lines += [f"scene {name}"] + [line.strip() for line in text.strip().splitlines()]
    for name, text in SCENES.items():
        for seed in range(12):
            rand = random.Random(seed)
            env = Drawn(text)
            env.reset(seed=0)
            digest, walk = fnv(snapshot(env)), ""
            for _ in range(400):
                # Keys and doors ahead are used more often than chance would.
                ahead = env.grid.get(*env.front_pos)
                busy = ahead is not None and ahead.type in ("key", "door")
                action = rand.choice([0, 1, 2, 2, 3, 5] if busy else [0, 1, 2, 2, 2, 2, 3, 4, 5, 6])
                _, reward, terminated, _, _ = env.step(action)
                assert terminated == (reward > 0)
                digest = fnv(snapshot(env), digest)
                walk += f"{action}!" if terminated else str(action)
            lines.append(f"walk {name} {digest:016x} {walk}")
    return lines


def verify():
    """Replays plans.txt; returns the complaints."""
    complaints, scene, count = [], [], 0
    for line in (FIXTURES / "plans.txt").read_text().splitlines():
        if line.startswith("[]"):
            scene.append(line)
            continue
        kind, *rest = line.split()
        if kind == "doorkey":
            size, seed, moves = rest
            env = doorkey(int(size), int(seed))
        elif kind == "rooms":
            (moves,) = rest
            env = Drawn("\n".join(scene))
            env.reset(seed=0)
            scene = []
        else:
            continue
        count += 1
        for i, move in enumerate(moves):
            _, reward, terminated, truncated, _ = env.step(int(move))
            last = i + 1 == len(moves)
            if (terminated, reward > 0, truncated) != (last, last, False):
                complaints.append(f"{line[:40]}: move {i + 1} of {len(moves)}: {terminated=} {reward=} {truncated=}")
                break
    print(f"{count} plans replayed, {len(complaints)} wrong", *complaints, sep="\n")
    return complaints or count == 0


def main():
    if sys.argv[1:] == ["record"]:
        FIXTURES.mkdir(parents=True, exist_ok=True)
        for name, lines in (("numpy", record_numpy()), ("layouts", record_layouts()), ("moves", record_moves())):
            (FIXTURES / f"{name}.txt").write_text("\n".join(lines) + "\n")
    elif sys.argv[1:] == ["verify"]:
        sys.exit(1 if verify() else 0)
    else:
        sys.exit(__doc__)


main()
