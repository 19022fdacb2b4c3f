"""Gymnasium environments as they are: spaces as facts and actions, well-known environments, Minigrid."""

import itertools
import random

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import derrl
from conftest import QUICK
from derrl.spaces import Chosen, Observed

FAST = {"progress": False, "episodes": 20, **QUICK}


def test_spaces_become_facts():
    space = spaces.Dict({
        "body": spaces.Box(np.array([-1, -1, -np.inf]), np.array([1, 1, np.inf])),
        "lamp": spaces.Discrete(2), "dealer": spaces.Discrete(11, start=1), "bits": spaces.MultiBinary(3),
        "pair": spaces.Tuple((spaces.MultiDiscrete([4, 5]), spaces.Text(20))), "Size of it": spaces.Box(0, 9, ()),
    })
    seen = Observed(space)
    observation = {
        "body": np.array([0.5, -0.25, np.inf]), "lamp": 1, "dealer": 7, "bits": np.array([0, 1, 1]),
        "pair": (np.array([3, 0]), "Open the door"), "Size of it": np.array(2.5),
    }
    assert set(seen.facts(observation)) == {
        ("body0", 0.5), ("body1", -0.25), ("lamp",), ("dealer", 7.0), ("bits1",), ("bits2",), ("pair_00", 3.0), ("pair_01", 0.0),
        ("pair_1_says", "open"), ("pair_1_says", "the"), ("pair_1_says", "door"), ("size_of_it", 2.5),
    }
    # What has the same bounds may be compared; what has none is by itself.
    assert ":- number(body0, body0)." in seen.lines and ":- number(body1, body0)." in seen.lines
    assert ":- number(body2, body2)." in seen.lines
    domain = "\n".join(seen.lines) + "\n:- action(go)."
    assert derrl.Policy.parse("go :- body0 > body1, lamp.", domain).text


@pytest.mark.parametrize("space", [
    spaces.Box(0, 255, (210, 160, 3), np.uint8), spaces.Box(0, 255, (84, 84), np.uint8), spaces.Box(-1, 1, (100,)), spaces.MultiBinary(500),
])
def test_images_are_refused_with_what_to_do(space):
    with pytest.raises(derrl.Error, match="derrl.wrap"):
        Observed(space)


@pytest.mark.parametrize(("space", "count"), [
    (spaces.Discrete(4), 4), (spaces.Discrete(3, start=-1), 3), (spaces.MultiDiscrete([2, 3]), 6), (spaces.MultiBinary(2), 4),
    (spaces.MultiDiscrete([6, 7]), 42), (spaces.Tuple((spaces.Discrete(2), spaces.MultiDiscrete([2, 2]))), 8),
    (spaces.Dict({"arm": spaces.Discrete(2), "leg": spaces.Discrete(3)}), 6),
], ids=str)
def test_every_action_of_a_space_is_chosen_by_one_action(space, count):
    chosen = Chosen(space)
    parts = [[o for o, t in chosen.objects.items() if t == part] for part in dict.fromkeys(chosen.objects.values())]
    atoms = [("act", *args) for args in itertools.product(*parts)] if parts else [(name,) for name in chosen.types]
    actions = [chosen.action(*atom) for atom in atoms]
    assert all(space.contains(action) for action in actions)
    assert len({repr(action) for action in actions}) == len(atoms) == count
    assert derrl.Policy.parse("", "\n".join(chosen.lines()) + "\n:- state(on).")


class _Still(gymnasium.Env):
    """Says 1, and pays for the last action of its space."""

    def __init__(self, observed, chosen):
        self.observation_space, self.action_space = observed, chosen

    def reset(self, *, seed=None, options=None):
        return 1, {}

    def step(self, action):
        return 1, float(np.sum(action)), True, False, {}


def test_continuous_actions_are_refused_with_what_to_do():
    with pytest.raises(derrl.Error, match="derrl.wrap"):
        Chosen(spaces.Box(-1, 1, (2,)))


