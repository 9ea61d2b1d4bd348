//! What the index says of its memory is what it takes of the process', whatever it is that callers bring ever anew.

use icache::index::{Index, IndexConfig};
use icache::model::{HashList, PrefixEntry, ReplicaStats, StateUpdate, Tier, Timestamp};

const NAMES: usize = 8_000;
/// The same of replicas that serve one domain, each of which costs as much as there are already.
const REPLICAS: usize = 2_000;
/// Bytes that the process takes for each byte that the index counts, at most.
const MOST: f64 = 1.25;
/// Storage comes in chunks, of which the last is not full.
const CHUNKS: f64 = (1 << 20) as f64;

fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
    let pages: f64 = pages.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a number of pages");
    pages * 4096.0
}

#[test]
fn the_index_counts_what_it_takes() {
    let kinds = ["tenant", "model", "scheme", "adapter", "replica", "idle", "all", "hash", "holder"];
    let mut wrong = Vec::new();
    for kind in kinds {
        for length in [0, 400] {
            let config = IndexConfig {
                max_entries: u64::MAX,
                max_replicas_per_scope: usize::MAX,
                max_replica_records: usize::MAX,
                ..IndexConfig::default()
            };
            let (index, before) = (Index::new(config), resident());
            let names = if kind == "replica" { REPLICAS } else { NAMES };
            for number in 0..names {
                let name =
                    |own: &str| match own == kind || kind == "all" || kind == "idle" && own == "replica" {
                        true => format!("{own}-{number}-{}", "x".repeat(length)),
                        false => own.to_owned(),
                    };
                let holder =
                    if kind == "holder" { format!("replica-{}", number % 64) } else { name("replica") };
                let hash = if kind == "holder" { number as u64 / 64 } else { number as u64 };
                let hash = hash.to_le_bytes();
                let entry = PrefixEntry {
                    prefix_hash: &hash,
                    token_count: 16,
                    block_hashes: HashList::EMPTY,
                    block_token_counts: &[],
                    tier: Tier::T1,
                    adapter: "",
                };
                let version = "v".repeat(length);
                let stats = ReplicaStats {
                    cache_memory_bytes: 0,
                    hit_rate: 0.5,
                    pressure: 0.5,
                    client_version: &version,
                    t2_hit_tokens: 0,
                    t2_query_tokens: 0,
                };
                let update = StateUpdate {
                    replica: &holder,
                    tenant: &name("tenant"),
                    model: &name("model"),
                    scheme: &name("scheme"),
                    adapter: &name("adapter"),
                    at: None,
                    prefixes: if kind == "idle" { Vec::new() } else { vec![entry] },
                    stats: (kind == "idle").then_some(stats),
                };
                let applied = index.apply_update(&update, Timestamp::from_us(1_000_000 + number as i64));
                assert!(applied.dropped.is_empty(), "{applied:?}");
            }
            let (taken, counted) = (resident() - before, index.gauges().memory_bytes as f64);
            if taken > counted * MOST + CHUNKS {
                wrong.push(format!("{kind} +{length}: {counted} bytes counted, {taken} taken"));
            }
            // What is given back would hide what the next one takes.
            std::mem::forget(index);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
