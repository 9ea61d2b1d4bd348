//! Calls: what is an error and what is not, deadlines, shedding, counting.

use bytes::Bytes;
use icache::contract::wire::icache::v1alpha1::ExplainRouteResponse;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::server::ServerConfig;
use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::server_support::{World, serve, serve_with, settings, value_of};
use crate::*;

pub const LOOKUP: &str = "/inferencecache.v1alpha1.InferenceCache/LookupRoute";
const REPORT: &str = "/inferencecache.v1alpha1.InferenceCache/ReportCacheState";
pub const EXPLAIN: &str = "/icache.v1alpha1.Explain/ExplainRoute";

/// Calls `path` with messages of any type, and takes one answer.
async fn call<Sent, Got>(
    world: &World,
    path: &'static str,
    messages: impl tokio_stream::Stream<Item = Sent> + Send + 'static,
) -> Result<Response<Got>, Status>
where
    Sent: Message + Send + 'static,
    Got: Message + Default + Send + 'static,
{
    let channel = Channel::from_shared(format!("http://{}", world.running.grpc_addr())).unwrap();
    let mut client = Grpc::new(channel.connect().await.unwrap());
    client.ready().await.unwrap();
    let codec = ProstCodec::<Sent, Got>::default();
    client.client_streaming(Request::new(messages), PathAndQuery::from_static(path), codec).await
}

const LIMIT: usize = 4_096;

/// A lookup of exactly `size` bytes on the wire.
fn lookup_of(size: usize) -> wire::LookupRouteRequest {
    let mut request = wire::LookupRouteRequest { prompt_text: "x".repeat(size / 2), ..ask("p") };
    request.prompt_text = "x".repeat(size / 2 + size - request.encoded_len());
    assert_eq!(request.encoded_len(), size);
    request
}

#[tokio::test]
async fn a_message_over_the_size_limit_is_resource_exhausted() {
    let config = ServerConfig { max_message_bytes: LIMIT, ..ServerConfig::default() };
    let world = serve_with(settings(), config).await;
    assert!(world.client.clone().lookup_route(lookup_of(LIMIT)).await.is_ok());
    let over = world.client.clone().lookup_route(lookup_of(LIMIT + 1)).await.unwrap_err();
    assert_eq!(over.code(), Code::ResourceExhausted, "{over:?}");
    let over = world.explain.clone().explain_route(lookup_of(LIMIT + 1)).await.unwrap_err();
    assert_eq!(over.code(), Code::ResourceExhausted, "{over:?}");

    let large = update("r1", (0..500).map(|at| exact(&format!("hash-{at}"))).collect());
    let updates = tokio_stream::iter(vec![update("r1", vec![exact("before")]), large]);
    let over = world.client.clone().report_cache_state(updates).await.unwrap_err();
    assert_eq!(over.code(), Code::ResourceExhausted, "{over:?}");
    assert_eq!(holders(&world.lookup(ask("before")).await), ["r1"], "what came before it was applied");
}

#[tokio::test]
async fn messages_of_up_to_16_mib_are_taken_by_default() {
    let world = serve(settings()).await;
    let limit = 16 << 20;
    assert_eq!(world.lookup(lookup_of(limit)).await.reason_code, "NO_HINT");
    let over = world.client.clone().lookup_route(lookup_of(limit + 1)).await.unwrap_err();
    assert_eq!(over.code(), Code::ResourceExhausted, "{over:?}");
}

#[tokio::test]
async fn bytes_that_do_not_decode_are_the_transports_own_error() {
    let world = serve(settings()).await;
    // Field 1 of every request is a string; here it holds bytes that are no UTF-8.
    let broken = || wire::RenderTemplateResponse {
        rendered_prompt: Bytes::from_static(b"\xff\xfe"),
        ..Default::default()
    };
    let lookup = call::<_, wire::LookupRouteResponse>(&world, LOOKUP, tokio_stream::once(broken())).await;
    assert_eq!(lookup.unwrap_err().code(), Code::Internal);
    let explain = call::<_, ExplainRouteResponse>(&world, EXPLAIN, tokio_stream::once(broken())).await;
    assert_eq!(explain.unwrap_err().code(), Code::Internal);
    let report = call::<_, wire::Ack>(&world, REPORT, tokio_stream::once(broken())).await;
    assert_eq!(report.unwrap_err().code(), Code::Internal);
}

