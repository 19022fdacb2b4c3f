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

say "formatting"
cargo fmt --all --check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "tests"
cargo test --workspace --locked

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

say "all passed"
