#!/usr/bin/env bash
# Tests of the Python package, in virtual environments that are cached in .tools: `python/test.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."

python/environments.sh
export PIP_DISABLE_PIP_VERSION_CHECK=1
venv=.tools/python
torch=.tools/torch

# With the profile of `cargo test`: most dependencies are found compiled in target/, and nothing is optimised for long.
rm -rf target/python-wheel
PATH="$PWD/$venv/bin:$PATH" CARGO_TARGET_DIR="$PWD/target" MATURIN_PEP517_ARGS="--profile dev --strip" \
    $venv/bin/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir target/python-wheel .
wheel=(target/python-wheel/derrl-*.whl)
$venv/bin/pip install --quiet --no-deps --force-reinstall "${wheel[0]}"

# Where there is no Rust: what users install.
release/smoke.sh "${wheel[0]}"

$venv/bin/mypy --cache-dir target/mypy
$venv/bin/pyright --pythonpath $venv/bin/python
# Away from python/, so that the installed package is tested and not the sources.
export DERRL_TOOLS="$PWD/.tools"
tests=(-m pytest --quiet --rootdir python -p no:cacheprovider python/tests)
# Two files at a time, and then what measures time, alone.
$venv/bin/python "${tests[@]}" -n 2 --dist loadfile -m "not alone" --durations 10
$venv/bin/python "${tests[@]}" -m alone

$venv/bin/pip --python $torch/bin/python install --quiet --no-deps --force-reinstall "${wheel[0]}"
$torch/bin/python -m pytest --quiet --durations 3 --rootdir python -p no:cacheprovider python/tests_torch
