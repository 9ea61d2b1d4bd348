//! How our own figures grow with entries and replicas, and whether memory comes back.

use std::hint::black_box;
use std::time::Instant;

use icache::model::PrefixHash;

use crate::counting::held_by;
use crate::fleet::{Fleet, REPLICAS, blocks, prefix_hashes};
use crate::measure::Times;
use crate::ours::{NOW_NS, Ours};

const BLOCKS: usize = 64;

/// Lookups of 64 blocks, ingest and bytes, from 10 thousand to 10 million entries and from 1 to 1,000 replicas.
pub fn growth() {
    println!(
        "| entries, replicas | lookup p50 | p99 | reports of the fleet | bytes an entry |\n|---|---|---|---|---|"
    );
    let of_entries = [10_000, 100_000, 1_000_000, 10_000_000].map(|entries| (entries, REPLICAS));
    let of_replicas = [1, 8, 1_000].map(|replicas| (1_000_000, replicas));
    for (entries, replicas) in of_entries.into_iter().chain(of_replicas) {
        let fleet = Fleet::new(BLOCKS, entries, replicas);
        let queries: Vec<_> = fleet.queries().iter().map(|chain| prefix_hashes(chain)).collect();
        let chains: Vec<_> = fleet.chains.iter().map(|chain| prefix_hashes(chain)).collect();
        let start = Instant::now();
        let (ours, bytes) = held_by(|| {
            let ours = Ours::new(replicas, false);
            for report in &fleet.reports {
                ours.report(report.replica, &chains[report.chain], NOW_NS);
            }
            ours
        });
        let rate = fleet.reports.iter().map(|report| chains[report.chain].len()).sum::<usize>() as f64
            / start.elapsed().as_secs_f64();
        let mut times = Vec::new();
        for _ in 0..5 {
            for query in &queries {
                let start = Instant::now();
                black_box(ours.find(query));
                times.push(start.elapsed());
            }
        }
        let times = Times::of(times);
        println!(
            "| {}, {replicas} | {:.2} us | {:.2} us | {:.1} M blocks/s | {:.1} |",
            fleet.entries,
            times.at(0.5),
            times.at(0.99),
            rate / 1e6,
            bytes as f64 / fleet.entries as f64
        );
    }
}

/// Distinct blocks that a round stores and removes.
const CHURNED: u64 = 5_000_000;

/// Allocated bytes around a million entries that stay, before and after rounds of distinct blocks that come and go: half
/// of them block by block, half with the replica that held them.
pub fn churn(rounds: u64) {
    let base = Ours::new(REPLICAS, false);
    let chain = |number: u64| blocks(number + 1, 0, 64).map(PrefixHash::new).collect::<Vec<_>>();
    let (_, held) = held_by(|| {
        (0..1_000_000 / 64).for_each(|number| base.report(number as usize % 32, &chain(number), NOW_NS));
    });
    let mut grown = held;
    for round in 1..=rounds {
        let ((), bytes) = held_by(|| {
            let first = round << 32;
            for number in 0..CHURNED / 64 {
                base.report(32 + number as usize % 32, &chain(first + number), NOW_NS + number as i64);
            }
            for number in (0..CHURNED / 64).filter(|number| number % 32 < 16) {
                base.remove(32 + number as usize % 32, &chain(first + number));
            }
            (32..64).for_each(|replica| {
                base.clear(replica);
            });
        });
        grown += bytes;
        if round == 1 || round % 10 == 0 || round == rounds {
            println!(
                "| allocated before round 1 and after round {round} | {:.1} MB | {:.1} MB | {:.3} |",
                held as f64 / 1e6,
                grown as f64 / 1e6,
                grown as f64 / held as f64
            );
        }
    }
    assert_eq!(base.router.index().entries(), 1_000_000 / 64 * 64);
}