def test_an_unknown_environment_is_trained_as_it_is():
    run = derrl.train(_Still(spaces.Discrete(2), spaces.MultiDiscrete([2, 3])), **FAST)
    assert run.solved is None and run.scores["train"].mean == 3, run
    assert run.policy.predict(1)[0].tolist() == [1, 2]
    assert run.policy.predict(np.array([1, 1]))[0].tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize(("name", "least"), [("CliffWalking-v1", -13), ("FrozenLake-v1", 1.0), ("Taxi-v4", 7)])
def test_maps_are_learned_from_one_line(name, least):
    if name not in gymnasium.registry:
        name = name.replace("v4", "v3")
    env = gymnasium.make(name, is_slippery=False) if name.startswith("Frozen") else name
    more = {"updates": 40, "batch": 512} if name.startswith("Taxi") else {"updates": 30, "batch": 256}
    more |= {"restarts": 2, "episodes": 50}
    run = derrl.train(env, seed=0, progress=False, **more)
    print(run)
    assert run.scores["train"].mean >= least and run.solved


def test_wrapped_environments_have_their_names_and_arguments():
    env = gymnasium.make("CliffWalking-v1")
    world = derrl.wrap(
        env, facts=lambda at, info: [("step", "east")], action=lambda name, way: ["north", "east"].index(way),
        actions={"go": ["step"]}, background=lambda at, info: [("way", "north"), ("way", "east")],
        legal=lambda at, info: [("go", "east")], horizon=9, name="cliffs",
    )
    assert derrl.world(world).name == "cliffs" and world.horizon == 9
    facts = world.reset(0)
    assert world.legal() == [("go", "east")] and ("way", "north") in world.background() and facts == [("step", "east")]
    named = derrl.wrap(env, facts=lambda at, info: [("step", "east")], action=lambda name, way: 1, actions={"go": ["step"]})
    assert derrl.world(named).name == "cliff_walking"


def test_actions_that_an_environment_does_not_have_are_left_out():
    ways = {"north": 0, "east": 1}
    world = derrl.wrap(
        gymnasium.make("CliffWalking-v1"), facts=lambda at, info: [("seen", o) for o in ("north", "east", "stone")],
        action=lambda name, way: ways[way], actions={"go": 1},
    )
    world.reset(0)
    assert sorted(world.legal()) == [("go", "east"), ("go", "north")]
    assert "action(go(" in derrl.infer_domain(world)


def test_batches_are_predicted_as_one_by_one():
    def make():
        return gymnasium.make("FrozenLake-v1", is_slippery=False)

    policy = derrl.train(make(), seed=0, **FAST).policy
    envs = gymnasium.vector.SyncVectorEnv([make] * 3)
    observations, infos = envs.reset(seed=1)
    for _ in range(4):
        actions, state = policy.predict(observations, infos, deterministic=True)
        assert state is None and actions.tolist() == [policy.predict(int(o), {}, deterministic=True)[0] for o in observations]
        observations, *_, infos = envs.step(actions)


MINIGRIDS = [
    "MiniGrid-GoToDoor-5x5-v0", "MiniGrid-Fetch-5x5-N2-v0", "MiniGrid-LavaCrossingS9N1-v0", "BabyAI-GoToObj-v0",
    "MiniGrid-DoorKey-5x5-v0", "MiniGrid-Unlock-v0",
]


@pytest.mark.parametrize("name", MINIGRIDS)
def test_minigrid_is_learned_from_one_line(name):
    run = derrl.train(derrl.minigrid(name), seed=0, progress=False, updates=20, batch=256, restarts=2, episodes=30)
    print(run)
    # What is to be fetched may stand behind other things.
    assert run.scores["train"].success_rate >= (0.95 if "Fetch" in name else 1) and run.steps <= 300_000


