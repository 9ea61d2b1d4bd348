//! Ten thousand connections at a time, from another process, as far as the system lets one have so many files.

use std::process::Command;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::process::Process;
use super::server_support::{http_get, until, value_of};

const WANTED: usize = 10_000;
/// Files that either side needs for other things.
const OTHERS: usize = 200;

/// What an HTTP/2 client begins with: the preface, and settings that change nothing.
const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A ping, and how its answer begins.
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

async fn open(addr: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(HELLO).await.unwrap();
    stream
}

/// The server answers a ping on this connection, behind whatever it has said before.
async fn answers(stream: &mut TcpStream) {
    stream.write_all(&PING).await.unwrap();
    let mut head = [0; 9];
    loop {
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        if (head[3], head[4]) == (6, 1) {
            return assert_eq!(body, PING[9..]);
        }
    }
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
    let mut held = Vec::new();
    for _ in 0..crowd {
        held.push(open(server.grpc_addr).await);
    }
    until(async || metric(OPEN).await, |open| *open == crowd as f64).await;
    for stream in held.iter_mut().step_by(97) {
        answers(stream).await;
    }
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let answer = client.lookup_route(wire::LookupRouteRequest::default()).await.unwrap().into_inner();
    assert_eq!(answer.reason_code, "NO_HINT");
    assert_eq!(metric("inferencecache_connections_refused_total{port=\"grpc\"}").await, 0.0);
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200);
    drop(held);
    until(async || metric(OPEN).await, |open| *open == 1.0).await;
    client.lookup_route(wire::LookupRouteRequest::default()).await.unwrap();
}
