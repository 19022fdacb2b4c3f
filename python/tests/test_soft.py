"""Soft facts: values and gradients for NumPy and JAX, and perception learned through given rules."""

import re
from pathlib import Path

import numpy as np
import pytest

import derrl

PAGE = Path(__file__).parent.parent.parent / "docs/pixels.md"

RULES = "0.9::move(X, Y) :- top(X), isFloor(Y).\n0.5::move(X, Y) :- top(X), top(Y), \\+ on(X, Y)."
ATOMS = [("top", "a"), ("top", "b"), ("on", "a", "b")]


@pytest.fixture(scope="module")
def soft():
    return derrl.Policy.parse(RULES, "blocks").soft([("isFloor", "floor")], ATOMS, tnorm="product")


def test_values_are_those_of_the_rules(soft):
    values = dict(zip(soft.actions, soft.values([0.5, 1.0, 0.2])))
    assert values["move", "a", "floor"] == pytest.approx(0.45) and values["move", "b", "floor"] == pytest.approx(0.9)
    assert values["move", "a", "b"] == pytest.approx(0.5 * 0.5 * 1.0 * 0.8) and values["move", "b", "a"] == pytest.approx(0.25)
    assert soft.values(np.full((2, 4, 3), 0.5)).shape == (2, 4, len(soft.actions))
    policy = derrl.Policy.parse(RULES, "blocks")
    by_action = policy.values({("isFloor", "floor"): 1, ("top", "a"): 0.5, ("on", "a", "b"): 1.0}, tnorm="product")
    assert by_action["move", "a", "floor"] == pytest.approx(0.45)


def test_the_page_runs():
    pytest.importorskip("jax")
    scope = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, "docs/pixels.md", "exec"), scope)  # noqa: S102
    assert scope["values"].shape == (2, len(scope["soft"].actions))


@pytest.mark.parametrize("tnorm", ["lukasiewicz", "godel", "product"])
def test_gradients_match_finite_differences(tnorm):
    soft = derrl.Policy.parse(RULES, "blocks").soft([("isFloor", "floor")], ATOMS, tnorm=tnorm)
    p, d = np.array([0.9, 0.95, 0.3]), np.linspace(-1, 1, len(soft.actions))
    slopes = [(soft.values(p + h) - soft.values(p - h)) @ d / 2e-6 for h in 1e-6 * np.eye(3)]
    assert soft.gradient(p, d) == pytest.approx(slopes, abs=1e-4)


def test_bad_input_is_one_clear_error(soft):
    policy = derrl.Policy.parse(RULES, "blocks")
    for call, words in [
        (lambda: soft.values([0.5]), "3 places"),
        (lambda: soft.values([0.5, np.nan, 1]), "not NaN"),
        (lambda: soft.gradient([0.5, 1, 1], [[0.0] * len(soft.actions)]), "differ"),
        (lambda: policy.soft([], [("tops", "a")]), "tops"),
        (lambda: policy.soft([("isFloor", "floor")], [("top", "a"), ("top", "a")]), "twice"),
        (lambda: policy.soft([], ATOMS, tnorm="sum"), "t-norm"),
        (lambda: policy.values({("top", "a"): 1.5}), "from 0 to 1"),
    ]:
        with pytest.raises(derrl.Error, match=words):
            call()


def test_jax_learns_perception_through_rules(soft):
    jax = pytest.importorskip("jax")
    values = soft.jax()
    p = jax.numpy.array([0.9, 0.8, 0.3])
    for function in (jax.grad(lambda p: values(p).sum()), jax.jit(jax.grad(lambda p: values(p).sum()))):
        assert np.asarray(function(p)) == pytest.approx(soft.gradient(np.asarray(p), np.ones(len(soft.actions))), abs=1e-5)
    batch = jax.vmap(jax.grad(lambda p: values(p).sum()))(jax.numpy.stack([p, p]))
    assert batch.shape == (2, 3)
    # Which of two images shows a free block is learned from which action was right.
    rng = np.random.default_rng(0)
    looks, chosen = rng.normal(size=(2, 8)), [soft.actions.index(("move", b, "floor")) for b in "ab"]
    free = rng.integers(2, size=200)
    images = looks[(np.arange(2) == free[:, None]).astype(int)] + 0.3 * rng.normal(size=(200, 2, 8))

    def loss(w):
        top = jax.nn.sigmoid(images @ w[:8] + w[8])
        worth = values(jax.numpy.concatenate([top, jax.numpy.zeros((200, 1))], axis=1))[:, jax.numpy.array(chosen)]
        return -jax.numpy.log(jax.nn.softmax(4 * worth)[jax.numpy.arange(200), free]).mean()

    step = jax.jit(jax.value_and_grad(loss))
    w = jax.numpy.zeros(9)
    for _ in range(100):
        _, slope = step(w)
        w = w - slope
    top = 1 / (1 + np.exp(-(images @ np.asarray(w)[:8] + w[8])))
    assert (top.argmax(axis=1) == free).mean() > 0.98
