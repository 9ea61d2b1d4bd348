//! Long chains against a plain list of entries: reports that cross, split and extend what is stored, block by block and
//! at one time or many, with evictions, hits, sweeps and a cap.

use std::cmp::Reverse;
use std::collections::HashMap;

use icache::decision::{ChainCounts, ChainHashes, ExactHash, Input, Query};
use icache::index::{Index, IndexConfig, TenantSettings};
use icache::model::{
    CacheEvent, EventKind, Eviction, HashList, PrefixEntry, PrefixHash, ReplicaId, StateUpdate, Tier,
    Timestamp,
};

const SECOND: i64 = 1_000_000_000;
const TTL: i64 = 600 * SECOND;
const START: i64 = 1_700_000_000 * SECOND;
const REPLICAS: [&str; 4] = ["a", "b", "c", "d"];
/// Sequences that share their first blocks with the one before.
const SEQUENCES: u64 = 6;
const LENGTH: u64 = 200;

/// SplitMix64: the sequence is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}

/// Block `at` of a sequence: sequence n leaves sequence n - 1 at block 30 n.
fn block(sequence: u64, at: u64) -> u64 {
    let shared = (0..=sequence).rev().find(|of| at >= 30 * of).unwrap_or(0);
    shared << 32 | at
}

#[derive(Clone, Copy)]
struct Entry {
    replica: usize,
    hash: u64,
    tokens: i32,
    tier: Tier,
    at: i64,
    hits: u32,
    arrival: u64,
}

/// What a lookup says of a replica: blocks, tokens, last seen, tier.
type Seen = HashMap<String, (u32, i32, i64, Tier)>;

struct World {
    index: Index,
    entries: Vec<Entry>,
    cap: usize,
    eviction: Eviction,
    arrivals: u64,
    now: i64,
    random: Random,
}

impl World {
    fn new(seed: u64, cap: usize, eviction: Eviction) -> Self {
        let default_settings = TenantSettings { ttl_ns: TTL, eviction, max_keys: u64::MAX };
        let config = IndexConfig { max_entries: cap as u64, default_settings, ..IndexConfig::default() };
        Self {
            index: Index::new(config),
            entries: Vec::new(),
            cap,
            eviction,
            arrivals: 0,
            now: START,
            random: Random(seed),
        }
    }

    fn step(&mut self) {
        match self.random.below(13) {
            12 => self.report_hash_by_hash(),
            0..5 => self.report(),
            5..8 => self.report_block_by_block(),
            8 => self.evict(),
            9 => self.deliver(),
            10 if self.random.one_in(8) => self.clear(),
            10 => self.now += [0, 1, 999, 70 * SECOND][self.random.below(4) as usize],
            _ if self.random.one_in(4) => self.sweep(),
            _ => self.now += SECOND,
        }
        assert_eq!(self.index.entries() as usize, self.entries.len());
    }

    fn part(&mut self) -> (u64, u64, u64) {
        let sequence = self.random.below(SEQUENCES);
        let from = if self.random.one_in(3) { self.random.below(LENGTH) } else { 0 };
        (sequence, from, from + 1 + self.random.below(LENGTH - from))
    }

    fn report(&mut self) {
        let (sequence, from, until) = self.part();
        let hashes: Vec<u64> = (from..until).map(|at| block(sequence, at)).collect();
        let replica = self.random.below(4) as usize;
        let is_odd = self.random.one_in(4);
        let counts: Vec<i32> =
            hashes.iter().map(|hash| if is_odd { (*hash % 7) as i32 } else { 16 }).collect();
        let tier = if self.random.one_in(5) { Tier::T2 } else { Tier::T1 };
        let at =
            if self.random.one_in(4) { self.now - self.random.below(3) as i64 * SECOND } else { self.now };
        self.store(replica, &hashes, &counts, tier, at);
    }

