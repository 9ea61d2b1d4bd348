//! Data-parallel ranks, each with a publisher of its own at the next port.

use std::collections::BTreeMap;

use serde_json::json;

use crate::engine::{Engine, removed, stored};
use crate::process::Process;
use crate::sidecar::{Gateway, Sidecar, until};

/// Waits until each of some ranks is said to hold so many blocks of prompt 1, and no other holds any.
async fn until_ranks(gateway: &Gateway, expected: &[(u32, usize)]) {
    let expected: BTreeMap<String, usize> =
        expected.iter().map(|(rank, blocks)| (format!("r-dp{rank}"), *blocks)).collect();
    until(&format!("{expected:?}"), async || gateway.blocks(1).await == expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rank_is_followed_at_its_own_port() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut ranks = Engine::start_ranks("topic", 4);
    let sidecar = Sidecar::start(ranks[0].port, ranks[0].replay_port, server.grpc_addr, &["--dp-ranks=4"]);
    // Each names its rank or none; blocks have the same names on all of them.
    for (rank, engine) in ranks.iter_mut().enumerate() {
        let named = if rank % 2 == 0 { json!(rank) } else { json!(null) };
        engine.publish_with(&[stored(1, 0..rank + 1)], json!({"rank": named}));
    }
    until_ranks(&gateway, &[(0, 1), (1, 2), (2, 3), (3, 4)]).await;
    for rank in 0..4 {
        sidecar.until_metric(&format!("engine_connected{{rank=\"{rank}\"}}"), 1.0).await;
    }

    // A batch that names another rank than its connection: one of the four, and one that has no connection.
    ranks[2].publish_with(&[stored(1, 1..6)], json!({"rank": 0}));
    ranks[2].publish_with(&[stored(1, 0..7)], json!({"rank": 9}));
    until_ranks(&gateway, &[(0, 6), (1, 2), (2, 3), (3, 4), (9, 7)]).await;
    ranks[0].publish(&[removed(1, 5..6)]);
    until_ranks(&gateway, &[(0, 5), (1, 2), (2, 3), (3, 4), (9, 7)]).await;

    // A gap of one rank is asked of that rank.
    let asked = ranks[1].asked().len();
    let first = ranks[1].next_seq();
    ranks[1].publish_with(&[removed(1, 1..2)], json!({"send": false}));
    ranks[1].publish(&[stored(2, 0..1)]);
    until_ranks(&gateway, &[(0, 5), (1, 1), (2, 3), (3, 4), (9, 7)]).await;
    assert!(ranks[1].asked()[asked..].contains(&first));

    // One process restarts: what it fed is gone, whatever rank it named, and the rest stays.
    let again = ranks.remove(3).kill();
    let mut rank_3 = again();
    rank_3.publish(&[stored(1, 0..2)]);
    until_ranks(&gateway, &[(0, 5), (1, 1), (2, 3), (3, 2), (9, 7)]).await;
    assert_eq!(sidecar.metric("engine_restarts_total").await, Some(1.0));
    assert_eq!(sidecar.dropped("lost").await, 0.0);
}
