//! ReportCacheState.

use bytes::Bytes;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::server_support::{World, serve, settings, until};
use crate::*;

#[tokio::test]
async fn absence_removes_nothing() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    world.report(vec![update("r1", vec![exact("q")])]).await;
    world.report(vec![update("r1", vec![])]).await;
    assert_eq!(holders(&world.lookup(ask("p")).await), ["r1"]);
    assert_eq!(holders(&world.lookup(ask("q")).await), ["r1"]);
}

#[tokio::test]
async fn updates_apply_as_they_arrive_and_are_acked_once_at_the_end() {
    let world = serve(settings()).await;
    let (sender, receiver) = mpsc::channel(1);
    let mut client = world.client.clone();
    let call = tokio::spawn(async move { client.report_cache_state(ReceiverStream::new(receiver)).await });
    for hash in ["p", "q"] {
        sender.send(update("r1", vec![exact(hash)])).await.unwrap();
        until(|| world.lookup(ask(hash)), |answer| holders(answer) == ["r1"]).await;
        assert!(!call.is_finished(), "acked before the client half-closed");
    }
    drop(sender);
    let ack = call.await.unwrap().unwrap().into_inner();
    assert_eq!(ack, wire::Ack { accepted: true, reason_code: String::new() });
}

#[tokio::test]
async fn an_empty_stream_is_acked() {
    let world = serve(settings()).await;
    assert!(world.report(vec![]).await.accepted);
}

#[tokio::test]
async fn every_part_of_the_key_tells_entries_apart() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    let base = ask("p");
    assert_eq!(holders(&world.lookup(base.clone()).await), ["r1"]);
    for other in [
        wire::LookupRouteRequest { tenant_id: "team-b".to_owned(), ..base.clone() },
        wire::LookupRouteRequest { model_id: "qwen".to_owned(), ..base.clone() },
        wire::LookupRouteRequest { hash_scheme: "sglang".to_owned(), ..base.clone() },
        wire::LookupRouteRequest { adapter_id: "lora".to_owned(), ..base.clone() },
        wire::LookupRouteRequest { prefix_hash: Bytes::from_static(b"q"), ..base.clone() },
    ] {
        assert_eq!(holders(&world.lookup(other.clone()).await), [""; 0], "{other:?}");
    }
}

#[tokio::test]
async fn each_replica_has_a_value_of_its_own() {
    let world = serve(no_floors()).await;
    let now = now_us();
    for (replica, token_count, tier, minutes) in [("r1", 100, 1, 0), ("r2", 200, 2, 3), ("r3", 300, 3, 15)] {
        let entry = wire::PrefixEntry { token_count, tier, ..exact("p") };
        let update = wire::CacheStateUpdate {
            timestamp_us: now - minutes * MINUTE_US,
            ..update(replica, vec![entry])
        };
        world.report(vec![update]).await;
    }
    let mut scores = world.lookup(ask("p")).await.replica_scores;
    scores.sort_by(|a, b| a.replica_id.cmp(&b.replica_id));
    let seen: Vec<_> = scores.iter().map(|score| (score.matched_tokens, score.tier)).collect();
    assert_eq!(seen, [(100, 1), (200, 2), (300, 3)]);
    for (score, freshness) in scores.iter().zip([1.0, 0.9, 0.5]) {
        assert!((score.estimated_cache_hit_prob - freshness).abs() < 0.01, "{score:?}");
    }
}

/// Reports `p` twice, with token count and time each, and gives the stored count and freshness.
async fn reported_twice(world: &World, reports: [(i32, i64); 2]) -> (i32, f32) {
    for (token_count, timestamp_us) in reports {
        let entry = wire::PrefixEntry { token_count, tier: token_count / 100, ..exact("p") };
        let update = wire::CacheStateUpdate { timestamp_us, ..update("r1", vec![entry]) };
        world.report(vec![update]).await;
    }
    let answer = world.lookup(ask("p")).await;
    let score = only(&answer);
    assert_eq!(score.tier, score.matched_tokens / 100, "tier and token count come from one report");
    (score.matched_tokens, score.estimated_cache_hit_prob)
}

#[tokio::test]
async fn no_timestamp_is_now() {
    let world = serve(settings()).await;
    let (_, freshness) = reported_twice(&world, [(100, now_us() - 10 * MINUTE_US), (200, 0)]).await;
    assert!(freshness > 0.99, "{freshness}");
}

#[tokio::test]
async fn a_timestamp_ahead_of_the_clock_is_now() {
    let world = serve(settings()).await;
    // Kept as sent, the first report would outlast the second.
    let (tokens, _) = reported_twice(&world, [(100, now_us() + 60 * MINUTE_US), (200, 0)]).await;
    assert_eq!(tokens, 200);
}