    fn report_block_by_block(&mut self) {
        let (sequence, from, until) = self.part();
        let replica = self.random.below(4) as usize;
        let step = [0, 1, 64_000, 3 * SECOND][self.random.below(4) as usize];
        for at in from..until.min(from + 100) {
            self.now += step;
            let count = if self.random.one_in(9) { 5 } else { 16 };
            self.store(replica, &[block(sequence, at)], &[count], Tier::T1, self.now);
        }
    }

    /// One update with an entry for each hash, of its own tokens and mostly of one tier; some hashes come twice.
    fn report_hash_by_hash(&mut self) {
        let (sequence, from, until) = self.part();
        let replica = self.random.below(4) as usize;
        let mut told: Vec<(u64, i32, Tier)> = Vec::new();
        for at in from..until {
            let tier = if self.random.one_in(30) { Tier::T2 } else { Tier::T1 };
            told.push((block(sequence, at), self.random.below(5_000) as i32, tier));
            if self.random.one_in(20) {
                told.push(told[self.random.below(told.len() as u64) as usize]);
            }
        }
        let hashes: Vec<PrefixHash> = told.iter().map(|(hash, ..)| PrefixHash::new(*hash)).collect();
        let entries = hashes.iter().zip(&told).map(|(hash, (_, tokens, tier))| PrefixEntry {
            prefix_hash: hash.as_bytes(),
            token_count: *tokens,
            block_hashes: HashList::EMPTY,
            block_token_counts: &[],
            tier: *tier,
            adapter: "",
        });
        let prefixes = entries.collect();
        self.apply(replica, prefixes, self.now);
        for (hash, tokens, tier) in told {
            self.held(Entry { replica, hash, tokens, tier, at: self.now, hits: 0, arrival: 0 });
        }
    }

    fn apply(&self, replica: usize, prefixes: Vec<PrefixEntry<'_>>, at: i64) {
        let update = StateUpdate {
            replica: REPLICAS[replica],
            tenant: "t",
            model: "m",
            scheme: "s",
            at: Some(Timestamp::from_ns(at)),
            prefixes,
            ..StateUpdate::default()
        };
        assert_eq!(self.index.apply_update(&update, Timestamp::from_ns(self.now)).dropped, []);
    }

