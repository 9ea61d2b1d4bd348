//! What is timed and counted, side by side.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dynamo_kv_router::indexer::{SyncIndexer, WorkerTask};
use icache::model::PrefixHash;

use crate::counting::held_by;
use crate::fleet::{Fleet, REPLICAS, blocks, prefix_hashes};
use crate::ours::{NOW_NS, Ours};
use crate::peer::{Peer, prepared, query, removed, stored};

/// Times of one side, sorted.
pub struct Times(Vec<Duration>);

impl Times {
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub fn at(&self, share: f64) -> f64 {
        self.0[((self.0.len() as f64 * share) as usize).min(self.0.len() - 1)].as_secs_f64() * 1e6
    }
}

pub fn row(what: &str, ours: f64, peer: f64, unit: &str) {
    println!("| {what} | {ours:.2} {unit} | {peer:.2} {unit} | {:.2} |", ours / peer);
}

fn timed<T>(times: &mut Vec<Duration>, call: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(call());
    times.push(start.elapsed());
}

/// Ours with the state of `fleet`; the answers are checked. All replicas reported at once, or each at a second of its own.
fn ours_filled(fleet: &Fleet, queries: &[Vec<u64>], at_once: bool) -> Ours {
    let ours = Ours::new(REPLICAS, true);
    for report in &fleet.reports {
        // A prime, so that the times are in no order of the replicas.
        let seconds_ago = if at_once { 0 } else { report.replica * 7_919 % REPLICAS };
        let at_ns = NOW_NS - seconds_ago as i64 * 1_000_000_000;
        ours.report(report.replica, &prefix_hashes(&fleet.chains[report.chain]), at_ns);
    }
    assert_eq!(ours.router.index().entries() as usize, fleet.entries);
    for chain in queries {
        let expected = fleet.expected(chain);
        assert_eq!(ours.runs(&prefix_hashes(chain)), expected, "ours answers as the naive model does");
    }
    ours
}

/// Both sides with the state of `fleet`; the answers of both are checked.
fn filled(fleet: &Fleet, queries: &[Vec<u64>]) -> (Ours, Peer) {
    let (ours, peer) = (ours_filled(fleet, queries, true), Peer::new());
    peer.run(fleet.reports.iter().map(|report| stored(report.replica, &fleet.chains[report.chain], 0)));
    for chain in queries {
        let expected = fleet.expected(chain);
        assert_eq!(peer.runs(&query(chain)), expected, "the peer answers as the naive model does");
    }
    (ours, peer)
}

