"""Pages of worlds that are not built in, opened in Chromium."""

import re
import shutil
import subprocess
import sys

import gymnasium
import pytest

import derrl
from conftest import QUICK


def opened(page, tmp_path):
    """The document as a browser has it after its script ran."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("Chromium is not installed")
    told = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'chromium'}", "--virtual-time-budget=2000",
         "--dump-dom", page.resolve().as_uri()],
        capture_output=True, text=True, timeout=120,
    )
    return told.stdout


def gymnasium_run():
    return derrl.train(gymnasium.make("FrozenLake-v1", is_slippery=False), progress=False, episodes=10, **QUICK)


def pddl_run(tmp_path):
    subprocess.run([sys.executable, "-m", "derrl", "new", str(tmp_path / "ferry")], check=True, capture_output=True)
    return derrl.train(derrl.pddl(tmp_path / "ferry"), progress=False, episodes=10, **QUICK)


@pytest.mark.parametrize(("kind", "title"), [("own", "Delivery"), ("gymnasium", "Frozen_lake"), ("pddl", "ferry")])
def test_pages_are_drawn(kind, title, tmp_path, delivery_run):
    run = {"own": lambda: delivery_run, "gymnasium": gymnasium_run, "pddl": lambda: pddl_run(tmp_path)}[kind]()
    shown = opened(run.report(tmp_path / "page.html"), tmp_path)
    heading = re.search(r"<h1>(.*?)</h1>", shown)
    assert heading and title.lower() in heading[1].lower(), shown[:2000]
    assert 'class="rule' in shown and ":-" in shown and "undefined" not in re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)
