"""Calls every RPC of a running server with grpcio, a client that shares no code with it.

usage: client.py STUBS ADDRESS
"""

import sys

sys.path.insert(0, sys.argv[1])

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from icache.v1alpha1 import explain_pb2, explain_pb2_grpc
from icache.v1alpha1 import fast_lookup_pb2 as fast_pb
from icache.v1alpha1 import fast_lookup_pb2_grpc as fast_pb_grpc
from inferencecache.v1alpha1 import inferencecache_pb2 as pb
from inferencecache.v1alpha1 import inferencecache_pb2_grpc as pb_grpc

WAIT_S = 30
KEYS = {"model_id": "llama", "tenant_id": "team-a"}
BLOCKS = [b"block-1", b"block-2", b"block-3"]


def equal(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def ask(**fields):
    return pb.LookupRouteRequest(**KEYS, hash_scheme="vllm", **fields)


def chain(blocks):
    return {"block_hashes": BLOCKS[:blocks], "block_token_counts": [64] * blocks}


def report(cache):
    updates = [
        pb.CacheStateUpdate(
            **KEYS,
            replica_id="r1",
            hash_scheme="vllm",
            prefixes=[pb.PrefixEntry(**chain(3), tier=pb.CACHE_TIER_T2)],
            stats=pb.ReplicaStats(hit_rate=0.5, pressure=0.25, client_version="py"),
        ),
        pb.CacheStateUpdate(
            **KEYS, replica_id="r2", hash_scheme="vllm", prefixes=[pb.PrefixEntry(**chain(1))]
        ),
    ]
    ack = cache.ReportCacheState(iter(updates), timeout=WAIT_S)
    equal((ack.accepted, ack.reason_code), (True, ""))


def lookup(cache):
    answer = cache.LookupRoute(ask(**chain(3)), timeout=WAIT_S)
    equal(answer.reason_code, "PREFIX_MATCH")
    equal([score.replica_id for score in answer.replica_scores], ["r1", "r2"])
    best = answer.replica_scores[0]
    equal((best.matched_tokens, best.tier), (192, pb.CACHE_TIER_T2))
    assert abs(best.score - 192 * 0.75 / 2) < 0.5, best
    assert 0.99 < best.estimated_cache_hit_prob <= 1, best
    assert answer.lookup_latency_us >= 0, answer
    equal(cache.LookupRoute(pb.LookupRouteRequest(), timeout=WAIT_S).reason_code, "NO_HINT")
    unknown = ask(**chain(1))
    unknown.tenant_id = "team-aa"
    equal(cache.LookupRoute(unknown, timeout=WAIT_S).reason_code, "UNKNOWN_TENANT")


def fast_lookup(stub, cache):
    """A stream of lookups: each has one answer, and it is that of LookupRoute."""
    fields = {**KEYS, "hash_scheme": "vllm", "hash_width": len(BLOCKS[0])}
    whole = b"".join(BLOCKS)
    requests = [
        fast_pb.FastLookupRequest(**fields, id=1, block_hashes=whole, block_tokens=64),
        fast_pb.FastLookupRequest(
            **fields, id=2, block_hashes=whole, block_token_counts=[64, 64, 64]
        ),
        fast_pb.FastLookupRequest(**fields, id=3, block_hashes=whole[:-1], block_tokens=64),
        fast_pb.FastLookupRequest(id=4),
    ]
    answers = {answer.id: answer.answer for answer in stub.Lookup(iter(requests), timeout=WAIT_S)}
    codes = {id: answer.reason_code for id, answer in answers.items()}
    equal(codes, {1: "PREFIX_MATCH", 2: "PREFIX_MATCH", 3: "NO_HINT", 4: "NO_HINT"})
    unary = cache.LookupRoute(ask(**chain(3)), timeout=WAIT_S)
    for id in [1, 2]:
        held = [(score.replica_id, score.matched_tokens) for score in answers[id].replica_scores]
        equal(held, [(score.replica_id, score.matched_tokens) for score in unary.replica_scores])


def explain(explainer):
    answer = explainer.ExplainRoute(ask(**chain(3)), timeout=WAIT_S)
    equal(answer.answer.reason_code, "PREFIX_MATCH")
    equal((answer.decided_by, answer.because), ("answer", "prefix-match"))
    gates = {step.gate: step.outcome for step in answer.steps if step.stage == "index"}
    equal(gates["prefix-match"], explain_pb2.GateStep.PASSED)
    equal([candidate.replica_id for candidate in answer.candidates], ["r1", "r2"])
    assert abs(answer.candidates[0].pressure_factor - 0.75) < 0.001, answer.candidates


def state(cache, prefixes, replicas):
    answer = cache.GetCacheState(pb.GetCacheStateRequest(**KEYS), timeout=WAIT_S)
    equal(answer.summary.total_prefixes, prefixes)
    equal([stats.replica_id for stats in answer.replicas], replicas)
    return answer


def events(cache):
    feed = cache.StreamCacheEvents(pb.StreamEventsRequest(tenant_id="team-a"), timeout=WAIT_S)
    # The head of the answer: from now on the feed is open.
    feed.initial_metadata()
    evicted = pb.CacheEvent(
        **KEYS, type=pb.CacheEvent.PREFIX_EVICTED, replica_id="r1", prefix_hash=BLOCKS[2]
    )
    ack = cache.PublishEvent(evicted, timeout=WAIT_S)
    equal((ack.accepted, ack.reason_code), (True, ""))
    equal(next(feed), evicted)
    feed.cancel()
    state(cache, 2, ["r1"])
    cleared = pb.CacheEvent(**KEYS, type=pb.CacheEvent.ALL_CLEARED, replica_id="r1")
    cache.PublishEvent(cleared, timeout=WAIT_S)
    state(cache, 1, [])


def without_state(cache):
    rendered = cache.RenderTemplate(
        pb.RenderTemplateRequest(template_ref="a/b", variables={"x": "y"}), timeout=WAIT_S
    )
    equal(rendered, pb.RenderTemplateResponse(reason_code="OK"))
    routed = cache.LookupPDRoute(pb.LookupPDRouteRequest(**KEYS), timeout=WAIT_S)
    equal(routed, pb.LookupPDRouteResponse(reason_code="NO_HINT"))


def metrics(cache):
    wanted = pb.StreamMetricsRequest(names=["inferencecache_server_up"])
    feed = cache.StreamMetrics(wanted, timeout=WAIT_S)
    metric = next(feed)
    equal((metric.name, metric.type, metric.value), ("inferencecache_server_up", "gauge", 1.0))
    feed.cancel()


def health(channel):
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ["", "inferencecache.v1alpha1.InferenceCache"]:
        request = health_pb2.HealthCheckRequest(service=service)
        equal(stub.Check(request, timeout=WAIT_S).status, health_pb2.HealthCheckResponse.SERVING)
        watch = stub.Watch(request, timeout=WAIT_S)
        equal(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()
    try:
        stub.Check(health_pb2.HealthCheckRequest(service="nobody"), timeout=WAIT_S)
        raise AssertionError("a service that is not there is healthy")
    except grpc.RpcError as error:
        equal(error.code(), grpc.StatusCode.NOT_FOUND)


SERVICES = [
    "grpc.health.v1.Health",
    "icache.v1alpha1.Explain",
    "icache.v1alpha1.FastLookup",
    "inferencecache.v1alpha1.InferenceCache",
]


def reflection(channel):
    """v1alpha through grpcio's own client, v1 through the same messages on the newer path."""
    database = ProtoReflectionDescriptorDatabase(channel)
    missing = set(SERVICES) - set(database.get_services())
    assert not missing, missing
    pool = DescriptorPool(database)
    for service in SERVICES:
        assert pool.FindServiceByName(service).methods, service
    method = pool.FindServiceByName("inferencecache.v1alpha1.InferenceCache").methods_by_name
    equal(method["LookupRoute"].input_type.full_name, "inferencecache.v1alpha1.LookupRouteRequest")
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    for service in SERVICES:
        asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=service)
        answer = next(call(iter([asked]), timeout=WAIT_S))
        assert answer.file_descriptor_response.file_descriptor_proto, answer


def main():
    with grpc.insecure_channel(sys.argv[2]) as channel:
        cache = pb_grpc.InferenceCacheStub(channel)
        report(cache)
        state(cache, 3, ["r1"])
        lookup(cache)
        fast_lookup(fast_pb_grpc.FastLookupStub(channel), cache)
        explain(explain_pb2_grpc.ExplainStub(channel))
        events(cache)
        without_state(cache)
        metrics(cache)
        health(channel)
        reflection(channel)
    print("every RPC answered as it should")


main()
