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
# SWI-Prolog runs exported policies, Chromium and Node.js open the pages.
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
# The others are installed into a folder of the project, pinned, while Rust compiles.
tool() { # tool FOLDER PACKAGE...: a virtual environment with these packages
    if [ ! -x ".tools/$1/bin/pip" ]; then python3 -m venv ".tools/$1"; fi
    ".tools/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
tools() {
    set -e
    tool sumo eclipse-sumo==1.28.0
    # For its scenarios of real traffic; what it asks for to learn is not needed.
    tool sumo --no-deps sumo-rl==1.4.5
    # ProbLog and clingo run exported policies, too.
    tool export problog==2.2.6 clingo==5.8.0
    # pddlgym's files and simulator, and unified-planning's validator, for PDDL. What else pddlgym asks for is for drawing.
    tool pddl unified-planning==1.3.0 numpy==2.4.6
    tool pddl --no-deps pddlgym==0.0.7
    # Fast Downward looks whether problems of the generators can be solved.
    tool pddl --no-deps up-fast-downward==1.0.0
    npm ci --prefix web/tests --silent --no-audit --no-fund
}
mkdir -p .tools
(tools) > .tools/tools.log 2>&1 &
installing=$!
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
there() { wait "$1" || { cat "$2"; exit 1; }; } # there JOB LOG: waits for a job, and shows its log if it failed

say "formatting"
cargo fmt --all --check

say "what the release says about itself"
./release.sh check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "tests"
# What the Python tests need is fetched meanwhile.
there $installing .tools/tools.log
python/environments.sh > .tools/environments.log 2>&1 &
environments=$!
cargo test --workspace --locked --no-run
# Many tests wait for other programs, so two halves run side by side.
cargo test --workspace --locked --test '[n-z]*' > target/tests.log 2>&1 &
half=$!
cargo test --workspace --locked --lib --bins --test '[a-m]*'
cargo test --workspace --locked --doc
wait $half || { cat target/tests.log; exit 1; }
cat target/tests.log

say "readers of files, fed with broken ones for a minute"
DERRL_FUZZ_SECONDS=60 cargo test -p derrl-bench --locked --quiet --test fuzz

say "a crate with a world of its own"
CARGO_TARGET_DIR="$PWD/target" cargo test --manifest-path examples/delivery/Cargo.toml --locked --quiet

say "packages"
cargo package --workspace --no-verify --allow-dirty --locked --quiet

say "the Python package"
there $environments .tools/environments.log
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
