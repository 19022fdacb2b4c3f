#!/usr/bin/env bash
# All tests, with what they need: `./test.sh`. May be run again; installs only what is missing.
#
# Needs a Rust toolchain, Python 3 with venv, and, where SWI-Prolog, Chromium or Node.js is missing, the right to install Debian
# packages.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "tools for the tests"
export DERRL_TOOLS="$PWD/.tools"
# The SUMO traffic simulator, pinned, in a folder of the project.
if [ ! -x .tools/sumo/bin/pip ]; then python3 -m venv .tools/sumo; fi
.tools/sumo/bin/pip install --quiet --disable-pip-version-check eclipse-sumo==1.28.0
# ProbLog and clingo, likewise, and SWI-Prolog: they run exported policies. Chromium and Node.js: they open the pages.
if [ ! -x .tools/export/bin/pip ]; then python3 -m venv .tools/export; fi
.tools/export/bin/pip install --quiet --disable-pip-version-check problog==2.2.6 clingo==5.8.0
# pddlgym's files and simulator, and unified-planning's validator, for PDDL. What else pddlgym asks for is for drawing.
if [ ! -x .tools/pddl/bin/pip ]; then python3 -m venv .tools/pddl; fi
.tools/pddl/bin/pip install --quiet --disable-pip-version-check unified-planning==1.3.0 numpy==2.4.6
.tools/pddl/bin/pip install --quiet --disable-pip-version-check --no-deps pddlgym==0.0.7
missing=()
need() { command -v "$1" > /dev/null || missing+=("${@:2}"); }
need swipl swi-prolog-nox
need chromium chromium
need node nodejs
need npm npm
if [ ${#missing[@]} -gt 0 ]; then
    as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
    as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
npm ci --prefix web/tests --silent --no-audit --no-fund
# What the Python tests need is fetched while Rust compiles.
python/environments.sh > .tools/environments.log 2>&1 &
environments=$!
trap 'kill $environments 2> /dev/null || true' EXIT

say "formatting"
cargo fmt --all --check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "tests"
cargo test --workspace --locked

say "a crate with a world of its own"
CARGO_TARGET_DIR="$PWD/target" cargo test --manifest-path examples/delivery/Cargo.toml --quiet

say "packages"
cargo package --workspace --no-verify --allow-dirty --locked --quiet

say "the Python package"
wait $environments || { cat .tools/environments.log; exit 1; }
python/test.sh

say "pages, in Chromium"
DERRL="$PWD/target/debug/derrl" npm test --prefix web/tests --silent

say "the paper's experiments, with small budgets"
rm -rf target/reproduction
# On three of the worlds: the tests of the command run the others.
target/debug/derrl reproduce all --quick --seeds 1 --domain blocks --domain doorkey --domain traffic --out target/reproduction

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

say "all passed"
