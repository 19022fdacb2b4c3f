"""What somebody meets who comes with a world of their own: each of these once went wrong in silence, or said the wrong thing."""

import os
import pickle
import random
import subprocess
import sys

import gymnasium
import pytest

import derrl
from conftest import GRADIENT, QUICK
from delivery import Delivery

FAST = {"progress": False, "episodes": 10, **QUICK}


class Orders:
    """Carry the item that is ordered. Nodes are no items."""

    def reset(self, seed):
        self.rng, self.left = random.Random(seed), 5
        self.wanted = self.rng.choice(["tea", "silk"])
        return self.facts()

    def facts(self):
        return [("wanted", self.wanted), ("item", "tea"), ("item", "silk"), ("road", "n1", "n2")]

    def actions(self):
        return {"order": ["item"]}

    def step(self, action):
        if action[1] not in ("tea", "silk"):
            raise ValueError(f"{action} is no item")
        good, self.left = action[1] == self.wanted, self.left - 1
        return self.facts(), float(good), good, self.left == 0


def test_inference_respects_declared_types():
    text = derrl.infer_domain(Orders())
    assert ":- action(order(item))." in text and ":- background(wanted(item))." in text
    assert derrl.train(Orders(), **FAST).solved


class Typed(Orders):
    """The same, where only objects() says which objects there are."""

    def facts(self):
        return [("wanted", self.wanted), ("road", "n1", "n2")]

    def objects(self):
        return {"tea": "item", "silk": "item"}


def test_inference_takes_objects_that_no_fact_names():
    text = derrl.infer_domain(Typed())
    assert ":- action(order(item))." in text and "wanted(item)" in text and "road(item" not in text
    assert derrl.train(Typed(), **FAST).solved


class Rare(Orders):
    """Says something new only after more steps than random play looks at."""

    def __init__(self):
        self.steps = 0

    def step(self, action):
        facts, *rest = super().step(action)
        self.steps += 1
        return (facts + ([("tired", "silk")] if self.steps > 600 else []), *rest)


def test_an_inferred_domain_extends_itself(capfd, tmp_path):
    (tmp_path / "kept.txt").write_text("mine")
    run = derrl.train(Rare(), out=tmp_path, **FAST, **GRADIENT)
    assert ":- state(tired(item))." in run.world.domain
    assert "added to the inferred domain:\n:- state(tired(item))." in capfd.readouterr().err
    assert (tmp_path / "kept.txt").is_file() and (tmp_path / "domain.pl").read_text() == run.world.domain


def test_errors_of_inferred_domains_say_so():
    class Broken(Orders):
        late = 0

        def step(self, action):
            self.late += 1
            facts, reward, *rest = super().step(action)
            return (facts, float("nan") if self.late > 600 else reward, *rest)

    with pytest.raises(derrl.Error, match=r'(?s)NaN.*inferred by random play.*domain = """\n:- action\(order'):
        derrl.train(Broken(), **FAST, **GRADIENT)


def test_a_policy_learned_among_legal_actions_asks_for_them(delivery_run):
    policy, world = delivery_run.policy, Delivery()
    facts = world.reset(1)
    for ask in (policy.act, policy.best, policy.explain):
        with pytest.raises(derrl.Error, match="policy.act\\(facts, world\\)"):
            ask(facts)
    for seed in range(50):
        facts = world.reset(seed)
        assert policy.act(facts, world) in world.legal()


def test_why_not_takes_what_explanations_give(delivery_run):
    world = Delivery()
    facts = world.reset(2)
    best = delivery_run.policy.explain(facts, world, seed=0)
    assert delivery_run.policy.why_not(facts, best.action, world).action == best.action
    odd = derrl.Policy.parse("", ":- action(go(place)). :- state(at(place)).")
    assert odd.why_not([("at", "It's")], "go('It\\'s')").action == "go('It\\'s')"


def test_facts_written_as_text_are_refused():
    class Written(Orders):
        def facts(self):
            return [*super().facts(), "red(tea)"]

    with pytest.raises(TypeError, match="a fact is a tuple.*not 'red\\(tea\\)'"):
        derrl.infer_domain(Written())


class Always(Orders):
    """Every step costs, so that no reward is positive."""

    def step(self, action):
        facts, reward, terminated, truncated = super().step(action)
        return facts, reward - 1.5, terminated, truncated


def test_what_is_solved_and_what_is_not():
    lost = derrl.train(Always(), max_steps=5_000, **FAST)
    assert lost.solved is False and "succeeded()" in str(lost) and "has_goal = False" in str(lost)
    endless = type("Endless", (Orders,), {"has_goal": False})()
    assert derrl.train(endless, max_steps=5_000, **FAST).solved is None


class Careless(Orders):
    """Draws from a generator that reset does not seed."""

    rng = random.Random(0)

    def reset(self, seed):
        self.left, self.wanted = 5, Careless.rng.choice(["tea", "silk"])
        return self.facts()


