//! Files: everything comes back in its order, under the limits of now; whatever is wrong with one is seen.

use std::fs;
use std::path::Path;

use icache::index::Export;
use icache::lookup::{Drained, Router, RouterConfig};
use icache::model::{
    CacheEvent, EventKind, Eviction, HashList, PrefixEntry, PrefixHash, ReplicaId, ReplicaStats, Sourced,
    StateUpdate, Tier, Timestamp,
};
use icache::policy::TenantPolicy;
use icache::server::{Loaded, MAX_SET_ASIDE, StateFolder};
use proptest::prelude::*;

use super::server_support::{policies, settings};
use super::{loaded, state};

const STATE: &str = "index.state";

fn at(second: i64) -> Timestamp {
    Timestamp::from_ns(1_000_000_000_000 + second * 1_000_000_000)
}

/// Replica, tenant and scheme of `number`, with hashes of so many entries in different tiers.
fn apply(router: &Router, number: i64, count: usize) -> Vec<String> {
    let (replica, tenant) = (format!("r{}", number % 3), format!("t{}", number % 2));
    let hashes: Vec<String> = (0..count).map(|at| format!("h{number}-{at}")).collect();
    let tiers = [Tier::T1, Tier::T2, Tier::T3, Tier::Unknown];
    let prefixes = hashes.iter().enumerate().map(|(at, hash)| PrefixEntry {
        prefix_hash: hash.as_bytes(),
        token_count: 16 * at as i32,
        block_hashes: HashList::EMPTY,
        block_token_counts: &[],
        tier: tiers[if number % 4 == 0 { 0 } else { at % 4 }],
        adapter: "",
    });
    let update = StateUpdate {
        replica: &replica,
        tenant: &tenant,
        model: "m",
        scheme: ["vllm", "sglang"][usize::from(number % 5 == 0)],
        adapter: ["", "lora"][usize::from(number % 7 == 0)],
        at: Some(at(number)),
        prefixes: prefixes.collect(),
        stats: (number % 3 == 0).then_some(ReplicaStats {
            cache_memory_bytes: 7 * number,
            hit_rate: 0.5,
            pressure: 0.25,
            client_version: "c1",
            t2_hit_tokens: number,
            t2_query_tokens: 2 * number,
        }),
    };
    let applied = router.index().apply_update(&update, at(number));
    assert_eq!((applied.blocks, applied.dropped.len()), (count as u64, 0));
    let hits: Vec<u32> = (0..count as u32).map(|at| at % 3).collect();
    router.index().restore_hits(&update, &hits);
    hashes
}

/// A state in `folder`, and what it is of.
fn save(folder: &Path, updates: i64) -> Router {
    let router = Router::new(settings());
    for number in 0..updates {
        apply(&router, number, 5);
    }
    // A key that is reported again goes to the end of its tenant's keys.
    apply(&router, 0, 2);
    let drained = Drained { replica: ReplicaId::from("r9"), since: at(1), until: at(3_000) };
    StateFolder::new(folder).save(&[drained], |sink| sink.read(router.index(), at(updates))).unwrap();
    router
}

/// Everything of a state with its names, in the order that evictions go by: of each tenant, hits and time.
fn told(export: &Export) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for replica in &export.replicas {
        lines.push(format!("{replica:?}"));
    }
    for entry in &export.entries {
        let (replica, partition) =
            (&export.replicas[entry.replica as usize], &export.partitions[entry.partition as usize]);
        lines.push(format!(
            "{} {partition:?} {:?} {} {:?} {:?} {}",
            replica.replica, entry.hash, entry.tokens, entry.tier, entry.last_seen, entry.hits
        ));
    }
    for key in &export.keys {
        let partition = &export.partitions[key.partition as usize];
        lines.push(format!("key {partition:?} {:?} {:?}", key.hash, key.reported_at));
    }
    lines
}

#[test]
fn everything_comes_back_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let before = save(folder.path(), 40);
    let (after, told_of) = loaded(folder.path(), settings(), at(41));
    let told_of = state(told_of);
    assert_eq!((told_of.entries, told_of.expired, told_of.dropped), (200, 0, 0));
    assert_eq!(told_of.saved_at, at(40));
    assert_eq!(told_of.server_version, env!("CARGO_PKG_VERSION"));
    let (held, was) = (told(&after.index().export()), told(&before.index().export()));
    assert_eq!(held.len(), was.len());
    for (line, (held, was)) in held.iter().zip(&was).enumerate() {
        assert_eq!(held, was, "line {line}");
    }
    assert_eq!(after.drains().all(at(41)).len(), 1);
    assert_eq!(after.drains().all(at(3_000)).len(), 0);
    // Once more over: nothing is lost or moved on the way.
    let again = tempfile::tempdir().unwrap();
    let drained = after.drains().all(at(41));
    let sunk = StateFolder::new(again.path()).save(&drained, |sink| sink.read(after.index(), at(40)));
    assert_eq!(sunk.unwrap(), 200);
    let read = |folder: &Path| fs::read(folder.join(STATE)).unwrap();
    assert_eq!(read(again.path()).len(), read(folder.path()).len());
}

