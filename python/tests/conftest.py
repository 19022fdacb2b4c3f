"""What tests share: the examples as modules, and quick settings."""

import signal
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

from delivery import Delivery  # noqa: E402

QUICK = {"updates": 20, "restarts": 2}
# The gradient alone, in whole restarts: what else there is solves most worlds at once.
GRADIENT = {"without": ["explore", "draw", "change", "try"], "doubling": False}
# It takes seconds, in which something can happen to it: some 20 million steps, more than the default allows.
LONG = {**GRADIENT, "updates": 5000, "batch": 4096, "restarts": 2, "max_steps": 20_000_000}

# In the world below, something is found at once, and a run goes on for long.
ENDLESS = {"max_steps": 10**9, "without": ["explore", "gradient"], "progress": False, "episodes": 10}


def pytest_configure(config):
    # Where the tests run in the background of a shell, Ctrl-C is ignored from the start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "alone: measures time, so nothing else should run beside it")


class Never(Delivery):
    """The delivery world, in which picking up is paid and nothing reached. It takes its time."""

    def step(self, action):
        time.sleep(0.0001)
        facts, _, _, truncated = super().step(action)
        return facts, float(action[0] == "pick"), False, truncated


@pytest.fixture(scope="session")
def blocks():
    """A run on a built-in world."""
    import derrl

    return derrl.train("blocks", seed=0, updates=40, restarts=4, **GRADIENT)


@pytest.fixture(scope="session")
def delivery_run(tmp_path_factory):
    """A run on the delivery world of the guide."""
    import derrl

    out = tmp_path_factory.mktemp("runs") / "delivery"
    return derrl.train(Delivery(), tests={"more": Delivery(balls=6, rooms=5)}, seed=0, out=out)
