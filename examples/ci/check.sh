#!/bin/sh
# What both CI jobs run: policies are linted, and every capture is decided again and compared with what was recorded. Ends
# with 1 where a policy has an error or a lookup is answered otherwise than before.
#
# usage: check.sh POLICIES CAPTURE...
set -eu

if [ $# -lt 2 ]; then
    echo "usage: check.sh POLICIES CAPTURE..." >&2
    exit 2
fi
policies=$1
shift

icache policy lint "$policies"
for capture in "$@"; do
    icache replay --check "$capture"
done
