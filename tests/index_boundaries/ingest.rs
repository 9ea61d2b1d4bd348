//! What a report leaves in the index.

use icache::index::DropCause;
use icache::model::{PROBE_TENANT, ReplicaStats, Tier};

use crate::world::{At, Found, HERE, NOTHING, NOW, Prefix, SECOND, World, chain, one};

#[test]
fn a_chain_is_stored_with_cumulative_counts_and_matched_with_the_requests() {
    let world = World::new();
    world.report(HERE, &[chain(&["a", "b", "c", "d"], &[16, 7, 0, 100])]);
    for (hash, tokens) in [("a", 16), ("b", 23), ("c", 23), ("d", 123)] {
        assert_eq!(world.exact_tokens(hash), [tokens], "{hash}");
    }
    let found = world.chain(HERE, &["a", "b", "c", "x"], &[1, 2, 3, 4], NOW);
    assert_eq!(found.iter().map(|found| (found.blocks, found.tokens)).collect::<Vec<_>>(), [(3, 6)]);
}

#[test]
fn a_hash_beside_a_chain_is_stored_with_its_own_count() {
    let world = World::new();
    world.report(HERE, &[Prefix { hash: "whole", tokens: 5, ..chain(&["a", "b"], &[16, 16]) }]);
    assert_eq!(["a", "b", "whole"].map(|hash| world.exact_tokens(hash)), [[16], [32], [5]]);
}

#[test]
fn the_newest_time_wins_and_the_later_arrival_among_equal_ones() {
    for (second_at, tokens, tier, last_seen) in [
        (NOW - 10 * SECOND - 1, 100, Tier::T2, NOW - 10 * SECOND),
        (NOW - 10 * SECOND, 50, Tier::T1, NOW - 10 * SECOND),
        (NOW - 10 * SECOND + 1, 50, Tier::T1, NOW - 10 * SECOND + 1),
    ] {
        let world = World::new();
        let first = Prefix { tier: Tier::T2, ..one("a", 100) };
        world.update(HERE, &[first], None, Some(NOW - 10 * SECOND), NOW);
        world.update(HERE, &[one("a", 50)], None, Some(second_at), NOW);
        let found = Found { replica: "r".to_owned(), blocks: 0, tokens, last_seen, tier };
        assert_eq!(world.exact(HERE, "a", NOW), [found], "second report at {second_at}");
    }
}

#[test]
fn a_producers_time_counts_unless_it_lies_ahead() {
    for (at, last_seen) in
        [(None, NOW), (Some(NOW - 1), NOW - 1), (Some(NOW), NOW), (Some(NOW + 1), NOW), (Some(i64::MAX), NOW)]
    {
        let world = World::new();
        world.update(HERE, &[one("a", 1)], None, at, NOW);
        let found = world.exact(HERE, "a", NOW);
        assert_eq!(found.iter().map(|found| found.last_seen).collect::<Vec<_>>(), [last_seen], "{at:?}");
    }
}

#[test]
fn a_time_before_all_memory_is_stored_expired() {
    for at in [0, -1, i64::MIN] {
        let world = World::new();
        world.update(HERE, &[one("a", 1)], None, Some(at), NOW);
        assert_eq!(world.exact(HERE, "a", NOW), []);
        assert_eq!(world.roster(HERE), ["r"]);
        assert_eq!(world.sweep(NOW), 1, "{at}");
    }
}

#[test]
fn the_entrys_adapter_comes_before_the_updates() {
    for (of_entry, of_update, stored) in
        [("", "", ""), ("x", "", "x"), ("", "y", "y"), ("x", "y", "x"), ("x", "x", "x")]
    {
        let world = World::new();
        let prefix = Prefix { adapter: of_entry, ..one("a", 1) };
        world.report(At { adapter: of_update, ..HERE }, &[prefix]);
        for adapter in ["", "x", "y"] {
            let count = world.exact(At { adapter, ..HERE }, "a", NOW).len();
            assert_eq!(count, usize::from(adapter == stored), "{of_entry} {of_update} in {adapter}");
        }
    }
}

