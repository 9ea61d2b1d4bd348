//! Who reaches a server and what it tells: configuration, TLS, tokens, callers, and the admin port, with the real binary
//! over real sockets.

#![allow(clippy::unwrap_used)]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;

mod access;
mod admin;
mod authority;
mod config;
mod limits;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Asks until `is_met`; fails loudly where it never is.
async fn until<T, F: Future<Output = T>>(mut ask: impl FnMut() -> F, is_met: impl Fn(&T) -> bool) -> T {
    let asking = async {
        loop {
            let answer = ask().await;
            if is_met(&answer) {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asking).await.expect("what was waited for happens")
}

/// Status code, head and body of a request in plaintext.
async fn http(
    addr: SocketAddr,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> (u16, String, String) {
    let mut stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{authorization}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}

/// The value of one series on the metrics page.
async fn metric(addr: SocketAddr, series: &str) -> f64 {
    let (_, _, page) = http(addr, "GET", "/metrics", None, "").await;
    let value = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no `{series}` in\n{page}"))
}

/// A report of `hash` by `replica` of `tenant`.
fn update(tenant: &str, replica: &str, hash: &[u8]) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: vec![wire::PrefixEntry {
            prefix_hash: hash.to_vec().into(),
            token_count: 512,
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// The question for it.
fn ask(tenant: &str, hash: &[u8]) -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: hash.to_vec().into(),
        prefix_token_count: 512,
        ..Default::default()
    }
}