#[tokio::test]
async fn no_lookup_is_an_error() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p"), chain(&[("b1", 64)])])]).await;
    let long = || "n".repeat(513);
    let base = || ask_chain(&[("b1", 64)]);
    for (why, request) in [
        ("nothing at all", wire::LookupRouteRequest::default()),
        ("no tenant", wire::LookupRouteRequest { tenant_id: String::new(), ..base() }),
        ("long tenant", wire::LookupRouteRequest { tenant_id: long(), ..base() }),
        ("long hash", wire::LookupRouteRequest { block_hashes: vec![vec![1; 65].into()], ..base() }),
        ("empty hash", wire::LookupRouteRequest { block_hashes: vec![Bytes::new()], ..base() }),
        ("negative count", wire::LookupRouteRequest { block_token_counts: vec![-1], ..base() }),
        ("no counts", wire::LookupRouteRequest { block_token_counts: vec![], ..base() }),
        ("no hashes", wire::LookupRouteRequest { block_hashes: vec![], ..base() }),
        ("text", wire::LookupRouteRequest { prompt_text: "hello".to_owned(), ..ask("") }),
        ("few tokens", wire::LookupRouteRequest { token_ids: vec![1, 2, 3], ..ask("") }),
    ] {
        let answer = world.lookup(request).await;
        assert_eq!((answer.reason_code.as_str(), answer.replica_scores.len()), ("NO_HINT", 0), "{why}");
    }
}

#[tokio::test]
async fn each_key_is_needed() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    let without = |change: fn(&mut wire::LookupRouteRequest)| {
        let mut request = ask("p");
        change(&mut request);
        request
    };
    for (field, request) in [
        ("tenant_id", without(|request| request.tenant_id.clear())),
        ("model_id", without(|request| request.model_id.clear())),
        ("hash_scheme", without(|request| request.hash_scheme.clear())),
    ] {
        assert_eq!(world.lookup(request.clone()).await.reason_code, "NO_HINT", "{field}");
        let explained = world.explain.clone().explain_route(request).await.unwrap().into_inner();
        assert_eq!(explained.decided_by, "contract-keys", "{field}");
        let step = explained.steps.iter().find(|step| step.gate == "contract-keys").unwrap();
        assert!(step.values.iter().any(|value| value.value == field), "{field}: {step:?}");
    }
    assert_eq!(world.lookup(ask("p")).await.reason_code, "PREFIX_MATCH");
}

/// They are answered on another thread than the small ones.
#[tokio::test]
async fn large_lookups_are_answered_like_small_ones() {
    let world = serve(no_floors()).await;
    let names: Vec<String> = (0..8_193).map(|at| format!("b{at}")).collect();
    let blocks: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 16)).collect();
    world.report(vec![update("r1", vec![chain(&blocks)])]).await;
    for count in [8_192, 8_193] {
        let request = ask_chain(&blocks[..count]);
        let answer = world.lookup(request.clone()).await;
        assert_eq!(only(&answer).matched_tokens, 16 * i32::try_from(count).unwrap());
        let explained = world.explain.clone().explain_route(request).await.unwrap().into_inner();
        assert_eq!(only(&explained.answer.unwrap()).matched_tokens, only(&answer).matched_tokens);
    }
    for tokens in [131_072, 131_073] {
        let request = wire::LookupRouteRequest { token_ids: (0..tokens).collect(), ..ask("") };
        assert_eq!(world.lookup(request).await.reason_code, "AFFINITY_HINT");
    }
    let series = "inferencecache_lookup_route_latency_seconds_count{model=\"llama\"}";
    assert_eq!(world.metric(series).await, Some(4.0), "each is counted once");
}