/// Lookups of the mix, in turns of a pass over all queries each; then the same beside a writer at full rate.
pub fn lookups(blocks_of_chain: usize, entries: usize, plain: bool, beside: bool) {
    let fleet = Fleet::new(blocks_of_chain, entries, REPLICAS);
    let queries = fleet.queries();
    let (ours, peer) = filled(&fleet, &queries);
    let our_queries: Vec<_> = queries.iter().map(|chain| prefix_hashes(chain)).collect();
    let peer_queries: Vec<_> = queries.iter().map(|chain| query(chain)).collect();
    let name = format!("{blocks_of_chain} blocks, {} M", entries / 1_000_000);
    let ask_ours = |times: &mut Vec<Duration>| {
        our_queries.iter().for_each(|query| timed(times, || ours.find(query)));
    };
    let apart = plain.then(|| ours_filled(&fleet, &queries, false));
    let ask_apart = |times: &mut Vec<Duration>| {
        let Some(apart) = &apart else { return };
        our_queries.iter().for_each(|query| timed(times, || apart.find(query)));
    };
    let route_ours = |times: &mut Vec<Duration>| {
        our_queries.iter().for_each(|query| timed(times, || ours.route(query)));
    };
    let ask_peer = |times: &mut Vec<Duration>| {
        peer_queries.iter().for_each(|query| timed(times, || peer.tree.find_matches(query, false)));
    };
    let passes = 10;
    if let Some(apart) = &apart {
        apart.set_affinity(false);
    }
    let [mut affine, mut stable, mut stable_apart, mut credited, mut theirs] = [const { Vec::new() }; 5];
    for pass in 0..=passes {
        if pass == 1 {
            let all = [&mut affine, &mut stable, &mut stable_apart, &mut credited, &mut theirs];
            all.into_iter().for_each(Vec::clear);
        }
        ours.set_affinity(true);
        ask_ours(&mut affine);
        ask_peer(&mut theirs);
        ours.set_affinity(false);
        ask_ours(&mut stable);
        ask_apart(&mut stable_apart);
        route_ours(&mut credited);
    }
    let [affine, stable, stable_apart, credited, theirs] =
        [affine, stable, stable_apart, credited, theirs].map(Times::of);
    for (share, percent) in [(0.5, "p50"), (0.99, "p99")].into_iter().filter(|_| plain) {
        row(&format!("lookup, {name}, {percent}"), stable.at(share), theirs.at(share), "us");
        row(
            &format!("lookup, each replica at a time of its own, {name}, {percent}"),
            stable_apart.at(share),
            theirs.at(share),
            "us",
        );
        row(&format!("lookup with affinity, {name}, {percent}"), affine.at(share), theirs.at(share), "us");
        row(&format!("lookup and credit, {name}, {percent}"), credited.at(share), theirs.at(share), "us");
    }
    if beside {
        let mut alone = Vec::new();
        (0..4).for_each(|_| ask_ours(&mut alone));
        let alone = Times::of(alone);
        let (ours_beside, stores) = beside_writer(|done, stores| our_writer(&ours, done, stores), &ask_ours);
        let (peer_beside, peer_stores) =
            beside_writer(|done, stores| peer_writer(&peer, done, stores), &ask_peer);
        for (share, percent) in [(0.5, "p50"), (0.99, "p99"), (0.9999, "p99.99")] {
            row(
                &format!("lookup beside a writer, {name}, {percent}"),
                ours_beside.at(share),
                peer_beside.at(share),
                "us",
            );
        }
        let [own, alone] = [ours_beside.at(0.99), alone.at(0.99)];
        println!(
            "| p99 beside a writer over p99 alone, {name} | {own:.2} / {alone:.2} us = {:.2} | | |",
            own / alone
        );
        row("blocks stored and removed beside it", stores / 1e6, peer_stores / 1e6, "M/s");
    }
}

/// Passes of `ask` beside a writer, and the blocks that it stored and removed a second.
fn beside_writer(
    write: impl Fn(&AtomicBool, &AtomicU64) + Send + Sync,
    ask: &dyn Fn(&mut Vec<Duration>),
) -> (Times, f64) {
    let (done, stores) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| write(&done, &stores));
        while stores.load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
        let (start, before) = (Instant::now(), stores.load(Ordering::Acquire));
        let mut times = Vec::new();
        (0..10).for_each(|_| ask(&mut times));
        let stored = (stores.load(Ordering::Acquire) - before) as f64 / start.elapsed().as_secs_f64();
        done.store(true, Ordering::Release);
        (Times::of(times), stored)
    })
}

const WRITTEN: u64 = 64;

fn our_writer(ours: &Ours, done: &AtomicBool, stores: &AtomicU64) {
    let chains: Vec<Vec<PrefixHash>> =
        (0..512).map(|chain| blocks(chain + (1 << 50), 0, WRITTEN).map(PrefixHash::new).collect()).collect();
    for (chain, step) in chains.iter().cycle().zip(0_i64..) {
        if done.load(Ordering::Acquire) {
            break;
        }
        ours.report(3, chain, NOW_NS + step);
        ours.remove(3, chain);
        stores.fetch_add(2 * WRITTEN, Ordering::AcqRel);
    }
}

