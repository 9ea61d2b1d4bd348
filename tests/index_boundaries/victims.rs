//! Who is credited, and who goes over the cap or a quota.

use hashbrown::HashMap;
use icache::index::TenantSettings;
use icache::model::{EventKind, Eviction, TenantId};

use crate::world::{At, HERE, NOW, SECOND, TTL, World, chain, one};

const MINUTE: i64 = 60 * SECOND;

/// An index full with the entries of `chain`, the last of which is the first to go.
fn full(eviction: Eviction, blocks: &[&str]) -> World {
    let world = World::with(blocks.len() as u64, eviction);
    world.report(HERE, &[chain(blocks, &vec![16; blocks.len()])]);
    world
}

/// Which of `hashes` goes for an entry that arrives at `now`.
fn victims(world: &World, hashes: &[&str], now: i64) -> Vec<String> {
    world.report_at(At { replica: "new", ..HERE }, &[one("new", 1)], now);
    let is_gone = |hash: &&&str| world.exact(HERE, hash, NOW).is_empty();
    hashes.iter().filter(is_gone).map(|hash| (*hash).to_owned()).collect()
}

#[test]
fn of_one_report_the_last_block_goes_first() {
    for eviction in [Eviction::Lru, Eviction::Lfu] {
        let world = full(eviction, &["a", "b", "c"]);
        assert_eq!(victims(&world, &["a", "b", "c"], NOW + MINUTE), ["c"]);
    }
}

#[test]
fn lru_takes_the_oldest_whatever_it_was_asked_for() {
    let world = full(Eviction::Lru, &["c", "b", "a"]);
    world.report_at(HERE, &[one("a", 16), one("b", 16)], NOW + 1);
    assert_eq!(victims(&world, &["a", "b", "c"], NOW + MINUTE), ["c"]);
}

#[test]
fn only_blocks_of_a_delivered_run_are_credited() {
    for (runs, victim) in [
        (&[("r", 1)][..], "b"),
        (&[("r", 2)][..], "c"),
        (&[("r", 3)][..], "c"), // All three are credited, and the latest move is that of `c`.
        (&[("someone-else", 3)][..], "a"),
        (&[][..], "a"),
    ] {
        // By arrival, `a` would be the first to go.
        let world = full(Eviction::Lfu, &["c", "b", "a"]);
        world.deliver(HERE, &["a", "b", "c"], runs);
        assert_eq!(victims(&world, &["a", "b", "c"], NOW + MINUTE), [victim], "{runs:?}");
    }
}

#[test]
fn each_replica_is_credited_for_its_own_run() {
    let world = World::with(6, Eviction::Lfu);
    for replica in ["r", "r2"] {
        world.report(At { replica, ..HERE }, &[chain(&["c", "b", "a"], &[16; 3])]);
    }
    world.deliver(HERE, &["a", "b", "c"], &[("r", 1), ("r2", 3)]);
    world.report_at(At { replica: "new", ..HERE }, &[one("new", 1)], NOW + MINUTE);
    let held = ["a", "b", "c"].map(|hash| world.exact(HERE, hash, NOW).len());
    assert_eq!(held, [2, 1, 2], "of the blocks without a hit, `b` arrived last");
}

#[test]
fn only_delivered_replicas_are_credited() {
    for (delivered, left) in [("r", "r"), ("r2", "r2")] {
        let world = World::with(2, Eviction::Lfu);
        world.report(HERE, &[one("a", 16)]);
        world.report(At { replica: "r2", ..HERE }, &[one("a", 16)]);
        world.deliver(HERE, &["a"], &[(delivered, 0)]);
        world.report_at(At { replica: "new", ..HERE }, &[one("new", 1)], NOW + MINUTE);
        let found = world.exact(HERE, "a", NOW);
        assert_eq!(found.iter().map(|found| found.replica.as_str()).collect::<Vec<_>>(), [left]);
    }
}

#[test]
fn credit_is_of_one_partition() {
    let world = World::with(2, Eviction::Lfu);
    let adapted = At { adapter: "x", ..HERE };
    world.report(HERE, &[one("a", 16)]);
    world.report(adapted, &[one("a", 16)]);
    world.deliver(adapted, &["a"], &[("r", 0)]);
    world.report_at(At { replica: "new", ..HERE }, &[one("new", 1)], NOW + MINUTE);
    assert_eq!((world.exact(HERE, "a", NOW).len(), world.exact(adapted, "a", NOW).len()), (0, 1));
}

