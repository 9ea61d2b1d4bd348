//! What the balanced ranker costs beside the reference ranker: a lookup that is delivered, among 64 replicas that all hold
//! the head of the prompt, while hints are in flight.

#![allow(clippy::print_stderr, reason = "figures, in the form in which they are compared")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use icache::index::IndexConfig;
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{
    HashList, LookupRequest, PrefixEntry, PrefixHash, Ranker, RankerKnobs, Sourced, StateUpdate, Tier,
    Timestamp,
};
use icache::policy::{Defaults, PolicySet, default_ranker};

/// That of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOW: Timestamp = Timestamp::from_ns(1_754_611_200_000_000_000);
const REPLICAS: u64 = 64;
const CHAINS: u64 = 1_024;
const LOOKUPS: u64 = 40_000;

/// A chain: three tenths of it are shared by all, the rest is its own.
fn chain(number: u64, blocks: u64) -> Vec<PrefixHash> {
    let head = blocks * 3 / 10;
    let block = |at: u64| if at < head { at + 1 } else { (number + 1) << 20 | at };
    (0..blocks).map(|at| PrefixHash::new(block(at).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

fn router(ranker: Ranker, blocks: u64, counts: &[i32]) -> Router {
    let router = Router::new(RouterConfig {
        index: IndexConfig { max_entries: u64::MAX, ..IndexConfig::default() },
        policies: PolicySet::empty(&Defaults::default()),
        ranker: RankerKnobs { ranker: Sourced::built_in(ranker), ..default_ranker() },
        max_in_flight: Sourced::built_in(0),
    });
    let head = (blocks * 3 / 10) as usize;
    for replica in 0..REPLICAS {
        let own =
            (0..CHAINS).filter(|number| number % REPLICAS == replica).map(|number| chain(number, blocks));
        for hashes in own.chain([chain(0, blocks)[..head].to_vec()]) {
            let entry = PrefixEntry {
                prefix_hash: &[],
                token_count: 0,
                block_hashes: HashList::Fingerprints(&hashes),
                block_token_counts: &counts[..hashes.len()],
                tier: Tier::T1,
                adapter: "",
            };
            let name = format!("vllm-{replica:02}");
            let prefixes = vec![entry];
            let (tenant, model, scheme) = ("team-a", "llama", "vllm");
            let update =
                StateUpdate { replica: &name, tenant, model, scheme, prefixes, ..StateUpdate::default() };
            router.apply_update(&update, NOW);
        }
    }
    router
}

/// Times of delivered lookups, a millisecond apart on the router's clock; half leave what is held inside their own part.
fn times(router: &Router, blocks: u64, counts: &[i32]) -> Vec<Duration> {
    let prompts: Vec<Vec<PrefixHash>> = (0..CHAINS)
        .map(|number| {
            let mut hashes = chain(number, blocks);
            let novel = chain(CHAINS + number, blocks);
            let kept = if number % 2 == 0 { hashes.len() } else { hashes.len() * 6 / 10 };
            hashes.truncate(kept);
            hashes.extend(&novel[kept..]);
            hashes
        })
        .collect();
    let mut times: Vec<Duration> = (0..LOOKUPS)
        .map(|at| {
            let hashes = &prompts[(at % CHAINS) as usize];
            let request = LookupRequest {
                tenant: "team-a",
                model: "llama",
                scheme: "vllm",
                block_hashes: HashList::Fingerprints(hashes),
                block_token_counts: counts,
                ..LookupRequest::default()
            };
            let call = Call::at(NOW.plus_ns(at as i64 * 1_000_000));
            let start = Instant::now();
            black_box(router.route(&request, call));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn main() {
    for blocks in [64, 512, 4_096] {
        let counts = vec![16; blocks as usize];
        let [reference, balanced] = [Ranker::Reference, Ranker::Balanced].map(|ranker| {
            let router = router(ranker, blocks, &counts);
            let times = times(&router, blocks, &counts);
            [0.5, 0.99].map(|share| times[(times.len() as f64 * share) as usize])
        });
        eprintln!(
            "{blocks} blocks: p50 reference {:?}, balanced {:?} ({:.2} x); p99 {:?}, {:?}",
            reference[0],
            balanced[0],
            balanced[0].as_secs_f64() / reference[0].as_secs_f64(),
            reference[1],
            balanced[1]
        );
    }
}
