//! What a lookup finds.

use icache::model::Tier;

use crate::world::{At, Found, HERE, NOW, Prefix, SECOND, TTL, World, chain, one};

#[test]
fn an_entry_matches_until_its_age_reaches_the_ttl_and_counts_until_it_is_swept() {
    for (age, matches) in [(-1, true), (0, true), (TTL - 1, true), (TTL, false), (TTL + 1, false)] {
        let world = World::new();
        world.report(HERE, &[chain(&["a"], &[16])]);
        assert_eq!(world.exact(HERE, "a", NOW + age).len(), usize::from(matches), "age {age}");
        assert_eq!(world.chain(HERE, &["a"], &[16], NOW + age).len(), usize::from(matches), "age {age}");
        assert_eq!((world.roster(HERE), world.known(HERE)), (vec!["r".to_owned()], [true; 3]));
        assert_eq!(world.sweep(NOW + age), u64::from(!matches), "age {age}");
        assert_eq!(world.known(HERE), [matches; 3], "age {age}");
        assert_eq!(world.roster(HERE).len(), usize::from(matches), "age {age}");
    }
}

#[test]
fn a_run_of_no_tokens_is_no_match() {
    let world = World::new();
    world.report(HERE, &[one("zero", 0), one("some", 1), chain(&["a", "b"], &[0, 0])]);
    assert_eq!((world.exact(HERE, "zero", NOW).len(), world.exact(HERE, "some", NOW).len()), (0, 1));
    for (counts, blocks) in [([0, 0, 5], None), ([0, 1, 0], Some(2)), ([1, 0, 0], Some(2))] {
        let found = world.chain(HERE, &["a", "b", "gone"], &counts, NOW);
        assert_eq!(found.first().map(|found| found.blocks), blocks, "{counts:?}");
    }
}

#[test]
fn a_run_is_as_cold_as_its_coldest_block_and_as_old_as_its_oldest() {
    use Tier::{T1, T2, T3, Unknown};
    for (tiers, coldest) in [
        ([T1, T1, T1], T1),
        ([T1, T2, T1], T2),
        ([T3, T2, T1], T3),
        ([T1, T3, T2], T3),
        ([Unknown, T1, T3], Unknown),
        ([T1, T1, Unknown], Unknown),
    ] {
        for oldest in 0..3 {
            let world = World::new();
            for (at, (hash, tier)) in ["a", "b", "c"].into_iter().zip(tiers).enumerate() {
                let age = if at == oldest { 9 * SECOND } else { at as i64 };
                world.update(HERE, &[Prefix { tier, ..one(hash, 16) }], None, Some(NOW - age), NOW);
            }
            let run = Found {
                replica: "r".to_owned(),
                blocks: 3,
                tokens: 48,
                last_seen: NOW - 9 * SECOND,
                tier: coldest,
            };
            assert_eq!(world.chain(HERE, &["a", "b", "c"], &[16; 3], NOW), [run], "{tiers:?}");
        }
    }
}

#[test]
fn a_replica_that_drops_out_cannot_come_back() {
    let world = World::new();
    let at = |replica| At { replica, ..HERE };
    world.report(at("whole"), &[chain(&["a", "b", "c", "d"], &[16; 4])]);
    world.report(at("gap"), &[one("a", 16), one("c", 48), one("d", 64)]);
    world.report(at("late"), &[one("b", 32), one("c", 48), one("d", 64)]);
    let runs = |blocks: &[&str]| {
        let found = world.chain(HERE, blocks, &vec![16; blocks.len()], NOW);
        found.into_iter().map(|found| (found.replica, found.blocks)).collect::<Vec<_>>()
    };
    assert_eq!(runs(&["a", "b", "c", "d"]), [("gap".to_owned(), 1), ("whole".to_owned(), 4)]);
    assert_eq!(runs(&["x", "a"]), []);
    assert_eq!(runs(&[]), []);
}

#[test]
fn a_block_that_has_expired_ends_the_run() {
    let world = World::new();
    world.report(HERE, &[chain(&["a", "b", "c"], &[16; 3])]);
    world.report_at(HERE, &[one("a", 16), one("c", 48)], NOW + SECOND);
    for (now, blocks) in [(NOW + TTL - 1, Some(3)), (NOW + TTL, Some(1)), (NOW + TTL + SECOND, None)] {
        let found = world.chain(HERE, &["a", "b", "c"], &[16; 3], now);
        assert_eq!(found.first().map(|found| found.blocks), blocks);
    }
}

#[test]
fn names_vanish_with_their_last_entry() {
    let other_model = At { model: "m2", ..HERE };
    let other_tenant = At { tenant: "t2", ..HERE };
    let world = World::new();
    assert_eq!(world.known(HERE), [false, false, false]);
    world.report(other_tenant, &[one("a", 1)]);
    assert_eq!(world.known(HERE), [true, false, false]);
    world.report(other_model, &[one("a", 1)]);
    assert_eq!(world.known(HERE), [true, true, false]);
    world.report(HERE, &[one("a", 1)]);
    assert_eq!(world.known(HERE), [true, true, true]);
    let cleared = |place| world.event(icache::model::EventKind::AllCleared, place, "", NOW).removed;
    assert_eq!((cleared(HERE), world.known(HERE)), (1, [true, true, false]));
    assert_eq!((cleared(other_model), world.known(HERE)), (1, [true, false, false]));
    assert_eq!((cleared(other_tenant), world.known(HERE)), (1, [false, false, false]));
}