#[tokio::test]
async fn the_adapter_is_echoed_where_the_index_was_consulted() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    let with_adapter = |request| wire::LookupRouteRequest { adapter_id: "lora".to_owned(), ..request };
    for (request, echoed) in [
        (with_adapter(ask("p")), "lora"),
        (with_adapter(wire::LookupRouteRequest { tenant_id: "nobody".to_owned(), ..ask("p") }), "lora"),
        (with_adapter(wire::LookupRouteRequest { hash_scheme: String::new(), ..ask("p") }), ""),
        (ask("p"), ""),
    ] {
        assert_eq!(world.lookup(request.clone()).await.adapter_id, echoed, "{request:?}");
    }
}

#[tokio::test]
async fn rpcs_without_state_answer_as_the_contract_says() {
    let world = serve(settings()).await;
    let mut client = world.client.clone();
    let rendered = client.render_template(wire::RenderTemplateRequest::default()).await.unwrap().into_inner();
    assert_eq!(rendered, wire::RenderTemplateResponse { reason_code: "OK".to_owned(), ..Default::default() });
    let routed = client.lookup_pd_route(wire::LookupPdRouteRequest::default()).await.unwrap().into_inner();
    assert_eq!(
        routed,
        wire::LookupPdRouteResponse { reason_code: "NO_HINT".to_owned(), ..Default::default() }
    );
}

#[tokio::test]
async fn explaining_gives_the_very_answer_and_leaves_no_trace() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![chain(&[("b1", 64), ("b2", 64)])])]).await;
    for request in [ask_chain(&[("b1", 64), ("b2", 64)]), ask_chain(&[("novel", 64)]), ask("")] {
        let explained = world.explain.clone().explain_route(request.clone()).await.unwrap().into_inner();
        let mut told = explained.answer.unwrap();
        let mut answer = world.lookup(request).await;
        for answer in [&mut told, &mut answer] {
            answer.lookup_latency_us = 0;
            // The clock goes on between the two calls.
            for score in &mut answer.replica_scores {
                score.score = score.score.round();
                score.estimated_cache_hit_prob = score.estimated_cache_hit_prob.round();
            }
        }
        assert_eq!(told, answer);
        assert_eq!(explained.steps.len(), icache::decision::PIPELINE.len());
        assert!(explained.steps.iter().all(|step| step.outcome != 0), "every outcome has a name");
    }
    let page = server_support::http_get(world.running.http_addr(), "/metrics").await.1;
    let calls = page.lines().filter(|line| line.starts_with("inferencecache_lookup_route_calls_total{"));
    let total: f64 = calls.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(total, 3.0, "the lookups are counted and the explanations are not");
    assert_eq!(
        value_of(&page, "inferencecache_lookup_route_latency_seconds_count{model=\"llama\"}"),
        Some(3.0)
    );
}

