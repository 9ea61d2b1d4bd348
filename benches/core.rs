//! What the core costs in process: a lookup with its whole decision, ingest, and bytes an entry.
//!
//! The fleet: 64 replicas and blocks of 16 tokens; four system prompts of 30 % of the chain, held by every replica;
//! behind each, suffixes held by 1, 2 or 4 replicas (70, 20, 10 %). Queries: 30 % full hits, 40 % that leave the chain
//! inside the suffix, 20 % system prompt only, 10 % misses.

#![allow(clippy::print_stderr, reason = "figures that criterion has no form for")]

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use icache::index::IndexConfig;
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{HashList, LookupRequest, PrefixEntry, Sourced, StateUpdate, Tier, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};

/// That of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOW: Timestamp = Timestamp::from_ns(1_754_611_200_000_000_000);
const REPLICAS: usize = 64;
const PROMPTS: u64 = 4;
const ENTRIES: usize = 1_000_000;
const BLOCK_TOKENS: i32 = 16;

/// SplitMix64: the sequence is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

fn hash(value: u64) -> Bytes {
    Bytes::copy_from_slice(&Random(value).next().to_be_bytes())
}

struct Fleet {
    router: Router,
    replicas: Vec<String>,
    /// Every chain with its holders, the shared head first.
    chains: Vec<(Vec<Bytes>, Vec<usize>)>,
    blocks: usize,
}

fn router() -> Router {
    Router::new(RouterConfig {
        index: IndexConfig { max_entries: u64::MAX, ..IndexConfig::default() },
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    })
}

impl Fleet {
    fn new(blocks: usize, entries: usize) -> Self {
        let mut random = Random(7);
        let replicas: Vec<String> = (0..REPLICAS).map(|at| format!("vllm-{at}")).collect();
        let head = blocks * 3 / 10;
        let heads: Vec<Vec<Bytes>> =
            (0..PROMPTS).map(|prompt| (0..head as u64).map(|at| hash(prompt << 32 | at)).collect()).collect();
        let mut fleet = Self { router: router(), replicas, chains: Vec::new(), blocks };
        for head in &heads {
            for replica in 0..REPLICAS {
                fleet.report(replica, head);
            }
        }
        while (fleet.router.index().entries() as usize) < entries {
            let mut chain = heads[random.below(PROMPTS) as usize].clone();
            let suffix = random.next() << 16;
            chain.extend((chain.len() as u64..blocks as u64).map(|at| hash(suffix + at)));
            let holders = match random.below(10) {
                0..7 => 1,
                7..9 => 2,
                _ => 4,
            };
            let first = random.below(REPLICAS as u64) as usize;
            let holders: Vec<usize> = (0..holders).map(|step| (first + 17 * step) % REPLICAS).collect();
            for replica in &holders {
                fleet.report(*replica, &chain);
            }
            fleet.chains.push((chain, holders));
        }
        fleet
    }

    fn report(&self, replica: usize, chain: &[Bytes]) {
        report(&self.router, &self.replicas[replica], chain);
    }

    /// 2,048 queries in the stated mix, with the number of blocks that some replica holds.
    fn queries(&self) -> Vec<(Vec<Bytes>, usize)> {
        let mut random = Random(11);
        let head = self.blocks * 3 / 10;
        let mut query = |at: u64| {
            let (chain, _) = &self.chains[random.below(self.chains.len() as u64) as usize];
            let held = match at % 10 {
                0..3 => self.blocks,
                3..7 => head + 1 + random.below((self.blocks - head - 1) as u64) as usize,
                7..9 => head,
                _ => 0,
            };
            let novel = random.next() << 16;
            let tail = (held as u64..self.blocks as u64).map(|at| hash(novel + at));
            (chain[..held].iter().cloned().chain(tail).collect(), held)
        };
        (0..2048).map(&mut query).collect()
    }
}

fn report(router: &Router, replica: &str, chain: &[Bytes]) {
    let counts = vec![BLOCK_TOKENS; chain.len()];
    let entry = PrefixEntry {
        prefix_hash: &[],
        token_count: 0,
        block_hashes: HashList::Wire(chain),
        block_token_counts: &counts,
        tier: Tier::T1,
        adapter: "",
    };
    let update = StateUpdate {
        replica,
        tenant: "team-a",
        model: "llama",
        scheme: "vllm",
        prefixes: vec![entry],
        ..StateUpdate::default()
    };
    black_box(router.index().apply_update(&update, NOW));
}

fn lookup(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lookup");
    for blocks in [64, 512, 4096] {
        let fleet = Fleet::new(blocks, ENTRIES);
        let queries = fleet.queries();
        let counts = vec![BLOCK_TOKENS; blocks];
        let ask = |chain: &[Bytes]| {
            let request = LookupRequest {
                tenant: "team-a",
                model: "llama",
                scheme: "vllm",
                block_hashes: HashList::Wire(chain),
                block_token_counts: &counts,
                ..LookupRequest::default()
            };
            fleet.router.peek(&request, Call::at(NOW))
        };
        for (chain, held) in &queries {
            let longest = ask(chain).candidates.iter().map(|candidate| candidate.blocks).max();
            assert_eq!(longest.unwrap_or(0) as usize, *held, "the answer is right before it is timed");
        }
        let at = Cell::new(0);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{blocks} blocks, 1 M entries"), |bench| {
            bench.iter(|| {
                at.set((at.get() + 1) % queries.len());
                black_box(ask(&queries[at.get()].0))
            });
        });
        let mut times: Vec<Duration> = (0..20_000)
            .map(|at| {
                let start = Instant::now();
                black_box(ask(&queries[at % queries.len()].0));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        eprintln!("lookup of {blocks} blocks: p50 {:?}, p99 {:?}", at(0.5), at(0.99));
    }
    group.finish();
}

fn ingest(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ingest");
    group.sample_size(10);
    for (name, blocks) in [("64-block reports", 64), ("1-block reports", 1)] {
        let reports: Vec<Vec<Bytes>> = (0..256 * 64 / blocks as u64)
            .map(|chain| (0..blocks as u64).map(|at| hash(chain << 20 | at)).collect())
            .collect();
        group.throughput(Throughput::Elements(256 * 64));
        group.bench_function(name, |bench| {
            bench.iter_batched(
                router,
                |router| {
                    for chain in &reports {
                        report(&router, "vllm-0", chain);
                    }
                    router
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// Resident bytes an entry, by the kernel's count before and after; the fleet's own chains are freed first.
fn memory(_: &mut Criterion) {
    for (name, blocks) in [("64-block reports", 64_u64), ("1-block reports", 1)] {
        let router = router();
        let before = resident_bytes();
        for chain in 0..ENTRIES as u64 / blocks {
            let hashes: Vec<Bytes> = (0..blocks).map(|at| hash(chain << 20 | at)).collect();
            report(&router, "vllm-0", &hashes);
        }
        let entries = router.index().entries();
        let grown = resident_bytes().saturating_sub(before);
        let counted = router.index().gauges().memory_bytes;
        eprintln!(
            "{name}: {entries} entries, {} resident bytes each, {} by the index's own count",
            grown / entries,
            counted / entries
        );
    }
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

criterion_group!(benches, memory, lookup, ingest);
criterion_main!(benches);
