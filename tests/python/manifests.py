"""Validates Kubernetes manifests against the schemas of Kubernetes itself; a field that is not known is an error.

usage: manifests.py --versions 1.30,1.37 FILE...
"""

import argparse
import sys

import kubernetes_validate
import yaml


def faults(path, versions):
    with open(path, encoding="utf-8") as file:
        documents = [document for document in yaml.safe_load_all(file) if document is not None]
    if not documents:
        yield f"{path}: no manifest in it"
    for document in documents:
        for version in versions:
            try:
                used = kubernetes_validate.validate(document, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                yield f"{path}: {document.get('kind')}, Kubernetes {version}: {error}"
            else:
                assert str(used) == version, f"asked for the schemas of {version}, got those of {used}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--versions", required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    found = [fault for path in arguments.files for fault in faults(path, arguments.versions.split(","))]
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{len(arguments.files)} files are valid")


main()