#[tokio::test]
async fn last_seen_never_moves_backwards_and_the_newest_report_counts() {
    let world = serve(settings()).await;
    let now = now_us();
    let (tokens, freshness) =
        reported_twice(&world, [(100, now - 3 * MINUTE_US), (200, now - 15 * MINUTE_US)]).await;
    assert_eq!(tokens, 100);
    assert!((freshness - 0.9).abs() < 0.01, "{freshness}");
}

#[tokio::test]
async fn of_equal_timestamps_the_later_arrival_counts() {
    let world = serve(settings()).await;
    let at = now_us() - MINUTE_US;
    assert_eq!(reported_twice(&world, [(200, at), (100, at)]).await.0, 100);
}

#[tokio::test]
async fn without_a_scheme_prefixes_are_dropped_and_statistics_kept() {
    let world = serve(settings()).await;
    let stats = wire::ReplicaStats { hit_rate: 0.5, ..Default::default() };
    let update = wire::CacheStateUpdate {
        hash_scheme: String::new(),
        stats: Some(stats),
        ..update("r1", vec![exact("p")])
    };
    world.report(vec![update]).await;
    let state = world.state(TENANT, MODEL).await;
    assert_eq!(state.summary.unwrap().total_prefixes, 0);
    assert_eq!(state.replicas.len(), 1);
    assert_eq!(state.replicas[0].hit_rate, 0.5);
    let dropped = world.metric("inferencecache_ingest_dropped_total{cause=\"missing_scheme\"}").await;
    assert_eq!(dropped, Some(1.0));
}

#[tokio::test]
async fn a_malformed_entry_is_dropped_whole_and_counted_and_the_others_stay() {
    let good = || chain(&[("b1", 64), ("b2", 64)]);
    let bytes = |length: usize| Bytes::from(vec![b'x'; length]);
    for (cause, bad) in [
        ("lists_disagree", wire::PrefixEntry { block_token_counts: vec![64], ..good() }),
        ("lists_disagree", wire::PrefixEntry { block_token_counts: vec![], ..good() }),
        ("lists_disagree", wire::PrefixEntry { block_hashes: vec![], ..good() }),
        ("negative_count", wire::PrefixEntry { block_token_counts: vec![64, -1], ..good() }),
        ("negative_count", wire::PrefixEntry { token_count: -1, ..good() }),
        ("empty_hash", wire::PrefixEntry { block_hashes: vec![bytes(1), bytes(0)], ..good() }),
        ("empty_hash", wire::PrefixEntry { token_count: 100, ..Default::default() }),
        ("long_hash", wire::PrefixEntry { block_hashes: vec![bytes(1), bytes(65)], ..good() }),
        ("long_hash", wire::PrefixEntry { prefix_hash: bytes(65), ..good() }),
    ] {
        let world = serve(settings()).await;
        let with_hash = |entry: wire::PrefixEntry| match entry.prefix_hash.is_empty() && cause != "empty_hash"
        {
            true => wire::PrefixEntry { prefix_hash: Bytes::from_static(b"beside"), ..entry },
            false => entry,
        };
        world.report(vec![update("r1", vec![exact("first"), with_hash(bad.clone()), exact("last")])]).await;
        let total = world.state(TENANT, MODEL).await.summary.unwrap().total_prefixes;
        assert_eq!(total, 2, "{cause}: {bad:?}");
        assert_eq!(holders(&world.lookup(ask("last")).await), ["r1"], "{cause}: {bad:?}");
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(world.metric(&series).await, Some(1.0), "{cause}: {bad:?}");
    }
}

#[tokio::test]
async fn a_hash_of_64_bytes_is_taken() {
    let world = serve(settings()).await;
    let longest = "x".repeat(64);
    world.report(vec![update("r1", vec![exact(&longest)])]).await;
    assert_eq!(holders(&world.lookup(ask(&longest)).await), ["r1"]);
}

#[tokio::test]
async fn a_chain_gives_one_key_a_block_with_the_cumulative_count() {
    let world = serve(no_floors()).await;
    world.report(vec![update("r1", vec![chain(&[("b1", 16), ("b2", 32), ("b3", 64)])])]).await;
    assert_eq!(world.state(TENANT, MODEL).await.summary.unwrap().total_prefixes, 3);
    for (hash, tokens) in [("b1", 16), ("b2", 48), ("b3", 112)] {
        assert_eq!(only(&world.lookup(ask(hash)).await).matched_tokens, tokens, "{hash}");
    }
}