def test_the_facts_of_minigrid_are_those_of_its_grid():
    world = derrl.minigrid("MiniGrid-DoorKey-6x6-v0")
    facts = set(world.reset(0))
    assert {("key", "key0"), ("door", "door0"), ("goal", "goal0"), ("locked", "door0"), ("empty_handed",)} <= facts
    assert ("reachable", "key0") in facts and ("reachable", "goal0") not in facts
    ended = False
    for action in (("goto", "key0"), ("pickup", "key0"), ("goto", "door0"), ("open", "door0"), ("goto", "goal0")):
        assert action in world.legal(), (action, world.legal(), facts)
        facts, reward, ended, _ = world.step(action)
    assert ended and reward > 0


def test_minigrid_moves_by_its_own_actions():
    world = derrl.minigrid("MiniGrid-Empty-6x6-v0", actions="primitive")
    facts, ended, steps = world.reset(0), False, 0
    while not ended:
        way = next(fact[2] for fact in facts if fact[:2] == ("way", "goal0"))
        facts, reward, ended, _ = world.step(("walk", way))
        steps += 1
    assert reward > 0 and steps == 7  # three squares, a turn, three squares
    derrl.world(world)
    with pytest.raises(derrl.Error, match="high"):
        derrl.minigrid("MiniGrid-Empty-6x6-v0", actions="low")


def test_the_cells_of_minigrid_are_said_where_asked_for():
    world = derrl.minigrid("MiniGrid-LavaGapS5-v0", actions="primitive", cells=True)
    facts = set(world.reset(1))
    grid = world.env.unwrapped.grid
    lava = {(x, y) for x in range(5) for y in range(5) if getattr(grid.get(x, y), "type", "") == "lava"}
    assert {f for f in facts if f[0] == "lava"} == {("lava", f"cell{x}_{y}") for x, y in lava} and lava
    assert {("here", "cell1_1"), ("faces", "east"), ("at", "goal0", "cell3_3"), ("free", "cell1_2")} <= facts
    background = set(world.background())
    assert ("next", "cell1_1", "south", "cell1_2") in background and ("next", "cell1_2", "north", "cell1_1") in background
    assert not any("cell0" in f[1] + f[3] for f in background if f[0] == "next"), "walls are no cells"
    facts = set(world.step(("walk", "right"))[0])
    facts = set(world.step(("walk", "forward"))[0])
    assert {("here", "cell1_2"), ("faces", "south")} <= facts and ("here", "cell1_1") not in facts
    # The engine reads them, and rules may speak of them.
    episodes = derrl.world(world).episodes("train")
    episodes.reset(1)
    assert ("lava", f"cell{min(lava)[0]}_{min(lava)[1]}") in episodes.facts()
    policy = derrl.Policy.parse("walk(M) :- onward(M), here(X), faces(D), next(X, D, Y), free(Y).", world)
    assert policy.act([*facts, *world.background()]) == ("walk", "forward")


def _kinds():
    """An environment of each class of Minigrid and BabyAI. Those of WFC need packages of their own."""
    import minigrid  # noqa: F401

    found = {spec.entry_point: name for name, spec in sorted(gymnasium.registry.items()) if name.startswith(("MiniGrid-", "BabyAI-"))}
    return [name for name in found.values() if "WFC" not in name]


@pytest.mark.parametrize("actions", ["high", "primitive"])
def test_every_kind_of_minigrid_is_a_world(actions, capsys):
    """Facts and actions are those of the domain; what is listed as legal does something; copies do the same."""
    kinds = _kinds()
    assert len(kinds) > 40
    for name in kinds:
        world = derrl.minigrid(name, actions=actions, cells=True)
        episodes, rng = derrl.world(world).episodes("train"), random.Random(0)
        episodes.reset(2)
        for _ in range(8):
            legal = episodes.legal()
            action = rng.choice(episodes.actions() if legal is None else legal)
            twin, before = world.copy(), set(world.facts())
            reward, terminated, truncated = episodes.step(action)
            after, *rest = twin.step(action)
            if "Dynamic" not in name:  # whose balls move by chance, each copy's by its own
                assert sorted(after) == sorted(world.facts()) and rest == [reward, terminated, truncated], (name, action)
            if terminated or truncated:
                break
            if actions == "high" and action != ("done",):
                assert set(after) != before, (name, action)
