#!/usr/bin/env bash
# Uses packages for another machine on this one, under qemu: `release/foreign.sh MACHINE WHEEL [TARBALL]`, as in
# `release/foreign.sh aarch64 dist/derrl-*_aarch64.whl dist/derrl-*-aarch64-linux.tar.gz`.
#
# Needs Debian's qemu-user. Debian's Python for that machine is fetched into .tools/MACHINE; nothing is installed.
set -euo pipefail
machine="$1" wheel=$(realpath "$2") tarball=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."
command -v "qemu-$machine" > /dev/null || { echo "there is no qemu-$machine: it comes with the package qemu-user" >&2; exit 1; }
declare -A debian=([aarch64]=arm64 [x86_64]=amd64)
root="$PWD/.tools/$machine"

if [ ! -x "$root/usr/bin/python3" ]; then
    # Package lists and archives of this machine are left alone.
    mkdir -p "$root"/apt/{state/lists/partial,cache/archives/partial}
    touch "$root/apt/state/status"
    apt=(-qq -o "APT::Architecture=${debian[$machine]}" -o "APT::Architectures=${debian[$machine]}" -o "Dir::State=$root/apt/state"
        -o "Dir::State::status=$root/apt/state/status" -o "Dir::Cache=$root/apt/cache")
    apt-get "${apt[@]}" update
    apt-get "${apt[@]}" install --yes --no-install-recommends --download-only python3 > /dev/null
    for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
begun=$(date +%s.%N)
# The pip of this machine looks whether the wheel says what that machine asks for.
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --only-binary :all: --python-version 3.10 \
    --implementation cp --abi abi3 --platform "manylinux2014_$machine" --target "$place/packages" "$wheel"
there() { PYTHONPATH="$place/packages" "qemu-$machine" -L "$root" "$@"; }
cd "$place"
there "$root/usr/bin/python3" -m derrl train blocks --seed 0 --out run > said.txt 2> progress.txt
grep -q "100%" said.txt || { cat said.txt progress.txt; exit 1; }
there "$root/usr/bin/python3" -c 'import derrl; print(derrl.Policy.load("run/policy.pl", "blocks"))' > policy.txt
grep -q "move(X, Y)" policy.txt
if [ -n "$tarball" ]; then
    tar -xzf "$tarball"
    there derrl-*/derrl train blocks --seed 0 --out again > again.txt 2> progress.txt
    cmp run/policy.pl again/policy.pl
fi
took=$(python3 -c "import sys, time; print(f'{time.time() - float(sys.argv[1]):.1f}')" "$begun")
echo "the packages for $machine: installed, trained and asked in $took s, under qemu"
