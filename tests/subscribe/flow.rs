//! What goes well, and input that is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::engine::{Engine, removed, stored};
use crate::process::Process;
use crate::sidecar::{Gateway, Sidecar, until};
use crate::support::http_get;

#[tokio::test(flavor = "multi_thread")]
async fn blocks_are_told_and_taken_back() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    // Before anybody listens.
    engine.publish(&[stored(1, 0..2)]);
    engine.publish(&[stored(1, 2..4)]);
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready.json");
    let flag = format!("--ready-file={}", ready.display());
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[&flag]);
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
    assert_eq!(written, json!({"version": 1, "http_addr": sidecar.http_addr.to_string()}));
    gateway.until_held(&[(1, 4)]).await;
    assert_eq!(http_get(sidecar.http_addr, "/healthz").await, (200, "ok\n".to_owned()));
    until("it is ready", async || http_get(sidecar.http_addr, "/readyz").await.0 == 200).await;

    engine.publish(&[removed(1, 3..4), stored(2, 0..1)]);
    gateway.until_held(&[(1, 3), (2, 1)]).await;
    // Stored again and removed in one go: the last word counts.
    engine.publish(&[stored(2, 1..2), removed(2, 1..2), stored(1, 3..4)]);
    gateway.until_held(&[(1, 4), (2, 1)]).await;
    engine.publish(&[json!({"type": "AllBlocksCleared"}), stored(3, 0..2)]);
    gateway.until_held(&[(1, 0), (2, 0), (3, 2)]).await;
    sidecar.until_metric("held_blocks{replica=\"r\"}", 2.0).await;

    assert_eq!(sidecar.stop("TERM").code(), Some(0));
    assert!(!ready.exists());
    assert!(gateway.blocks(3).await.is_empty(), "the server was told before the end");
    // The next one begins with what the engine gives again.
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
    sidecar.until_metric("synced", 1.0).await;
    gateway.until_held(&[(1, 0), (2, 0), (3, 2)]).await;
    assert_eq!(sidecar.stop("INT").code(), Some(0));
    assert!(gateway.blocks(3).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_leaves_entries_where_that_is_asked_for_and_waits_for_no_server() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    engine.publish(&[stored(1, 0..4)]);
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &["--keep-on-exit"]);
    gateway.until_held(&[(1, 4)]).await;
    assert_eq!(sidecar.stop("TERM").code(), Some(0));
    assert_eq!(gateway.blocks(1).await.get("r"), Some(&4));
    // Several replicas are all cleared.
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &["--dp-ranks=1"]);
    engine.publish_with(&[stored(2, 0..2)], json!({"rank": 3}));
    until("two ranks", async || gateway.blocks(2).await.contains_key("r-dp3")).await;
    assert_eq!(sidecar.stop("TERM").code(), Some(0));
    let left: Vec<String> = gateway.blocks(2).await.into_keys().collect();
    assert!(!left.iter().any(|replica| replica.starts_with("r-dp")), "{left:?}");
    assert_eq!(gateway.blocks(1).await, BTreeMap::from([("r".to_owned(), 4)]));
    // Nobody is there to be told.
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
    sidecar.until_metric("synced", 1.0).await;
    drop(server);
    sidecar.until_metric("server_connected", 0.0).await;
    assert_eq!(sidecar.stop("TERM").code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_messages_are_counted_and_the_stream_goes_on() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
    engine.publish(&[stored(1, 0..1)]);
    gateway.until_held(&[(1, 1)]).await;
    let seq = |engine: &mut Engine| engine.next_seq().to_be_bytes();
    let seven = 7_u64.to_be_bytes();
    engine.raw(&[b"kv-events", &seven], false);
    engine.raw(&[b"kv-events", &seven, b"x", b"y"], false);
    engine.raw(&[b"kv-events", &seven[..3], b"x"], false);
    let next = seq(&mut engine);
    engine.raw(&[b"kv-events", &next, b""], true);
    let next = seq(&mut engine);
    engine.raw(&[b"kv-events", &next, b"\x92\xc0"], true);
    engine.publish_with(&[stored(1, 1..3)], json!({"topic": "another topic"}));
    gateway.until_held(&[(1, 3)]).await;
    sidecar.until_metric("dropped_total{cause=\"bad-frame\"}", 3.0).await;
    sidecar.until_metric("dropped_total{cause=\"bad-batch\"}", 2.0).await;
    assert_eq!(sidecar.dropped("lost").await, 0.0);
    let said = sidecar.log().iter().filter(|line| line["level"] == "WARN").count();
    assert_eq!(said, 1, "{:?}", sidecar.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn ranks_are_replicas_of_their_own() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    let _sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &["--dp-ranks=1"]);
    // Blocks have the same names on all of them.
    for rank in 0..8 {
        engine.publish_with(&[stored(1, 0..rank + 1)], json!({"rank": rank}));
    }
    let all: BTreeMap<String, usize> = (0..8).map(|rank| (format!("r-dp{rank}"), rank + 1)).collect();
    until("eight ranks", async || gateway.blocks(1).await == all).await;
    engine.publish_with(&[removed(1, 1..8)], json!({"rank": 7}));
    until("one is less", async || gateway.blocks(1).await["r-dp7"] == 1).await;
    // The process restarts: all of them are gone.
    let mut engine = engine.kill()();
    engine.publish_with(&[stored(1, 0..2)], json!({"rank": 3}));
    let one = BTreeMap::from([("r-dp3".to_owned(), 2)]);
    until("one rank", async || gateway.blocks(1).await == one).await;
}

/// Serves `page` to whoever asks; an empty one is refused with 500.
async fn metrics_page(page: Arc<Mutex<String>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let page = page.lock().await.clone();
            let status = if page.is_empty() { "500 Internal Server Error" } else { "200 OK" };
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", page.len());
            let _ = stream.write_all((head + &page).as_bytes()).await;
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engines_statistics_reach_the_server() {
    let page = "vllm:prefix_cache_hits_total{model_name=\"m\"} 30\n\
        vllm:prefix_cache_queries_total{model_name=\"m\"} 120\n\
        vllm:prefix_cache_hits_total{model_name=\"other\"} 1\n\
        vllm:kv_cache_usage_perc{model_name=\"m\"} 0.5\n";
    let shown = Arc::new(Mutex::new(page.to_owned()));
    let port = metrics_page(Arc::clone(&shown)).await;
    let server = Process::start(&[]);
    let addr = server.grpc_addr;
    let gateway = Gateway::of(addr);
    let mut engine = Engine::start("plain");
    let flag = format!("--metrics-url=http://127.0.0.1:{port}/metrics");
    let sidecar = Sidecar::start(engine.port, engine.replay_port, addr, &[&flag]);
    let is_told = async || {
        let stats = gateway.stats().await;
        stats.len() == 1 && (stats[0].hit_rate, stats[0].pressure) == (0.25, 0.5)
    };
    until("statistics", is_told).await;
    // Without the page events go on, and a new server is told what was last known.
    shown.lock().await.clear();
    sidecar.until_metric("scrapes_total{result=\"failed\"}", 1.0).await;
    drop(server);
    let _server = Process::start(&[&format!("--grpc-addr={addr}")]);
    engine.publish(&[stored(1, 0..2)]);
    gateway.until_held(&[(1, 2)]).await;
    until("statistics again", is_told).await;
}
