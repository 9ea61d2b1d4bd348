//! Deadlines, large lookups, callers that do not read, servers that stop.

use std::sync::mpsc as blocking;

use icache::lookup::RouterConfig;
use icache::model::Sourced;
use icache::server::ServerConfig;
use tonic::Code;

use super::*;
use crate::server_support::{serve, serve_with, settings};

/// Blocks that are answered on the spot at most.
const SMALL: u32 = 8_192;
/// Large lookups of one stream that are worked on at a time.
const MAX_LARGE: u64 = 8;

/// Runs `test` where large lookups have one thread, which is busy until the sender is dropped.
fn with_busy_thread<F: Future<Output = ()>>(test: impl FnOnce(blocking::Sender<()>) -> F) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
    let (release, held) = blocking::channel::<()>();
    let (busy, is_busy) = blocking::channel();
    runtime.spawn_blocking(move || {
        busy.send(()).unwrap();
        let _ = held.recv();
    });
    is_busy.recv().unwrap();
    runtime.block_on(test(release));
}

#[test]
fn small_lookups_overtake_large_ones() {
    with_busy_thread(|release| async move {
        let world = serve(settings()).await;
        world.report(vec![held("r1", 1, 64, 0)]).await;
        let mut stream = Stream::open(&world).await;
        for id in 1..MAX_LARGE {
            stream.send(asked(id, 1, SMALL + 1)).await;
        }
        stream.send(asked(100, 1, SMALL)).await;
        stream.send(asked(101, 1, 1)).await;
        assert_eq!(stream.code().await, (100, "PREFIX_MATCH".to_owned()));
        assert_eq!(stream.code().await, (101, "AFFINITY_HINT".to_owned()), "16 tokens are below the floor");
        drop(release);
        let mut ids = Vec::new();
        for _ in 1..MAX_LARGE {
            let (id, code) = stream.code().await;
            assert_eq!(code, "PREFIX_MATCH");
            ids.push(id);
        }
        ids.sort_unstable();
        assert_eq!(ids, (1..MAX_LARGE).collect::<Vec<_>>());
    });
}

#[test]
fn a_stream_has_so_many_large_lookups_in_work_and_no_more() {
    with_busy_thread(|release| async move {
        let world = serve(settings()).await;
        let mut stream = Stream::open(&world).await;
        for id in 0..MAX_LARGE {
            stream.send(asked(id, 1, SMALL + 1)).await;
        }
        stream.send(asked(100, 1, 1)).await;
        // Another stream is not held up, and by the time it has its answer the first one was read as far as it is.
        let mut other = Stream::open(&world).await;
        other.send(asked(7, 1, 1)).await;
        assert_eq!(other.code().await, (7, "NO_HINT".to_owned()));
        drop(release);
        let (first, _) = stream.code().await;
        assert!(first < MAX_LARGE, "the small one is not read before a large one is done");
        for _ in 0..MAX_LARGE {
            stream.code().await;
        }
    });
}

#[test]
fn a_large_lookup_is_late_when_its_budget_is_spent_and_keeps_its_place() {
    with_busy_thread(|release| async move {
        let world = serve(settings()).await;
        world.report(vec![held("r1", 1, 64, 0)]).await;
        let mut stream = Stream::open(&world).await;
        for id in 0..MAX_LARGE {
            stream.send(FastLookupRequest { budget_us: 1_000, ..asked(id, 1, SMALL + 1) }).await;
        }
        let mut late = Vec::new();
        for _ in 0..MAX_LARGE {
            let (id, code) = stream.code().await;
            assert_eq!(code, "TIMEOUT");
            late.push(id);
        }
        late.sort_unstable();
        assert_eq!(late, (0..MAX_LARGE).collect::<Vec<_>>());
        stream.send(asked(100, 1, 64)).await;
        drop(release);
        assert_eq!(stream.code().await, (100, "PREFIX_MATCH".to_owned()), "no lookup has two answers");
        let series = "inferencecache_lookup_route_calls_total{hint_used=\"false\",model=\"llama\",reason_code=\"TIMEOUT\"}";
        assert_eq!(world.metric(series).await, Some(MAX_LARGE as f64));
    });
}

#[tokio::test]
async fn a_small_lookup_is_late_when_its_budget_is_spent() {
    let world = serve(settings()).await;
    world.report(vec![held("r1", 1, SMALL, 0)]).await;
    let mut stream = Stream::open(&world).await;
    for (budget_us, code) in
        [(1, "TIMEOUT"), (60_000_000, "PREFIX_MATCH"), (u64::MAX, "PREFIX_MATCH"), (0, "PREFIX_MATCH")]
    {
        stream.send(FastLookupRequest { budget_us, ..asked(budget_us, 1, SMALL) }).await;
        let response = stream.next().await.unwrap().unwrap();
        let answer = response.answer.unwrap();
        assert_eq!((response.id, answer.reason_code.as_str()), (budget_us, code));
        assert_eq!(answer.replica_scores.is_empty(), code == "TIMEOUT");
    }
}

