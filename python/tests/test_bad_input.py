"""Whatever a world or a caller does wrong gives one exception that says what, where, and what would be right."""

import copy
import math
import multiprocessing
import os
import pickle
import signal
import threading
import time

import pytest

import derrl
from conftest import LONG, QUICK
from delivery import Delivery

DOMAIN = derrl.infer_domain(Delivery())


class Fine(Delivery):
    """The delivery world, with its domain given."""

    domain = DOMAIN


def world(**changed):
    """The delivery world with other methods and attributes."""
    return type("Odd", (Fine,), changed)()


def train(of, **more):
    return derrl.train(of, **{"progress": False, "episodes": 10, **QUICK, **more})


def forever():
    while True:
        yield ("robot", "room0")


class Unreadable:
    def __repr__(self):
        raise RuntimeError("no text")


FACT = r'a fact is a tuple of a name and its objects, such as \("on", "a", "b"\), not '


@pytest.mark.parametrize(("fact", "error", "text"), [
    (None, TypeError, FACT + "None"), (("robot", 1.5), derrl.Error, "number `robot/0`"), (("robot", 1.5, "a"), TypeError, FACT),
    ("red(ball0)", TypeError, FACT + "'red"),
    (("robot", ("a",)), TypeError, FACT), (("robot", ["a"]), TypeError, FACT), (("robot", True), TypeError, FACT),
    (("robot", b"a"), TypeError, FACT), ((), TypeError, FACT), ((3, "a"), TypeError, FACT), (("robot", 10**30), TypeError, FACT),
    ({"robot", "room0"}, TypeError, FACT), ({"robot": "room0"}, TypeError, FACT), (("robot", "\ud800"), TypeError, FACT),
    ((name for name in ("robot", "room0")), TypeError, FACT), (("robot", Unreadable()), TypeError, "this tuple"),
    (("robot", [0] * 10**6), TypeError, r"\.\.\."), ("robot", derrl.Error, "`robot/0`.*did you mean `robot/1`"),
    (("robot", "a", "b"), derrl.Error, "`robot/2`.*did you mean `robot/1`"), (("", "a"), derrl.Error, "predicate `/1`"),
    (("robot", *"abcdefgh" * 6), derrl.Error, "`robot/48`"), (("colour", "ball0"), derrl.Error, "`colour/1`.*there are: away/2"),
    (("robot", "ball0"), derrl.Error, "`ball0` is a `ball` in one place and a `room` in another"),
])
def test_facts(fact, error, text):
    with pytest.raises(error, match=text):
        train(world(reset=lambda self, seed: [*Delivery.reset(self, seed), fact]))


@pytest.mark.parametrize("name", ["zürich", "🚗", "it's", "a b", "Room", "a\nb", "a\\", "a\0b", "", -3, "x" * 10**5])
def test_names_may_be_anything(name):
    class Renamed(Fine):
        def __init__(self):
            super().__init__()
            self.rooms[0] = name

    run = train(Renamed())
    here = Renamed()
    facts = here.reset(1)
    assert run.policy.act(facts, here) in here.legal()
    assert run.policy.explain(facts, here).action
    again = derrl.Policy.parse(run.policy.text, DOMAIN)
    assert again.best(facts, here) == run.policy.best(facts, here)


FACTS = r'a list of facts, such as \[\("on", "a", "b"\)\], not '
STEP = r"^step\(action\) returns facts, reward, terminated, truncated; "
ACTIONS = r'^legal\(\) returns a list of actions, such as \[\("move", "a", "b"\)\], not '


def step(**parts):
    """A step that returns something else in one place."""
    def changed(self, action):
        said = dict(zip(("facts", "reward", "terminated", "truncated"), Delivery.step(self, action)))
        return tuple({**said, **parts}.values())

    return {"step": changed}


