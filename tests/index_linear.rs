//! Small histories of threads on one index, each judged by a search: every lookup has to equal the plain model at some
//! instant between its start and its end, in one order of all changes that fits what everybody saw.
//!
//! A report is as many changes as it has blocks, one after the other; an eviction is one, and so is a clearing, whatever
//! it has to remove.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use icache::decision::{ChainCounts, ChainHashes, Input, Query};
use icache::index::{Index, IndexConfig};
use icache::model::{CacheEvent, EventKind, HashList, PrefixEntry, PrefixHash, StateUpdate, Tier, Timestamp};

const NOW: Timestamp = Timestamp::from_ns(1_700_000_000_000_000_000);
/// As many as make lookups take holders together.
const REPLICAS: usize = 10;
const BLOCKS: usize = 4;
const HISTORIES: u64 = 400;

/// Who holds what: a bit for each replica and block.
type Held = u64;

fn bit(replica: usize, block: usize) -> Held {
    1 << (replica * BLOCKS + block)
}

#[derive(Clone, Copy, Debug)]
enum Call {
    /// Blocks `from..until` of the chain.
    Report {
        replica: usize,
        from: usize,
        until: usize,
    },
    Evict {
        replica: usize,
        block: usize,
    },
    Clear {
        replica: usize,
    },
    /// The chain from a block on.
    Ask {
        from: usize,
    },
}

/// A call with the instants of its start and end, and what it saw: blocks of each replica's run.
#[derive(Clone, Debug)]
struct Done {
    call: Call,
    start: u64,
    end: u64,
    seen: Vec<usize>,
}

/// One atomic change, or one look.
#[derive(Clone, Debug)]
enum Step {
    Add(Held),
    Remove(Held),
    See { from: usize, runs: Vec<usize> },
}

struct Timed {
    step: Step,
    start: u64,
    end: u64,
}

fn steps(done: &Done) -> Vec<Timed> {
    let steps = match done.call {
        Call::Report { replica, from, until } => {
            (from..until).map(|block| Step::Add(bit(replica, block))).collect()
        }
        Call::Evict { replica, block } => vec![Step::Remove(bit(replica, block))],
        Call::Clear { replica } => {
            vec![Step::Remove((0..BLOCKS).fold(0, |all, block| all | bit(replica, block)))]
        }
        Call::Ask { from } => vec![Step::See { from, runs: done.seen.clone() }],
    };
    steps.into_iter().map(|step| Timed { step, start: done.start, end: done.end }).collect()
}

fn runs(held: Held, from: usize) -> Vec<usize> {
    let run = |replica| (from..BLOCKS).take_while(|block| held & bit(replica, *block) != 0).count();
    (0..REPLICAS).map(run).collect()
}

/// Whether the steps of all threads can be put in one order that keeps each thread's, and that of what ended before
/// something else began, so that all that was seen is what was there.
fn is_linear(threads: &[Vec<Timed>], held: Held) -> bool {
    let mut tried = HashSet::new();
    let mut open = vec![(vec![0; threads.len()], held)];
    while let Some((at, held)) = open.pop() {
        if at.iter().zip(threads).all(|(at, steps)| *at == steps.len()) {
            return true;
        }
        if !tried.insert((at.clone(), held)) {
            continue;
        }
        // What has not ended yet when the first of the others ends may still come first.
        let first_end = at.iter().zip(threads).filter_map(|(at, steps)| Some(steps.get(*at)?.end)).min();
        for (thread, steps) in threads.iter().enumerate() {
            let Some(next) = steps.get(at[thread]).filter(|next| Some(next.start) < first_end) else {
                continue;
            };
            let held = match &next.step {
                Step::Add(bits) => held | bits,
                Step::Remove(bits) => held & !bits,
                Step::See { from, runs: seen } if runs(held, *from) == *seen => held,
                Step::See { .. } => continue,
            };
            let mut at = at.clone();
            at[thread] += 1;
            open.push((at, held));
        }
    }
    false
}

fn hash(block: usize) -> PrefixHash {
    PrefixHash::new(block as u64 + 1)
}

fn name(replica: usize) -> String {
    format!("replica-{replica:02}")
}

fn event(index: &Index, kind: EventKind, replica: usize, hash: &[u8]) {
    let event = CacheEvent {
        kind,
        replica: &name(replica),
        tenant: "t",
        model: "m",
        prefix_hash: hash,
        adapter: "",
        at: None,
    };
    index.apply_event(&event, NOW);
}

fn carry_out(index: &Index, call: Call) -> Vec<usize> {
    match call {
        Call::Report { replica, from, until } => {
            let hashes: Vec<PrefixHash> = (from..until).map(hash).collect();
            let counts = vec![1; hashes.len()];
            let prefixes = vec![PrefixEntry {
                prefix_hash: &[],
                token_count: 0,
                block_hashes: HashList::Fingerprints(&hashes),
                block_token_counts: &counts,
                tier: Tier::T1,
                adapter: "",
            }];
            let update = StateUpdate {
                replica: &name(replica),
                tenant: "t",
                model: "m",
                scheme: "s",
                prefixes,
                ..StateUpdate::default()
            };
            assert_eq!(index.apply_update(&update, NOW).blocks, (until - from) as u64);
        }
        Call::Evict { replica, block } => {
            event(index, EventKind::PrefixEvicted, replica, hash(block).as_bytes())
        }
        Call::Clear { replica } => event(index, EventKind::AllCleared, replica, &[]),
        Call::Ask { from } => return ask(index, from),
    }
    Vec::new()
}