#[test]
fn hashes_have_1_to_64_bytes() {
    for (length, cause) in [
        (0, Some(DropCause::EmptyHash)),
        (1, None),
        (7, None),
        (8, None),
        (9, None),
        (64, None),
        (65, Some(DropCause::LongHash)),
    ] {
        let hash = "h".repeat(length);
        let blocks = ["first", &hash];
        for prefix in [one(&hash, 1), chain(&blocks, &[1, 1])] {
            let world = World::new();
            let applied = world.update(HERE, &[prefix], None, None, NOW);
            assert_eq!(applied.dropped, cause.into_iter().collect::<Vec<_>>(), "{length} bytes");
            let stored = if cause.is_none() { prefix.blocks.len().max(1) } else { 0 };
            assert_eq!(world.0.entries(), stored as u64, "{length} bytes");
            assert_eq!(world.exact(HERE, &hash, NOW).len(), usize::from(cause.is_none()), "{length} bytes");
        }
    }
}

#[test]
fn a_hash_of_8_bytes_is_not_one_of_9_that_begins_with_it() {
    let world = World::new();
    world.report(HERE, &[one("12345678", 8), one("123456789", 9), one("1234567", 7)]);
    let tokens = ["1234567", "12345678", "123456789"].map(|hash| world.exact_tokens(hash));
    assert_eq!(tokens, [[7], [8], [9]]);
}

#[test]
fn a_flawed_entry_is_dropped_whole_and_the_others_are_kept() {
    for (prefix, cause) in [
        (chain(&["a", "b"], &[1]), DropCause::ListsDisagree),
        (chain(&["a"], &[1, 1]), DropCause::ListsDisagree),
        (chain(&["a"], &[]), DropCause::ListsDisagree),
        (Prefix { counts: &[1], ..one("a", 1) }, DropCause::ListsDisagree),
        (Prefix { hash: "a", ..chain(&["a", "b"], &[1]) }, DropCause::ListsDisagree),
        (NOTHING, DropCause::EmptyHash),
        (one("", 5), DropCause::EmptyHash),
        (chain(&["a", ""], &[1, 1]), DropCause::EmptyHash),
        (chain(&["a", "b"], &[1, -1]), DropCause::NegativeCount),
        (one("a", -1), DropCause::NegativeCount),
        (Prefix { tokens: -1, ..chain(&["a"], &[1]) }, DropCause::NegativeCount),
    ] {
        let world = World::new();
        let applied = world.update(HERE, &[one("before", 1), prefix, one("after", 1)], None, None, NOW);
        assert_eq!((applied.dropped, applied.blocks), (vec![cause], 2));
        assert_eq!(world.0.entries(), 2);
    }
}

#[test]
fn sums_saturate() {
    let world = World::new();
    let most = i32::MAX;
    world.report(HERE, &[chain(&["a", "b", "c"], &[most - 1, 2, most])]);
    assert_eq!(["a", "b", "c"].map(|hash| world.exact_tokens(hash)), [[most - 1], [most], [most]]);
    for (counts, tokens) in
        [([most - 1, 1, 0], most), ([most, most, most], most), ([most - 2, 0, 1], most - 1)]
    {
        let found = world.chain(HERE, &["a", "b", "c"], &counts, NOW);
        assert_eq!(found.iter().map(|found| found.tokens).collect::<Vec<_>>(), [tokens], "{counts:?}");
    }
}

#[test]
fn without_a_scheme_prefixes_are_dropped_and_statistics_kept() {
    let world = World::new();
    world.report(HERE, &[one("a", 1)]);
    let stats = ReplicaStats { hit_rate: 0.5, ..ReplicaStats::default() };
    let applied =
        world.update(At { scheme: "", ..HERE }, &[one("b", 1), one("c", 1)], Some(stats), None, NOW);
    assert_eq!((applied.dropped, applied.blocks), (vec![DropCause::MissingScheme; 2], 0));
    assert_eq!((world.0.entries(), world.warm(HERE)), (1, vec![(0.5, NOW)]));
}

