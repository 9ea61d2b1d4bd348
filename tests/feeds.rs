//! The live feeds of a server: what they show to whom, and what an observer is told who reads too slowly.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

use icache::contract::wire::icache::v1alpha1 as observe;
use icache::contract::wire::icache::v1alpha1::observe_client::ObserveClient;
use icache::contract::wire::icache::v1alpha1::record::Body;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::cache_event::Type;
use server_support::{World, serve, settings, until};
use tonic::{Code, Streaming};

fn update(tenant: &str, prefixes: Vec<wire::PrefixEntry>) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: "r1".to_owned(),
        model_id: "m".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        adapter_id: "lora".to_owned(),
        timestamp_us: 1_754_611_200_000_001,
        prefixes,
        ..Default::default()
    }
}

fn chain(hashes: &[&[u8]]) -> wire::PrefixEntry {
    wire::PrefixEntry {
        block_hashes: hashes.iter().map(|hash| bytes::Bytes::copy_from_slice(hash)).collect(),
        block_token_counts: vec![16; hashes.len()],
        ..Default::default()
    }
}

fn event(kind: Type, tenant: &str, hash: &str) -> wire::CacheEvent {
    wire::CacheEvent {
        r#type: kind as i32,
        replica_id: "r1".to_owned(),
        model_id: "m".to_owned(),
        tenant_id: tenant.to_owned(),
        prefix_hash: hash.to_owned().into(),
        ..Default::default()
    }
}

async fn events(world: &World, tenant: &str, types: &[Type]) -> Streaming<wire::CacheEvent> {
    let wanted = wire::StreamEventsRequest {
        tenant_id: tenant.to_owned(),
        types: types.iter().map(|kind| *kind as i32).collect(),
        ..Default::default()
    };
    world.client.clone().stream_cache_events(wanted).await.unwrap().into_inner()
}

