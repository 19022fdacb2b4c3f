#!/usr/bin/env bash
# All tests, with what they need: `./test.sh`. May be run again; installs only what is missing.
#
# Needs a Rust toolchain, Python 3 with venv, and, where SWI-Prolog is missing, the right to install Debian packages.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "tools for the tests"
# The SUMO traffic simulator, pinned, in a folder of the project.
if [ ! -x .tools/sumo/bin/pip ]; then python3 -m venv .tools/sumo; fi
.tools/sumo/bin/pip install --quiet --disable-pip-version-check eclipse-sumo==1.28.0
# ProbLog and clingo, likewise, and SWI-Prolog: they run exported policies.
if [ ! -x .tools/export/bin/pip ]; then python3 -m venv .tools/export; fi
.tools/export/bin/pip install --quiet --disable-pip-version-check problog==2.2.6 clingo==5.8.0
if ! command -v swipl > /dev/null; then
    as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
    as_root apt-get update -qq && as_root apt-get install -y -qq swi-prolog-nox
fi

say "formatting"
cargo fmt --all --check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "tests"
cargo test --workspace --locked

say "the paper's experiments, with small budgets"
rm -rf target/reproduction
cargo run --release --locked --quiet -- reproduce all --quick --out target/reproduction

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

say "all passed"
