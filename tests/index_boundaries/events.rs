//! What events change, and what they leave alone.

use icache::index::{DropCause, EventApplied};
use icache::model::{EventKind, PROBE_TENANT, Timestamp};

use crate::world::{At, HERE, NOTHING, NOW, SECOND, World, one};

const EVERYWHERE: [At; 8] = [
    HERE,
    At { scheme: "s2", ..HERE },
    At { adapter: "x", ..HERE },
    At { scheme: "s2", adapter: "x", ..HERE },
    At { replica: "r2", ..HERE },
    At { model: "m2", ..HERE },
    At { tenant: "t2", ..HERE },
    At { adapter: "y", ..HERE },
];

fn everywhere() -> World {
    let world = World::new();
    for place in EVERYWHERE {
        world.report(place, &[one("a", 1), one("b", 2)]);
    }
    world
}

/// At which of the places the replica there holds `hash`.
fn held(world: &World, hash: &str) -> Vec<usize> {
    let holds =
        |place: &At| world.exact(*place, hash, NOW).iter().any(|found| found.replica == place.replica);
    (0..EVERYWHERE.len()).filter(|at| holds(&EVERYWHERE[*at])).collect()
}

#[test]
fn an_eviction_reaches_every_scheme_and_the_named_adapter_or_all() {
    for (place, left) in [
        (HERE, vec![4, 5, 6]),
        (At { adapter: "x", ..HERE }, vec![0, 1, 4, 5, 6, 7]),
        (At { adapter: "y", ..HERE }, vec![0, 1, 2, 3, 4, 5, 6]),
        (At { adapter: "z", ..HERE }, vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (At { replica: "r2", ..HERE }, vec![0, 1, 2, 3, 5, 6, 7]),
        (At { replica: "r3", ..HERE }, vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (At { model: "m3", ..HERE }, vec![0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        let world = everywhere();
        let applied = world.event(EventKind::PrefixEvicted, place, "a", NOW);
        assert_eq!(applied, EventApplied { removed: 8 - left.len() as u64, dropped: None });
        assert_eq!(held(&world, "a"), left);
        assert_eq!(held(&world, "b"), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn an_eviction_reaches_every_one_of_many_adapters() {
    let names: Vec<&'static str> =
        "abcdefghijklmnopqrstuvwxyz".split("").filter(|name| !name.is_empty()).collect();
    for wanted in ["", "a", "z"] {
        let world = World::new();
        for adapter in &names {
            world.report(At { adapter, ..HERE }, &[one("h", 1), one("other", 1)]);
            world.report(At { adapter, replica: "r2", ..HERE }, &[one("h", 1)]);
        }
        let removed = if wanted.is_empty() { 26 } else { 1 };
        let applied = world.event(EventKind::PrefixEvicted, At { adapter: wanted, ..HERE }, "h", NOW);
        assert_eq!((applied.removed, world.0.entries()), (removed, 3 * 26 - removed));
        let left = names.iter().filter(|adapter| world.exact(At { adapter, ..HERE }, "h", NOW).len() == 2);
        assert_eq!(left.count() as u64, 26 - removed);
    }
}

#[test]
fn a_clearing_takes_entries_and_statistics_of_one_tenant_and_model() {
    let world = everywhere();
    for place in EVERYWHERE {
        world.stats(place, 0.5, NOW);
    }
    assert_eq!(world.event(EventKind::AllCleared, At { adapter: "x", ..HERE }, "", NOW).removed, 10);
    assert_eq!((held(&world, "a"), held(&world, "b")), (vec![4, 5, 6], vec![4, 5, 6]));
    let with_stats = |tenant, model| {
        let state = world.0.cache_state(tenant, model);
        state.replicas.into_iter().map(|replica| replica.replica).collect::<Vec<_>>()
    };
    assert_eq!(with_stats("t", "m"), ["r2"]);
    assert_eq!((with_stats("t", "m2"), with_stats("t2", "m")), (vec!["r".to_owned()], vec!["r".to_owned()]));
}

#[test]
fn a_sign_of_life_renews_when_the_replica_was_heard_of_and_not_its_statistics() {
    let world = World::new();
    world.report_at(HERE, &[one("a", 1)], NOW - 9 * SECOND);
    world.stats(HERE, 0.5, NOW - 5 * SECOND);
    assert_eq!(world.heard(HERE), [NOW]);
    let applied = world.event(EventKind::ReplicaUpdated, HERE, "", NOW + SECOND);
    assert_eq!(applied, EventApplied::default());
    assert_eq!((world.heard(HERE), world.warm(HERE)), (vec![NOW + SECOND], vec![(0.5, NOW - 5 * SECOND)]));
    assert_eq!(world.exact(HERE, "a", NOW)[0].last_seen, NOW - 9 * SECOND);
}

#[test]
fn any_report_is_a_sign_of_life_and_none_takes_it_back() {
    for (prefixes, scheme) in [(vec![], "s"), (vec![NOTHING], "s"), (vec![one("a", 1)], "")] {
        let world = World::new();
        world.report_at(HERE, &[one("a", 1)], NOW);
        let place = At { scheme, ..HERE };
        world.update(place, &prefixes, None, Some(NOW - SECOND), NOW + 1);
        assert_eq!(world.heard(HERE), [NOW + 1]);
        world.update(place, &prefixes, None, None, NOW - 1);
        assert_eq!(world.heard(HERE), [NOW + 1]);
    }
}

#[test]
fn added_and_unknown_events_change_nothing() {
    for kind in [EventKind::PrefixAdded, EventKind::Unknown] {
        let world = World::new();
        world.report(HERE, &[one("a", 1)]);
        for hash in ["a", "b", ""] {
            assert_eq!(world.event(kind, HERE, hash, NOW + SECOND), EventApplied::default());
        }
        assert_eq!((world.0.entries(), world.heard(HERE)), (1, vec![NOW]));
    }
}

#[test]
fn events_of_the_reserved_tenant_are_dropped() {
    let kinds = [EventKind::PrefixEvicted, EventKind::AllCleared, EventKind::ReplicaUpdated];
    for kind in kinds {
        let world = World::new();
        let applied = world.event(kind, At { tenant: PROBE_TENANT, ..HERE }, "a", NOW);
        assert_eq!(applied, EventApplied { removed: 0, dropped: Some(DropCause::ReservedTenant) });
    }
}

#[test]
fn removals_are_no_sign_of_life() {
    for kind in [EventKind::PrefixEvicted, EventKind::AllCleared] {
        let world = World::new();
        world.report(HERE, &[one("a", 1), one("b", 1)]);
        world.event(kind, HERE, "a", NOW + SECOND);
        world.report_at(At { replica: "other", ..HERE }, &[one("b", 1)], NOW - SECOND);
        let heard = world.heard(HERE);
        assert!(heard.iter().all(|at| *at <= NOW), "{kind:?}: {heard:?}");
    }
}

#[test]
fn a_replica_with_entries_is_silent_once_the_span_is_over() {
    let world = everywhere();
    let silent = |after: i64, span: i64| {
        world.0.silent_replicas(Timestamp::from_ns(NOW + after), span).into_iter().collect::<Vec<_>>()
    };
    let all = vec![("m".to_owned(), 3), ("m2".to_owned(), 1)];
    assert_eq!(silent(30 * SECOND, 30 * SECOND), []);
    assert_eq!(silent(30 * SECOND + 1, 30 * SECOND), all);
    world.event(EventKind::ReplicaUpdated, HERE, "", NOW + 20 * SECOND);
    assert_eq!(silent(40 * SECOND, 30 * SECOND), [("m".to_owned(), 2), ("m2".to_owned(), 1)]);
    // Without entries a replica leads nobody astray, silent or not.
    world.event(EventKind::AllCleared, At { model: "m2", ..HERE }, "", NOW);
    world.event(EventKind::AllCleared, At { replica: "r2", ..HERE }, "", NOW);
    assert_eq!(silent(40 * SECOND, 30 * SECOND), [("m".to_owned(), 1)]);
    assert_eq!(silent(60 * SECOND, 30 * SECOND), [("m".to_owned(), 2)]);
}
