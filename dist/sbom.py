"""A list of what the binary is made of, as CycloneDX 1.5 JSON: from `cargo metadata` on standard input, the packages that
are linked into icache or run while it is built; those of tests and benchmarks are left out."""

import json
import sys


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, kind):
    entry = {
        "type": kind,
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("description"):
        entry["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # Crates of old separate what may be chosen among by a slash.
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def main():
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]

    def needed(node):
        for dependency in node["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                yield dependency["pkg"]

    reached, waiting = set(), [root]
    while waiting:
        package = waiting.pop()
        if package not in reached:
            reached.add(package)
            waiting.extend(needed(nodes[package]))
    by_reference = sorted(reached, key=lambda package: reference(packages[package]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(packages[root], "application")},
        "components": [component(packages[package], "library") for package in by_reference if package != root],
        "dependencies": [
            {
                "ref": reference(packages[package]),
                "dependsOn": sorted({reference(packages[needs]) for needs in needed(nodes[package])}),
            }
            for package in by_reference
        ],
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
