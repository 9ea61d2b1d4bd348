//! Writers, readers, a sweeper and deliveries at once on one index.
//!
//! What a reader sees is checked against what holds at every instant, and what is left against what the writers did.

use std::sync::Barrier;
use std::thread;

use icache::decision::{ChainCounts, ChainHashes, Evidence, ExactHash, Input, Query};
use icache::index::{Index, IndexConfig, TenantSettings};
use icache::model::{
    CacheEvent, EventKind, Eviction, HashList, PrefixEntry, PrefixHash, ReplicaId, ReplicaStats, StateUpdate,
    Tier, Timestamp,
};

const SECOND: i64 = 1_000_000_000;
const TTL: i64 = 600 * SECOND;
const START: i64 = 1_700_000_000 * SECOND;
/// Longer than a critical section takes blocks, so that readers see chains that are partly there.
const CHAIN: u64 = 600;
const ROUNDS: i64 = 40;
const WRITERS: [&str; 2] = ["writer-0", "writer-1"];

fn hashes(from: u64, count: u64) -> Vec<PrefixHash> {
    (from..from + count).map(PrefixHash::new).collect()
}

fn report(index: &Index, replica: &str, adapter: &str, hashes: &[PrefixHash], now: i64) {
    let counts = vec![1; hashes.len()];
    let update = StateUpdate {
        replica,
        tenant: "t",
        model: "m",
        scheme: "s",
        adapter,
        at: None,
        prefixes: vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(hashes),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        }],
        stats: Some(ReplicaStats { hit_rate: 0.5, ..ReplicaStats::default() }),
    };
    assert_eq!(index.apply_update(&update, Timestamp::from_ns(now)).dropped, []);
}

fn event(index: &Index, kind: EventKind, replica: &str, hash: PrefixHash, now: i64) -> u64 {
    let event = CacheEvent {
        kind,
        replica,
        tenant: "t",
        model: "m",
        prefix_hash: hash.as_bytes(),
        adapter: "",
        at: None,
    };
    index.apply_event(&event, Timestamp::from_ns(now)).removed
}

fn query<'a>(input: &'a Input<'a>, now: i64) -> Query<'a> {
    Query {
        tenant: "t",
        model: "m",
        scheme: "s",
        adapter: "",
        input,
        now: Timestamp::from_ns(now),
        ttl_ns: TTL,
        wants_warm: true,
        wants_heard: true,
    }
}

fn chain(blocks: u64) -> Input<'static> {
    Input::Chain { hashes: ChainHashes::Derived(hashes(0, blocks)), counts: ChainCounts::Uniform(1) }
}

fn index(max_entries: u64, eviction: Eviction) -> Index {
    let default_settings = TenantSettings { ttl_ns: TTL, eviction, max_keys: u64::MAX };
    Index::new(IndexConfig { max_entries, default_settings, ..IndexConfig::default() })
}

/// Runs all `tasks` at once, and to their end.
fn together(tasks: Vec<Box<dyn FnOnce() + Send + '_>>) {
    let barrier = Barrier::new(tasks.len());
    thread::scope(|scope| {
        for task in tasks {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                task();
            });
        }
    });
}

/// What is true of every answer.
fn check(evidence: &Evidence) {
    assert_eq!(evidence.heard.len(), evidence.roster.len());
    for holder in evidence.holders.iter() {
        assert!(evidence.roster.get(holder.member).is_some(), "a holder serves the domain");
        assert_eq!(holder.matched_tokens, holder.blocks as i32, "one token a block");
    }
    for warm in &evidence.warm {
        assert!(evidence.roster.get(warm.member).is_some(), "a warm replica serves the domain");
    }
    let has_entries = !evidence.roster.is_empty();
    let is_known = !evidence.index_is_empty && evidence.tenant_is_known && evidence.model_is_known;
    assert!(is_known || !has_entries, "who serves makes its model, tenant and index known");
}

fn read_and_credit(index: &Index, most: u64) {
    let input = chain(CHAIN);
    for at in 0..ROUNDS * 4 {
        let now = START + at;
        let query = query(&input, now);
        let evidence = index.read(&query);
        check(&evidence);
        let delivered: Vec<(&ReplicaId, u32)> = evidence
            .holders
            .iter()
            .filter_map(|holder| Some((evidence.roster.get(holder.member)?, holder.blocks)))
            .collect();
        assert!(delivered.iter().all(|(_, blocks)| u64::from(*blocks) <= most), "{delivered:?}");
        index.credit(&query, &delivered, at % 2 == 0);
    }
}

/// Each writer reports, evicts and clears its own replica; what is left is what each one left.
fn write(index: &Index, replica: &str) {
    for at in 0..ROUNDS {
        let now = START + at;
        report(index, replica, "", &hashes(0, CHAIN / 2), now);
        report(index, replica, &format!("adapter-{}", at % 20), &hashes(0, 3), now);
        // The first block is in the base partition and in one for each adapter so far.
        assert_eq!(event(index, EventKind::PrefixEvicted, replica, PrefixHash::new(0), now), 2);
        event(index, EventKind::ReplicaUpdated, replica, PrefixHash::new(0), now);
        if at % 4 == 3 {
            let removed = event(index, EventKind::AllCleared, replica, PrefixHash::new(0), now);
            // Four adapters keep two blocks each, and the base partition all but its first.
            assert_eq!(removed, CHAIN / 2 - 1 + 4 * 2);
        }
    }
    report(index, replica, "", &hashes(0, CHAIN / 2), START + ROUNDS);
}

