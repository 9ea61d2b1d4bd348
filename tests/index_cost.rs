//! What writes cost, by the index's own count of what it touches: no operation grows with the index, and no critical
//! section grows with the operation.

use hashbrown::HashMap;
use icache::decision::{ChainCounts, ChainHashes, Input, Query};
use icache::index::{BLOCKS_PER_SECTION, Index, IndexConfig, TenantSettings};
use icache::model::{
    CacheEvent, EventKind, Eviction, HashList, Limits, PrefixEntry, PrefixHash, ReplicaId, StateUpdate,
    TenantId, Tier, Timestamp,
};

const SECOND: i64 = 1_000_000_000;
const TTL: i64 = 1_800 * SECOND;
const START: i64 = 1_700_000_000 * SECOND;
const SIZES: [u64; 3] = [1_000, 10_000, 100_000];
/// What one block may need beyond the bound of a section: its key, its entry, its place, and the victim it pushes out.
const ONE_BLOCK: u64 = 16;

/// How entries are spread: how many of them share a tenant, and how many of a tenant share an adapter.
#[derive(Clone, Copy, Debug)]
struct Spread {
    of_tenant: u64,
    of_adapter: u64,
    of_replica: u64,
}

const SPREADS: [Spread; 4] = [
    Spread { of_tenant: u64::MAX, of_adapter: u64::MAX, of_replica: u64::MAX },
    Spread { of_tenant: u64::MAX, of_adapter: 2, of_replica: u64::MAX },
    Spread { of_tenant: 10, of_adapter: u64::MAX, of_replica: u64::MAX },
    Spread { of_tenant: 1_000, of_adapter: 100, of_replica: 10 },
];

#[derive(Clone, Copy)]
struct Place<'a> {
    tenant: &'a str,
    adapter: &'a str,
    replica: &'a str,
}

/// The tenant, adapter and replica that the measured operations are about.
const HERE: Place<'static> = Place { tenant: "tenant-0", adapter: "adapter-0", replica: "replica-0" };

fn hashes(from: u64, count: u64) -> Vec<PrefixHash> {
    (from..from + count).map(PrefixHash::new).collect()
}

fn report(index: &Index, place: Place<'_>, hashes: &[PrefixHash], at: i64, now: i64) -> u64 {
    let counts = vec![16; hashes.len()];
    let update = StateUpdate {
        replica: place.replica,
        tenant: place.tenant,
        model: "m",
        scheme: "s",
        adapter: place.adapter,
        at: Some(Timestamp::from_ns(at)),
        prefixes: vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(hashes),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        }],
        stats: None,
    };
    let applied = index.apply_update(&update, Timestamp::from_ns(now));
    assert_eq!((applied.dropped, applied.blocks), (vec![], hashes.len() as u64));
    applied.evicted.cap_lru + applied.evicted.cap_lfu + applied.evicted.quota_keys
}

fn event(index: &Index, kind: EventKind, place: Place<'_>, hash: PrefixHash, now: i64) -> u64 {
    let event = CacheEvent {
        kind,
        replica: place.replica,
        tenant: place.tenant,
        model: "m",
        prefix_hash: hash.as_bytes(),
        adapter: place.adapter,
        at: None,
    };
    index.apply_event(&event, Timestamp::from_ns(now)).removed
}

fn credit(index: &Index, place: Place<'_>, hashes: Vec<PrefixHash>, now: i64) {
    let blocks = hashes.len() as u32;
    let input = Input::Chain { hashes: ChainHashes::Derived(hashes), counts: ChainCounts::Uniform(16) };
    let query = Query {
        tenant: place.tenant,
        model: "m",
        scheme: "s",
        adapter: place.adapter,
        input: &input,
        now: Timestamp::from_ns(now),
        ttl_ns: TTL,
        wants_warm: false,
        wants_heard: false,
    };
    index.credit(&query, &[(&ReplicaId::from(place.replica), blocks)], true);
}

fn settings(eviction: Eviction, max_keys: u64) -> TenantSettings {
    TenantSettings { ttl_ns: TTL, eviction, max_keys }
}

