//! The server as a process: how it starts, and how it ends.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

use std::net::TcpListener;
use std::process::{Command, Output};

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use process::Process;
use server_support::{http_get, until};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_prost::ProstCodec;

async fn connect(server: &Process) -> Channel {
    let channel = Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap();
    channel.connect().await.unwrap()
}

fn update(token_count: i32) -> wire::CacheStateUpdate {
    let entry = wire::PrefixEntry { prefix_hash: "p".into(), token_count, ..Default::default() };
    wire::CacheStateUpdate {
        replica_id: "r1".to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: vec![entry],
        ..Default::default()
    }
}

fn ask() -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: "p".into(),
        ..Default::default()
    }
}

async fn report(server: &Process, updates: Vec<wire::CacheStateUpdate>) {
    let mut client = InferenceCacheClient::new(connect(server).await);
    client.report_cache_state(tokio_stream::iter(updates)).await.unwrap();
}

/// Waits for the end while connections of this test are closed, which a stopping server waits for.
async fn ended(server: Process) -> (std::process::ExitStatus, Vec<serde_json::Value>) {
    tokio::task::spawn_blocking(|| server.wait()).await.unwrap()
}

/// Runs `icache serve` where it ends by itself; addresses that are not given are free ones.
fn refused(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.arg("serve").args(args);
    for flag in ["--grpc-addr", "--http-addr", "--admin-addr"] {
        if !args.contains(&flag) {
            command.args([flag, "127.0.0.1:0"]);
        }
    }
    command.output().unwrap()
}

#[tokio::test]
async fn the_ready_file_names_the_bound_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ready.json");
    std::fs::write(&path, "of an earlier run").unwrap();
    let server = Process::start(&["--ready-file", path.to_str().unwrap()]);
    let ready: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let expected = serde_json::json!({
        "version": 1,
        "grpc_addr": server.grpc_addr.to_string(),
        "http_addr": server.http_addr.to_string(),
        "admin_addr": server.admin_addr.to_string(),
    });
    assert_eq!(ready, expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    assert_ne!(server.grpc_addr.port(), 0);
    assert_eq!(http_get(server.http_addr, "/healthz").await.0, 200);
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200);
    server.signal("INT");
    let (status, _) = server.wait();
    assert_eq!(status.code(), Some(0), "Ctrl-C is how a server ends");
    assert!(!path.exists(), "a server that has stopped is not ready");
}

#[test]
fn a_ready_file_that_cannot_be_written_is_a_usage_error() {
    let output = refused(&["--ready-file=/nonexistent/x"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("`/nonexistent/x`") && text.contains("--ready-file"), "{text}");
}

#[test]
fn a_port_in_use_is_told_with_its_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for flag in ["--grpc-addr", "--http-addr", "--admin-addr"] {
        let output = refused(&[flag, &address]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(&format!("`{address}`")) && text.contains(flag), "{text}");
    }
}

#[test]
fn listening_beyond_loopback_in_plaintext_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        for (flag, allow) in
            [("--grpc-addr", "--insecure-plaintext"), ("--admin-addr", "--insecure-disable-auth")]
        {
            let output = refused(&[flag, address]);
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.contains(flag) && text.contains(allow), "{text}");
        }
    }
}

#[tokio::test]
async fn sigterm_under_load_fails_no_call_in_flight() {
    let server = Process::start(&[]);
    report(&server, vec![update(100)]).await;
    let (stopping, stopped) = tokio::sync::watch::channel(false);
    let (answered, mut answers) = mpsc::unbounded_channel();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let mut client = InferenceCacheClient::new(connect(&server).await);
        let (stopped, answered) = (stopped.clone(), answered.clone());
        callers.spawn(async move {
            loop {
                // A call that is begun before the signal is in flight when it comes.
                let is_before = !*stopped.borrow();
                match client.lookup_route(ask()).await {
                    Ok(answer) => assert_eq!(answer.into_inner().reason_code, "PREFIX_MATCH"),
                    Err(status) if is_before && !is_refused(&status) => panic!("a call failed: {status:?}"),
                    Err(_) => return,
                }
                answered.send(()).unwrap();
            }
        });
    }
    for _ in 0..200 {
        answers.recv().await.unwrap();
    }
    server.signal("TERM");
    stopping.send(true).unwrap();
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0));
    assert_eq!(log.last().unwrap()["message"], "stopped", "{log:?}");
}

/// Whether a call never reached the server: its connection was refused.
fn is_refused(status: &Status) -> bool {
    format!("{status:?}").contains("ConnectError")
}

/// A lookup whose message is sent and not ended; it is in flight until the sender is dropped.
async fn held_lookup(
    server: &Process,
) -> (mpsc::Sender<wire::LookupRouteRequest>, tokio::task::JoinHandle<Result<String, Status>>) {
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(ask()).unwrap();
    let mut client = Grpc::new(connect(server).await);
    let held = tokio::spawn(async move {
        client.ready().await.unwrap();
        let codec = ProstCodec::<wire::LookupRouteRequest, wire::LookupRouteResponse>::default();
        let path = PathAndQuery::from_static("/inferencecache.v1alpha1.InferenceCache/LookupRoute");
        let answer =
            client.client_streaming(Request::new(ReceiverStream::new(receiver)), path, codec).await?;
        Ok(answer.into_inner().reason_code)
    });
    (sender, held)
}