fn ask(index: &Index, from: usize) -> Vec<usize> {
    let hashes = (from..BLOCKS).map(hash).collect();
    let input = Input::Chain { hashes: ChainHashes::Derived(hashes), counts: ChainCounts::Uniform(1) };
    let evidence = index.read(&Query {
        tenant: "t",
        model: "m",
        scheme: "s",
        adapter: "",
        input: &input,
        now: NOW,
        ttl_ns: i64::MAX,
        wants_warm: false,
        wants_heard: false,
    });
    let mut runs = vec![0; REPLICAS];
    for holder in evidence.holders.iter() {
        let id = evidence.roster.get(holder.member).expect("a holder serves the domain");
        let replica = (0..REPLICAS).find(|replica| name(*replica) == id.as_str());
        runs[replica.expect("the replica is one of ours")] = holder.blocks as usize;
    }
    runs
}

/// SplitMix64: the histories are the same on every machine, though not what their threads make of them.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// Changes go to few replicas, so that they meet.
    fn change(&mut self) -> Call {
        let replica = self.below(3);
        match self.below(6) {
            0..3 => {
                let from = self.below(BLOCKS);
                Call::Report { replica, from, until: from + 1 + self.below(BLOCKS - from) }
            }
            3..5 => Call::Evict { replica, block: self.below(BLOCKS) },
            _ => Call::Clear { replica },
        }
    }
}

/// What threads made of their calls on `index`.
fn history(index: &Index, calls: &[Vec<Call>]) -> Vec<Vec<Done>> {
    let (clock, barrier) = (AtomicU64::new(0), Barrier::new(calls.len()));
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    let run = |calls: &[Call]| {
        barrier.wait();
        let done = calls.iter().map(|call| {
            let start = tick();
            let seen = carry_out(index, *call);
            Done { call: *call, start, end: tick(), seen }
        });
        done.collect::<Vec<_>>()
    };
    let run = &run;
    thread::scope(|scope| {
        let threads: Vec<_> = calls.iter().map(|calls| scope.spawn(move || run(calls))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

#[test]
fn every_lookup_equals_the_model_at_an_instant_of_its_time() {
    let mut overlaps = 0;
    for seed in 0..HISTORIES {
        let mut random = Random(seed);
        let index = Index::new(IndexConfig::default());
        for replica in 0..REPLICAS {
            carry_out(&index, Call::Report { replica, from: 0, until: BLOCKS });
        }
        // Lookups before have the index hold what it makes for lookups.
        (0..2).for_each(|_| assert_eq!(ask(&index, 0), [BLOCKS; REPLICAS]));
        let changes = |random: &mut Random| (0..4).map(|_| random.change()).collect();
        let asks = |random: &mut Random| (0..5).map(|_| Call::Ask { from: random.below(2) }).collect();
        let calls: [Vec<Call>; 4] =
            [changes(&mut random), changes(&mut random), asks(&mut random), asks(&mut random)];
        let done = history(&index, &calls);
        let all: Vec<&Done> = done.iter().flatten().collect();
        let is_beside = |look: &&&Done| {
            let others = all.iter().filter(|other| !matches!(other.call, Call::Ask { .. }));
            matches!(look.call, Call::Ask { .. })
                && others.into_iter().any(|other| other.start < look.end && look.start < other.end)
        };
        overlaps += all.iter().filter(is_beside).count();
        let threads: Vec<Vec<Timed>> =
            done.iter().map(|done| done.iter().flat_map(steps).collect()).collect();
        let full = (1 << (REPLICAS * BLOCKS)) - 1;
        assert!(is_linear(&threads, full), "seed {seed}: no order explains {done:#?}");
    }
    assert!(overlaps > 0, "no lookup ran beside a change");
}

/// The judge itself: what cannot have been is found out.
#[test]
fn a_history_that_cannot_be_is_refused() {
    let done = |call, start, end, seen: &[usize]| Done { call, start, end, seen: seen.to_vec() };
    let look = |start, end, blocks| {
        let mut seen = vec![0; REPLICAS];
        seen[0] = blocks;
        done(Call::Ask { from: 0 }, start, end, &seen)
    };
    let report = |start, end| done(Call::Report { replica: 0, from: 0, until: 3 }, start, end, &[]);
    let judge = |threads: &[Vec<Done>]| {
        let threads: Vec<Vec<Timed>> =
            threads.iter().map(|done| done.iter().flat_map(steps).collect()).collect();
        is_linear(&threads, 0)
    };
    let clear = done(Call::Clear { replica: 0 }, 6, 7, &[]);
    assert!(judge(&[vec![report(0, 5)], vec![look(1, 2, 0), look(3, 4, 2)]]));
    assert!(!judge(&[vec![report(0, 5)], vec![look(1, 2, 2), look(3, 4, 1)]]), "a head that went back");
    assert!(!judge(&[vec![report(0, 1)], vec![look(2, 3, 0)]]), "a report that had ended");
    assert!(!judge(&[vec![report(2, 3)], vec![look(0, 1, 3)]]), "a report that had not begun");
    assert!(judge(&[vec![report(0, 5), clear.clone()], vec![look(3, 9, 3), look(10, 11, 0)]]));
    assert!(!judge(&[vec![report(0, 5), clear], vec![look(8, 9, 1)]]), "half a clearing");
}