/// An index of `size` entries, with the cap 1,000 above, whose first 64 blocks stand at [`HERE`].
fn filled(size: u64, spread: Spread, eviction: Eviction) -> Index {
    let index = Index::new(IndexConfig {
        max_entries: size + 1_000,
        max_replicas_per_scope: usize::MAX,
        max_replica_records: usize::MAX,
        default_settings: settings(eviction, u64::MAX),
        ..IndexConfig::default()
    });
    report(&index, HERE, &hashes(0, 64), START, START);
    let mut at = 64;
    while at < size {
        let step = spread.of_tenant.min(spread.of_adapter).min(spread.of_replica).min(size - at).min(64);
        let tenant = format!("tenant-{}", at / spread.of_tenant);
        let adapter = format!("adapter-{}", at / spread.of_adapter);
        // So many replicas at most, that the roster is the same at every size.
        let replica = format!("replica-{}", at / spread.of_replica % 10);
        let place = Place { tenant: &tenant, adapter: &adapter, replica: &replica };
        report(&index, place, &hashes(at, step), START + at as i64, START + SECOND);
        at += step;
    }
    assert_eq!(index.entries(), size);
    index
}

/// The work of `operation`, which has `expected` for its outcome.
fn cost(index: &Index, expected: u64, operation: impl FnOnce() -> u64) -> u64 {
    let before = index.work();
    assert_eq!(operation(), expected);
    index.work() - before
}

const SMALL: Place<'static> = Place { replica: "small", ..HERE };
const ANY: Place<'static> = Place { adapter: "", ..HERE };
const OPERATIONS: [&str; 8] = [
    "refresh of a chain",
    "eviction of a prefix in one adapter",
    "eviction of a prefix in all",
    "eviction of a prefix nobody holds",
    "clearing of a small replica",
    "sweep of 50 entries, with 64 credited",
    "report of 64 blocks over the cap",
    "report of 64 blocks over the quota",
];

fn costs(size: u64, spread: Spread, eviction: Eviction) -> [u64; 8] {
    let index = filled(size, spread, eviction);
    let now = START + 10 * SECOND;
    let refresh = cost(&index, 0, || report(&index, HERE, &hashes(0, 64), now, now));
    let evicted = |place, hash, expected| {
        let hash = PrefixHash::new(hash);
        cost(&index, expected, || event(&index, EventKind::PrefixEvicted, place, hash, now))
    };
    let in_one = evicted(HERE, 63, 1);
    let in_all = evicted(ANY, 62, 1);
    let unknown = evicted(ANY, u64::MAX, 0);
    report(&index, SMALL, &hashes(1 << 40, 40), now, now);
    let clear = cost(&index, 40, || event(&index, EventKind::AllCleared, SMALL, PrefixHash::new(0), now));
    report(&index, SMALL, &hashes(1 << 41, 50), now - TTL, now);
    credit(&index, HERE, hashes(0, 64), now);
    let sweep = cost(&index, 50, || {
        let swept = index.sweep(Timestamp::from_ns(now));
        swept.expired_lru + swept.expired_lfu
    });
    let room = size + 1_000 - index.entries();
    report(&index, HERE, &hashes(1 << 42, room), now, now);
    let cap = cost(&index, 64, || report(&index, HERE, &hashes(1 << 43, 64), now, now));
    assert_eq!(index.entries(), size + 1_000);
    // Another tenant's removal makes room, so that the quota alone decides.
    let other = Place { tenant: "other", ..HERE };
    assert!(event(&index, EventKind::AllCleared, HERE, PrefixHash::new(0), now) > 64);
    report(&index, HERE, &hashes(0, 64), now - SECOND, now);
    let keys = index.cache_state(HERE.tenant, "m").total_prefixes;
    report(&index, other, &hashes(0, 8), now, now);
    let of = HashMap::from([(TenantId::from(HERE.tenant), settings(eviction, keys))]);
    assert_eq!(index.set_tenant_settings(settings(eviction, u64::MAX), of), []);
    let quota = cost(&index, 64, || report(&index, HERE, &hashes(1 << 44, 64), now, now));
    [refresh, in_one, in_all, unknown, clear, sweep, cap, quota]
}

#[test]
fn no_operation_grows_with_the_index() {
    for spread in SPREADS {
        for eviction in [Eviction::Lru, Eviction::Lfu] {
            let of_size = SIZES.map(|size| costs(size, spread, eviction));
            for (at, operation) in OPERATIONS.iter().enumerate() {
                let costs = of_size.map(|costs| costs[at]);
                let (least, most) = (costs.iter().min(), costs.iter().max());
                let growth = most.zip(least).map(|(most, least)| most - least);
                assert!(
                    growth <= Some(8),
                    "{operation} costs {costs:?} on {SIZES:?} entries; {spread:?}, {eviction:?}"
                );
            }
        }
    }
}

/// The longest section is bounded, and was long enough for the bound to mean something.
fn assert_bounded(index: &Index, what: &str) {
    let longest = index.longest_section();
    let bounds = BLOCKS_PER_SECTION..=BLOCKS_PER_SECTION + ONE_BLOCK;
    assert!(bounds.contains(&longest), "{what}: a section of {longest}");
}