@pytest.mark.parametrize(("changed", "error", "text"), [
    ({"reset": lambda self, seed: None}, TypeError, r"^reset\(seed\) returns " + FACTS + "None"),
    ({"reset": lambda self, seed: "robot"}, TypeError, FACTS + "'robot'"),
    ({"reset": lambda self, seed: {("robot", "room0"): True}}, TypeError, FACTS),
    ({"reset": lambda self, seed: forever()}, TypeError, "more than 1048576, from <generator"),
    ({"reset": lambda self, seed: (Delivery.reset(self, seed), {})}, TypeError, FACT),
    ({"background": lambda self: 7}, TypeError, r"^background\(\) returns " + FACTS + "7"),
    ({"step": lambda self, action: None}, TypeError, STEP + "not NoneType: None"),
    ({"step": lambda self, action: list(Delivery.step(self, action))}, TypeError, STEP + "not list"),
    ({"step": lambda self, action: Delivery.step(self, action)[:2]}, TypeError, STEP + "not tuple"),
    (step(facts=None), TypeError, STEP + "facts are " + FACTS + "None"),
    (step(reward="much"), TypeError, "returns a number as reward, not 'much'"),
    (step(reward=None), TypeError, "returns a number as reward, not None"),
    (step(reward=10**400), TypeError, "returns a number as reward, not 1000"),
    (step(reward=math.nan), derrl.Error, "reward of NaN"), (step(reward=math.inf), derrl.Error, "reward of inf"),
    (step(reward=-1e300), derrl.Error, "1e100 at the most"),
    (step(terminated="no"), TypeError, "`terminated` as True or False, not 'no'"),
    (step(truncated=None), TypeError, "`truncated` as True or False, not None"),
    ({"legal": lambda self: 7}, TypeError, ACTIONS + "7"), ({"legal": lambda self: "move"}, TypeError, ACTIONS),
    ({"legal": lambda self: [None]}, TypeError, "an action is a tuple"),
    ({"legal": lambda self: [("move", None)]}, TypeError, "an action is a tuple"),
    ({"legal": lambda self: [("fly", "room0")]}, derrl.Error, "`fly/1`.*there are: drop/1"),
    ({"legal": lambda self: [("move", "room0", "room1")]}, derrl.Error, "`move/2`.*did you mean `move/1`"),
    ({"legal": lambda self: []}, derrl.Error, "no action is legal"),
    ({"legal": [("move", "room0")]}, TypeError, r"`legal` of a world is a method: that of Odd is \[\('move'"),
    ({"objects": {"a": "room"}}, TypeError, "`objects` of a world is a method"),
    ({"objects": lambda self: ["a"]}, TypeError, "returns a dict of objects with their types"),
    ({"objects": lambda self: {"a": "moon"}}, derrl.Error, "`a` is said to be a `moon`.*there are: "),
    ({"objects": lambda self: {1.5: "room"}}, TypeError, "a name is a text or an integer, not 1.5"),
    ({"horizon": 0}, TypeError, "`horizon` of a world is a whole number from 1, not 0"),
    ({"horizon": "long"}, TypeError, "not 'long'"), ({"score_episodes": -1}, TypeError, "`score_episodes`.*not -1"),
    ({"score_episodes": True}, TypeError, "not True"), ({"has_goal": "no"}, TypeError, "True or False, not 'no'"),
    ({"domain": " "}, derrl.Error, "the domain is empty"), ({"domain": "nowhere.pl"}, derrl.Error, "cannot read the domain"),
    ({"domain": "a\0b"}, derrl.Error, "cannot read the domain"), ({"domain": b"x"}, TypeError, "a domain is text"),
    ({"domain": ":- state(robot(room)).\n"}, derrl.Error, "declares no action"),
    ({"domain": DOMAIN + DOMAIN}, derrl.Error, "declared twice"),
    ({"domain": ":- environment(blocks).\n" + DOMAIN}, derrl.Error, "built-in world"),
    ({"domain": ":- action(go(room)).\n:- state(at(room)).\n", "reset": lambda self, seed: [], "legal": None}, derrl.Error,
     "the facts name no objects"),
    ({"domain": None, "actions": lambda self: ["go"]}, TypeError, "names with arities or types"),
    ({"domain": None, "actions": lambda self: {3: 1}}, TypeError, "names with arities or types"),
    ({"domain": None, "reset": lambda self, seed: None}, TypeError, r"^reset\(seed\) returns " + FACTS),
    ({"domain": None, "legal": lambda self: 7}, TypeError, ACTIONS),
])
def test_worlds(changed, error, text):
    with pytest.raises(error, match=text):
        train(world(**changed))


@pytest.mark.parametrize("method", ["reset", "step", "legal", "succeeded", "background", "objects"])
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, MemoryError])
def test_whatever_a_world_raises_arrives(method, kind):
    def fails(self, *args):
        raise kind("the motor is off")

    with pytest.raises(kind, match="the motor is off"):
        train(world(**{method: fails}))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_a_drawing_that_fails_does_not_fail_the_run(kind):
    def fails(self):
        raise kind("no ink")

    assert f"render() failed: {kind.__name__}: no ink" in train(world(render=fails))._repr_html_()


