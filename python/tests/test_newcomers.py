"""What somebody meets who comes with a world of their own: each of these once went wrong in silence, or said the wrong thing."""

import pickle
import random
import subprocess
import sys

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


def test_every_public_name_is_explained_with_an_example():
    import inspect

    compiled = {"Error", "World", "builtin", "Atom", "__version__"}  # the compiled ones have their texts from Rust
    for name in derrl.__all__:
        said = inspect.getdoc(getattr(derrl, name)) or ""
        assert name in compiled or ">>> " in said, name
    for name in ("train", "check_world", "minigrid", "wrap", "verify", "export"):
        assert name in derrl.__doc__, "help(derrl) is a guide"


def test_settings_complete_and_are_those_of_the_engine():
    from typing import get_args

    from derrl.options import Move, Settings

    assert set(derrl.settings()) == set(Settings.__annotations__)
    told = subprocess.run([sys.executable, "-m", "derrl", "train", "--settings"], capture_output=True, text=True, timeout=120, check=True)
    assert f"a list of {', '.join(get_args(Move))}" in " ".join(told.stdout.replace("#", " ").split())