/// Waits until the held lookups have arrived: where they are as many as may be in flight, another is shed. One that
/// arrives while a question of this wait is in flight may be shed itself.
async fn until_held(server: &Process) {
    let client = InferenceCacheClient::new(connect(server).await);
    let reason = async || client.clone().lookup_route(ask()).await.unwrap().into_inner().reason_code;
    until(reason, |reason| reason == "NO_HINT").await;
}

#[tokio::test]
async fn while_draining_the_server_says_so_and_calls_in_flight_finish() {
    let server = Process::start(&["--max-in-flight=2"]);
    report(&server, vec![update(100)]).await;
    let mut watching = Vec::new();
    for service in ["", "inferencecache.v1alpha1.InferenceCache", "icache.v1alpha1.Explain"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        let mut client = HealthClient::new(connect(&server).await);
        let checked = client.check(request.clone()).await.unwrap().into_inner();
        assert_eq!(checked.status(), ServingStatus::Serving, "`{service}`");
        let mut health = client.watch(request).await.unwrap().into_inner();
        assert_eq!(health.message().await.unwrap().unwrap().status(), ServingStatus::Serving, "`{service}`");
        watching.push(health);
    }
    let (senders, held): (Vec<_>, Vec<_>) =
        [held_lookup(&server).await, held_lookup(&server).await].into_iter().unzip();
    until_held(&server).await;
    server.signal("TERM");
    for mut health in watching {
        assert_eq!(health.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
        assert!(health.message().await.unwrap().is_none(), "a watcher does not hold up the stop");
    }
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 503);
    assert_eq!(http_get(server.http_addr, "/healthz").await.0, 200);
    drop(senders);
    let mut reasons = Vec::new();
    for call in held {
        reasons.push(call.await.unwrap().unwrap());
    }
    assert!(
        reasons.contains(&"PREFIX_MATCH".to_owned()),
        "of two, one at most came beside a question: {reasons:?}"
    );
    assert_eq!(server.wait().0.code(), Some(0));
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_cut() {
    let server = Process::start(&["--max-in-flight=1", "--drain-timeout=50ms"]);
    let (_sender, held) = held_lookup(&server).await;
    until_held(&server).await;
    server.signal("TERM");
    assert!(held.await.unwrap().is_err());
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0));
    assert_eq!(log.last().unwrap()["level"], "WARN", "{log:?}");
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let server = Process::start(&["--max-in-flight=1", "--drain-timeout=1h"]);
    let (_sender, held) = held_lookup(&server).await;
    until_held(&server).await;
    server.signal("TERM");
    until(|| http_get(server.http_addr, "/readyz"), |answer| answer.0 == 503).await;
    server.signal("TERM");
    assert!(held.await.unwrap().is_err());
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0));
    assert_eq!(log.last().unwrap()["message"], "ended at once", "{log:?}");
}

#[tokio::test]
async fn drops_are_logged_once_a_minute_for_each_cause_and_replica() {
    let server = Process::start(&[]);
    let of = |replica: &str, message: wire::CacheStateUpdate| wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        ..message
    };
    let no_scheme = || wire::CacheStateUpdate { hash_scheme: String::new(), ..update(1) };
    report(&server, vec![update(-1), update(-1), no_scheme(), update(-1), of("r2", update(-1)), no_scheme()])
        .await;
    let page = http_get(server.http_addr, "/metrics").await.1;
    let dropped = "inferencecache_ingest_dropped_total{cause=\"negative_count\"}";
    assert_eq!(server_support::value_of(&page, dropped), Some(4.0));
    server.signal("TERM");
    let (_, log) = ended(server).await;
    let mut lines: Vec<(&str, &str)> = log
        .iter()
        .filter(|line| line["level"] == "WARN")
        .map(|line| (line["cause"].as_str().unwrap(), line["replica"].as_str().unwrap()))
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [("missing_scheme", "r1"), ("negative_count", "r1"), ("negative_count", "r2")]);
}