async fn hashes(feed: &mut Streaming<wire::CacheEvent>, count: usize) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    while found.len() < count {
        let event = feed.message().await.unwrap().unwrap();
        found.push((event.r#type, String::from_utf8(event.prefix_hash.to_vec()).unwrap()));
    }
    found
}

fn missed_of(trailers: &tonic::metadata::MetadataMap) -> u64 {
    trailers.get("icache-missed").unwrap().to_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_report_shows_as_one_event_for_each_block_that_was_taken() {
    let world = serve(settings()).await;
    let mut all = events(&world, "", &[]).await;
    let mut added = events(&world, "t", &[Type::PrefixAdded]).await;
    let mut evicted = events(&world, "t", &[Type::PrefixEvicted]).await;
    let bad = wire::PrefixEntry { block_token_counts: vec![16; 3], ..chain(&[b"x", b"y"]) };
    let both =
        wire::PrefixEntry { prefix_hash: "whole".into(), adapter_id: "own".to_owned(), ..chain(&[b"c"]) };
    world
        .report(vec![update("t", vec![chain(&[b"a", b"b"]), bad, both]), update("u", vec![chain(&[b"d"])])])
        .await;
    world.publish(event(Type::PrefixEvicted, "t", "a")).await;
    world.publish(event(Type::PrefixEvicted, "u", "d")).await;
    world.publish(event(Type::ReplicaUpdated, "t", "")).await;
    let (plus, minus, heard) =
        (Type::PrefixAdded as i32, Type::PrefixEvicted as i32, Type::ReplicaUpdated as i32);
    let named = |list: &[(i32, &str)]| {
        list.iter().map(|(kind, hash)| (*kind, (*hash).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        hashes(&mut all, 8).await,
        named(&[
            (plus, "a"),
            (plus, "b"),
            (plus, "c"),
            (plus, "whole"),
            (plus, "d"),
            (minus, "a"),
            (minus, "d"),
            (heard, "")
        ])
    );
    let mut first = events(&world, "t", &[Type::PrefixAdded]).await;
    assert_eq!(hashes(&mut added, 4).await, named(&[(plus, "a"), (plus, "b"), (plus, "c"), (plus, "whole")]));
    assert_eq!(hashes(&mut evicted, 1).await, named(&[(minus, "a")]));
    world
        .report(vec![update("t", vec![wire::PrefixEntry { adapter_id: "own".to_owned(), ..chain(&[b"e"]) }])])
        .await;
    let event = first.message().await.unwrap().unwrap();
    let expected = wire::CacheEvent {
        adapter_id: "own".to_owned(),
        timestamp_us: 1_754_611_200_000_001,
        ..super_added("e")
    };
    assert_eq!(event, expected, "whose it is, which partition, and when");
}

fn super_added(hash: &str) -> wire::CacheEvent {
    event(Type::PrefixAdded, "t", hash)
}

#[tokio::test]
async fn a_slow_observer_of_events_is_told_exactly_how_much_it_missed() {
    let world = serve(settings()).await;
    let mut feed = events(&world, "", &[]).await;
    let blocks = 20_000_u64;
    // Names of some length fill the windows of the transport with few events.
    let hashes: Vec<[u8; 8]> = (0..blocks).map(u64::to_be_bytes).collect();
    let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
    let long = wire::CacheStateUpdate { replica_id: "r".repeat(500), ..update("t", vec![chain(&hashes)]) };
    world.report(vec![long]).await;
    let missed =
        async || world.metric(r#"inferencecache_observer_missed_total{feed="events"}"#).await.unwrap();
    let before = until(missed, |missed| *missed > 0.0).await;
    assert!(before < blocks as f64);
    assert_eq!(world.router.index().entries(), blocks, "nobody waited for it");
    let stopping = tokio::spawn(world.running.stop());
    let mut seen = 0;
    while let Some(_event) = feed.message().await.unwrap() {
        seen += 1;
    }
    let trailers = feed.trailers().await.unwrap().unwrap();
    assert_eq!(seen + missed_of(&trailers), blocks, "{seen} were seen");
    assert!(stopping.await.unwrap());
}

#[tokio::test]
async fn the_feed_of_metrics_ends_with_its_count_too() {
    let world = serve(settings()).await;
    let wanted = wire::StreamMetricsRequest { names: vec!["inferencecache_shed_total".to_owned()] };
    let mut feed = world.client.clone().stream_metrics(wanted).await.unwrap().into_inner();
    let metric = feed.message().await.unwrap().unwrap();
    assert_eq!((metric.name.as_str(), metric.value), ("inferencecache_shed_total", 0.0));
    let stopping = tokio::spawn(world.running.stop());
    assert_eq!(feed.message().await.unwrap(), None);
    assert_eq!(missed_of(&feed.trailers().await.unwrap().unwrap()), 0);
    assert!(stopping.await.unwrap());
}

async fn observed(world: &World, lookups: Option<f64>) -> Result<Streaming<observe::Record>, tonic::Status> {
    let channel =
        tonic::transport::Channel::from_shared(format!("http://{}", world.running.grpc_addr())).unwrap();
    let mut client = ObserveClient::new(channel.connect().await.unwrap()).max_decoding_message_size(64 << 20);
    Ok(client.observe(observe::ObserveRequest { lookups }).await?.into_inner())
}

#[tokio::test]
async fn a_slow_observer_of_everything_is_told_how_much_it_missed_and_begins_anew() {
    let world = serve(settings()).await;
    let mut feed = observed(&world, None).await.unwrap();
    // The version is too long to be kept, so that a large record is little work.
    let stats = wire::ReplicaStats { client_version: "v".repeat(2 << 20), ..Default::default() };
    let sent = 200_u64;
    for _ in 0..sent {
        world
            .report(vec![wire::CacheStateUpdate { stats: Some(stats.clone()), ..update("t", vec![]) }])
            .await;
    }
    let (mut reports, mut missed) = (0, None);
    let status = loop {
        match feed.message().await {
            Ok(Some(record)) => match record.body.unwrap() {
                Body::Report(_) => reports += 1,
                Body::Missed(told) => missed = Some(told.records),
                _ => assert_eq!(reports, 0, "state comes first"),
            },
            Ok(None) => panic!("it must end with an error"),
            Err(status) => break status,
        }
    };
    let missed = missed.unwrap();
    assert!(missed > 0);
    assert_eq!(reports + missed, sent);
    assert_eq!(status.code(), Code::DataLoss, "{status:?}");
    assert_eq!(missed_of(status.metadata()), missed);
    let metric = world.metric(r#"inferencecache_observer_missed_total{feed="observe"}"#).await;
    assert_eq!(metric, Some(missed as f64));
    let mut again = observed(&world, None).await.unwrap();
    assert!(matches!(again.message().await.unwrap().unwrap().body, Some(Body::Config(_))));
}

#[tokio::test]
async fn observers_and_their_samples_have_bounds() {
    let world = serve(settings()).await;
    for share in [-0.1, 1.1, f64::NAN] {
        let status = observed(&world, Some(share)).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{share}");
    }
    let mut feeds = Vec::new();
    for _ in 0..8 {
        feeds.push(observed(&world, Some(0.25)).await.unwrap());
    }
    let status = observed(&world, None).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("8 observers are there already"), "{status:?}");
    let mut feed = feeds.pop().unwrap();
    drop(feeds);
    // One that leaves makes room for another.
    let whole = until(async || observed(&world, Some(1.0)).await.ok(), Option::is_some).await;
    let asked = 2_000;
    let request = wire::LookupRouteRequest {
        tenant_id: "t".to_owned(),
        model_id: "m".to_owned(),
        ..Default::default()
    };
    for _ in 0..asked {
        world.lookup(request.clone()).await;
    }
    let stopping = tokio::spawn(world.running.stop());
    let count = async |feed: &mut Streaming<observe::Record>| {
        let mut lookups = 0;
        while let Ok(Some(record)) = feed.message().await {
            lookups += usize::from(matches!(record.body, Some(Body::Lookup(_))));
        }
        lookups
    };
    let sampled = count(&mut feed).await;
    assert!((asked / 8..asked / 2).contains(&sampled), "{sampled} of {asked}, a quarter was asked for");
    drop(whole);
    assert!(stopping.await.unwrap());
}