#[tokio::test]
async fn a_hash_beside_a_chain_is_a_key_too() {
    let world = serve(settings()).await;
    let both =
        wire::PrefixEntry { prefix_hash: Bytes::from_static(b"p"), token_count: 500, ..chain(&[("b1", 64)]) };
    world.report(vec![update("r1", vec![both])]).await;
    assert_eq!(world.state(TENANT, MODEL).await.summary.unwrap().total_prefixes, 2);
    assert_eq!(only(&world.lookup(ask("p")).await).matched_tokens, 500);
    assert_eq!(only(&world.lookup(ask("b1")).await).matched_tokens, 64);
}

#[tokio::test]
async fn sums_saturate() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![chain(&[("b1", i32::MAX), ("b2", 100), ("b3", i32::MAX)])])]).await;
    for hash in ["b1", "b2", "b3"] {
        assert_eq!(only(&world.lookup(ask(hash)).await).matched_tokens, i32::MAX, "{hash}");
    }
}

#[tokio::test]
async fn the_entrys_adapter_stands_before_the_updates() {
    let world = serve(settings()).await;
    let of_entry = wire::PrefixEntry { adapter_id: "entry-lora".to_owned(), ..exact("p") };
    let with_adapter = wire::CacheStateUpdate {
        adapter_id: "update-lora".to_owned(),
        ..update("r1", vec![of_entry, exact("q")])
    };
    world.report(vec![with_adapter, update("r1", vec![exact("s")])]).await;
    for (hash, adapter) in [("p", "entry-lora"), ("q", "update-lora"), ("s", "")] {
        for asked in ["entry-lora", "update-lora", ""] {
            let request = wire::LookupRouteRequest { adapter_id: asked.to_owned(), ..ask(hash) };
            let is_found = !holders(&world.lookup(request).await).is_empty();
            assert_eq!(is_found, asked == adapter, "{hash} under `{asked}`");
        }
    }
}

#[tokio::test]
async fn tiers_are_never_hotter_than_reported() {
    for (sent, reported) in [(0, 1), (1, 1), (2, 2), (3, 3), (4, 0), (99, 0), (-1, 0), (i32::MIN, 0)] {
        let world = serve(settings()).await;
        world.report(vec![update("r1", vec![wire::PrefixEntry { tier: sent, ..exact("p") }])]).await;
        assert_eq!(only(&world.lookup(ask("p")).await).tier, reported, "tier {sent}");
    }
}

#[tokio::test]
async fn an_unknown_tier_is_colder_than_t3() {
    for unknown in [7, -7] {
        let world = serve(settings()).await;
        let blocks = [("b1", 64), ("b2", 64)];
        let cold = wire::PrefixEntry { tier: 3, ..chain(&blocks[..1]) };
        let colder = wire::PrefixEntry { tier: unknown, ..exact("b2") };
        world.report(vec![update("r1", vec![cold, colder])]).await;
        assert_eq!(only(&world.lookup(ask_chain(&blocks[..1])).await).tier, 3);
        assert_eq!(
            only(&world.lookup(ask_chain(&blocks)).await).tier,
            0,
            "the coldest tier of the run counts"
        );
    }
}

#[tokio::test]
async fn statistics_are_of_the_update_s_replica_and_within_bounds() {
    for (hit_rate, pressure, kept) in [
        (0.25, 0.75, (0.25, 0.75)),
        (f32::NAN, f32::NAN, (0.0, 0.0)),
        (f32::INFINITY, f32::NEG_INFINITY, (0.0, 0.0)),
        (1.5, -0.5, (1.0, 0.0)),
    ] {
        let world = serve(settings()).await;
        let stats = wire::ReplicaStats {
            replica_id: "someone-else".to_owned(),
            cache_memory_bytes: 1 << 30,
            hit_rate,
            pressure,
            client_version: "1.2.3".to_owned(),
            t2_hit_tokens: 5,
            t2_query_tokens: 9,
        };
        let update = wire::CacheStateUpdate { stats: Some(stats.clone()), ..update("r1", vec![]) };
        world.report(vec![update]).await;
        let (hit_rate, pressure) = kept;
        let expected = wire::ReplicaStats { replica_id: "r1".to_owned(), hit_rate, pressure, ..stats };
        assert_eq!(world.state(TENANT, MODEL).await.replicas, [expected]);
    }
}