    fn store(&mut self, replica: usize, hashes: &[u64], counts: &[i32], tier: Tier, at: i64) {
        let chain: Vec<PrefixHash> = hashes.iter().map(|hash| PrefixHash::new(*hash)).collect();
        let prefixes = vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(&chain),
            block_token_counts: counts,
            tier,
            adapter: "",
        }];
        self.apply(replica, prefixes, at);
        let mut tokens = 0;
        for (hash, count) in hashes.iter().zip(counts) {
            tokens += count;
            self.held(Entry { replica, hash: *hash, tokens, tier, at, hits: 0, arrival: 0 });
        }
    }

    /// The plain list takes a reported entry, and lets go what is over the cap.
    fn held(&mut self, new: Entry) {
        self.arrivals += 1;
        let new = Entry { arrival: self.arrivals, ..new };
        let is_same = |held: &&mut Entry| (held.replica, held.hash) == (new.replica, new.hash);
        match self.entries.iter_mut().find(is_same) {
            Some(held) if held.at < new.at => *held = Entry { hits: held.hits, ..new },
            Some(held) if held.at == new.at => (held.tokens, held.tier) = (new.tokens, new.tier),
            Some(_) => {}
            None => self.entries.push(new),
        }
        while self.entries.len() > self.cap {
            let now = self.now;
            let order = |held: &Entry| match self.eviction {
                Eviction::Lru => (false, 0, held.at, held.hits, Reverse(held.arrival)),
                Eviction::Lfu => (now - held.at < 60 * SECOND, held.hits, held.at, 0, Reverse(held.arrival)),
            };
            let victim = (0..self.entries.len()).min_by_key(|at| order(&self.entries[*at]));
            self.entries.remove(victim.expect("there is one"));
        }
    }

    fn event(&self, kind: EventKind, replica: usize, hash: u64) -> u64 {
        let hash = PrefixHash::new(hash);
        let event = CacheEvent {
            kind,
            replica: REPLICAS[replica],
            tenant: "t",
            model: "m",
            prefix_hash: hash.as_bytes(),
            adapter: "",
            at: None,
        };
        self.index.apply_event(&event, Timestamp::from_ns(self.now)).removed
    }

    /// Whether the replica is said to hold the block alone.
    fn holds(&self, replica: usize, hash: u64) -> bool {
        let hash = PrefixHash::new(hash);
        let input = Input::Exact(ExactHash::Given(hash.as_bytes()));
        seen(&self.index, &query(&input, self.now)).contains_key(REPLICAS[replica])
    }

    fn evict(&mut self) {
        let (sequence, from, until) = self.part();
        let replica = self.random.below(4) as usize;
        for at in (from..until).take(20) {
            let hash = block(sequence, at);
            let before = self.entries.len();
            self.entries.retain(|held| (held.replica, held.hash) != (replica, hash));
            let removed = self.event(EventKind::PrefixEvicted, replica, hash);
            assert_eq!(removed as usize, before - self.entries.len());
        }
    }

    fn clear(&mut self) {
        let replica = self.random.below(4) as usize;
        let before = self.entries.len();
        self.entries.retain(|held| held.replica != replica);
        assert_eq!(self.event(EventKind::AllCleared, replica, 0) as usize, before - self.entries.len());
    }

    fn sweep(&mut self) {
        let (before, now) = (self.entries.len(), self.now);
        self.entries.retain(|held| now - held.at < TTL);
        let swept = self.index.sweep(Timestamp::from_ns(self.now));
        assert_eq!((swept.expired_lru + swept.expired_lfu) as usize, before - self.entries.len());
        let mut hit: Vec<usize> = (0..self.entries.len()).filter(|at| self.entries[*at].hits > 0).collect();
        hit.sort_by_key(|at| {
            let held = &self.entries[*at];
            (held.hits, held.at, Reverse(held.arrival))
        });
        for at in hit {
            self.arrivals += 1;
            self.entries[at].hits /= 2;
            self.entries[at].arrival = self.arrivals;
        }
    }

    /// Looks a chain up, compares, and delivers some of what was found.
    fn deliver(&mut self) {
        let (sequence, from, until) = self.part();
        let hashes: Vec<u64> = (from..until).map(|at| block(sequence, at)).collect();
        let chain = ChainHashes::Derived(hashes.iter().map(|hash| PrefixHash::new(*hash)).collect());
        let input = Input::Chain { hashes: chain, counts: ChainCounts::Uniform(16) };
        let query = query(&input, self.now);
        let expected = self.expected(&hashes);
        assert_eq!(seen(&self.index, &query), expected);
        let wanted = |replica: &&&str| expected.contains_key(**replica);
        let most = 1 + self.random.below(4) as usize;
        let names: Vec<ReplicaId> =
            REPLICAS.iter().filter(wanted).take(most).map(|name| ReplicaId::from(*name)).collect();
        let delivered: Vec<(&ReplicaId, u32)> =
            names.iter().map(|name| (name, expected[name.as_str()].0)).collect();
        self.index.credit(&query, &delivered, self.eviction == Eviction::Lfu);
        if self.eviction == Eviction::Lru {
            return;
        }
        for (at, hash) in hashes.iter().enumerate() {
            for (name, blocks) in &delivered {
                let replica = REPLICAS.iter().position(|held| *held == name.as_str());
                let is_held = |held: &&mut Entry| Some(held.replica) == replica && held.hash == *hash;
                if at < *blocks as usize
                    && let Some(held) = self.entries.iter_mut().find(is_held)
                {
                    self.arrivals += 1;
                    (held.hits, held.arrival) = (held.hits + 1, self.arrivals);
                }
            }
        }
    }

    fn expected(&self, hashes: &[u64]) -> Seen {
        let mut found = Seen::new();
        for (replica, name) in REPLICAS.iter().enumerate() {
            let (mut blocks, mut last_seen, mut tier) = (0, i64::MAX, Tier::T1);
            for hash in hashes {
                let fresh =
                    |held: &&Entry| held.replica == replica && held.hash == *hash && self.now - held.at < TTL;
                let Some(held) = self.entries.iter().find(fresh) else { break };
                blocks += 1;
                last_seen = last_seen.min(held.at);
                tier = tier.max(held.tier);
            }
            if blocks > 0 {
                found.insert((*name).to_owned(), (blocks, 16 * blocks as i32, last_seen, tier));
            }
        }
        found
    }

    /// The stored tokens of every entry, which only exact lookups show.
    fn compare_all(&self) {
        for sequence in 0..SEQUENCES {
            for at in 0..LENGTH {
                let hash = block(sequence, at);
                let input = Input::Exact(ExactHash::Derived(PrefixHash::new(hash), 1));
                let fresh = |held: &&Entry| held.hash == hash && held.tokens > 0 && self.now - held.at < TTL;
                let expected: Seen = self
                    .entries
                    .iter()
                    .filter(fresh)
                    .map(|held| (REPLICAS[held.replica].to_owned(), (0, held.tokens, held.at, held.tier)))
                    .collect();
                assert_eq!(seen(&self.index, &query(&input, self.now)), expected);
            }
        }
    }
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
        wants_warm: false,
        wants_heard: false,
    }
}

