//! Ten thousand connections at a time, from another process, as far as the system lets one have so many files.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::process::Process;
use super::server_support::{http_get, value_of};

const WANTED: usize = 10_000;
/// Files that either side needs for other things.
const OTHERS: usize = 200;

/// What an HTTP/2 client begins with: the preface, and settings that change nothing.
const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A ping.
const PING: [u8; 17] = *b"\0\0\x08\x06\0\0\0\0\0icache!!";

/// Raises the limit of this process on open files to the most that it may have; gives the limit.
fn raise_limit() -> usize {
    let own = std::process::id().to_string();
    let limit = |flags: &[&str]| {
        let output = Command::new("prlimit").args(["--pid", &own, "--nofile"]).args(flags).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse::<usize>().ok()
    };
    if let Some(most) = limit(&["--output=HARD", "--noheadings", "--raw"]) {
        let raised =
            Command::new("prlimit").args(["--pid", &own, &format!("--nofile={most}:{most}")]).output();
        assert!(raised.is_ok_and(|output| output.status.success()), "a process may have what it may have");
    }
    // Without the tool, what every system gives.
    limit(&["--output=SOFT", "--noheadings", "--raw"]).unwrap_or(1_024)
}

/// Holds a connection as a client does: says hello, asks for a sign of life, and gives one when it is asked.
async fn hold(mut stream: TcpStream, answered: Arc<AtomicUsize>) {
    stream.write_all(HELLO).await.unwrap();
    stream.write_all(&PING).await.unwrap();
    let mut head = [0; 9];
    loop {
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        match (head[3], head[4]) {
            (6, 1) => {
                assert_eq!(body, PING[9..]);
                answered.fetch_add(1, Ordering::Relaxed);
            }
            (6, 0) => {
                head[4] = 1;
                stream.write_all(&[&head[..], &body].concat()).await.unwrap();
            }
            (7, _) => panic!("the server says goodbye"),
            _ => {}
        }
    }
}

/// Asks again until `is_met`; a debug build on a busy machine takes its time with so many.
async fn until(mut is_met: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !is_met().await {
            // The crowd lives on this thread, and so does the clock.
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(180), asking).await.expect("what was waited for happens");
}

#[tokio::test]
async fn ten_thousand_connections_and_one_that_works() {
    let crowd = WANTED.min(raise_limit().saturating_sub(OTHERS));
    // The server has the limit from here.
    let server = Process::start(&[&format!("--max-connections={}", crowd + 1)]);
    let metric = async |series: &str| {
        value_of(&http_get(server.http_addr, "/metrics").await.1, series)
            .unwrap_or_else(|| panic!("no {series}"))
    };
    const OPEN: &str = "inferencecache_connections{port=\"grpc\"}";
    let answered = Arc::new(AtomicUsize::new(0));
    let mut held = JoinSet::new();
    for _ in 0..crowd {
        let stream = TcpStream::connect(server.grpc_addr).await.unwrap();
        held.spawn(hold(stream, Arc::clone(&answered)));
    }
    until(async || metric(OPEN).await == crowd as f64).await;
    until(async || answered.load(Ordering::Relaxed) == crowd).await;
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let answer = client.lookup_route(wire::LookupRouteRequest::default()).await.unwrap().into_inner();
    assert_eq!(answer.reason_code, "NO_HINT");
    assert_eq!(metric("inferencecache_connections_refused_total{port=\"grpc\"}").await, 0.0);
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200);
    assert!(held.try_join_next().is_none(), "every connection is there still");
    held.shutdown().await;
    until(async || metric(OPEN).await == 1.0).await;
    client.lookup_route(wire::LookupRouteRequest::default()).await.unwrap();
}