def test_episodes_that_never_end_are_cut_off():
    endless = world(horizon=5, **step(reward=1, terminated=False, truncated=False))
    score = derrl.evaluate(policy(), endless, episodes=10)
    assert score.success_rate == 0 and score.mean == 5


def press_ctrl_c(after):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_reaches_a_world_that_hangs():
    def hangs(self, action):
        while True:
            time.sleep(0.01)

    press_ctrl_c(0.3)
    with pytest.raises(KeyboardInterrupt):
        train(world(step=hangs))


def test_ctrl_c_ends_a_slow_world(tmp_path):
    class Slow(Fine):
        def facts(self):
            time.sleep(0.002)
            return super().facts()

    times = []

    def press():
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1.5, press).start()
    with pytest.raises(KeyboardInterrupt):
        derrl.train(Slow(), out=tmp_path / "run", progress=False, **LONG)
    assert time.monotonic() - times[0] < 5


def in_threads(*calls):
    """What calls give, or raise, at the same time."""
    found = [None] * len(calls)

    def run(at, call):
        try:
            found[at] = call()
        except BaseException as error:
            found[at] = error

    threads = [threading.Thread(target=run, args=(at, call)) for at, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_threads_may_train_at_once_but_not_on_one_object():
    alone = [train(Fine(), seed=seed).policy.text for seed in range(3)]
    at_once = in_threads(*(lambda seed=seed: train(Fine(), seed=seed).policy.text for seed in range(3)))
    assert at_once == alone
    shared = Fine()
    mixed = in_threads(*(lambda seed=seed: train(shared, seed=seed).policy.text for seed in range(3)))
    wrong = [found for found, right in zip(mixed, alone) if found != right]
    assert wrong and all(isinstance(error, derrl.Error) and "an object of its own" in str(error) for error in wrong)


def test_threads_may_share_episodes():
    class Slow(Fine):
        def facts(self):
            time.sleep(0.001)
            return super().facts()

    episodes = derrl.world(Slow()).episodes("train")

    def play():
        for seed in range(5):
            try:
                episodes.reset(seed)
                episodes.step(episodes.legal()[0])
            except derrl.Error as error:  # another thread was faster
                assert "is not legal here" in str(error)
        return "done"

    assert in_threads(play, play, play) == ["done"] * 3


@pytest.mark.parametrize(("of", "call", "text"), [
    ("blocks", lambda e: e.facts(), "call reset first"), ("blocks", lambda e: e.step(("move", "a", "b")), "call reset first"),
    (Fine(), lambda e: e.legal(), "call reset first"), (Fine(), lambda e: e.scene_json(), "call reset first"),
    (Fine(), lambda e: (e.reset(1), e.step(("drop", "ball0"))), r"drop\(ball0\) is not legal here"),
    (Fine(), lambda e: (e.reset(1), e.step(("move", "moon"))), "no object `moon`"),
    (Fine(), lambda e: (e.reset(1), e.step(("move",))), "no action `move/0`; did you mean `move/1`"),
    (world(horizon=1), lambda e: (e.reset(1), e.step(e.legal()[0]), e.step(e.legal()[0])), "the episode is over"),
])
def test_episodes(of, call, text):
    with pytest.raises(derrl.Error, match=text):
        call(derrl.world(of).episodes("train"))


FACTS_NOW = [("robot", "room0"), ("home", "ball0", "room1"), ("away", "ball0", "room2")]


def policy():
    return derrl.Policy.parse("", DOMAIN)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: train(Fine(), seed=-1), derrl.Error, "seed: a whole number from 0, not -1"),
    (lambda: train(Fine(), seed=1.5), derrl.Error, "seed: a whole number from 0, not 1.5"),
    (lambda: train(Fine(), seed=2**64), derrl.Error, "seed"), (lambda: train(Fine(), seed="x"), derrl.Error, "seed.*not 'x'"),
    (lambda: train(Fine(), episodes=0), derrl.Error, "episodes: a whole number from 1, not 0"),
    (lambda: train(Fine(), threads=-1), derrl.Error, "threads"), (lambda: train(Fine(), wave=8), derrl.Error, "no setting `wave`"),
    (lambda: train(Fine(), without=["explor"]), derrl.Error, "explor.*explore"), (lambda: train(Fine(), without=[3]), derrl.Error, "without"),
    (lambda: train(Fine(), progress=7), derrl.Error, "progress: True, False or a function"),
    (lambda: train(Fine(), options=7), derrl.Error, "options: a dict"),
    (lambda: train(Fine(), options={"noise": {1}}), derrl.Error, "options: .*not JSON"),
    (lambda: train(Fine(), updates="3\nbatch=4"), derrl.Error, "setting `updates`: a number or a word"),
    (lambda: train(Fine(), updates=math.nan), derrl.Error, "updates"), (lambda: train(Fine(), out="a\0b"), derrl.Error, "NUL"),
    (lambda: train(Fine(), tests=[Fine()]), derrl.Error, "tests: a dict"),
    (lambda: train(Fine(), tests={"": Fine()}), derrl.Error, "the name of a task is text, not ''"),
    (lambda: train(Fine(), tests={3: Fine()}), derrl.Error, "the name of a task is text, not 3"),
    (lambda: train(Fine(), tests={"more": "blocks"}), TypeError, "str has no `reset`"),
    (lambda: train(Fine(), tests={"other": world(reset=lambda self, seed: ["night"], legal=None)}), derrl.Error, "`night/0`"),
    (lambda: policy().act(None), TypeError, "^facts are " + FACTS + "None"),
    (lambda: policy().act(FACTS_NOW, 3), TypeError, "^the legal actions are a list of actions"),
    (lambda: policy().act(FACTS_NOW, []), derrl.Error, "no action is legal"),
    (lambda: policy().act(FACTS_NOW, seed=-1), derrl.Error, "seed"),
    (lambda: policy().act(FACTS_NOW, objects={"a": "moon"}), derrl.Error, "`moon`"),
    (lambda: derrl.evaluate(policy()), derrl.Error, "name the world, too"),
    (lambda: derrl.evaluate(policy(), Fine(), episodes=0), derrl.Error, "episodes"),
    (lambda: derrl.evaluate(None), TypeError, "not None"), (lambda: derrl.diff(policy(), 7, Fine()), TypeError, "not 7"),
    (lambda: derrl.verify(policy(), world(copy=lambda self: self)), TypeError, "another world.*not the world itself"),
    (lambda: derrl.verify(policy(), world(copy=lambda self: 7)), TypeError, "not 7"),
    (lambda: derrl.verify(policy(), world(copy=lambda self: Fine()), instances=0), derrl.Error, "instances"),
    (lambda: derrl.verify(policy(), world(copy=copy.deepcopy, has_goal=False)), derrl.Error, "no goal"),
    (lambda: derrl.infer_domain(Delivery), TypeError, "not a class"), (lambda: derrl.infer_domain("blocks"), TypeError, "no `reset`"),
])
def test_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_wrap_is_given_is_checked():
    import gymnasium

    env = gymnasium.make("CliffWalking-v1")
    fine = {"facts": lambda at, info: [("way", "a")], "action": lambda name, way: 0, "actions": {"go": 1}}
    for changed, text in (
        ({"facts": [("way", "a")]}, "facts is a function"), ({"action": 0}, "action is a function"), ({"actions": ["go"]}, "actions are"),
        ({"facts": lambda at, info: None}, "the facts function of wrap returns a list"),
    ):
        with pytest.raises(TypeError, match=text):
            train(derrl.wrap(env, **{**fine, **changed}))


