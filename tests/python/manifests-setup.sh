#!/bin/sh
# Makes the virtual environment that validates Kubernetes manifests. Does nothing where that is done already. Needs python3
# with venv, and a package index.
#
# usage: manifests-setup.sh [FOLDER]    default: target/python-manifests
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$tests/../../target/python-manifests}

fail() {
    echo "tests/python/manifests-setup.sh: $1" >&2
    exit 1
}

command -v python3 >/dev/null || fail "python3 is not there; install it, with its venv module"

wanted=$(cat "$tests/manifests-requirements.txt" "$tests/manifests-setup.sh" | cksum)
if [ "$(cat "$folder/made-from" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
python3 -m venv "$folder" || fail "python3 cannot make a virtual environment; install its venv module"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$tests/manifests-requirements.txt" ||
    fail "the packages of tests/python/manifests-requirements.txt cannot be installed; is a package index reachable?"
# Written last: a run that was cut short is made again.
echo "$wanted" >"$folder/made-from"
