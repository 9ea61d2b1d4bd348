//! Lookups beside what removes entries, next to a loop that only spins: what the machine itself takes away from a thread.

use std::collections::HashSet;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use icache::model::{PrefixHash, Timestamp};

use crate::fleet::{Fleet, REPLICAS, blocks, prefix_hashes};
use crate::measure::Times;
use crate::ours::{NOW_NS, Ours};

const BLOCKS: usize = 64;
const ENTRIES: usize = 1_000_000;
/// Passes over all queries: some 200,000 lookups, so that twenty lie beyond the last percentile.
const PASSES: usize = 100;
/// A replica beside the fleet: what the fleet holds stays.
const OTHER: usize = REPLICAS;
/// What is removed was reported a minute before the fleet's entries, so that it goes first.
const BEFORE_NS: i64 = NOW_NS - 60_000_000_000;
/// The policy's time to live.
const TTL_NS: i64 = 30 * 60 * 1_000_000_000;

/// Entries that came and went beside the fleet.
type Removed = AtomicU64;

/// Each kind of removal without a pause on one thread, lookups of 64 blocks on another.
pub fn removals() {
    println!("| lookup, 64 blocks, 1 M | p50 | p99 | p99.99 | entries removed |\n|---|---|---|---|---|");
    let fleet = Fleet::new(BLOCKS, ENTRIES, REPLICAS);
    let queries: Vec<_> = fleet.queries().iter().map(|chain| prefix_hashes(chain)).collect();
    let filled = |max_entries: u64, quota: Option<u64>| {
        let ours = Ours::bounded(REPLICAS + 1, false, max_entries, quota);
        for report in &fleet.reports {
            ours.report(report.replica, &prefix_hashes(&fleet.chains[report.chain]), NOW_NS);
        }
        // It serves the domain whatever else of it goes, but for when it is cleared.
        ours.report(OTHER, &chain(1 << 20), NOW_NS);
        ours
    };
    let ours = filled(u64::MAX, None);
    let keys = fleet.chains.iter().flatten().collect::<HashSet<_>>().len() as u64;
    let alone = ask(&ours, &queries);
    tell("alone", &alone, None);
    tell("a loop that spins as long", &spin(alone.at(0.5)), None);
    beside("PREFIX_EVICTED", &ours, &queries, |ours, at, removed| {
        let chain = chain(at % 512);
        ours.report(OTHER, &chain, BEFORE_NS);
        ours.remove(OTHER, &chain);
        removed.fetch_add(BLOCKS as u64, Ordering::Relaxed);
    });
    beside("ALL_CLEARED of 4,096 entries", &ours, &queries, |ours, _, removed| {
        (0..64).for_each(|at| ours.report(OTHER, &chain(at), BEFORE_NS));
        removed.fetch_add(ours.clear(OTHER), Ordering::Relaxed);
    });
    beside("a sweep of 4,096 expired entries", &ours, &queries, |ours, _, removed| {
        (0..64).for_each(|at| ours.report(OTHER, &chain(at), NOW_NS - TTL_NS));
        let swept = ours.router.index().sweep(Timestamp::from_ns(NOW_NS));
        removed.fetch_add(swept.expired_lru, Ordering::Relaxed);
    });
    let by_reports = |ours: &Ours, at: u64, removed: &Removed| {
        ours.report(OTHER, &chain(at), BEFORE_NS + at as i64);
        removed.fetch_add(BLOCKS as u64, Ordering::Relaxed);
    };
    drop(ours);
    let capped = filled(fleet.entries as u64 + 4_096, None);
    beside("reports over the cap", &capped, &queries, by_reports);
    drop(capped);
    let bounded = filled(u64::MAX, Some(keys + 4_096));
    beside("reports over the tenant's quota", &bounded, &queries, by_reports);
}

fn chain(number: u64) -> Vec<PrefixHash> {
    blocks(number + (1 << 50), 0, BLOCKS as u64).map(PrefixHash::new).collect()
}

fn ask(ours: &Ours, queries: &[Vec<PrefixHash>]) -> Times {
    queries.iter().for_each(|query| drop(black_box(ours.find(query))));
    let mut times = Vec::with_capacity(PASSES * queries.len());
    for query in (0..PASSES).flat_map(|_| queries) {
        let start = Instant::now();
        black_box(ours.find(query));
        times.push(start.elapsed());
    }
    Times::of(times)
}

/// A loop that reads no memory and waits for nobody, each time about as long as a lookup.
fn spin(micros: f64) -> Times {
    let timed = |turns: u64| {
        let start = Instant::now();
        (0..turns).for_each(|_| spin_loop());
        start.elapsed()
    };
    let turns = (micros / timed(1_000_000).as_secs_f64()) as u64;
    Times::of((0..PASSES * 2_048).map(|_| timed(turns.max(1))).collect::<Vec<Duration>>())
}

fn beside(what: &str, ours: &Ours, queries: &[Vec<PrefixHash>], step: impl Fn(&Ours, u64, &Removed) + Sync) {
    let (done, steps, removed) = (AtomicBool::new(false), AtomicU64::new(0), Removed::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                step(ours, steps.fetch_add(1, Ordering::AcqRel), &removed);
            }
        });
        // Caps and quotas are full by then.
        while steps.load(Ordering::Acquire) < 256 {
            spin_loop();
        }
        let (start, before) = (Instant::now(), removed.load(Ordering::Relaxed));
        let times = ask(ours, queries);
        let rate = (removed.load(Ordering::Relaxed) - before) as f64 / start.elapsed().as_secs_f64();
        done.store(true, Ordering::Release);
        tell(&format!("beside {what}"), &times, Some(rate));
    });
}

fn tell(what: &str, times: &Times, removed: Option<f64>) {
    let [p50, p99, last] = [0.5, 0.99, 0.9999].map(|share| times.at(share));
    let removed = removed.map_or("".to_owned(), |rate| format!("{:.2} M/s", rate / 1e6));
    println!("| {what} | {p50:.2} us | {p99:.2} us | {last:.2} us | {removed} |");
}
