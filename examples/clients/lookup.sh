#!/bin/sh
# A gateway's side of a lookup with our own command line: prints the replica to send a prompt to, or `-` where it should
# be routed as if there were no hints. The server is that of ICACHE_SERVER.
#
# usage: lookup.sh TENANT MODEL HASH_SCHEME BLOCK_TOKENS HASH,HASH,...
set -u

if [ $# -ne 5 ]; then
    echo "usage: lookup.sh TENANT MODEL HASH_SCHEME BLOCK_TOKENS HASH,HASH,..." >&2
    exit 2
fi

# Whatever goes wrong, the request is routed: without an answer there is no hint.
answer=$(icache lookup --tenant "$1" --model "$2" --hash-scheme "$3" --block-tokens "$4" --blocks "$5" \
    --timeout 1s -o jsonl) || answer=

case $answer in
*'"reasonCode":"PREFIX_MATCH"'* | *'"reasonCode":"AFFINITY_HINT"'* | *'"reasonCode":"TENANT_HOT"'*)
    replica=$(printf '%s\n' "$answer" | sed -n 's/.*"replicaScores":\[{"replicaId":"\([^"]*\)".*/\1/p')
    printf '%s\n' "${replica:--}"
    ;;
# NO_HINT, configuration errors, and codes that are not known here.
*) echo - ;;
esac