#[tokio::test]
async fn lookups_are_counted_by_model_reason_and_hint() {
    let world =
        serve_with(settings(), ServerConfig { metrics_max_series: 2, ..ServerConfig::default() }).await;
    let of = |model: &str, message: wire::CacheStateUpdate| wire::CacheStateUpdate {
        model_id: model.to_owned(),
        ..message
    };
    for model in ["m1", "m2", "m3"] {
        world.report(vec![of(model, update("r1", vec![exact("p")]))]).await;
    }
    for (model, hash, times) in [("m1", "p", 3), ("m2", "novel", 2), ("m3", "p", 1), ("unheard-of", "p", 1)] {
        for _ in 0..times {
            world.lookup(wire::LookupRouteRequest { model_id: model.to_owned(), ..ask(hash) }).await;
        }
    }
    for (labels, count) in [
        (r#"hint_used="true",model="m1",reason_code="PREFIX_MATCH""#, Some(3.0)),
        (r#"hint_used="true",model="m2",reason_code="AFFINITY_HINT""#, Some(2.0)),
        (r#"hint_used="true",model="other",reason_code="PREFIX_MATCH""#, Some(1.0)),
        (r#"hint_used="false",model="other",reason_code="UNKNOWN_MODEL""#, Some(1.0)),
        (r#"hint_used="true",model="m3",reason_code="PREFIX_MATCH""#, None),
    ] {
        let series = format!("inferencecache_lookup_route_calls_total{{{labels}}}");
        assert_eq!(world.metric(&series).await, count, "{labels}");
    }
    for (model, keys) in [("m1", Some(1.0)), ("other", Some(1.0)), ("m3", None)] {
        assert_eq!(world.metric(&format!("inferencecache_index_entries{{model=\"{model}\"}}")).await, keys);
    }
    world
        .publish(wire::CacheEvent {
            model_id: "m1".to_owned(),
            ..event(wire::cache_event::Type::AllCleared, "r1", "")
        })
        .await;
    assert_eq!(world.metric("inferencecache_index_entries{model=\"m1\"}").await, Some(0.0), "drained");
    assert_eq!(world.metric("inferencecache_index_replicas{model=\"m1\"}").await, Some(0.0), "drained");
    assert_eq!(
        world.metric("inferencecache_index_silent_replicas{model=\"other\"}").await,
        None,
        "all heard of"
    );
}

/// Sends the head of a call with a deadline, then `message` where there is one, and takes the answer. gRPC clients would
/// give up by themselves.
async fn within<Got: Message + Default>(
    world: &World,
    path: &str,
    timeout: &str,
    message: Option<Vec<u8>>,
) -> Got {
    let mut call = OpenCall::begin(world, path, Some(timeout)).await;
    if let Some(message) = message {
        call.send(message);
    }
    call.answer().await
}

/// A call of which the server has the head, and the message once it is sent.
pub struct OpenCall {
    response: h2::client::ResponseFuture,
    body: h2::SendStream<Bytes>,
    driving: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

impl OpenCall {
    pub async fn begin(world: &World, path: &str, timeout: Option<&str>) -> Self {
        let stream = tokio::net::TcpStream::connect(world.running.grpc_addr()).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        let driving = tokio::spawn(connection);
        let mut request = http::Request::post(format!("http://{}{path}", world.running.grpc_addr()))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        if let Some(timeout) = timeout {
            request = request.header("grpc-timeout", timeout);
        }
        let request = request.body(()).unwrap();
        let (response, body) = client.ready().await.unwrap().send_request(request, false).unwrap();
        Self { response, body, driving }
    }

    pub fn send(&mut self, message: Vec<u8>) {
        let mut frame = vec![0];
        frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
        frame.extend(message);
        self.body.send_data(frame.into(), true).unwrap();
    }

    pub async fn answer<Got: Message + Default>(self) -> Got {
        let mut answer = self.response.await.unwrap().into_body();
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.data().await {
            bytes.extend(chunk.unwrap());
        }
        let trailers = answer.trailers().await.unwrap().expect("an answer that is no error has trailers");
        assert_eq!(trailers["grpc-status"], "0");
        self.driving.abort();
        Got::decode(&bytes[5..]).unwrap()
    }
}

#[tokio::test]
async fn a_deadline_that_has_passed_is_answered_timeout() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    // Large ones are answered on another thread, which a deadline does not wait for.
    let large = ask_chain(&[("b", 1); 8_193]);
    for (timeout, message) in [
        ("0n", Some(ask("p").encode_to_vec())),
        ("0n", Some(large.encode_to_vec())),
        ("1n", Some(ask("p").encode_to_vec())),
        ("0m", None),
        ("20m", None),
    ] {
        let answer: wire::LookupRouteResponse = within(&world, LOOKUP, timeout, message.clone()).await;
        assert_eq!(
            answer,
            wire::LookupRouteResponse {
                reason_code: "TIMEOUT".to_owned(),
                lookup_latency_us: answer.lookup_latency_us,
                ..Default::default()
            },
            "{timeout}"
        );
        let explained: ExplainRouteResponse = within(&world, EXPLAIN, timeout, message).await;
        assert_eq!(explained.decided_by, "deadline", "{timeout}");
        assert_eq!(explained.answer.unwrap().reason_code, "TIMEOUT", "{timeout}");
    }
    let answer: wire::LookupRouteResponse =
        within(&world, LOOKUP, "30S", Some(ask("p").encode_to_vec())).await;
    assert_eq!(answer.reason_code, "PREFIX_MATCH");
    let page = server_support::http_get(world.running.http_addr(), "/metrics").await.1;
    let timeouts: f64 = page
        .lines()
        .filter(|line| line.contains("calls_total{") && line.contains("reason_code=\"TIMEOUT\""))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
        .sum();
    assert_eq!(timeouts, 5.0, "each is counted once");
}