#[test]
fn the_reserved_tenant_is_dropped() {
    let world = World::new();
    let probe = At { tenant: PROBE_TENANT, ..HERE };
    let stats = Some(ReplicaStats::default());
    let applied = world.update(probe, &[one("a", 1)], stats, None, NOW);
    assert_eq!((applied.dropped, applied.blocks), (vec![DropCause::ReservedTenant], 0));
    assert_eq!((world.0.entries(), world.known(probe)), (0, [false; 3]));
    assert_eq!(world.0.cache_state("", ""), icache::index::CacheState::default());
    world.report(HERE, &[one("a", 1)]);
    assert_eq!(world.0.cache_state(PROBE_TENANT, ""), icache::index::CacheState::default());
}

#[test]
fn statistics_are_replaced_by_the_same_or_a_newer_time() {
    for (second_at, rate, reported_at) in [
        (NOW - 10 * SECOND - 1, 0.25, NOW - 10 * SECOND),
        (NOW - 10 * SECOND, 0.75, NOW - 10 * SECOND),
        (NOW - 10 * SECOND + 1, 0.75, NOW - 10 * SECOND + 1),
        (NOW + 1, 0.75, NOW),
    ] {
        let world = World::new();
        world.report(HERE, &[one("a", 1)]);
        world.stats(HERE, 0.25, NOW - 10 * SECOND);
        world.stats(HERE, 0.75, second_at);
        assert_eq!(world.warm(HERE), [(rate, reported_at)], "{second_at}");
    }
}

#[test]
fn rates_are_finite_and_within_0_and_1() {
    for (sent, kept) in [
        (f32::NAN, 0.0),
        (f32::INFINITY, 0.0),
        (f32::NEG_INFINITY, 0.0),
        (-0.1, 0.0),
        (0.0, 0.0),
        (0.3, 0.3),
        (1.0, 1.0),
        (1.1, 1.0),
        (f32::MAX, 1.0),
    ] {
        let world = World::new();
        let stats = ReplicaStats { hit_rate: sent, pressure: sent, ..ReplicaStats::default() };
        world.update(HERE, &[], Some(stats), None, NOW);
        let state = world.0.cache_state("t", "m");
        let rates: Vec<(f32, f32)> =
            state.replicas.iter().map(|state| (state.hit_rate, state.pressure)).collect();
        assert_eq!(rates, [(kept, kept)], "{sent}");
    }
}

/// An update has as many blocks as a request may have; what comes after is dropped entry by entry.
#[test]
fn an_update_is_bounded_over_all_its_entries() {
    let limit = icache::model::Limits::default().request_blocks;
    let hashes: Vec<String> = (0..limit).map(|at| format!("h{at:06}")).collect();
    let blocks: Vec<&str> = hashes.iter().map(String::as_str).collect();
    let world = World::new();
    let counts = vec![1; limit];
    let full = chain(&blocks[..limit - 1], &counts[..limit - 1]);
    let applied = world.update(HERE, &[full, one("fits", 1), one("over", 1), NOTHING], None, None, NOW);
    assert_eq!(applied.blocks, limit as u64);
    assert_eq!(applied.dropped, [DropCause::TooManyBlocks, DropCause::EmptyHash]);
    assert_eq!(["fits", "over"].map(|hash| world.exact_tokens(hash).len()), [1, 0]);
}

#[test]
fn a_client_version_over_the_limit_is_left_out_and_said() {
    let world = World::new();
    for (bytes, dropped) in [(512, vec![]), (513, vec![DropCause::LongVersion])] {
        let version = "v".repeat(bytes);
        let stats = ReplicaStats { hit_rate: 0.5, client_version: &version, ..ReplicaStats::default() };
        assert_eq!(world.update(HERE, &[], Some(stats), None, NOW).dropped, dropped);
        let shown = &world.0.cache_state("t", "m").replicas[0];
        assert_eq!((shown.hit_rate, shown.client_version.len()), (0.5, if bytes > 512 { 0 } else { bytes }));
    }
}
