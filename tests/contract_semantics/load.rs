//! Lookups in flight: which are shed, and which calls count.

use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::lookup::RouterConfig;
use icache::model::Sourced;
use icache::server::ServerConfig;
use prost::Message as _;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Request;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use crate::calls::{EXPLAIN, LOOKUP, OpenCall};
use crate::server_support::{World, serve_with, settings, until};
use crate::*;

/// A server that takes `max_in_flight` lookups at a time and waits `message_wait` for a message.
async fn limited(max_in_flight: u64, message_wait: Duration) -> World {
    let router = RouterConfig { max_in_flight: Sourced::built_in(max_in_flight), ..settings() };
    serve_with(router, ServerConfig { message_wait, ..ServerConfig::default() }).await
}

/// A lookup whose message is sent and not ended, held in flight until the sender is dropped.
fn held_lookup(world: &World) -> (mpsc::Sender<wire::LookupRouteRequest>, tokio::task::JoinHandle<String>) {
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(ask("p")).unwrap();
    let address = world.running.grpc_addr();
    let held = tokio::spawn(async move {
        let channel = Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
        let mut client = Grpc::new(channel);
        client.ready().await.unwrap();
        let codec = ProstCodec::<wire::LookupRouteRequest, wire::LookupRouteResponse>::default();
        let request = Request::new(ReceiverStream::new(receiver));
        let answer = client.client_streaming(request, PathAndQuery::from_static(LOOKUP), codec).await;
        answer.unwrap().into_inner().reason_code
    });
    (sender, held)
}

#[tokio::test]
async fn lookups_over_the_limit_in_flight_are_shed_and_counted() {
    let world = limited(1, Duration::from_secs(3_600)).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    assert_eq!(world.lookup(ask("p")).await.reason_code, "PREFIX_MATCH");
    let (sender, held) = held_lookup(&world);
    let reason = async || world.lookup(ask("p")).await.reason_code;
    until(reason, |reason| reason == "NO_HINT").await;
    let explained = world.explain.clone().explain_route(ask("p")).await.unwrap().into_inner();
    assert_eq!(explained.decided_by, "load-shed");
    assert_eq!(world.metric("inferencecache_shed_total").await, Some(1.0));
    drop(sender);
    assert_eq!(held.await.unwrap(), "PREFIX_MATCH");
    assert_eq!(world.lookup(ask("p")).await.reason_code, "PREFIX_MATCH");
}

#[tokio::test]
async fn an_explanation_counts_as_a_lookup_in_flight() {
    let world = limited(1, Duration::from_secs(3_600)).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    let mut call = OpenCall::begin(&world, EXPLAIN, None).await;
    let reason = async || world.lookup(ask("p")).await.reason_code;
    until(reason, |reason| reason == "NO_HINT").await;
    call.send(ask("p").encode_to_vec());
    let explained: icache::contract::ExplainRouteResponse = call.answer().await;
    assert_eq!(explained.answer.unwrap().reason_code, "PREFIX_MATCH");
    assert_eq!(world.lookup(ask("p")).await.reason_code, "PREFIX_MATCH");
}

#[tokio::test]
async fn calls_whose_message_never_comes_do_not_shed_for_ever() {
    assert_eq!(ServerConfig::default().message_wait, Duration::from_secs(1));
    let world = limited(2, Duration::from_secs(2)).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    let mut held = Vec::new();
    for at in 0..5 {
        held.push(OpenCall::begin(&world, [LOOKUP, EXPLAIN][at % 2], None).await);
    }
    let reason = async || world.lookup(ask("p")).await.reason_code;
    until(reason, |reason| reason == "NO_HINT").await;
    until(reason, |reason| reason == "PREFIX_MATCH").await;
    // A message that comes late is answered all the same.
    let mut late = held.swap_remove(0);
    late.send(ask("p").encode_to_vec());
    let answer: wire::LookupRouteResponse = late.answer().await;
    assert_eq!(answer.reason_code, "PREFIX_MATCH");
    assert_eq!(world.lookup(ask("p")).await.reason_code, "PREFIX_MATCH");
}