#[test]
fn writers_of_their_own_replicas_leave_what_each_one_wrote() {
    for eviction in [Eviction::Lru, Eviction::Lfu] {
        let index = index(u64::MAX, eviction);
        together(vec![
            Box::new(|| write(&index, WRITERS[0])),
            Box::new(|| write(&index, WRITERS[1])),
            Box::new(|| read_and_credit(&index, CHAIN / 2)),
            Box::new(|| {
                for at in 0..ROUNDS {
                    let swept = index.sweep(Timestamp::from_ns(START + at));
                    assert_eq!(swept.expired_lru + swept.expired_lfu, 0, "nothing is that old");
                }
            }),
        ]);
        assert_eq!(index.entries(), 2 * (CHAIN / 2));
        assert_eq!(index.cache_state("t", "m").total_prefixes, CHAIN / 2);
        let input = chain(CHAIN);
        let evidence = index.read(&query(&input, START + ROUNDS));
        let runs: Vec<u32> = evidence.holders.iter().map(|holder| holder.blocks).collect();
        assert_eq!(runs, [CHAIN as u32 / 2; 2]);
        drained(&index);
    }
}

/// All that is left expires, and nothing stays behind.
fn drained(index: &Index) {
    let held = index.entries();
    let far = Timestamp::from_ns(START + 10 * TTL);
    let swept = index.sweep(far);
    assert_eq!((swept.expired_lru + swept.expired_lfu, index.entries()), (held, 0));
    let facts = index.facts("t", "m", "s");
    assert_eq!((facts.keys, facts.replicas, facts.tenants.len(), facts.schemes.len()), (0, 0, 0, 0));
    let state = index.cache_state("", "");
    assert_eq!((state.total_prefixes, state.hot_prefixes, state.replicas.len()), (0, 0, 0));
    assert_eq!(index.gauges().memory_bytes, 0);
}

#[test]
fn the_cap_holds_at_every_instant() {
    const CAP: u64 = 700;
    for eviction in [Eviction::Lru, Eviction::Lfu] {
        let index = index(CAP, eviction);
        let write = |replica: &'static str| {
            for at in 0..ROUNDS {
                report(&index, replica, "", &hashes(0, CHAIN), START + at);
                event(&index, EventKind::PrefixEvicted, replica, PrefixHash::new(at as u64), START + at);
            }
        };
        together(vec![
            Box::new(|| write(WRITERS[0])),
            Box::new(|| write(WRITERS[1])),
            Box::new(|| read_and_credit(&index, CHAIN)),
            Box::new(|| {
                for at in 0..ROUNDS * 10 {
                    assert!(index.entries() <= CAP);
                    if at % 20 == 0 {
                        index.sweep(Timestamp::from_ns(START + at));
                    }
                }
            }),
        ]);
        drained(&index);
    }
}

#[test]
fn a_head_is_seen_before_its_tail() {
    let index = index(u64::MAX, Eviction::Lru);
    let last = PrefixHash::new(CHAIN - 1);
    let tail = Input::Exact(ExactHash::Derived(last, 1));
    together(vec![
        Box::new(|| report(&index, WRITERS[0], "", &hashes(0, CHAIN), START)),
        Box::new(|| {
            let whole = chain(CHAIN);
            let mut longest = 0;
            for _ in 0..200 {
                let has_tail = !index.read(&query(&tail, START)).holders.is_empty();
                let evidence = index.read(&query(&whole, START));
                check(&evidence);
                let blocks = evidence.holders.first().map_or(0, |holder| holder.blocks);
                assert!(blocks >= longest, "nothing goes while a report is stored");
                assert!(!has_tail || u64::from(blocks) == CHAIN, "a tail without its head: {blocks} blocks");
                longest = blocks;
            }
        }),
    ]);
    assert_eq!(index.entries(), CHAIN);
}

#[test]
fn policies_change_under_running_reports() {
    let index = index(u64::MAX, Eviction::Lru);
    let quota = |max_keys, eviction| TenantSettings { ttl_ns: TTL, eviction, max_keys };
    let write = |replica: &'static str| {
        for at in 0..ROUNDS {
            report(&index, replica, "", &hashes(0, CHAIN), START + at);
        }
    };
    together(vec![
        Box::new(|| write(WRITERS[0])),
        Box::new(|| write(WRITERS[1])),
        Box::new(|| read_and_credit(&index, CHAIN)),
        Box::new(|| {
            for at in 0..ROUNDS {
                let eviction = if at % 2 == 0 { Eviction::Lfu } else { Eviction::Lru };
                let max_keys = if at % 3 == 0 { 100 } else { u64::MAX };
                index.set_tenant_settings(quota(max_keys, eviction), hashbrown::HashMap::new());
            }
        }),
    ]);
    index.set_tenant_settings(quota(50, Eviction::Lru), hashbrown::HashMap::new());
    assert_eq!(index.cache_state("t", "m").total_prefixes, 50);
    drained(&index);
}
