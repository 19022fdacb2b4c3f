"""The package: training, policies, errors, the command."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import derrl
from derrl.training import written
from conftest import GRADIENT, LONG, QUICK

STATE = [("on", "a", "b"), ("on", "b", "floor"), ("on", "c", "floor"), ("top", "a"), ("top", "c"), ("goal_on", "c", "a"),
         ("isFloor", "floor")]


def command(*args, **more):
    return subprocess.run([sys.executable, "-m", "derrl", *args], capture_output=True, text=True, timeout=300, **more)


def options(settings):
    """Settings as the command takes them."""
    return [word for key, value in settings.items() for word in ("--set", written(key, value))]


def test_the_same_seed_gives_the_policy_of_the_command_line(tmp_path):
    run = derrl.train("blocks", seed=3, out=tmp_path / "module", progress=False, **QUICK)
    told = command("train", "blocks", "--seed", "3", "--out", str(tmp_path / "command"), "--json", *options(QUICK))
    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout)
    assert said["policy"] == run.policy.text
    assert (tmp_path / "command/policy.pl").read_bytes() == (tmp_path / "module/policy.pl").read_bytes()
    assert said["scores"] == run.result["scores"]


def test_a_built_in_world_takes_a_domain_file_of_ones_own(tmp_path):
    file = tmp_path / "mine.pl"
    file.write_text(derrl.World.find("blocks").domain + "\n:- negation(top/1).\n")
    run = derrl.train(str(file), seed=0, out=tmp_path / "python", progress=False, **QUICK)
    done = command("train", str(file), "--seed", "0", "--out", str(tmp_path / "rust"), *options(QUICK))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "rust/domain.pl").read_text() == (tmp_path / "python/domain.pl").read_text()
    theirs = json.loads((tmp_path / "rust/result.json").read_text())
    assert run.policy.text == theirs["policy"] and run.steps == theirs["steps"]
    again = pickle.loads(pickle.dumps(derrl.world(str(file))))
    assert again.domain == file.read_text()
    missing, unnamed, other = (tmp_path / f"{name}.pl" for name in ("missing", "unnamed", "other"))
    unnamed.write_text(":- action(go).\n:- state(here).\n")
    other.write_text(":- environment(blocks).\n:- action(fly(block)).\n:- state(top(block)).\n")
    for path, text in ((missing, "cannot read"), (unnamed, "does not say which world"), (other, "move")):
        with pytest.raises(derrl.Error, match=text):
            derrl.train(str(path), progress=False)


def test_a_run_says_what_it_came_to(blocks, tmp_path):
    assert blocks.solved == all(score.success_rate == 1 for score in blocks.scores.values())
    assert blocks.scores["train"].success_rate == 1
    assert blocks.steps > 0 and blocks.seconds > 0 and blocks.restarts >= 1
    page = blocks.report(tmp_path / "page.html")
    assert "<html" in page.read_text(encoding="utf-8")[:400].lower()
    assert "iframe" in blocks._repr_html_()
    assert "success" in str(blocks)


def test_a_policy_acts_explains_and_says_why_not(blocks):
    policy = blocks.policy
    action = policy.act(STATE)
    assert action in policy.best(STATE) and action[0] == "move"
    explained = policy.explain(STATE, seed=0)
    assert explained.fired is not None and explained.fired["body"]
    assert "because" in str(explained) and "<div" in explained._repr_html_()
    why = policy.why_not(STATE, ("move", "a", "c"))
    assert why.action == "move(a, c)" and why.reason in ("failed", "weaker", "tie")
    assert "not move(a, c)" in str(why)
    assert derrl.Policy.parse(policy.text, "blocks") == policy
    assert derrl.Policy.parse(policy.text, derrl.world("blocks").domain).best(STATE) == policy.best(STATE)


def test_a_policy_says_what_it_does_not_know(blocks, tmp_path):
    known = [("on", "a", "b"), ("on", "b", "floor"), ("on", "c", "floor"), ("top", "a"), ("top", "c"), ("goal_on", "c", "a"), ("isFloor", "floor")]
    policy = blocks.policy
    assert "objects block 3..3" in policy.learned_on
    assert policy.act(known, seed=0, strict=True) == policy.act(known, seed=0)
    more = known + [("on", "d", "floor"), ("top", "d")]
    assert policy.act(more)
    for other in (policy, derrl.Policy.load(policy.save(tmp_path / "p.pl"), "blocks"), pickle.loads(pickle.dumps(policy._inner))):
        with pytest.raises(derrl.Outside) as raised:
            other.act(more, strict=True)
        assert raised.value.reasons == ["4 objects of type block: it was learned on 3"]
    assert "outside what it knows: 4 objects" in str(policy.explain(more))
    assert not policy.explain(known).outside
    # Of rules written by hand nobody knows what they were learned on; that no rule fires is known.
    by_hand = derrl.Policy.parse("move(X, Y) :- top(X), top(Y), goal_on(X, Y).", "blocks")
    assert by_hand.learned_on is None and by_hand.act(more, strict=True) == ("move", "c", "a")
    with pytest.raises(derrl.Outside, match="no rule fires"):
        by_hand.act(known[:5] + [("goal_on", "b", "a"), ("isFloor", "floor")], strict=True)
    assert issubclass(derrl.Outside, derrl.Error)


def test_policies_are_verified_compared_scored_and_exported(blocks, tmp_path):
    policy = blocks.policy
    assert derrl.evaluate(policy, episodes=50).success_rate == 1
    random = derrl.Policy.parse("", "blocks")
    assert derrl.evaluate(random, episodes=50).success_rate < 1
    proof = derrl.verify(policy, max_objects=3)
    assert proof and proof.verdict == "proved" and "proved" in str(proof)
    refuted = derrl.verify(random, max_objects=3)
    assert not refuted and refuted.verdict == "proved-if-ties-are-random" and refuted.counterexample["steps"]
    assert derrl.verify(random, max_objects=3, ties="random")
    assert not derrl.diff(policy, policy, max_objects=3)
    assert derrl.diff(policy, random, max_objects=3).difference
    text = derrl.export(policy, "python", tmp_path / "policy.py")
    assert (tmp_path / "policy.py").read_text() == text
    compile(text, "policy.py", "exec")


@pytest.mark.parametrize(("call", "text"), [
    (lambda: derrl.train("bloks"), "did you mean `blocks`"),
    (lambda: derrl.train("blocks", updats=3), "no setting `updats`"),
    (lambda: derrl.train("blocks", updates="many"), "updates"),
    (lambda: derrl.Policy.parse("move(X, Y) :- onn(X, Y).", "blocks"), "onn"),
    (lambda: derrl.Policy.parse("", "blocks").act([("onn", "a", "b")]), "onn/2"),
    (lambda: derrl.Policy.parse("", "blocks").act([("on", "a")]), "on/1"),
    (lambda: derrl.Policy.parse("", "blocks").why_not(STATE, ("fly", "a")), "fly/1"),
    (lambda: derrl.Policy.parse("", "blocks").export("cobol"), "cobol"),
    (lambda: derrl.evaluate(derrl.Policy.parse("", "blocks"), task="moon"), "moon"),
    (lambda: derrl.verify(derrl.Policy.parse("", "blocks"), ties="odd"), "odd"),
    (lambda: derrl.world("blocks").episodes("train", '{"size": "x"}'), "options"),
])
def test_bad_input_is_one_clear_error(call, text):
    with pytest.raises(derrl.Error, match=text):
        call()
    assert issubclass(derrl.Error, ValueError)


def test_facts_that_are_none_are_type_errors():
    for wrong in ([3], [()], [("on", 1.5, "a")], [(1, 2)], [("on", None)], ["on(a, b)"]):
        with pytest.raises(TypeError, match="a fact is a tuple"):
            derrl.Policy.parse("", "blocks").act(wrong)


def test_the_command_has_the_exit_codes_of_the_binary():
    assert command("domains").returncode == 0
    wrong = command("train", "bloks")
    assert wrong.returncode == 2 and "did you mean `blocks`" in wrong.stderr


def test_ctrl_c_stops_a_run_that_can_be_resumed_to_the_same_bits(tmp_path):
    def press(done, planned, message):
        if done > 0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stopped:
        derrl.train("blocks", seed=1, out=tmp_path / "run", threads=1, progress=press, **LONG)
    assert not (tmp_path / "run/result.json").exists()
    assert "resume" in "".join(getattr(stopped.value, "__notes__", ["resume"]))
    resumed = derrl.resume("blocks", tmp_path / "run", progress=False)
    whole = derrl.train("blocks", seed=1, progress=False, **LONG)
    assert resumed.policy.text == whole.policy.text and resumed.scores == whole.scores
    assert resumed.steps == whole.steps


def test_other_threads_run_while_rust_works():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    derrl.train("countdown", seed=0, progress=False, **LONG)
    stop.set()
    thread.join()
    assert len(ticks) > 5


def test_progress_is_told():
    told = []
    derrl.train("blocks", seed=0, progress=lambda *now: told.append(now), threads=1, **LONG)
    assert all(planned == 0 for _, planned, _ in told) and told == sorted(told, key=lambda now: now[0])
    assert any("training" in message for *_, message in told), "training took no tenth of a second"


def scalars(folder):
    """What the real TensorBoard reads from a folder: values by tag."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder))
    read.Reload()
    return {tag: [(event.step, event.value) for event in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def test_tensorboard_reads_the_event_files(blocks, tmp_path):
    logdir = blocks.tensorboard(tmp_path / "logs")
    rows = [row for row in blocks.metrics() if row["restart"] == 0]
    read = scalars(logdir / "restart-0")
    for column in ("mean_return", "semantic_loss", "body_size"):
        wanted = [(row["episodes"], pytest.approx(row[column], rel=1e-6)) for row in rows]
        assert read[f"train/{column}"] == wanted and len(wanted) > 2
    scores = scalars(logdir / "scores")
    for task, score in blocks.scores.items():
        assert scores[f"score/{task}"] == [(blocks.steps, pytest.approx(score.mean))]
        assert scores[f"success/{task}"] == [(blocks.steps, pytest.approx(score.success_rate))]


def test_the_command_writes_event_files(tmp_path):
    settings = options({**QUICK, **GRADIENT})
    told = command("train", "blocks", "--out", str(tmp_path / "run"), "--tensorboard", "--no-report", "--json", *settings)
    assert told.returncode == 0, told.stderr
    scores = scalars(tmp_path / "run/tensorboard/scores")
    said = json.loads(told.stdout)
    assert scores["score/train"] == [(said["steps"], pytest.approx(said["scores"]["train"]["mean"]))]
    assert scalars(tmp_path / "run/tensorboard/restart-0")["train/mean_return"]
    assert scalars(tmp_path / "run/tensorboard/restart-1")["train/mean_return"]


def test_policies_are_simplified(blocks):
    padded = derrl.Policy.parse(blocks.policy.text + "\n0.01::move(X, Y) :- top(X), top(Y), goal_on(X, Y).", "blocks")
    simpler = derrl.simplify(padded, max_objects=3)
    assert simpler.removed and simpler.states > 0 and "0.01" not in str(simpler)
    assert derrl.diff(simpler.policy, padded, max_objects=3).equivalent
    assert "<div" in simpler._repr_html_()


def test_notebooks_show_progress_the_curve_and_rules(blocks):
    """What a notebook is given to draw while a run goes on."""
    from derrl.notebook import curve
    from derrl.progress import _NotebookBar

    shown = []
    handle = type("Handle", (), {"update": lambda self, data, raw: shown.append(data)})()
    bar = _NotebookBar("blocks", lambda *args, **kwargs: handle)
    bar(1, 4, "at work")
    assert "25%" in shown[-1]["text/html"] and "svg" not in shown[-1]["text/html"] and " 25%" in shown[-1]["text/plain"]
    for mean, steps in ((0.1, 100), (0.9, 500)):
        bar.best(blocks.policy._repr_html_(), mean, steps)
    bar(2, 4, "at work")
    assert "best so far: 0.9 after 500 steps; first: 0.1" in shown[-1]["text/html"] and "Put" in shown[-1]["text/html"]
    bar.close()
    assert "100%" in shown[-1]["text/html"] and "<svg" in shown[-1]["text/html"] and shown[-1]["text/plain"] == "blocks: done"
    # A step up half-way, drawn from the lower left to the upper right.
    assert 'points="0.0,86.0 210.0,86.0 210.0,4.0 420.0,4.0 420.0,4.0"' in curve([(0, 0.0), (50, 1.0), (100, 1.0)])
    assert curve([(3, 1.0)]) == "" and "45.0" in curve([(0, 2.0), (9, 2.0)])


def test_rules_read_in_english(blocks):
    said = blocks.policy.in_english()
    assert len(said) == len(blocks.policy.text.splitlines()) and all(s.endswith(".") for s in said) and "Put" in said[0]
    shown = blocks.policy._repr_html_()
    assert all(s.replace("'", "&#x27;") in shown for s in said) and "first: " in shown
