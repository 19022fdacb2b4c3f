#!/usr/bin/env bash
# Installs a wheel into an empty environment in which no Rust is found, and uses it: `release/smoke.sh WHEEL`. Says how many seconds that took.
set -euo pipefail
wheel=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
begun=$(date +%s.%N)
python3 -m venv "$place/venv"
export PATH="$place/venv/bin:/usr/bin:/bin"
if command -v cargo > /dev/null; then echo "note: there is a cargo in /usr/bin, which the wheel should not need" >&2; fi
cd "$place"
# Neither compiled, nor fetched: what is in the wheel has to be enough.
pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
derrl train blocks --seed 0 --out run > said.txt 2> progress.txt
grep -q "100%" said.txt || { cat said.txt; exit 1; }
python -c 'import derrl; print(derrl.Policy.load("run/policy.pl", "blocks"))' > policy.txt
grep -q "move(X, Y)" policy.txt
took=$(python -c "import sys, time; print(f'{time.time() - float(sys.argv[1]):.1f}')" "$begun")
echo "installed, trained and asked in $took s"
