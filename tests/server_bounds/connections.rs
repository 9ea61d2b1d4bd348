//! Connections: so many of a port at a time, and none that only waits.

use std::net::SocketAddr;
use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::server::ServerConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use super::process::Process;
use super::server_support::{http_get, serve_with, settings, until, value_of};

/// Waits until the other side has closed; gives what it said before.
async fn closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    // A reset is an end, too.
    let _ = timeout(Duration::from_secs(30), stream.read_to_end(&mut said)).await.expect("it is closed");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn a_port_has_so_many_connections_and_closes_one_more() {
    let server = Process::start(&["--max-connections=3"]);
    let metric = async |series: &str| {
        value_of(&http_get(server.http_addr, "/metrics").await.1, series)
            .unwrap_or_else(|| panic!("no {series}"))
    };
    const OPEN: &str = "inferencecache_connections{port=\"grpc\"}";
    const REFUSED: &str = "inferencecache_connections_refused_total{port=\"grpc\"}";
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(TcpStream::connect(server.grpc_addr).await.unwrap());
    }
    until(async || metric(OPEN).await, |open| *open == 3.0).await;
    assert_eq!(metric(REFUSED).await, 0.0);
    for count in 1..=2 {
        assert_eq!(closed(&mut TcpStream::connect(server.grpc_addr).await.unwrap()).await, "");
        assert_eq!(metric(REFUSED).await, f64::from(count));
    }
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200, "other ports have places of their own");
    held.pop();
    until(async || metric(OPEN).await, |open| *open == 2.0).await;
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    client.lookup_route(wire::LookupRouteRequest::default()).await.unwrap();
}

#[tokio::test]
async fn who_does_not_begin_in_time_is_cut_and_the_others_stay() {
    let config = ServerConfig { head_wait: Duration::from_millis(300), ..ServerConfig::default() };
    let world = serve_with(settings(), config).await;
    let connect = async |addr: SocketAddr, says: &str| {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        stream.write_all(says.as_bytes()).await.unwrap();
        stream
    };
    let (grpc, http, admin) =
        (world.running.grpc_addr(), world.running.http_addr(), world.running.admin_addr());
    for (addr, says) in [
        (grpc, ""),
        (grpc, "PRI * HTTP/2.0\r\n"),
        (http, ""),
        (http, "GET /healthz HTTP/1.1\r\nHost: a"),
        (admin, "POST /policy HTTP/1.1\r\n"),
    ] {
        let said = closed(&mut connect(addr, says).await).await;
        assert!(!said.contains("200 OK"), "{says}: {said}");
    }
    assert_eq!(world.lookup(wire::LookupRouteRequest::default()).await.reason_code, "NO_HINT");
}

/// All at once on one connection, none of which ends before all have begun.
#[tokio::test]
async fn a_thousand_streams_on_one_connection() {
    let server = Process::start(&[]);
    let client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let mut streams = Vec::new();
    for number in 0..1_000 {
        let (sender, receiver) = mpsc::channel(1);
        let update = wire::CacheStateUpdate {
            replica_id: format!("r{number}"),
            model_id: "m".to_owned(),
            tenant_id: "t".to_owned(),
            hash_scheme: "s".to_owned(),
            prefixes: vec![wire::PrefixEntry {
                prefix_hash: "h".into(),
                token_count: 16,
                ..Default::default()
            }],
            ..Default::default()
        };
        sender.send(update).await.unwrap();
        let mut client = client.clone();
        let call =
            tokio::spawn(async move { client.report_cache_state(ReceiverStream::new(receiver)).await });
        streams.push((sender, call));
    }
    let entries = async || {
        let page = http_get(server.http_addr, "/metrics").await.1;
        value_of(&page, "inferencecache_index_replica_entries").unwrap()
    };
    until(entries, |entries| *entries == 1_000.0).await;
    let calls: Vec<_> = streams
        .into_iter()
        .map(|(sender, call)| {
            drop(sender);
            call
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().unwrap().into_inner().accepted);
    }
}
