"""Every public name is explained with an example, and the examples run."""

import doctest
import inspect
import shutil
import subprocess
import sys
import types
from pathlib import Path

import gymnasium
import pytest

import derrl
from conftest import QUICK
from delivery import Delivery

STATE = [("on", "a", "b"), ("on", "b", "floor"), ("on", "c", "floor"), ("top", "a"), ("top", "c"), ("goal_on", "c", "a"), ("isFloor", "floor")]

# What would take minutes with the settings that the examples leave out.
BRIEF = {"progress": False, "episodes": 10, "max_steps": 20_000, **QUICK}


def members(owner, prefix):
    """The public methods and properties of a class, with those that it defines itself."""
    for name, member in sorted(vars(owner).items()):
        member = getattr(member, "__func__", member)
        if not name.startswith("_") and (callable(member) or isinstance(member, property)):
            yield f"{prefix}.{name}", member


def public():
    """All public names, and the methods of those classes that people call methods of."""
    for name in derrl.__all__:
        if name not in ("Atom", "__version__"):  # a type, and a text
            yield name, getattr(derrl, name)
    for owner in (derrl.Policy, derrl.Run):
        yield from members(owner, owner.__name__)
    yield "derrl", derrl


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_explained(name):
    said = inspect.getdoc(PUBLIC[name]) or ""
    assert said.strip(), name
    assert isinstance(PUBLIC[name], property) or ">>> " in said, f"{name} has no example"


class Checker(doctest.OutputChecker):
    """What an example does not show is not compared."""

    def check_output(self, want, got, flags):
        return want == "" or super().check_output(want, got, flags)


@pytest.fixture(scope="module")
def scope(tmp_path_factory):
    """What examples take as given: a run on blocks with its facts, and files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("given"))
        subprocess.run([sys.executable, "-m", "derrl", "new", "ferry"], check=True, capture_output=True)
        run = derrl.train("blocks", seed=0, out="runs/blocks", progress=False, **QUICK)
        whole = derrl.train
        patch.setattr(derrl, "train", lambda world, **given: whole(world, **{**BRIEF, **given}))
        yield {
            "derrl": derrl, "gymnasium": gymnasium, "Delivery": Delivery, "run": run, "other": run, "first": run, "second": run,
            "facts": STATE, "given": Path.cwd(),
        }


FOUND = [test for module in [derrl, *(m for n, m in sorted(sys.modules.items()) if n.startswith("derrl.") and isinstance(m, types.ModuleType))]
         for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__) if test.examples]
# Those of the compiled part, which the finder does not enter.
FOUND += [doctest.DocTestParser().get_doctest(of.__doc__, {}, f"derrl.{of.__name__}", None, 0) for of in (derrl.Error, derrl.World, derrl.builtin)]


@pytest.mark.parametrize("test", FOUND, ids=lambda test: test.name)
def test_examples_run(test, scope, tmp_path, monkeypatch):
    shutil.copytree(scope["given"], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    told = []
    test.globs = {**scope}
    failed = doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=told.append)
    assert failed.failed == 0, "".join(told)
