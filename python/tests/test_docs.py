"""The guide and the notebook run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_guide_runs(tmp_path, monkeypatch):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    scope = {"__name__": "guide"}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "docs/python.md", "exec"), scope)  # noqa: S102
    assert (tmp_path / "blocks.html").is_file() and (tmp_path / "sweep/ledger.jsonl").is_file()


def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    path = ROOT / "python/examples/delivery.ipynb"
    notebook = nbformat.read(path, as_version=4)
    committed = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert all(committed[1:]), "the notebook is kept with its output"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    # The policy is the same as the one that is committed.
    texts = [
        next(o["data"]["text/plain"] for o in outputs if "data" in o and "rule" not in o.get("name", ""))
        for outputs in ([c.outputs for c in notebook.cells if "policy" in c.metadata.get("tags", [])] + [
            c.outputs for c in nbformat.read(path, as_version=4).cells if "policy" in c.metadata.get("tags", [])])
    ]
    assert texts[0] == texts[1]
