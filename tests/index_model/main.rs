//! The index against a naive model under random operations.
//!
//! Each run is one seed, so that it is the same everywhere. `INDEX_MODEL_SEED` (a number) adds to the seeds and
//! `INDEX_MODEL_CASES` replaces the number of sequences a run has. A failure prints the shrunk sequence.

mod ask;
mod drive;
mod make;
mod model;
mod op;

use std::cell::Cell;
use std::fmt::Write as _;

use icache::model::Eviction;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::drive::Pair;
use crate::make::{Adapters, Lean, ops, setup};
use crate::op::{Op, SECOND, Setup};

const NO_QUOTA: u64 = u64::MAX;
const TTLS: &[i64] = &[40 * SECOND, 90 * SECOND, 300 * SECOND, 1];
/// Sequences in a run, and the most operations of one; on average it has half of them.
const CASES: u32 = 110;
const OPS: usize = 1_000;
/// The same where each report is long.
const LONG_OPS: usize = 200;
/// Operations that a run has at least, those of long reports left out: five runs make 225,000.
const OPS_OF_RUN: usize = 45_000;

#[test]
fn a_roomy_index_agrees_with_the_model() {
    let lean = Lean {
        max_entries: 10_000,
        lfu: &[Eviction::Lru, Eviction::Lfu],
        quotas: &[NO_QUOTA],
        tenants: 2,
        adapters: Adapters::Few,
        ttls: TTLS,
    };
    agrees(1, lean);
}

#[test]
fn lru_over_the_cap_agrees_with_the_model() {
    let lean = Lean {
        max_entries: 12,
        lfu: &[Eviction::Lru],
        quotas: &[NO_QUOTA],
        tenants: 3,
        adapters: Adapters::Few,
        ttls: &TTLS[1..3],
    };
    agrees(2, lean);
}

#[test]
fn lfu_over_the_cap_agrees_with_the_model() {
    let lean = Lean {
        max_entries: 12,
        lfu: &[Eviction::Lfu],
        quotas: &[NO_QUOTA],
        tenants: 1,
        adapters: Adapters::Few,
        ttls: &TTLS[2..3],
    };
    agrees(3, lean);
}

#[test]
fn quotas_agree_with_the_model() {
    let quotas = &[NO_QUOTA, 0, 1, 3, 8];
    let lean = Lean {
        max_entries: 40,
        lfu: &[Eviction::Lru],
        quotas,
        tenants: 2,
        adapters: Adapters::Few,
        ttls: &TTLS[..3],
    };
    agrees(4, lean);
}

#[test]
fn everything_at_once_agrees_with_the_model() {
    let quotas = &[NO_QUOTA, NO_QUOTA, 2, 6];
    let lfu = &[Eviction::Lru, Eviction::Lfu, Eviction::Lfu];
    agrees(5, Lean { max_entries: 25, lfu, quotas, tenants: 3, adapters: Adapters::Few, ttls: TTLS });
}

#[test]
fn many_adapters_agree_with_the_model() {
    let lfu = &[Eviction::Lru, Eviction::Lfu];
    let lean = Lean {
        max_entries: 400,
        lfu,
        quotas: &[NO_QUOTA, NO_QUOTA, 60],
        tenants: 1,
        adapters: Adapters::Many,
        ttls: &TTLS[1..3],
    };
    agrees(6, lean);
}

fn agrees(seed: u64, lean: Lean) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = seed + number("INDEX_MODEL_SEED").unwrap_or(0);
    let cases = number("INDEX_MODEL_CASES").map_or(CASES, |cases| cases as u32);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    // A sequence of hundreds of operations needs more than the usual steps to become short.
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 50_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (most, least) = match lean.adapters {
        Adapters::Few => (OPS, OPS_OF_RUN),
        Adapters::Many => (LONG_OPS, 0),
    };
    let done = Cell::new(0);
    let outcome = runner.run(&(setup(lean), ops(lean, most)), |(setup, ops)| {
        done.set(done.get() + ops.len());
        run(setup, &ops).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => assert!(done.get() >= least || cases < CASES, "{} operations are too few", done.get()),
        Err(TestError::Fail(reason, (setup, ops))) => {
            panic!("{}", shown(seed, reason.message(), setup, &ops))
        }
        Err(TestError::Abort(reason)) => panic!("the run was given up: {reason}"),
    }
}

/// Where index and model part, and how.
fn run(setup: Setup, ops: &[Op]) -> Result<(), String> {
    let mut pair = Pair::new(setup);
    for (at, op) in ops.iter().enumerate() {
        pair.run(op).map_err(|difference| format!("at operation {at}: {difference}"))?;
    }
    pair.settle().map_err(|difference| format!("at the end: {difference}"))
}

fn shown(seed: u64, difference: &str, setup: Setup, ops: &[Op]) -> String {
    let mut text = format!("seed {seed}: {difference}\n{setup:?}\n");
    for (at, op) in ops.iter().enumerate() {
        let _ = writeln!(text, "{at:4} {op:?}");
    }
    text
}