fn peer_writer(peer: &Peer, done: &AtomicBool, stores: &AtomicU64) {
    let chains: Vec<Vec<u64>> =
        (0..512).map(|chain| blocks(chain + (1 << 50), 0, WRITTEN).collect()).collect();
    // The channel is kept short, so that what was sent was done but for a few.
    let (sender, worker) = peer.start();
    for chain in chains.iter().cycle() {
        if done.load(Ordering::Acquire) {
            break;
        }
        for task in [stored(3, chain, 0), removed(3, chain)] {
            assert!(sender.send(task).is_ok(), "the peer's loop runs");
        }
        stores.fetch_add(2 * WRITTEN, Ordering::AcqRel);
    }
    assert!(sender.send(WorkerTask::Terminate).is_ok(), "the peer's loop runs");
    assert!(worker.join().is_ok(), "the peer's loop ended");
}

/// Chains of 64 blocks, one holder each.
const CHAINS: u64 = 1_000_000 / 64;

fn all_chains() -> Vec<Vec<u64>> {
    (0..CHAINS).map(|chain| blocks(chain + 1, 0, 64).collect()).collect()
}

/// Reports of `step` blocks on one thread, from empty to a million entries; each report at a time of its own.
pub fn ingest() {
    let chains = all_chains();
    let hashes: Vec<Vec<PrefixHash>> = chains.iter().map(|chain| prefix_hashes(chain)).collect();
    for step in [64_usize, 1] {
        let ours = Ours::new(REPLICAS, true);
        let start = Instant::now();
        for (at, chain) in hashes.iter().enumerate() {
            for (part, at_ns) in chain.chunks(step).zip((at as i64 * 64_000)..) {
                ours.report(at % REPLICAS, part, NOW_NS + at_ns);
            }
        }
        let our_time = start.elapsed();
        let peer = Peer::new();
        let tasks = chains.iter().enumerate().flat_map(|(at, chain)| {
            (0..64).step_by(step).map(move |from| stored(at % REPLICAS, &chain[..from + step], from))
        });
        let receiver = prepared(tasks);
        let start = Instant::now();
        peer.run_prepared(receiver);
        let peer_time = start.elapsed();
        let rate = |time: Duration| (CHAINS * 64) as f64 / time.as_secs_f64() / 1e6;
        row(&format!("ingest, {step}-block reports"), rate(our_time), rate(peer_time), "M blocks/s");
    }
}

/// Allocated bytes an entry, one holder a block; each report at a time of its own. The peer's loop stays alive, since it
/// owns a part of the state.
pub fn memory() {
    for step in [64_usize, 1] {
        let entries = (CHAINS * 64) as f64;
        let (ours, our_bytes) = held_by(|| {
            let ours = Ours::new(REPLICAS, true);
            for at in 0..CHAINS {
                let chain = prefix_hashes(&blocks(at + 1, 0, 64).collect::<Vec<_>>());
                for (part, at_ns) in chain.chunks(step).zip((at as i64 * 64_000)..) {
                    ours.report(at as usize % REPLICAS, part, NOW_NS + at_ns);
                }
            }
            ours
        });
        let counted = ours.router.index().gauges().memory_bytes as f64 / entries;
        let ((sender, worker), peer_bytes) = held_by(|| {
            let peer = Peer::new();
            let (sender, worker) = peer.start();
            for at in 0..CHAINS {
                let chain: Vec<u64> = blocks(at + 1, 0, 64).collect();
                for from in (0..64).step_by(step) {
                    let task = stored(at as usize % REPLICAS, &chain[..from + step], from);
                    assert!(sender.send(task).is_ok(), "the peer's loop runs");
                }
            }
            // Everything sent before it is done when it is.
            let (done, is_done) = tokio::sync::oneshot::channel();
            assert!(sender.send(WorkerTask::Flush(done)).is_ok(), "the peer's loop runs");
            assert!(is_done.blocking_recv().is_ok(), "the peer's loop answers");
            (sender, worker)
        });
        assert!(sender.send(WorkerTask::Terminate).is_ok(), "the peer's loop runs");
        assert!(worker.join().is_ok(), "the peer's loop ended");
        let name = format!("allocated bytes an entry, {step}-block reports ({counted:.1} by our own count)");
        row(&name, our_bytes as f64 / entries, peer_bytes as f64 / entries, "B");
    }
}
