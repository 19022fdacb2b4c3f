"""The software bill of materials of a Cargo package, as CycloneDX 1.5: `sbom.py MANIFEST OUT`.

It lists what is compiled in: dependencies of the package, without those of tests and of build scripts' tests.
"""

import json
import subprocess
import sys
import uuid
from pathlib import Path


def metadata(manifest: str) -> dict:
    """What Cargo knows of a package and all that it depends on."""
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", manifest],
        check=True, capture_output=True, text=True,
    )
    return json.loads(told.stdout)


def shipped(graph: dict) -> list[dict]:
    """The packages that a build of the root takes in, on any platform, the root first."""
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    root = graph["resolve"]["root"]
    found, waiting = {root: None}, [root]
    for at in waiting:
        for dependency in nodes[at]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]) and dependency["pkg"] not in found:
                found[dependency["pkg"]] = None
                waiting.append(dependency["pkg"])
    packages = {package["id"]: package for package in graph["packages"]}
    return [packages[at] for at in found]


def checksums(manifest: str) -> dict[tuple[str, str], str]:
    """SHA-256 of packages by name and version, from the lock file beside the manifest or above it."""
    import tomllib

    folder = Path(manifest).resolve().parent
    lock = next(f / "Cargo.lock" for f in (folder, *folder.parents) if (f / "Cargo.lock").is_file())
    read = tomllib.loads(lock.read_text(encoding="utf-8"))
    return {(p["name"], p["version"]): p["checksum"] for p in read["package"] if "checksum" in p}


def component(package: dict, sums: dict[tuple[str, str], str]) -> dict:
    """A package as CycloneDX describes it."""
    name, version = package["name"], package["version"]
    address = f"pkg:cargo/{name}@{version}"
    found = {"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address}
    if package["license"]:
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in sums:
        found["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def bill(manifest: str) -> dict:
    """The whole document. The same sources give the same text."""
    root, *others = shipped(metadata(manifest))
    sums = checksums(manifest)
    about = component(root, sums) | {"type": "application"}
    listed = [component(p, sums) for p in sorted(others, key=lambda p: (p["name"], p["version"]))]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(listed, sort_keys=True))
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "serialNumber": f"urn:uuid:{serial}",
        "metadata": {"component": about}, "components": listed,
    }


if __name__ == "__main__":
    source, out = sys.argv[1:]
    Path(out).write_text(json.dumps(bill(source), indent=1) + "\n", encoding="utf-8")