#[test]
fn lookups_over_the_limit_in_flight_are_shed() {
    with_busy_thread(|release| async move {
        let world = serve(RouterConfig { max_in_flight: Sourced::built_in(1), ..settings() }).await;
        world.report(vec![held("r1", 1, 64, 0)]).await;
        let mut stream = Stream::open(&world).await;
        stream.send(asked(1, 1, 64)).await;
        assert_eq!(stream.code().await, (1, "PREFIX_MATCH".to_owned()));
        stream.send(asked(2, 1, SMALL + 1)).await;
        stream.send(asked(3, 1, 64)).await;
        assert_eq!(stream.code().await, (3, "NO_HINT".to_owned()));
        assert_eq!(world.metric("inferencecache_shed_total").await, Some(1.0));
        drop(release);
        assert_eq!(stream.code().await, (2, "PREFIX_MATCH".to_owned()));
    });
}

#[tokio::test]
async fn over_the_limits_of_a_request() {
    let world = serve(settings()).await;
    world.report(vec![held("r1", 1, 64, 0)]).await;
    let mut stream = Stream::open(&world).await;
    let cases = [
        (asked(1, 1, 131_072), "PREFIX_MATCH", 0.0),
        (asked(2, 1, 131_073), "NO_HINT", 1.0),
        (FastLookupRequest { tenant_id: "x".repeat(512), ..asked(3, 1, 64) }, "UNKNOWN_TENANT", 1.0),
        (FastLookupRequest { tenant_id: "x".repeat(513), ..asked(4, 1, 64) }, "NO_HINT", 2.0),
        (
            FastLookupRequest { hash_width: 64, block_hashes: vec![1; 64].into(), ..asked(5, 1, 0) },
            "AFFINITY_HINT",
            2.0,
        ),
        (
            FastLookupRequest { hash_width: 65, block_hashes: vec![1; 65].into(), ..asked(6, 1, 0) },
            "NO_HINT",
            3.0,
        ),
    ];
    for (request, code, counted) in cases {
        let id = request.id;
        stream.send(request).await;
        assert_eq!(stream.code().await, (id, code.to_owned()));
        assert_eq!(world.metric("inferencecache_over_limit_total").await, Some(counted), "request {id}");
    }
}

#[tokio::test]
async fn a_message_over_the_size_limit_ends_the_stream() {
    let config = ServerConfig { max_message_bytes: 10_000, ..ServerConfig::default() };
    let world = serve_with(settings(), config).await;
    let mut stream = Stream::open(&world).await;
    stream.send(asked(1, 1, 1_000)).await;
    assert_eq!(stream.code().await.0, 1);
    stream.send(asked(2, 1, 2_000)).await;
    assert_eq!(stream.next().await.unwrap_err().code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let world = serve(settings()).await;
    let mut stream = Stream::open(&world).await;
    stream.send(asked(1, 1, 1)).await;
    assert_eq!(stream.code().await, (1, "NO_HINT".to_owned()));
    let stopped = tokio::spawn(world.running.stop());
    let status = stream.next().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    drop(stream);
    drop((world.client, world.explain));
    assert!(stopped.await.unwrap(), "the open stream has not held up the stop");
}

/// Answers of many replicas, which nobody reads: at some point requests are not read either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_not_read() {
    const REQUESTS: u64 = 4_000;
    let world = serve(settings()).await;
    world.report((0..300).map(|at| held(&format!("replica-{at:03}"), 1, 4, 0)).collect()).await;
    world.report(vec![held("other", 2, 1, 0)]).await;
    let stream = Stream::open(&world).await;
    let Stream { requests, mut answers } = stream;
    let sending = tokio::spawn(async move {
        for id in 0..REQUESTS {
            requests.send(asked(id, 1, 4)).await.unwrap();
        }
    });
    let read = async || {
        let series = "inferencecache_lookup_route_latency_seconds_count{model=\"llama\"}";
        world.metric(series).await.unwrap_or(0.0)
    };
    let (mut last, mut still) = (read().await, 0);
    while still < 100 {
        let now = read().await;
        still = if now == last && now > 0.0 { still + 1 } else { 0 };
        last = now;
    }
    assert!(last < REQUESTS as f64 / 2.0, "{last} answers of some 9 KB wait for a caller who does not read");
    let mut seen = 0;
    while let Some(response) = answers.message().await.unwrap() {
        assert_eq!(response.answer.unwrap().replica_scores.len(), 300);
        seen += 1;
    }
    sending.await.unwrap();
    assert_eq!((seen, read().await), (REQUESTS, REQUESTS as f64));
}
