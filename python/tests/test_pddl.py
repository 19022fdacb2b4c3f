"""PDDL domains from Python: the same as on the command line."""

import json
import pickle
import re
import subprocess
import sys

import pytest

import derrl


def command(*args, code=0):
    said = subprocess.run([sys.executable, "-m", "derrl", *args], capture_output=True, text=True, timeout=300)
    assert said.returncode == code, said.stderr
    return said.stdout


@pytest.fixture(scope="module")
def ferry(tmp_path_factory):
    """The domain that `derrl new` writes, with problems to train and to test on."""
    folder = tmp_path_factory.mktemp("pddl") / "ferry"
    command("new", str(folder))
    return folder


@pytest.fixture(scope="module")
def run(ferry, tmp_path_factory):
    world = derrl.pddl(ferry / "domain.pddl", train=ferry / "train", test={"larger": ferry / "test"})
    return derrl.train(world, seed=0, out=tmp_path_factory.mktemp("runs") / "ferry", progress=False)


def without_seconds(scores):
    """Scores but for the time that problems took."""
    return json.loads(re.sub(r'"seconds": [^,}]+', '"seconds": 0', json.dumps(scores)))


def test_a_policy_is_learned_and_holds_for_other_problems(run, ferry):
    assert run.solved and run.world.is_pddl
    assert run.scores["larger"].success_rate == 1 and run.scores["larger"].problems[0]["solved"]
    score = derrl.evaluate(run.policy, task="larger")
    assert score.mean == run.scores["larger"].mean and score.episodes == len(list((ferry / "test").glob("*.pddl")))
    assert derrl.evaluate(run.policy, derrl.pddl(ferry), "test").mean == score.mean
    assert derrl.evaluate(derrl.Policy.parse("", run.world), task="larger").mean < score.mean
    assert "html" in run.report(run.folder / "page.html").read_text(encoding="utf-8")[:200].lower()


def test_the_command_line_gives_the_same_bits_and_reads_the_run(run, ferry, tmp_path):
    out = tmp_path / "command"
    told = json.loads(command(
        "train", str(ferry / "domain.pddl"), "--train", str(ferry / "train"), "--test", str(ferry / "test"), "--json",
        "--out", str(out)))
    assert told["policy"] == run.policy.text
    ours, theirs = (without_seconds(scores) for scores in (run.result["scores"], told["scores"]))
    assert ours["train"] == theirs["train"] and ours["larger"] == theirs[str(ferry / "test")]
    scored = json.loads(command("eval", str(run.folder), "--json"))
    assert without_seconds(scored["scores"]) == ours


def test_a_policy_is_verified_explained_and_plans(run, ferry, tmp_path):
    small = derrl.pddl(ferry / "domain.pddl", train=ferry / "train")
    proof = derrl.verify(run.policy, small)
    assert proof and proof.report["sizes"][0]["instances"] == len(list((ferry / "train").glob("*.pddl")))
    random = derrl.Policy.parse("", small)
    assert derrl.verify(random, ties="random") and not derrl.verify(random)
    assert not derrl.diff(run.policy, run.policy, small) and derrl.diff(run.policy, random, small).difference
    with pytest.raises(derrl.Error, match="not for PDDL"):
        derrl.verify(run.policy, max_objects=3)
    facts = [("at_ferry", "loc1"), ("at", "car1", "loc1"), ("empty_ferry",), ("goal_at", "car1", "loc2"), ("at", "car2", "loc2")]
    explained = run.policy.explain(facts, seed=0)
    assert explained.action == "board(car1, loc1)" and explained.fired
    problem = sorted((ferry / "test").glob("*.pddl"))[0]
    plan = derrl.plan(run.policy, problem)
    assert plan and len(plan.steps) == plan.cost and all(len(step) == 3 for step in plan.steps)
    assert command("plan", str(run.folder), str(problem)).startswith(str(plan))
    assert not derrl.plan(run.policy, problem, horizon=1)


def test_a_world_of_pddl_can_be_sent_elsewhere(run):
    sent = pickle.loads(pickle.dumps(run.world))
    assert sent.domain == run.world.domain and derrl.evaluate(run.policy, sent, "larger").success_rate == 1


DOMAIN = "(define (domain lamps) (:predicates (lit ?x)) (:action press :parameters (?x) :effect (lit ?x)))"
PROBLEM = "(define (problem one) (:domain lamps) (:objects a) (:init) (:goal {}))"


@pytest.mark.parametrize(("call", "text"), [
    (lambda at: derrl.pddl(at / "none.pddl", train=at / "p.pddl"), "cannot read"),
    (lambda at: derrl.pddl(at), "a folder with a domain.pddl"),
    (lambda at: derrl.pddl(at / "lamps.pddl"), "say which problems"),
    (lambda at: derrl.pddl(at / "lamps.pddl", train=at / "missing"), "cannot read"),
    (lambda at: derrl.pddl(at / "lamps.pddl", train=[at / "bad.pddl"]), "bright"),
    (lambda at: derrl.pddl(at / "lamps.pddl", train=at / "p.pddl", test={"train": at / "p.pddl"}), "another name"),
    (lambda at: derrl.pddl(at / "lamps.pddl", train=at / "p.pddl", horizon=0), "from 1"),
    (lambda at: derrl.train(derrl.pddl(at / "lamps.pddl", test=at / "p.pddl")), "problems to train on"),
    (lambda at: derrl.train(derrl.pddl(at / "lamps.pddl", train=at / "p.pddl"), tests={}, task="moon"), "moon"),
    (lambda at: derrl.plan(derrl.Policy.parse("", "blocks"), at / "p.pddl"), "for PDDL"),
])
def test_bad_input_is_one_clear_error(tmp_path, call, text):
    (tmp_path / "lamps.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM.format("(lit a)"))
    (tmp_path / "bad.pddl").write_text(PROBLEM.format("(bright a)"))
    with pytest.raises(derrl.Error, match=text):
        call(tmp_path)
