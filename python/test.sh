#!/usr/bin/env bash
# Tests of the Python package in a fresh virtual environment, cached in .tools/python: `python/test.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.tools/python
packages=(
    mypy==2.4.1 pytest==9.2.0 numpy==2.4.6 gymnasium==1.4.0 minigrid==3.2.0 pandas==3.1.1 ray==2.60.0
    tensorboard==2.21.0 nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0
)
if [ ! -x $venv/bin/pip ]; then python3 -m venv $venv; fi
$venv/bin/pip install --quiet --disable-pip-version-check "${packages[@]}"
# Dependencies stay compiled in target/ between runs.
CARGO_TARGET_DIR="$PWD/target" $venv/bin/pip install --quiet --disable-pip-version-check .

$venv/bin/mypy --cache-dir target/mypy
# Away from python/, so that the installed package is tested and not the sources.
DERRL_TOOLS="$PWD/.tools" $venv/bin/python -m pytest --quiet --rootdir python -p no:cacheprovider python/tests
