"""The guide and the notebook run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    scope = {"__name__": "guide"}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "docs/python.md", "exec"), scope)  # noqa: S102
    assert (tmp_path / "blocks.html").is_file() and (tmp_path / "sweep/ledger.jsonl").is_file()


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)  # noqa: S102
    assert blocks and scope["run"].scores["more"].success_rate == 1


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "python/examples").glob("*.ipynb")))
def test_notebooks_run(name):
    """One for each kind of world."""
    import nbclient
    import nbformat

    path = ROOT / "python/examples" / name
    notebook = nbformat.read(path, as_version=4)
    committed = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert all(committed[1:]), "the notebook is kept with its output"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    # The committed output is of the same kinds. Its rules may be those of an earlier version.
    executed = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    kinds = [[sorted(o.get("data", {})) for o in outputs if o.output_type == "execute_result"] for outputs in executed]
    before = [[sorted(o.get("data", {})) for o in outputs if o.output_type == "execute_result"] for outputs in committed]
    assert kinds == before and not any(o.output_type == "error" for outputs in executed for o in outputs)