#[test]
fn chains_come_back_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let before = Router::new(settings());
    let chain: Vec<PrefixHash> = (0..400).map(PrefixHash::new).collect();
    let counts = vec![16; chain.len()];
    // Of one time and of several, over the ends of segments and within them, anew in part and with some taken out.
    let told_of =
        [(0, 0..150, 1), (1, 0..150, 1), (0, 150..400, 1), (2, 40..70, 2), (0, 10..90, 3), (1, 20..25, 1)];
    for (replica, blocks, second) in told_of {
        let entry = PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(&chain[blocks.clone()]),
            block_token_counts: &counts[blocks],
            tier: Tier::T1,
            adapter: "",
        };
        let update = StateUpdate {
            replica: ["r0", "r1", "r2"][replica],
            tenant: "t",
            model: "m",
            scheme: "s",
            prefixes: vec![entry],
            ..StateUpdate::default()
        };
        before.index().apply_update(&update, at(second));
    }
    for hash in &chain[60..65] {
        let event = CacheEvent {
            kind: EventKind::PrefixEvicted,
            replica: "r0",
            tenant: "t",
            model: "m",
            prefix_hash: hash.as_bytes(),
            adapter: "",
            at: None,
        };
        assert_eq!(before.index().apply_event(&event, at(4)).removed, 1);
    }
    StateFolder::new(folder.path()).save(&[], |sink| sink.read(before.index(), at(5))).unwrap();
    let (after, _) = loaded(folder.path(), settings(), at(6));
    let (held, was) = (told(&after.index().export()), told(&before.index().export()));
    assert_eq!(held.len(), was.len());
    for (line, (held, was)) in held.iter().zip(&was).enumerate() {
        assert_eq!(held, was, "line {line}");
    }
}

#[test]
fn an_empty_state_and_a_folder_without_one() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(loaded(folder.path(), settings(), at(0)).1, Loaded::Nothing);
    assert_eq!(loaded(&folder.path().join("none"), settings(), at(0)).1, Loaded::Nothing);
    let empty = Router::new(settings());
    StateFolder::new(folder.path()).save(&[], |sink| sink.read(empty.index(), at(0))).unwrap();
    assert_eq!(state(loaded(folder.path(), settings(), at(0)).1).entries, 0);
}

#[test]
fn limits_and_times_to_live_are_those_of_now() {
    let folder = tempfile::tempdir().unwrap();
    let router = save(folder.path(), 40);
    let all = router.index().entries();
    let with = |config: RouterConfig, now| {
        let (router, loaded) = loaded(folder.path(), config, now);
        (state(loaded), router.index().export())
    };
    let capped = settings();
    let capped =
        RouterConfig { index: icache::index::IndexConfig { max_entries: 10, ..capped.index }, ..capped };
    let (loaded, export) = with(capped, at(40));
    assert_eq!((loaded.entries, export.entries.len()), (10, 10));
    assert_eq!((loaded.lost, loaded.dropped), (all - 10, 0));

    let ttl =
        |seconds: i64| TenantPolicy { ttl_ns: Some(seconds * 1_000_000_000), ..TenantPolicy::default() };
    let shorter = RouterConfig { policies: policies(&[("t1", ttl(10))]), ..settings() };
    let (loaded, export) = with(shorter, at(40));
    let old = export.entries.iter().filter(|entry| {
        let is_t1 = export.partitions[entry.partition as usize].tenant.as_str() == "t1";
        is_t1 && entry.last_seen.age_ns(at(40)) >= 10_000_000_000
    });
    assert_eq!(old.count(), 0);
    assert!(loaded.expired > 0 && loaded.entries > 0);
    assert_eq!((loaded.entries + loaded.expired, loaded.lost), (all, 0));

    let (loaded, _) = with(settings(), at(100_000));
    assert_eq!((loaded.entries, loaded.expired), (0, all));

    let mut narrow = settings();
    narrow.index.limits.hash_bytes = 4;
    narrow.index.limits.request_blocks = 2;
    let (loaded, export) = with(narrow, at(40));
    assert!(loaded.dropped > 0);
    assert_eq!(loaded.lost, loaded.dropped, "each is an entry");
    assert!(export.entries.iter().all(|entry| entry.hash.as_bytes().len() <= 4));
    assert_eq!(loaded.entries + loaded.dropped, all, "a smaller bound on updates loses nothing");
}

#[test]
fn a_clock_that_went_back_keeps_nothing_for_longer() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), 40);
    let (router, _) = loaded(folder.path(), settings(), at(10));
    assert!(router.index().export().entries.iter().all(|entry| entry.last_seen <= at(10)));
}