#[test]
fn hits_are_halved_at_each_sweep() {
    for (hits, sweeps, later_hits, victim) in [
        (2, 0, 1, "b"),
        (2, 1, 1, "b"), // 1 against 1: the last to be credited goes.
        (2, 1, 2, "a"),
        (3, 1, 2, "a"),
        (4, 1, 1, "b"),
        (5, 2, 2, "a"),
        (8, 2, 1, "b"),
        (1, 1, 1, "a"),
    ] {
        let world = full(Eviction::Lfu, &["b", "a"]);
        for _ in 0..hits {
            world.deliver(HERE, &["a"], &[("r", 0)]);
        }
        for _ in 0..sweeps {
            world.sweep(NOW);
        }
        for _ in 0..later_hits {
            world.deliver(HERE, &["b"], &[("r", 0)]);
        }
        let gone = victims(&world, &["a", "b"], NOW + MINUTE);
        assert_eq!(gone, [victim], "{hits} hits, {sweeps} sweeps, {later_hits} hits");
    }
}

#[test]
fn entries_younger_than_a_minute_go_last_under_lfu() {
    for (age, victim) in [(MINUTE - 1, "hit"), (MINUTE, "young"), (MINUTE + 1, "young")] {
        let world = World::with(2, Eviction::Lfu);
        world.report_at(HERE, &[one("hit", 16)], NOW - 5 * MINUTE);
        world.report(HERE, &[one("young", 16)]);
        world.deliver(HERE, &["hit"], &[("r", 0)]);
        assert_eq!(victims(&world, &["hit", "young"], NOW + age), [victim], "age {age}");
    }
}

#[test]
fn where_all_are_young_the_fewest_hits_decide() {
    let world = full(Eviction::Lfu, &["a", "b"]);
    world.deliver(HERE, &["b"], &[("r", 0)]);
    // The newcomer has no hits either, but is newer than `a`.
    assert_eq!(victims(&world, &["a", "b"], NOW + 1), ["a"]);
}

#[test]
fn victims_come_from_the_largest_tenant() {
    let world = World::with(5, Eviction::Lru);
    let other = At { tenant: "another", ..HERE };
    world.report_at(other, &[chain(&["x", "y"], &[16, 16])], NOW - MINUTE);
    world.report(HERE, &[chain(&["a", "b", "c"], &[16; 3])]);
    // Three against two: the newer entries go, since their tenant has more.
    world.report(other, &[one("z", 16)]);
    assert_eq!((world.exact(HERE, "c", NOW).len(), world.exact(other, "x", NOW).len()), (1, 1));
    assert_eq!(
        world.exact(other, "y", NOW).len(),
        0,
        "of equal tenants the first by id counts as the larger"
    );
}

#[test]
fn a_quota_evicts_the_key_whose_newest_report_is_oldest() {
    let world = World::new();
    let two = TenantSettings { max_keys: 2, ..TenantSettings::default() };
    let tenants = HashMap::from([(TenantId::from("t"), two)]);
    assert_eq!(world.0.set_tenant_settings(TenantSettings::default(), tenants), []);
    world.report_at(HERE, &[one("a", 1)], NOW - 3);
    world.report_at(HERE, &[one("b", 1)], NOW - 2);
    // A second holder is no second key, and renews it.
    world.report_at(At { replica: "r2", ..HERE }, &[one("a", 1)], NOW - 1);
    assert_eq!(world.0.entries(), 3);
    let applied = world.update(HERE, &[one("c", 1)], None, None, NOW);
    assert_eq!(applied.evicted.quota_keys, 1);
    assert_eq!(["a", "b", "c"].map(|hash| world.exact(HERE, hash, NOW).len()), [2, 0, 1]);
    let unbound = At { tenant: "t2", ..HERE };
    world.report(unbound, &[chain(&["a", "b", "c"], &[1; 3])]);
    assert_eq!(world.0.cache_state("t2", "m").total_prefixes, 3);
}

#[test]
fn a_lowered_quota_takes_effect_at_once_and_0_admits_nothing() {
    let world = World::new();
    world.report(HERE, &[chain(&["a", "b", "c"], &[1; 3])]);
    for (max_keys, gone) in [(3, 0), (2, 1), (5, 0), (0, 2)] {
        let lowered = TenantSettings { max_keys, ..TenantSettings::default() };
        let evicted = world.0.set_tenant_settings(lowered, HashMap::new());
        let expected = if gone > 0 { vec![(TenantId::from("t"), gone)] } else { vec![] };
        assert_eq!(evicted, expected, "{max_keys}");
    }
    let applied = world.update(HERE, &[chain(&["a", "b"], &[1; 2])], None, None, NOW);
    assert_eq!((applied.blocks, applied.evicted.quota_keys, world.0.entries()), (2, 2, 0));
}

