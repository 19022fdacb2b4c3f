"""Checks what a release says about itself: `check.py`, in a clone. Takes seconds and needs no network.

Licences, second versions and sources are those that deny.toml allows. Versions, addresses, the oldest Rust and the oldest
Python are the same wherever they are written. Exits with 1 and a line per fault.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sbom  # noqa: E402

ROOT = Path(__file__).parent.parent
MANIFESTS = ("Cargo.toml", "python/Cargo.toml")


def toml(path: str) -> dict:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def allowed(expression: str, allow: set[str]) -> bool:
    """Whether a licence expression can be met with the licences allowed: `A AND (B OR C)`; an old `/` is an OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    joined, at = [], 0
    while at < len(tokens):  # a licence WITH an exception is one name
        if tokens[at + 1 : at + 2] == ["WITH"]:
            joined.append(" ".join(tokens[at : at + 3]))
            at += 3
        else:
            joined.append(tokens[at])
            at += 1

    def either() -> bool:
        good = both()
        while joined[:1] == ["OR"]:
            joined.pop(0)
            good = both() or good
        return good

    def both() -> bool:
        good = one()
        while joined[:1] == ["AND"]:
            joined.pop(0)
            good = one() and good
        return good

    def one() -> bool:
        token = joined.pop(0)
        if token != "(":
            return token in allow
        good = either()
        joined.pop(0)
        return good

    return either()


def dependencies() -> list[str]:
    """What is wrong with the packages built upon."""
    deny, faults = toml("deny.toml"), []
    allow, skip = set(deny["licenses"]["allow"]), {s["crate"] for s in deny["bans"]["skip"]}
    sources = {f"registry+{address}" for address in deny["sources"]["allow-registry"]}
    second: set[str] = set()
    for manifest in MANIFESTS:
        graph = sbom.metadata(str(ROOT / manifest))
        versions = defaultdict(set)
        shipped = shipped_anywhere(graph)
        for package in graph["packages"]:
            name, version, source = package["name"], package["version"], package["source"]
            if source is not None and source not in sources:
                faults.append(f"{manifest}: {name} {version} comes from {source}")
            if not package["license"] or not allowed(package["license"], allow):
                faults.append(f"{manifest}: {name} {version} has the licence {package['license']}, which deny.toml does not allow")
            if package["id"] in shipped:
                versions[name].add(version)
        for name, found in sorted(versions.items()):
            if len(found) > 1:
                second |= {f"{name}@{version}" for version in found}
            if len(found - {s.removeprefix(f"{name}@") for s in skip}) > 1:
                faults.append(f"{manifest}: {name} is shipped in the versions {', '.join(sorted(found))}")
    return faults + [f"deny.toml: {skipped} need not be skipped" for skipped in sorted(skip - second)]


def shipped_anywhere(graph: dict) -> set[str]:
    """The packages that go into what users install."""
    found: set[str] = set()
    for member in graph["workspace_members"]:
        graph["resolve"]["root"] = member
        found |= {package["id"] for package in sbom.shipped(graph)}
    return found


WANTED = ("authors", "categories", "description", "edition", "keywords", "license", "readme", "repository", "rust_version")


def manifests() -> list[str]:
    """What is missing in manifests, or is not the same in all."""
    faults = []
    workspace, python, project = toml("Cargo.toml")["workspace"]["package"], toml("python/Cargo.toml")["package"], toml("pyproject.toml")["project"]
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--manifest-path", str(ROOT / "Cargo.toml")],
        check=True, capture_output=True, text=True,
    )
    for package in json.loads(told.stdout)["packages"]:
        for key in WANTED:
            if not package[key]:
                faults.append(f"{package['name']}: its manifest has no {key.replace('_', '-')}")
        if package["readme"] and not (Path(package["manifest_path"]).parent / package["readme"]).is_file():
            faults.append(f"{package['name']}: there is no {package['readme']}")
    for key in ("version", "license", "edition", "rust-version"):
        if workspace[key] != python[key]:
            faults.append(f"{key} is {workspace[key]} in Cargo.toml, but {python[key]} in python/Cargo.toml")
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    for place, version in (("pyproject.toml", project["version"]), ("CITATION.cff", cited and cited[1])):
        if version != workspace["version"]:
            faults.append(f"version is {workspace['version']} in Cargo.toml, but {version} in {place}")
    for name, address in project["urls"].items():
        if not address.startswith(workspace["repository"]):
            faults.append(f"pyproject.toml: {name} is {address}, not under {workspace['repository']}")
    oldest = project["requires-python"].removeprefix(">=")
    abi = next(f for f in toml("python/Cargo.toml")["dependencies"]["pyo3"]["features"] if f.startswith("abi3-py"))
    if abi != "abi3-py" + oldest.replace(".", ""):
        faults.append(f"requires-python is {oldest}, but the wheel is made for {abi}")
    conda = (ROOT / "environment.yml").read_text(encoding="utf-8")
    if f"- rust>={workspace['rust-version']}\n" not in conda or f"- python>={oldest}\n" not in conda:
        faults.append("environment.yml asks for another Rust or Python than the manifests")
    toolchain = toml("rust-toolchain.toml")["toolchain"]["channel"]
    if f"FROM rust:{toolchain.rsplit('.', 1)[0]}-" not in (ROOT / "Dockerfile").read_text(encoding="utf-8"):
        faults.append(f"Dockerfile has another Rust than rust-toolchain.toml, {toolchain}")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if f"Rust {workspace['rust-version']}" not in readme:
        faults.append(f"README.md does not say that Rust {workspace['rust-version']} is needed")
    return faults


if __name__ == "__main__":
    found = manifests() + dependencies()
    print("\n".join(found) or "what the release says about itself is consistent")
    sys.exit(bool(found))