def test_a_reset_that_does_not_depend_on_the_seed_alone_is_noticed():
    with pytest.warns(UserWarning, match="facts the second time.*seed of reset alone"):
        derrl.train(Careless(), **FAST)
    told = derrl.check_world(Careless())
    assert not told and "seed of reset alone" in str(told)
    assert derrl.check_world(Orders()) and derrl.check_world(Delivery())
    assert any("succeeded()" in note for note in derrl.check_world(Always()).notes)


@pytest.mark.parametrize(("changed", "text"), [
    ({"step": lambda self, action: None}, "returns facts, reward, terminated, truncated"),
    ({"facts": lambda self: [("wanted", "tea"), 7]}, "a fact is a tuple"),
    ({"legal": lambda self: []}, "no action was seen|no action is legal"),
])
def test_check_world_says_what_breaks_the_contract(changed, text):
    import re

    told = derrl.check_world(type("Odd", (Orders,), changed)())
    assert not told and re.search(text, str(told)), told


def test_errors_speak_python(tmp_path):
    with pytest.raises(derrl.Error) as told:
        derrl.train(Orders(), updates="many", **{k: v for k, v in FAST.items() if k != "updates"})
    assert "--" not in str(told.value) and "updates" in str(told.value)
    derrl.train(Orders(), out=tmp_path, **FAST)
    with pytest.raises(derrl.Error) as told:
        derrl.train(Orders(), out=tmp_path, **FAST)
    assert "--" not in str(told.value) and "derrl.resume(world, folder)" in str(told.value)


def test_policies_and_runs_are_saved_and_loaded(tmp_path, delivery_run):
    path = delivery_run.policy.save(tmp_path / "policy.pl")
    assert derrl.Policy.load(path, delivery_run.world) == delivery_run.policy
    alone = derrl.Run.load(delivery_run.folder)
    assert alone.policy.text == delivery_run.policy.text and alone.scores == delivery_run.scores
    whole = derrl.Run.load(delivery_run.folder, Delivery(), tests={"more": Delivery(balls=6, rooms=5)})
    assert derrl.evaluate(whole.policy, episodes=20).success_rate == 1
    with pytest.raises(derrl.Error, match="there is no run"):
        derrl.Run.load(tmp_path)


def test_the_command_reads_folders_of_worlds_in_python(delivery_run, tmp_path):
    (tmp_path / "state.pl").write_text("robot(room0). home(ball0, room1). away(ball0, room0).")

    def told(*args):
        return subprocess.run([sys.executable, "-m", "derrl", *args], capture_output=True, text=True, timeout=120, cwd=tmp_path)

    folder = str(delivery_run.folder)
    assert "pick(ball0)" in told("explain", folder, "--state", "state.pl").stdout
    assert "def " in told("export", folder, "--to", "python").stdout
    assert "legal" in told("export", folder, "--to", "program").stdout
    assert told("report", folder, "--out", "page.html").returncode == 0
    refused = told("eval", folder)
    assert refused.returncode == 2 and "derrl.Run.load(folder, world)" in " ".join(refused.stderr.split())


class Worded(Orders):
    """Says how its rules read."""

    words = "order(X): ask for X\nwanted(X): X is wanted"


def test_worlds_say_how_rules_read():
    policy = derrl.Policy.parse("order(X) :- wanted(X).", derrl.world(Worded()))
    assert policy.in_english() == ["Ask for a wanted item X."], policy.in_english()
    again = pickle.loads(pickle.dumps(policy.world))
    assert derrl.Policy.parse(policy.text, again).in_english() == policy.in_english()
    with pytest.raises(TypeError, match="words: a text"):
        derrl.world(type("Odd", (Orders,), {"words": {"order": "ask"}})())


def test_worlds_show_what_they_are():
    world = derrl.world(Orders())
    assert world.summary == "Carry the item that is ordered"
    shown = repr(world)
    assert "order/1" in shown and "wanted/1" in shown and "written in Python" in shown
    assert repr(pickle.loads(pickle.dumps(derrl.world("blocks")))).startswith("<World blocks, built in")


def test_without_rust_there_is_one_line(tmp_path):
    """The build backend is asked as pip asks it, with a PATH that has no cargo."""
    import importlib.util
    from pathlib import Path

    if importlib.util.find_spec("maturin") is None:
        pytest.fail("the tests' environment has maturin: python/environments.sh")
    release = Path(__file__).parent.parent.parent / "release"
    code = f"import sys; sys.path.insert(0, {str(release)!r}); import backend; backend.build_wheel('x')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PATH": str(tmp_path)}, timeout=60)
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "needs Rust" in done.stderr and "rustup.rs" in done.stderr


def test_help_is_a_guide():
    for name in ("train", "check_world", "minigrid", "wrap", "verify", "export"):
        assert name in derrl.__doc__