fn seen(index: &Index, query: &Query<'_>) -> Seen {
    let evidence = index.read(query);
    let name = |member| evidence.roster.get(member).map_or("nobody", |replica| replica.as_str()).to_owned();
    evidence
        .holders
        .iter()
        .map(|of| (name(of.member), (of.blocks, of.matched_tokens, of.last_seen.as_ns(), of.tier)))
        .collect()
}

fn agrees(cap: usize, eviction: Eviction) {
    for seed in 0..12 {
        let mut world = World::new(seed, cap, eviction);
        for _ in 0..120 {
            world.step();
        }
        world.compare_all();
        world.now += 2 * TTL;
        world.sweep();
        assert_eq!((world.index.entries(), world.entries.len()), (0, 0));
        let swept = world.index.sweep(Timestamp::from_ns(world.now + 2 * TTL));
        assert_eq!(swept.expired_lru + swept.expired_lfu, 0);
        assert_eq!(world.index.gauges().memory_bytes, 0, "nothing stays behind");
    }
}

#[test]
fn roomy_long_chains_agree_with_a_list() {
    agrees(100_000, Eviction::Lru);
    agrees(100_000, Eviction::Lfu);
}

#[test]
fn long_chains_over_the_cap_agree_with_a_list() {
    agrees(500, Eviction::Lru);
}

#[test]
fn long_chains_over_the_cap_agree_with_a_list_by_hits() {
    agrees(500, Eviction::Lfu);
}

/// What is told anew at the same time keeps its place among its neighbours: tails go before heads.
#[test]
fn a_block_told_anew_amid_a_chain_keeps_its_place() {
    for told in [1..2, 0..1, 2..3, 1..3, 3..4] {
        let mut world = World::new(0, 5, Eviction::Lru);
        let chain: Vec<u64> = (0..5).map(|at| block(0, at)).collect();
        world.store(0, &chain, &[16; 5], Tier::T1, START);
        for at in told {
            world.store(0, &chain[at..=at], &[16], Tier::T2, START);
        }
        for later in 1..=5 {
            world.now += SECOND;
            world.store(1, &[block(1, 100 + later)], &[16], Tier::T1, world.now);
            let left: Vec<bool> = chain.iter().map(|hash| world.holds(0, *hash)).collect();
            let expected: Vec<bool> = (0..5).map(|at| at < 5 - later).collect();
            assert_eq!(left, expected, "after {later} that came later");
        }
    }
}