fn large(eviction: Eviction, max_entries: u64) -> Index {
    Index::new(IndexConfig {
        max_entries,
        max_replicas_per_scope: usize::MAX,
        max_replica_records: usize::MAX,
        forget_replica_after_ns: SECOND,
        limits: Limits { request_blocks: 131_072, ..Limits::default() },
        default_settings: settings(eviction, u64::MAX),
        ..IndexConfig::default()
    })
}

#[test]
fn a_long_report_is_many_short_sections() {
    let index = large(Eviction::Lru, 1_000_000);
    report(&index, HERE, &hashes(0, 131_072), START, START);
    assert_bounded(&index, "a new chain");
    report(&index, HERE, &hashes(0, 131_072), START + 1, START + 1);
    assert_bounded(&index, "a refreshed chain");
}

#[test]
fn a_long_report_over_the_cap_is_many_short_sections() {
    for eviction in [Eviction::Lru, Eviction::Lfu] {
        let index = large(eviction, 1_000);
        assert_eq!(report(&index, HERE, &hashes(0, 131_072), START, START), 131_072 - 1_000);
        assert_bounded(&index, "a chain over the cap");
    }
}

#[test]
fn a_clearing_is_many_short_sections() {
    let index = large(Eviction::Lru, 1_000_000);
    report(&index, HERE, &hashes(0, 100_000), START, START);
    assert_eq!(event(&index, EventKind::AllCleared, HERE, PrefixHash::new(0), START), 100_000);
    assert_bounded(&index, "a clearing");
}

#[test]
fn a_sweep_is_many_short_sections() {
    for eviction in [Eviction::Lru, Eviction::Lfu] {
        let index = large(eviction, 1_000_000);
        report(&index, HERE, &hashes(0, 100_000), START, START);
        credit(&index, HERE, hashes(0, 100_000), START);
        assert_bounded(&index, "a credit");
        let before = index.work();
        index.sweep(Timestamp::from_ns(START + 1));
        assert!(index.work() - before >= 100_000, "all hits are halved");
        assert_bounded(&index, "a halving");
        let swept = index.sweep(Timestamp::from_ns(START + TTL));
        assert_eq!(swept.expired_lru + swept.expired_lfu, 100_000);
        assert_bounded(&index, "a sweep");
    }
}

#[test]
fn a_lowered_quota_is_many_short_sections() {
    let index = large(Eviction::Lru, 1_000_000);
    for replica in ["a", "b", "c"] {
        report(&index, Place { replica, ..HERE }, &hashes(0, 100_010), START, START);
    }
    let tenant = TenantId::from(HERE.tenant);
    let of = HashMap::from([(tenant.clone(), settings(Eviction::Lru, 10))]);
    let evicted = index.set_tenant_settings(TenantSettings::default(), of);
    assert_eq!(evicted, [(tenant, 100_000)]);
    assert_eq!(index.entries(), 30);
    assert_bounded(&index, "a quota");
}

#[test]
fn many_tenants_are_many_short_sections() {
    let index = large(Eviction::Lru, 1_000_000);
    for tenant in 0..20_000 {
        let tenant = tenant.to_string();
        report(&index, Place { tenant: &tenant, ..HERE }, &hashes(0, 2), START, START);
    }
    let quota_1 = settings(Eviction::Lfu, 1);
    assert_eq!(index.set_tenant_settings(quota_1, HashMap::new()).len(), 20_000);
    // Each tenant that was changed is ranked anew by its size.
    assert!(index.longest_section() <= 2 * BLOCKS_PER_SECTION, "settings of many tenants");
    let swept = index.sweep(Timestamp::from_ns(START + TTL));
    assert_eq!((swept.expired_lfu, swept.replicas), (20_000, 20_000));
    assert_eq!(index.facts("", "", "").tenants, [] as [&str; 0]);
    // An entry that was the last takes its partition, its scope and its tenant with it.
    assert!(index.longest_section() <= 5 * BLOCKS_PER_SECTION, "a sweep of many tenants");
}

#[test]
fn an_eviction_in_many_partitions_is_many_short_sections() {
    let index = large(Eviction::Lru, 1_000_000);
    for adapter in 0..10_000 {
        let adapter = adapter.to_string();
        report(&index, Place { adapter: &adapter, ..HERE }, &hashes(0, 1), START, START);
    }
    let removed = event(&index, EventKind::PrefixEvicted, ANY, PrefixHash::new(0), START);
    assert_eq!((removed, index.entries()), (10_000, 0));
    // A key that was the last takes its partition with it.
    assert!(index.longest_section() <= 2 * BLOCKS_PER_SECTION, "an eviction");
}