def test_settings_complete_and_are_those_of_the_engine():
    from typing import get_args

    from derrl.options import Move, Settings

    assert set(derrl.settings()) == set(Settings.__annotations__)
    told = subprocess.run([sys.executable, "-m", "derrl", "train", "--settings"], capture_output=True, text=True, timeout=120, check=True)
    assert f"a list of {', '.join(get_args(Move))}" in " ".join(told.stdout.replace("#", " ").split())


class Counting(gymnasium.Env):
    """Walk four squares. It cannot be stepped once it has ended, and one cannot jump from the third square."""

    observation_space, action_space = gymnasium.spaces.Discrete(5), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.at, self.over = 0, False
        return self.at, {}

    def step(self, action):
        assert not self.over, "stepped after its end"
        self.at += action
        self.over = self.at == 4
        return self.at, float(self.over), self.over, False, {}


def counting(**more):
    env = Counting()

    def action(name):
        if name == "jump" and env.at == 3:
            raise KeyError("no jump from here")
        return {"walk": 1, "jump": 0}[name]

    facts = [("square", "s0")]
    return derrl.wrap(env, facts=lambda at, info: facts, action=action, actions={"walk": 0, "jump": 0}, horizon=20, **more)


def test_an_action_that_is_missing_in_some_states_is_left_out_there(capfd):
    run = derrl.train(counting(domain=":- action(walk). :- action(jump). :- state(square(place))."), **FAST)
    assert run.solved, run
    assert "those that it has are listed" in capfd.readouterr().err
    world = counting()
    assert "action(jump)" in derrl.infer_domain(world), "random play goes on, too"
    world.reset(0)
    for _ in range(3):
        assert set(world.legal()) == {("walk",), ("jump",)}
        world.step(("walk",))
    assert world.legal() == [("walk",)]


def test_episodes_are_not_stepped_after_their_end():
    assert derrl.check_world(counting(legal=lambda at, info: [("walk",)])).problems == []
    assert derrl.train(counting(domain=":- action(walk). :- state(square(place)).", legal=lambda at, info: [("walk",)]), **FAST).solved


def test_policies_of_a_world_in_python_are_compared_and_simplified(delivery_run):
    """Also those without copy(): in the states that they come to."""
    policy, world = delivery_run.policy, Delivery()
    same = derrl.diff(policy, policy, world, instances=10)
    assert same.equivalent and same.states > 20 and not same
    other = derrl.Policy.parse("1.0::pick(X) :- away(X, Y).", delivery_run.world).attach(world)
    found = derrl.diff(policy, other, instances=10)
    assert found and found.difference["facts"] and found.difference["first"]["actions"] != found.difference["second"]["actions"]
    rules = "1.0::drop(X) :- held(X). 0.9::move(X) :- held(Y), home(Y, X). 0.8::pick(X) :- away(X, Y){}. 0.7::move(X) :- away(Y, X)."
    rules = rules.replace("drop(X) :- held(X)", "drop(X) :- held(X), home(X, Y), robot(Y)")
    longer = derrl.Policy.parse(rules.format(", robot(Y)") + " 0.1::pick(X) :- away(X, Y).", delivery_run.world).attach(world)
    simpler = derrl.simplify(longer, instances=20)
    # What is legal says already where the ball has to be.
    assert str(simpler).count("pick") == 1 and "0.80::pick(X) :- away(X, Y)." in str(simpler) and len(simpler.removed) >= 2
    assert derrl.diff(longer, simpler.policy, world, instances=20).equivalent
    with pytest.raises(derrl.Error, match="name the world"):
        derrl.simplify(derrl.Run.load(delivery_run.folder).policy)


def test_the_command_says_how_python_does_it(delivery_run, tmp_path):
    folder = str(delivery_run.folder)
    for args in (["verify", folder], ["diff", folder, folder], ["simplify", folder], ["watch", folder], ["train", "--resume", folder]):
        done = subprocess.run([sys.executable, "-m", "derrl", *args], capture_output=True, text=True, timeout=120, cwd=tmp_path)
        said = " ".join(done.stderr.split())
        assert done.returncode == 2 and "derrl.Run.load(folder, world)" in said, (args, said)
        if args[0] in ("verify", "diff", "simplify"):
            assert f"derrl.{args[0]}(run.policy" in said


def test_the_table_of_the_results_is_made(monkeypatch, capsys):
    import newcomers

    assert newcomers.best_of_lake("4x4") == pytest.approx(0.744, abs=0.001)
    assert newcomers.basic_strategy(16, 10, 0) and not newcomers.basic_strategy(13, 2, 0)
    monkeypatch.setattr(newcomers, "SEEDS", [0])
    newcomers.row("BabyAI GoToObj", 20_000, 60)
    assert "| BabyAI GoToObj | 0 | 0.9" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
def test_frames_are_drawn_without_a_screen_and_without_a_word():
    code = "import derrl; derrl.train('CliffWalking-v1', max_steps=2000, episodes=2, progress=False)"
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SDL_VIDEODRIVER")
    bare = {key: value for key, value in os.environ.items() if key not in screens}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=bare)
    assert (done.returncode, done.stderr) == (0, "")
