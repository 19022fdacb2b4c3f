#!/usr/bin/env bash
# Makes what a release needs, in dist/: `./release.sh`, or one part of it: `./release.sh PART...`.
#
# check     what manifests, licences and versions say is consistent: seconds, in CI as well
# wheel     Python packages for Linux that need no Rust: manylinux2014, x86_64 and aarch64, Python 3.10 and later
# sdist     the sources, for `pip install` where there is no wheel
# binary    the command for the same machines, linked to the glibc of 2012, with its manual page and completions
# sbom      what is compiled in, as CycloneDX
# sums      SHA-256 of all of dist/
# smoke     installs the wheel where there is no Rust, trains with it, and says how long that takes; packages for other machines
#           are tried where there is qemu
# oldest    compiles the crates with the oldest Rust that Cargo.toml names
# address URL   writes the public address wherever it is needed
#
# Needs a Rust toolchain by rustup, and Python 3.11 or later. Other tools are fetched into .tools/, pinned. MACHINES=x86_64 makes those for one machine.
# This machine has to be among them.
set -euo pipefail
cd "$(dirname "$0")"

venv=.tools/release
tools=(maturin==1.16.0 ziglang==0.15.2 cargo-zigbuild==0.24.0)
machines=(${MACHINES:-x86_64 aarch64})
export CARGO_PROFILE_RELEASE_STRIP=symbols
# manylinux2014 is the oldest that PyPI takes: Linux distributions of 2014 and later.
glibc=2.17
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

say() { printf '\n== %s\n' "$*"; }

tools() {
    if [ ! -x $venv/bin/pip ]; then python3 -m venv $venv; fi
    if [ "$(cat $venv/packages 2> /dev/null)" != "${tools[*]}" ]; then
        $venv/bin/pip install --quiet --disable-pip-version-check "${tools[@]}"
        echo "${tools[*]}" > $venv/packages
    fi
    export PATH="$PWD/$venv/bin:$PATH"
    rustup target add "${machines[@]/%/-unknown-linux-gnu}" 2> /dev/null
}

check() { python3 release/check.py; }

wheel() {
    tools
    for machine in "${machines[@]}"; do
        say "wheel for $machine"
        maturin build --release --locked --zig --compatibility manylinux2014 --target "$machine-unknown-linux-gnu" --out dist
    done
}

sdist() {
    tools
    say "sources"
    maturin sdist --out dist
}

binary() {
    tools
    local target="${CARGO_TARGET_DIR:-target}"
    local native="$target/$(uname -m)-unknown-linux-gnu/release/derrl"
    for machine in "${machines[@]}"; do
        say "command for $machine"
        cargo zigbuild --release --locked --package derrl-cli --bin derrl --target "$machine-unknown-linux-gnu.$glibc"
        local name="derrl-$version-$machine-linux"
        rm -rf "dist/$name" && mkdir -p "dist/$name/completions"
        cp "$target/$machine-unknown-linux-gnu/release/derrl" README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE "dist/$name"
        # What the command says is the same on every machine, so that of this one writes the pages.
        for shell in bash elvish fish powershell zsh; do "$native" completions $shell > "dist/$name/completions/derrl.$shell"; done
        "$native" man > "dist/$name/derrl.1"
        tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -czf "dist/$name.tar.gz" "$name"
        rm -rf "dist/$name"
    done
}

sbom() {
    mkdir -p dist
    python3 release/sbom.py crates/cli/Cargo.toml "dist/derrl-$version.cdx.json"
    python3 release/sbom.py python/Cargo.toml "dist/derrl-$version-python.cdx.json"
}

sums() { (cd dist && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS); }

smoke() {
    say "the wheel, where there is no Rust"
    release/smoke.sh dist/derrl-"$version"-*_"$(uname -m)".whl
    for machine in "${machines[@]}"; do
        if [ "$machine" = "$(uname -m)" ]; then continue; fi
        if ! command -v "qemu-$machine" > /dev/null; then echo "not tried on $machine: there is no qemu-$machine (package qemu-user)"; continue; fi
        local tarball
        tarball=$(compgen -G "dist/derrl-$version-$machine-linux.tar.gz" || true)
        # shellcheck disable=SC2086 # without a tarball there is no such argument
        release/foreign.sh "$machine" dist/derrl-"$version"-*_"$machine".whl $tarball
    done
}

oldest() {
    local rust
    rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustup toolchain install "$rust" --profile minimal --no-self-update
    RUSTUP_TOOLCHAIN="$rust" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-$rust" cargo check --workspace --locked
}

address() {
    local old
    old=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
    git grep -lF "$old" -- ':!CHANGELOG.md' ':!release.sh' | xargs sed -i "s|$old|$1|g"
    git --no-pager diff --stat
}

if [ "${1:-}" = address ]; then address "${2:?an address such as https://host/owner/derrl}"; exit; fi
if [ $# = 0 ]; then
    rm -rf dist
    set -- check wheel sdist binary sbom smoke sums
fi
mkdir -p dist
for part in "$@"; do
    case "$part" in
        check | wheel | sdist | binary | sbom | sums | smoke | oldest) "$part" ;;
        *) echo "no part \`$part\`: see the top of release.sh" >&2; exit 2 ;;
    esac
done
