#!/usr/bin/env bash
# Tests of the Python package in a virtual environment, cached in .tools/python: `python/test.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.tools/python
packages=(
    maturin==1.16.0 mypy==2.4.1 pytest==9.2.0 numpy==2.4.6 gymnasium==1.4.0 minigrid==3.2.0 pettingzoo==1.27.0
    pyRDDLGym==2.7 rddlrepository==2.2 pandas==3.1.1 ray==2.60.0 tensorboard==2.21.0 nbclient==0.11.0 nbformat==5.11.1
    ipykernel==7.4.0
)
if [ ! -x $venv/bin/pip ]; then python3 -m venv $venv; fi
# Asking the index takes longer than looking at what is there.
if [ "$(cat $venv/packages 2> /dev/null)" != "${packages[*]}" ]; then
    $venv/bin/pip install --quiet --disable-pip-version-check "${packages[@]}"
    echo "${packages[*]}" > $venv/packages
fi
# With the profile of `cargo test`: most dependencies are found compiled in target/, and nothing is optimised for long.
PATH="$PWD/$venv/bin:$PATH" CARGO_TARGET_DIR="$PWD/target" MATURIN_PEP517_ARGS="--profile dev --strip" \
    $venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .

$venv/bin/mypy --cache-dir target/mypy
# Away from python/, so that the installed package is tested and not the sources.
DERRL_TOOLS="$PWD/.tools" $venv/bin/python -m pytest --quiet --durations 10 --rootdir python -p no:cacheprovider python/tests