@pytest.mark.parametrize("of", ["blocks", DOMAIN, derrl.world(Delivery(), domain=DOMAIN)], ids=["built-in", "domain", "own"])
def test_policies_can_be_copied_and_pickled(of):
    first = derrl.Policy.parse("", of)
    for again in (pickle.loads(pickle.dumps(first)), copy.copy(first), copy.deepcopy(first)):
        assert again == first and again.world.domain == first.world.domain


def test_runs_can_be_copied_and_pickled():
    run = train("blocks")
    pickled = pickle.dumps(run)
    copied, folder = copy.copy(run), run.folder
    del run
    assert copied.report().is_file(), "the folder stays for as long as any copy"
    again = pickle.loads(pickled)
    assert (again.policy, again.scores, str(again)) == (copied.policy, copied.scores, str(copied))
    del copied
    assert not folder.exists()
    with pytest.raises(derrl.Error, match="not the folder of a run"):
        again.report()


SMALL = {"episodes": 5, **QUICK}


@pytest.mark.parametrize(("first", "second", "text"), [
    ((["blocks"], [0], SMALL), (["blocks"], [0], {**SMALL, "updates": 30}), "updates 20, not 30"),
    ((["blocks"], [0], SMALL), (["blocks"], [0], {**SMALL, "episodes": 6}), "episodes 5, not 6"),
    (({"x": "blocks"}, [0], SMALL), ({"x": "countdown"}, [0], SMALL), "another domain file"),
    (({"x": Fine()}, [0], SMALL), ({"x": world(domain=DOMAIN + ":- variables(3).\n")}, [0], SMALL), "another domain"),
])
def test_a_sweep_does_not_take_the_runs_of_another_for_its_own(tmp_path, first, second, text):
    derrl.sweep(*first, out=tmp_path, workers=1)
    with pytest.raises(derrl.Error, match=f"holds another run .*{text}"):
        derrl.sweep(*second, out=tmp_path, workers=1)