#[test]
fn a_sweep_removes_what_is_due_whatever_was_renewed_or_hit() {
    let world = World::with(10, Eviction::Lfu);
    world.report_at(HERE, &[one("renewed", 16)], NOW - 20 * SECOND);
    world.report_at(HERE, &[one("hit", 16)], NOW - 10 * SECOND);
    world.deliver(HERE, &["hit"], &[("r", 0)]);
    world.report(HERE, &[one("renewed", 16)]);
    for (now, removed) in [
        (NOW - 20 * SECOND + TTL, 0),
        (NOW - 10 * SECOND + TTL - 1, 0),
        (NOW - 10 * SECOND + TTL, 1),
        (NOW + TTL, 1),
    ] {
        assert_eq!(world.sweep(now), removed, "{now}");
    }
}

#[test]
fn a_shorter_ttl_holds_for_what_is_there() {
    let world = World::new();
    world.report(HERE, &[one("a", 16)]);
    assert_eq!(world.sweep(NOW + SECOND), 0);
    let short = TenantSettings { ttl_ns: SECOND, ..TenantSettings::default() };
    world.0.set_tenant_settings(short, HashMap::new());
    assert_eq!(world.sweep(NOW + SECOND), 1);
}

#[test]
fn keys_are_hot_until_the_second_sweep() {
    let world = World::new();
    world.report(HERE, &[chain(&["a", "b"], &[16, 16])]);
    world.deliver(HERE, &["a", "b"], &[("r", 1)]);
    let hot = || world.0.cache_state("t", "m").hot_prefixes;
    assert_eq!(hot(), 1);
    world.sweep(NOW);
    assert_eq!(hot(), 1);
    world.sweep(NOW);
    assert_eq!((hot(), world.0.cache_state("t", "m").total_prefixes), (0, 2));
}

#[test]
fn a_block_without_tokens_contributed_nothing() {
    let world = World::with(3, Eviction::Lfu);
    world.report(HERE, &[chain(&["c", "b", "a"], &[16; 3])]);
    world.deliver_counts(HERE, &["a", "b", "c"], &[16, 0, 16], &[("r", 3)]);
    assert_eq!(victims(&world, &["a", "b", "c"], NOW + MINUTE), ["b"]);
    assert_eq!(world.0.cache_state("t", "m").hot_prefixes, 2);
}

/// Hits count to 255: of two entries with as many, the older goes, whoever was asked for more often.
#[test]
fn hits_are_counted_up_to_a_bound() {
    let world = World::with(2, Eviction::Lfu);
    world.report_at(HERE, &[one("older", 16)], NOW - 2 * SECOND);
    world.report_at(HERE, &[one("newer", 16)], NOW - SECOND);
    for (hash, times) in [("older", 400), ("newer", 255)] {
        for _ in 0..times {
            world.deliver(HERE, &[hash], &[("r", 1)]);
        }
    }
    assert_eq!(victims(&world, &["older", "newer"], NOW + MINUTE), ["older"]);
}

/// Every key, entry, time and name counts; over the bound the same victims go as over the cap.
#[test]
fn memory_is_a_cap_too() {
    let hashes: Vec<String> = (0..2_000).map(|at| format!("h{at:06}")).collect();
    let fill = |world: &World| {
        let mut most = 0;
        for (at, hash) in (0..).zip(&hashes) {
            world.report_at(HERE, &[one(hash, 16)], NOW + at);
            most = most.max(world.0.gauges().memory_bytes);
        }
        most
    };
    let roomy = World::with(u64::MAX, Eviction::Lru);
    let all = fill(&roomy);
    assert_eq!(roomy.0.entries(), 2_000);
    let bounded = World::with_memory(all / 2, Eviction::Lru);
    assert!(fill(&bounded) <= all / 2);
    let left = bounded.0.entries();
    assert!((900..=1_000).contains(&left), "{left} entries of one size take half of the memory");
    let kept = |hash: &String| !bounded.exact(HERE, hash, NOW + 2_000).is_empty();
    let first_kept = 2_000 - left as usize;
    assert!(
        hashes[first_kept..].iter().all(kept) && !hashes[..first_kept].iter().any(kept),
        "the oldest went"
    );
    for hash in &hashes {
        roomy.event(EventKind::PrefixEvicted, HERE, hash, NOW);
    }
    let names_only = roomy.0.gauges().memory_bytes;
    assert!(names_only < 3_000, "what is gone counts no more but the names: {names_only} bytes");
}