/// Loads a file of these bytes; what is refused leaves the router empty.
fn load_bytes(bytes: &[u8]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(STATE), bytes).unwrap();
    let (router, loaded) = loaded(folder.path(), settings(), at(41));
    let export = router.index().export();
    match loaded {
        Loaded::State(_) => Ok(told(&export)),
        Loaded::Nothing => panic!("the file is there"),
        Loaded::Refused { why, kept } => {
            assert_eq!(kept, Ok(folder.path().join("index.state.bad-1")));
            assert_eq!(fs::read(kept.unwrap()).unwrap(), bytes, "kept as it was");
            assert!(!folder.path().join(STATE).exists());
            assert!(export.entries.is_empty() && export.replicas.is_empty(), "none of it is applied");
            assert!(router.drains().all(at(41)).is_empty());
            Err(why)
        }
    }
}

fn small() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), 3);
    fs::read(folder.path().join(STATE)).unwrap()
}

#[test]
fn a_file_cut_anywhere_is_refused_whole() {
    let whole = small();
    assert!(load_bytes(&whole).is_ok());
    for length in 0..whole.len() {
        let why = load_bytes(&whole[..length]).unwrap_err();
        let expected =
            if length < 8 { "it is no saved state of icache" } else { "it ends early, after byte " };
        assert!(why.starts_with(expected), "{length}: {why}");
    }
    let longer = [&whole[..], b"x"].concat();
    assert!(load_bytes(&longer).unwrap_err().ends_with("something follows its end"));
}

#[test]
fn a_flipped_bit_anywhere_is_seen() {
    let whole = small();
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        let why = load_bytes(&flipped).unwrap_err();
        let expected = match place {
            0..8 => "it is no saved state of icache",
            8..12 => "its version is ",
            _ => "it ",
        };
        assert!(why.starts_with(expected), "{place}: {why}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Bytes changed, taken out, doubled or moved: refused, or nothing changed.
    #[test]
    fn damage_of_any_kind_is_seen(
        edits in prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..4)
    ) {
        let whole = small();
        let mut bytes = whole.clone();
        for (kind, from, to, value) in edits {
            if bytes.is_empty() {
                break;
            }
            let (a, b) = (from.index(bytes.len()), to.index(bytes.len()));
            let range = a.min(b)..a.max(b);
            match kind {
                0 => bytes[a] = value,
                1 => drop(bytes.drain(range)),
                2 => {
                    let piece = bytes[range.clone()].to_vec();
                    bytes.splice(range.start..range.start, piece);
                }
                _ => bytes[range].fill(value),
            }
        }
        let read = load_bytes(&bytes);
        prop_assert_eq!(read.is_ok(), bytes == whole, "{:?}", read);
    }

    /// Anything at all.
    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        prop_assert!(load_bytes(&bytes).is_err());
    }
}

#[test]
fn a_newer_version_is_told_from_damage() {
    let mut newer = small();
    newer[8] = 2;
    let why = load_bytes(&newer).unwrap_err();
    assert_eq!(why, "its version is 2, and this icache reads version 1");
}

#[test]
fn so_many_are_set_aside_and_the_newest_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..=MAX_SET_ASIDE {
        fs::write(folder.path().join(STATE), format!("bad {number}")).unwrap();
        assert!(matches!(loaded(folder.path(), settings(), at(0)).1, Loaded::Refused { kept: Ok(_), .. }));
    }
    let mut kept: Vec<(String, String)> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
        })
        .collect();
    kept.sort();
    let expected = (1..=MAX_SET_ASIDE)
        .map(|number| (format!("index.state.bad-{number}"), format!("bad {}", MAX_SET_ASIDE + 1 - number)));
    assert_eq!(kept, expected.collect::<Vec<_>>());
}

#[test]
fn two_servers_do_not_save_in_one_folder_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let lock = fs::File::create(folder.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let (saving, router) = (StateFolder::new(folder.path()), Router::new(settings()));
    let save = || saving.save(&[], |sink| sink.read(router.index(), at(0)));
    let refused = save().unwrap_err();
    assert!(refused.to_string().starts_with("another server is saving"), "{refused}");
    drop(lock);
    save().unwrap();
}

/// Under LFU the order of victims is that of hits first.
#[test]
fn credits_order_victims_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), 6);
    let policy = TenantPolicy { eviction: Some(Eviction::Lfu), ..TenantPolicy::default() };
    let config = RouterConfig {
        policies: policies(&[("t0", policy)]),
        max_in_flight: Sourced::built_in(0),
        ..settings()
    };
    let (router, _) = loaded(folder.path(), config, at(7));
    let export = router.index().export();
    let hits: Vec<u32> = export
        .entries
        .iter()
        .filter(|entry| export.partitions[entry.partition as usize].tenant.as_str() == "t0")
        .map(|entry| entry.hits)
        .collect();
    assert!(hits.is_sorted() && hits.last() > hits.first(), "{hits:?}");
}
