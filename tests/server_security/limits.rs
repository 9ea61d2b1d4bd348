//! Limits of the transport and of lookups, at the limit and one over, each with its counter.

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use prost::Message as _;
use tonic::Code;
use tonic::transport::Channel;

use super::process::Process;
use super::{ask, metric};

async fn connect(server: &Process) -> InferenceCacheClient<Channel> {
    let channel =
        Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap().connect().await.unwrap();
    InferenceCacheClient::new(channel)
}

#[tokio::test]
async fn too_many_tokens_and_too_long_a_text_are_counted() {
    let server = Process::start(&[]);
    let mut contract = connect(&server).await;
    let base = || wire::LookupRouteRequest {
        prefix_hash: Vec::new().into(),
        prefix_token_count: 0,
        ..ask("a", b"")
    };
    let tokens = |count: usize| wire::LookupRouteRequest { token_ids: vec![1; count], ..base() };
    let text = |bytes: usize| wire::LookupRouteRequest { prompt_text: "x".repeat(bytes), ..base() };
    let mut over = 0.0;
    for (request, is_over) in [
        (tokens(1 << 20), false),
        (tokens((1 << 20) + 1), true),
        (text(1 << 20), false),
        (text((1 << 20) + 1), true),
    ] {
        let answer = contract.lookup_route(request).await.expect("no lookup is an error").into_inner();
        assert_eq!(answer.reason_code, "NO_HINT");
        over += f64::from(u8::from(is_over));
        assert_eq!(metric(server.http_addr, "inferencecache_over_limit_total").await, over);
    }
}

#[tokio::test]
async fn a_message_over_its_size_is_refused_and_counted() {
    let server = Process::start(&["--max-message-size=1KiB"]);
    let mut contract = connect(&server).await;
    let sized = |bytes: usize| {
        let mut request = ask("a", b"h");
        request.adapter_id = "x".repeat(bytes - request.encoded_len() - 3);
        assert_eq!(request.encoded_len(), bytes);
        request
    };
    const SERIES: &str = "inferencecache_message_too_large_total";
    assert!(contract.lookup_route(sized(1024)).await.is_ok());
    assert_eq!(metric(server.http_addr, SERIES).await, 0.0);
    let refused = contract.lookup_route(sized(1025)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(metric(server.http_addr, SERIES).await, 1.0);
}

/// The protocol makes clients wait: they are told how many streams a connection may have.
#[tokio::test]
async fn clients_are_told_how_many_streams_a_connection_has() {
    let server = Process::start(&["--max-streams=7"]);
    let stream = tokio::net::TcpStream::connect(server.grpc_addr).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let request =
        tonic::codegen::http::Request::get(format!("http://{}/", server.grpc_addr)).body(()).unwrap();
    let (answer, _) = client.send_request(request, true).unwrap();
    answer.await.unwrap();
    assert_eq!(client.current_max_send_streams(), 7);
}
