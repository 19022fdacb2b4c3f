"""What `pip install .` runs: maturin, after a look at whether there is a Rust that can compile this."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from maturin import *  # noqa: F403  the hooks of a build backend
from maturin import build_editable as _editable, build_wheel as _wheel, prepare_metadata_for_build_wheel as _metadata


def _need_rust() -> None:
    """Ends with one line where there is no Rust, or one that is too old."""
    root = Path(__file__).parent.parent
    wanted = re.search(r'^rust-version = "([\d.]+)"', (root / "python/Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    advice = f"compiling it needs Rust {wanted} or later, from https://rustup.rs; a wheel needs none"
    if shutil.which("cargo") is None:
        sys.exit(f"derrl: there is no `cargo`: {advice}")
    told = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"cargo (\d+)\.(\d+)", told)
    if found and (int(found[1]), int(found[2])) < tuple(map(int, wanted.split(".")[:2])):
        sys.exit(f"derrl: {told.strip()} is too old: {advice}")


def prepare_metadata_for_build_wheel(*args, **kwargs):
    _need_rust()
    return _metadata(*args, **kwargs)


def build_wheel(*args, **kwargs):
    _need_rust()
    return _wheel(*args, **kwargs)


def build_editable(*args, **kwargs):
    _need_rust()
    return _editable(*args, **kwargs)
