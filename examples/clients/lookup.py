"""A gateway's side of a lookup: which replica to send a prompt to, or none.

Needs grpcio, and stubs generated from proto/ in the folder STUBS:
    python -m grpc_tools.protoc --proto_path=proto --python_out=STUBS --grpc_python_out=STUBS \
        inferencecache/v1alpha1/inferencecache.proto

usage: lookup.py STUBS ADDRESS TENANT MODEL HASH_SCHEME BLOCK_TOKENS HASH...
    HASH is the hash of one block of the prompt in hex, first block first.
    Prints the replica, or `-` where the gateway should route as if there were no hints.
"""

import logging
import sys

sys.path.insert(0, sys.argv[1])

import grpc
from inferencecache.v1alpha1 import inferencecache_pb2 as pb
from inferencecache.v1alpha1 import inferencecache_pb2_grpc as pb_grpc

# A hint that comes later than this is worth less than the wait. The server is told, and answers TIMEOUT in time.
DEADLINE_S = 0.02

# Follow these. TENANT_HOT is a soft hint: leave it out where the gateway's own balance is better.
FOLLOWED = {"PREFIX_MATCH", "AFFINITY_HINT", "TENANT_HOT"}

# Somebody has to look at the configuration; retrying helps nobody.
MISCONFIGURED = {"UNKNOWN_TENANT", "UNKNOWN_MODEL", "UNKNOWN_HASH_SCHEME", "POLICY_REQUIRES_CHAIN"}


def choose(cache, request, healthy):
    """The best replica that may be used, or None. Never raises because of the server, and never retries."""
    try:
        answer = cache.LookupRoute(request, timeout=DEADLINE_S)
    except grpc.RpcError as error:
        logging.warning("no hint: %s", error.code().name)
        return None
    if answer.reason_code in MISCONFIGURED:
        logging.warning("no hint: %s", answer.reason_code)
    # A code that is not known here is treated as NO_HINT: newer servers may say more.
    if answer.reason_code not in FOLLOWED:
        return None
    # Best first; the server does not know what the gateway knows of its replicas.
    return next((score.replica_id for score in answer.replica_scores if healthy(score.replica_id)), None)


def main():
    _, _, address, tenant, model, scheme, block_tokens, *hashes = sys.argv
    request = pb.LookupRouteRequest(
        tenant_id=tenant,
        model_id=model,
        hash_scheme=scheme,
        block_hashes=[bytes.fromhex(block) for block in hashes],
        block_token_counts=[int(block_tokens)] * len(hashes),
    )
    # One channel for the life of the gateway: a lookup takes microseconds, a connection does not.
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=5)
        except grpc.FutureTimeoutError:
            logging.warning("no hint: no connection to %s", address)
        cache = pb_grpc.InferenceCacheStub(channel)
        print(choose(cache, request, healthy=lambda replica: True) or "-")


if __name__ == "__main__":
    main()
