//! What a collector is sent.

use icache::contract::wire::icache::v1alpha1::FastLookupRequest;
use icache::contract::wire::icache::v1alpha1::fast_lookup_client::FastLookupClient;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use tonic::{Code, Request};

use super::collector::Collector;
use super::process::Process;
use super::server_support::until;
use super::{InferenceCacheClient, SENT, ask, connect, metric, report};

const LOOKUP: &str = "inferencecache.v1alpha1.InferenceCache/LookupRoute";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn traced(flags: &str) -> Request<super::wire::LookupRouteRequest> {
    let mut request = Request::new(ask());
    let header = format!("00-{TRACE}-{PARENT}-{flags}");
    request.metadata_mut().insert("traceparent", header.parse().unwrap());
    request
}

#[tokio::test]
async fn a_lookup_is_a_span_of_its_callers_trace() {
    let mut collector = Collector::start().await;
    let server = Process::start(&[&collector.flag()]);
    let channel = connect(&server).await;
    report(&channel).await;
    let mut client = InferenceCacheClient::new(channel.clone());
    // One that its caller does not record is not recorded here.
    client.lookup_route(traced("00")).await.unwrap();
    client.lookup_route(traced("01")).await.unwrap();
    let received = collector.span(LOOKUP).await;
    let span = &received.span;
    assert_eq!(
        (hex::encode(&span.trace_id), hex::encode(&span.parent_span_id)),
        (TRACE.into(), PARENT.into())
    );
    assert_eq!(span.kind(), SpanKind::Server);
    assert!(span.end_time_unix_nano > span.start_time_unix_nano);
    assert_eq!(received.resource["service.name"], "icache");
    assert_eq!(received.resource["service.version"], env!("CARGO_PKG_VERSION"));
    let attributes = received.attributes();
    for (name, value) in [
        ("rpc.system", "grpc"),
        ("rpc.service", "inferencecache.v1alpha1.InferenceCache"),
        ("rpc.method", "LookupRoute"),
        ("rpc.grpc.status_code", "0"),
        ("icache.reason_code", "PREFIX_MATCH"),
        ("icache.model", "llama"),
        ("icache.hints", "1"),
        ("icache.matched_tokens", "100"),
    ] {
        assert_eq!(attributes.get(name).map(String::as_str), Some(value), "{name} of {attributes:?}");
    }
    // The spans of a server that stops are sent before it has.
    client.lookup_route(ask()).await.unwrap();
    server.signal("TERM");
    let (status, _) = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    let own = collector.span(LOOKUP).await;
    assert!(own.span.parent_span_id.is_empty(), "it began a trace");
    assert_ne!(hex::encode(&own.span.trace_id), TRACE);
    let told = format!("{received:?} {own:?} {:?}", collector.rest());
    for secret in ["team-a", "secret-hash", &hex::encode("secret-hash"), "\"r1\""] {
        assert!(!told.contains(secret), "a span names `{secret}`");
    }
}

#[tokio::test]
async fn each_lookup_of_a_stream_is_a_trace_and_a_refused_call_says_so() {
    let mut collector = Collector::start().await;
    let server = Process::start(&[&collector.flag(), "--max-message-size=1KiB"]);
    let channel = connect(&server).await;
    report(&channel).await;
    let asked = |id| FastLookupRequest {
        id,
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: "secret-hash".into(),
        ..Default::default()
    };
    let requests = tokio_stream::iter([asked(1), asked(2)]);
    let mut answers = FastLookupClient::new(channel.clone()).lookup(requests).await.unwrap().into_inner();
    while answers.message().await.unwrap().is_some() {}
    let (first, second) = (collector.span("lookup").await, collector.span("lookup").await);
    let stream = collector.span("icache.v1alpha1.FastLookup/Lookup").await;
    assert_ne!(first.span.trace_id, second.span.trace_id);
    for lookup in [&first, &second] {
        assert_eq!(lookup.attributes()["icache.reason_code"], "PREFIX_MATCH");
        assert_eq!(lookup.span.links[0].span_id, stream.span.span_id);
    }
    let mut large = ask();
    large.adapter_id = "x".repeat(2_000);
    InferenceCacheClient::new(channel).lookup_route(large).await.unwrap_err();
    let refused = collector.span(LOOKUP).await;
    assert_eq!(refused.attributes()["rpc.grpc.status_code"], (Code::ResourceExhausted as i32).to_string());
    until(async || metric(&server, SENT).await, |sent| *sent >= 5.0).await;
}

/// As OpenTelemetry's other programs are told; what is meant for this one goes over it.
#[tokio::test]
async fn the_standard_variable_counts_where_nothing_else_is_said() {
    let (mut by_variable, mut by_flag) = (Collector::start().await, Collector::start().await);
    for flag in [None, Some(by_flag.flag())] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_icache"));
        command
            .args(["serve", "--log-format=json", "--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0"])
            .arg("--admin-addr=127.0.0.1:0")
            .args(&flag)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", by_variable.addr));
        let server = Process::run(&mut command);
        InferenceCacheClient::new(connect(&server).await).lookup_route(ask()).await.unwrap();
        let collector = if flag.is_some() { &mut by_flag } else { &mut by_variable };
        assert_eq!(collector.span(LOOKUP).await.attributes()["icache.reason_code"], "NO_HINT");
    }
}

#[tokio::test]
async fn a_share_of_nothing_traces_only_what_callers_trace() {
    let mut collector = Collector::start().await;
    let server = Process::start(&[&collector.flag(), "--trace-share=0"]);
    let mut client = InferenceCacheClient::new(connect(&server).await);
    for _ in 0..10 {
        client.lookup_route(ask()).await.unwrap();
    }
    client.lookup_route(traced("01")).await.unwrap();
    assert_eq!(hex::encode(collector.span(LOOKUP).await.span.trace_id), TRACE);
    server.signal("TERM");
    tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(collector.rest().len(), 0);
}