def test_a_damaged_sweep_is_mended_or_refused(tmp_path):
    table = derrl.sweep(["blocks"], [0], SMALL, out=tmp_path, workers=1)
    (tmp_path / "ledger.jsonl").write_bytes(b"\xff\xfe{{{\n")
    assert derrl.sweep(["blocks"], [0], SMALL, out=tmp_path, workers=1).equals(table)
    (tmp_path / "blocks/seed-0/result.json").write_bytes(b"\xff{{")
    again = derrl.sweep(["blocks"], [0], SMALL, out=tmp_path, workers=1)
    assert again.drop(columns="seconds").equals(table.drop(columns="seconds"))
    (tmp_path / "blocks/seed-0/config.toml").write_bytes(b"{{{")
    with pytest.raises(derrl.Error, match="config.toml is not what a run writes"):
        derrl.sweep(["blocks"], [0], SMALL, out=tmp_path, workers=1)


@pytest.mark.parametrize(("args", "text"), [
    (([], [0]), "worlds: there are none"), ((None, [0]), "worlds: a list of names"), ((["bloks"], [0]), "did you mean `blocks`"),
    ((["blocks"], []), "seeds: at least one"), ((["blocks"], [0, 0]), "each once"), ((["blocks"], 3), "seeds: several whole numbers"),
    ((["blocks"], [-1]), "seeds: a whole number from 0, not -1"), ((["blocks"], [1.5]), "not 1.5"),
    ((["blocks"], [0], {"updats": 3}), "no setting `updats`"), ((["blocks"], [0], 3), "settings: a dict"),
    ((["blocks"], [0], []), "settings: a dict"), (({"../x": "blocks"}, [0]), "a name is that of a folder"),
    (([Fine(), Fine()], [0]), "two worlds are called `fine`"),
])
def test_sweeps(tmp_path, args, text):
    with pytest.raises(derrl.Error, match=text):
        derrl.sweep(*args, out=tmp_path / "sweep")
    assert not list(tmp_path.glob("sweep/*/*")), "nothing was begun"


def test_more_of_sweeps(tmp_path):
    for workers in (0, -1, "two"):
        with pytest.raises(derrl.Error, match="workers: a whole number from 1"):
            derrl.sweep(["blocks"], [0], out=tmp_path, workers=workers)
    with pytest.raises(derrl.Error, match="no world `moon` in this sweep"):
        derrl.sweep(["blocks"], [0], out=tmp_path, tests={"moon": {}})
    (tmp_path / "file").write_text("")
    with pytest.raises(derrl.Error, match="cannot write the ledger"):
        derrl.sweep(["blocks"], [0], out=tmp_path / "file")

    def ends(self, action):
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        return Delivery.step(self, action)

    with pytest.raises(derrl.Error, match="was lost 3 times"):
        derrl.sweep({"ends": world(step=ends)}, [0], SMALL, out=tmp_path / "lost", workers=1)


def test_resuming_with_another_domain(tmp_path):
    train(Fine(), out=tmp_path / "run")
    assert derrl.resume(Fine(), tmp_path / "run", progress=False).policy
    with pytest.raises(derrl.Error, match="another domain than this world"):
        derrl.resume(world(domain=DOMAIN + ":- variables(3).\n"), tmp_path / "run", progress=False)
    with pytest.raises(derrl.Error, match="there is no run"):
        derrl.resume(Fine(), tmp_path / "nowhere")
