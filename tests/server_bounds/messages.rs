//! Messages at the limits that hold where none are given, and from clients of another version.

use bytes::Bytes;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use prost::Message as _;

use super::server_support::{serve, settings};

const BLOCKS: usize = 131_072;

fn entry(hash: Vec<u8>) -> wire::PrefixEntry {
    wire::PrefixEntry { prefix_hash: hash.into(), token_count: 16, ..Default::default() }
}

fn update(prefixes: Vec<wire::PrefixEntry>) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: "r".to_owned(),
        model_id: "m".to_owned(),
        tenant_id: "t".to_owned(),
        hash_scheme: "s".to_owned(),
        prefixes,
        ..Default::default()
    }
}

#[tokio::test]
async fn so_many_blocks_and_no_more_by_default() {
    let world = serve(settings()).await;
    let hashes = |count: usize| (0..count).map(|at| Bytes::copy_from_slice(&at.to_le_bytes()[..4]));
    for (count, over) in [(BLOCKS, 0.0), (BLOCKS + 1, 1.0)] {
        let request = wire::LookupRouteRequest {
            model_id: "m".to_owned(),
            tenant_id: "t".to_owned(),
            hash_scheme: "s".to_owned(),
            block_hashes: hashes(count).collect(),
            block_token_counts: vec![16; count],
            ..Default::default()
        };
        assert_eq!(world.lookup(request).await.reason_code, "NO_HINT");
        assert_eq!(world.metric("inferencecache_over_limit_total").await, Some(over), "{count}");
        world.report(vec![update(hashes(count).map(|hash| entry(hash.to_vec())).collect())]).await;
        let dropped = "inferencecache_ingest_dropped_total{cause=\"too_many_blocks\"}";
        assert_eq!(world.metric(dropped).await, Some(over), "{count}");
    }
    assert_eq!(world.metric("inferencecache_index_replica_entries").await, Some(BLOCKS as f64));
}

#[tokio::test]
async fn a_hash_of_65_bytes_and_an_id_of_513_are_dropped() {
    let world = serve(settings()).await;
    world.report(vec![update(vec![entry(vec![1; 64]), entry(vec![1; 65])])]).await;
    let model = |bytes: usize| wire::CacheStateUpdate {
        model_id: "m".repeat(bytes),
        ..update(vec![entry(vec![2; 8])])
    };
    world.report(vec![model(512), model(513)]).await;
    assert_eq!(world.metric("inferencecache_index_replica_entries").await, Some(2.0));
    for cause in ["long_hash", "long_id"] {
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(world.metric(&series).await, Some(1.0), "{cause}");
    }
}

/// A later version of the contract: fields that this one has never heard of, of every wire type.
#[tokio::test]
async fn unknown_fields_are_passed_over() {
    let mut bytes = update(vec![entry(b"h".to_vec())]).encode_to_vec();
    prost::encoding::uint64::encode(1_001, &7, &mut bytes);
    prost::encoding::fixed64::encode(1_002, &7, &mut bytes);
    prost::encoding::string::encode(1_003, &"later".to_owned(), &mut bytes);
    prost::encoding::fixed32::encode(1_004, &7, &mut bytes);
    let known = wire::CacheStateUpdate::decode(&bytes[..]).unwrap();
    assert_eq!(known, update(vec![entry(b"h".to_vec())]));

    let world = serve(settings()).await;
    let stream = tokio::net::TcpStream::connect(world.running.grpc_addr()).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let uri = format!(
        "http://{}/inferencecache.v1alpha1.InferenceCache/ReportCacheState",
        world.running.grpc_addr()
    );
    let request = tonic::codegen::http::Request::post(uri)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (answer, mut body) = client.send_request(request, false).unwrap();
    let mut framed = vec![0];
    framed.extend((bytes.len() as u32).to_be_bytes());
    framed.extend(bytes);
    body.send_data(framed.into(), true).unwrap();
    let mut answer = answer.await.unwrap().into_body();
    while let Some(part) = answer.data().await {
        part.unwrap();
    }
    let trailers = answer.trailers().await.unwrap().unwrap();
    assert_eq!(trailers.get("grpc-status").unwrap(), "0");
    assert_eq!(world.metric("inferencecache_index_replica_entries").await, Some(1.0));
}