#[tokio::test]
async fn statistics_hold_for_every_scheme_and_adapter() {
    let world = serve(settings()).await;
    let stats = wire::ReplicaStats { pressure: 0.5, ..Default::default() };
    let with_stats = wire::CacheStateUpdate {
        hash_scheme: "sglang".to_owned(),
        adapter_id: "lora".to_owned(),
        stats: Some(stats),
        ..update("r1", vec![])
    };
    world.report(vec![update("r1", vec![exact("p")]), with_stats]).await;
    let answer = world.lookup(ask("p")).await;
    assert!((only(&answer).score - 50.0).abs() < 0.1, "{answer:?}");
    // Another model's are its own.
    let elsewhere =
        |message: wire::CacheStateUpdate| wire::CacheStateUpdate { model_id: "qwen".to_owned(), ..message };
    world.report(vec![elsewhere(update("r1", vec![exact("p")]))]).await;
    let answer = world.lookup(wire::LookupRouteRequest { model_id: "qwen".to_owned(), ..ask("p") }).await;
    assert!((only(&answer).score - 100.0).abs() < 0.1, "{answer:?}");
}

#[tokio::test]
async fn names_that_are_missing_or_too_long_drop_the_update() {
    let long = "n".repeat(513);
    let base = || update("r1", vec![exact("p")]);
    for (cause, bad) in [
        ("missing_key", wire::CacheStateUpdate { replica_id: String::new(), ..base() }),
        ("missing_key", wire::CacheStateUpdate { tenant_id: String::new(), ..base() }),
        ("missing_key", wire::CacheStateUpdate { model_id: String::new(), ..base() }),
        ("long_id", wire::CacheStateUpdate { replica_id: long.clone(), ..base() }),
        ("long_id", wire::CacheStateUpdate { hash_scheme: long.clone(), ..base() }),
        ("long_id", wire::CacheStateUpdate { adapter_id: long.clone(), ..base() }),
    ] {
        let world = serve(settings()).await;
        assert!(world.report(vec![bad]).await.accepted, "{cause}");
        assert_eq!(world.state("", "").await.summary.unwrap().total_prefixes, 0, "{cause}");
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(world.metric(&series).await, Some(1.0), "{cause}");
    }
    let world = serve(settings()).await;
    let longest = "n".repeat(512);
    world.report(vec![wire::CacheStateUpdate { replica_id: longest.clone(), ..base() }]).await;
    assert_eq!(holders(&world.lookup(ask("p")).await), [longest]);
}

#[tokio::test]
async fn a_large_update_is_applied_whole() {
    let world = serve(settings()).await;
    let names: Vec<String> = (0..5_000).map(|block| format!("block-{block}")).collect();
    let blocks: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 16)).collect();
    world.report(vec![update("r1", vec![chain(&blocks)])]).await;
    assert_eq!(only(&world.lookup(ask_chain(&blocks)).await).matched_tokens, 80_000);
    assert_eq!(world.metric("inferencecache_ingest_blocks_total").await, Some(5_000.0));
}

#[tokio::test]
async fn entries_beyond_the_blocks_of_an_update_are_dropped() {
    let mut limited = no_floors();
    limited.index.limits.request_blocks = 4;
    let world = serve(limited).await;
    let dropped = "inferencecache_ingest_dropped_total{cause=\"too_many_blocks\"}";
    let four = || vec![chain(&[("a1", 1), ("a2", 1), ("a3", 1)]), exact("a4")];
    world.report(vec![update("r1", four())]).await;
    assert_eq!(world.metric(dropped).await, Some(0.0), "at the limit");
    assert_eq!(only(&world.lookup(ask("a4")).await).replica_id, "r1");

    let over = vec![exact("b1"), chain(&[("b2", 1), ("b3", 1), ("b4", 1), ("b5", 1)]), exact("b6")];
    world.report(vec![update("r1", over)]).await;
    assert_eq!(world.metric(dropped).await, Some(1.0), "what does not fit goes, and what fits is taken");
    for (hash, holders_of_it) in [("b1", &["r1"][..]), ("b2", &[]), ("b6", &["r1"])] {
        assert_eq!(holders(&world.lookup(ask(hash)).await), holders_of_it, "{hash}");
    }
    let names: Vec<String> = (0..7).map(|at| format!("c{at}")).collect();
    world.report(vec![update("r1", names.iter().map(|name| exact(name)).collect())]).await;
    assert_eq!(world.metric(dropped).await, Some(4.0));
    // Empty entries have no block and take room all the same.
    world.report(vec![update("r1", vec![wire::PrefixEntry::default(); 6])]).await;
    assert_eq!(world.metric(dropped).await, Some(6.0));
    assert_eq!(world.metric("inferencecache_ingest_dropped_total{cause=\"empty_hash\"}").await, Some(4.0));
}
