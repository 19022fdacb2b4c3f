#!/usr/bin/env bash
# Tests of the Python package in a fresh virtual environment, cached in .tools/python: `python/test.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.tools/python
packages=(
    mypy==2.4.1 pytest==9.2.0 numpy==2.4.6 gymnasium==1.4.0 minigrid==3.2.0 pandas==PANDAS ray==RAY
    tensorboard==TENSORBOARD nbclient==NBCLIENT nbformat==NBFORMAT ipykernel==IPYKERNEL
)
if [ ! -x $venv/bin/pip ]; then python3 -m venv $venv; fi
$venv/bin/pip install --quiet --disable-pip-version-check "${packages[@]}"
# Dependencies stay compiled in target/ between runs.
CARGO_TARGET_DIR="$PWD/target" $venv/bin/pip install --quiet --disable-pip-version-check .

$venv/bin/mypy --cache-dir target/mypy
# Away from python/, so that the installed package is tested and not the sources.
DERRL_TOOLS="$PWD/.tools" $venv/bin/python -m pytest --quiet --rootdir python -p no:cacheprovider python/tests
