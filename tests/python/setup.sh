#!/bin/sh
# Makes the virtual environment of what the tests run in Python: grpcio with stubs generated from our proto files for a
# client, pyzmq and msgspec for an engine. Does nothing where that is done already, and waits where another run makes
# it. Needs python3 with venv, and a package index.
#
# usage: setup.sh [FOLDER]    default: target/python-client
set -eu

tests=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$tests/../.." && pwd)
folder=${1:-$root/target/python-client}
protos="inferencecache/v1alpha1/inferencecache.proto icache/v1alpha1/explain.proto icache/v1alpha1/fast_lookup.proto"

fail() {
    echo "tests/python/setup.sh: $1" >&2
    exit 1
}

command -v python3 >/dev/null || fail "python3 is not there; install it, with its venv module"

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9

wanted=$(cd "$root/proto" && cat "$tests/requirements.txt" "$tests/setup.sh" $protos | cksum)
if [ "$(cat "$folder/made-from" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

rm -rf "$folder"
python3 -m venv "$folder" || fail "python3 cannot make a virtual environment; install its venv module"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$tests/requirements.txt" ||
    fail "the packages of tests/python/requirements.txt cannot be installed; is a package index reachable?"
mkdir "$folder/stubs"
(cd "$root/proto" && "$folder/bin/python" -m grpc_tools.protoc --proto_path=. \
    --python_out="$folder/stubs" --grpc_python_out="$folder/stubs" $protos) ||
    fail "the stubs cannot be generated"
# Written last: a run that was cut short is made again.
echo "$wanted" >"$folder/made-from"