#[tokio::test]
async fn limits_are_set_by_flags_and_bite_one_over() {
    let flags = ["--max-blocks=2", "--max-hash-bytes=3", "--max-id-bytes=6", "--max-replicas=2"];
    let server = Process::start(&[&flags[..], &["--max-replica-records=3"]].concat());
    let mut client = InferenceCacheClient::new(connect(&server).await);
    let page = async || http_get(server.http_addr, "/metrics").await.1;
    let counted = async |series: &str| server_support::value_of(&page().await, series);
    const OVER: &str = "inferencecache_over_limit_total";
    assert_eq!(counted(OVER).await, Some(0.0));
    let blocks = |count: usize| wire::LookupRouteRequest {
        prefix_hash: "".into(),
        block_hashes: vec!["abc".into(); count],
        block_token_counts: vec![1; count],
        ..ask()
    };
    let hash = |hash: &'static str| wire::LookupRouteRequest { prefix_hash: hash.into(), ..ask() };
    let model = |id: &str| wire::LookupRouteRequest { model_id: id.to_owned(), ..ask() };
    let pairs = [(blocks(2), blocks(3)), (hash("abc"), hash("abcd")), (model("llamas"), model("llamas2"))];
    for (at, (fits, over)) in pairs.into_iter().enumerate() {
        for (request, count) in [(fits, at), (over, at + 1)] {
            client.lookup_route(request).await.unwrap();
            assert_eq!(counted(OVER).await, Some(count as f64), "pair {at}");
        }
    }

    let of = |replica: &str, model: &str, message: wire::CacheStateUpdate| wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: model.to_owned(),
        ..message
    };
    let mut long_hash = update(1);
    long_hash.prefixes[0].prefix_hash = "abcd".into();
    let mut many = update(1);
    many.prefixes = vec![many.prefixes[0].clone(); 3];
    let fits = [("r1", "llama"), ("r2", "llama"), ("long-6", "falcon")];
    report(&server, fits.map(|(replica, model)| of(replica, model, update(1))).to_vec()).await;
    for cause in ["long_hash", "long_id", "too_many_blocks", "too_many_replicas"] {
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(counted(&series).await, Some(0.0), "{cause} at the limit");
    }
    for (message, cause, count) in [
        (long_hash, "long_hash", 1.0),
        (many, "too_many_blocks", 1.0),
        (of("long-67", "llama", update(1)), "long_id", 1.0),
        (of("r3", "llama", update(1)), "too_many_replicas", 1.0),
        (of("r3", "qwen", update(1)), "too_many_replicas", 2.0),
    ] {
        report(&server, vec![message]).await;
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(counted(&series).await, Some(count), "{cause}");
    }
}

#[tokio::test]
async fn long_names_are_cut_in_the_log() {
    let server = Process::start(&[]);
    let long = |letter: &str| letter.repeat(100_000);
    let message = wire::CacheStateUpdate {
        replica_id: long("r"),
        tenant_id: long("t"),
        model_id: long("m"),
        ..update(1)
    };
    report(&server, vec![message]).await;
    server.signal("TERM");
    let (_, log) = ended(server).await;
    let line = log.iter().find(|line| line["cause"] == "long_id").unwrap();
    for (field, letter) in [("replica", "r"), ("tenant", "t"), ("model", "m")] {
        assert_eq!(line[field], letter.repeat(64) + "…", "{field}");
    }
}

#[test]
fn what_a_preload_passed_over_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let text = "{\"icache\":\"capture\",\"version\":1}\n{\"t\":1,\"kind\":\"new\"}\n{\"t\":2,\"ki";
    std::fs::write(&path, text).unwrap();
    let server = Process::start(&["--preload", path.to_str().unwrap()]);
    server.signal("TERM");
    let (_, log) = server.wait();
    let warned: Vec<&str> = log
        .iter()
        .filter(|line| line["level"] == "WARN")
        .map(|line| line["message"].as_str().unwrap())
        .collect();
    assert_eq!(warned.len(), 2, "{log:?}");
    assert!(warned[0].starts_with("--preload: passed over 1 record of kind `new`"), "{warned:?}");
    assert!(warned[1].starts_with("--preload: the last line was not finished"), "{warned:?}");
}

#[tokio::test]
async fn the_metrics_page_is_well_formed() {
    let server = Process::start(&[]);
    report(&server, vec![update(100)]).await;
    let mut client = InferenceCacheClient::new(connect(&server).await);
    for _ in 0..5 {
        client.lookup_route(ask()).await.unwrap();
    }
    let page = http_get(server.http_addr, "/metrics").await.1;
    let bucket = |bound: &str| {
        let series =
            format!("inferencecache_lookup_route_latency_seconds_bucket{{model=\"llama\",le=\"{bound}\"}}");
        server_support::value_of(&page, &series).unwrap_or_else(|| panic!("no {series}"))
    };
    let bounds = ["0.00001", "0.000025", "0.00005", "0.0001", "0.00025", "0.0005", "0.001", "0.0025"];
    let bounds = bounds.into_iter().chain(["0.005", "0.01", "0.025", "0.05", "0.1", "+Inf"]);
    let counts: Vec<f64> = bounds.map(bucket).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!(counts.last(), Some(&5.0));
    for info in icache::server::METRICS {
        let late = [
            "inferencecache_tenant_evictions_total",
            "inferencecache_tls_certificate_expiry_timestamp_seconds",
        ];
        let has_series = !late.contains(&info.name);
        assert_eq!(page.contains(&format!("# TYPE {} ", info.name)), has_series, "{}", info.name);
    }
    for name in ["cpu_seconds_total", "max_fds", "open_fds", "start_time_seconds", "threads"] {
        assert!(server_support::value_of(&page, &format!("process_{name}")).is_some(), "{name}");
    }
    let resident = server_support::value_of(&page, "process_resident_memory_bytes").unwrap();
    assert!(resident >= f64::from(1 << 20), "{resident}");
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(series.starts_with("inferencecache_") || series.starts_with("process_"), "{line}");
        assert!(!series.contains('{') || series.ends_with('}'), "{line}");
    }
}
