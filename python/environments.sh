#!/usr/bin/env bash
# Makes the virtual environments of the Python tests, which are cached in .tools: `python/environments.sh`.
#
# Two environments: .tools/python for all but what needs PyTorch, and .tools/torch for stable-baselines3. PyTorch's package on
# PyPI brings gigabytes of CUDA libraries, so Debian's, which computes on the processor, is used where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1
venv=.tools/python
packages=(
    maturin==1.16.0 mypy==2.4.1 pyright==1.1.414 pytest==9.2.0 pytest-xdist==3.8.0 numpy==2.4.6 gymnasium==1.4.0 minigrid==3.2.0 pettingzoo==1.27.0
    pyRDDLGym==2.7 rddlrepository==2.2 pandas==3.1.1 ray==2.60.0 tensorboard==2.21.0 nbclient==0.11.0 nbformat==5.11.1
    ipykernel==7.4.0 jax==0.10.2
)
if [ ! -x $venv/bin/pip ]; then python3 -m venv $venv; fi
# Asking the index takes longer than looking at what is there.
if [ "$(cat $venv/packages 2> /dev/null)" != "${packages[*]}" ]; then
    $venv/bin/pip install --quiet "${packages[@]}"
    echo "${packages[*]}" > $venv/packages
fi

# The last versions of stable-baselines3 and sb3-contrib that work with the PyTorch of Debian 12. That calls itself 1.13.0a0, which pip
# takes for less than 1.13: so they are installed without what they ask for, and that by name.
torch=.tools/torch
needed=(numpy==1.26.4 gymnasium==1.0.0 cloudpickle==3.1.2 pandas==2.3.3 matplotlib==3.10.8 pytest==9.2.0)
learners=(stable-baselines3==2.4.1 sb3-contrib==2.4.0)
wanted="${needed[*]} ${learners[*]}"
there() { [ -x $torch/bin/python ] && $torch/bin/python -c 'import importlib.util as u; assert u.find_spec("torch")' 2> /dev/null; }
if [ "$(cat $torch/packages 2> /dev/null)" != "$wanted" ] || ! there; then
    rm -rf $torch
    as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
    has_torch() { /usr/bin/python3 -c 'import sys, torch; sys.exit(sys.version_info[:2] != (3, 11))' 2> /dev/null; }
    if ! has_torch && command -v apt-get > /dev/null; then
        { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends python3-torch; } > /dev/null || true
    fi
    if has_torch; then
        /usr/bin/python3 -m venv --without-pip --system-site-packages $torch
    else
        echo "no PyTorch for Python 3.11 among Debian's packages: taking PyPI's"
        python3 -m venv --without-pip $torch
        needed+=(torch==2.2.2)
    fi
    $venv/bin/pip --python $torch/bin/python install --quiet "${needed[@]}"
    $venv/bin/pip --python $torch/bin/python install --quiet --no-deps "${learners[@]}"
    echo "$wanted" > $torch/packages
fi
