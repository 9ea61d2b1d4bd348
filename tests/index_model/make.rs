//! How random operations are made: few names and few hashes, so that they meet all the time.

use icache::model::{EventKind, Eviction, PROBE_TENANT, Tier};
use proptest::prelude::*;
use proptest::sample::select;

use crate::op::{
    At, ENTRY_BLOCKS, Event, H, Input, LONG_NAME, Lookup, Name, Op, Prefix, Report, SECOND, Settings, Setup,
    Stats, Step, UPDATE_BLOCKS,
};

const TENANTS: &[Name] = &["t1", "t2", "t3"];
const MODELS: &[Name] = &["m1", "m2"];
const SCHEMES: &[Name] = &["s1", "s2"];
/// Of these a run uses the first few, or all: more than an index may treat one by one.
const ADAPTERS: &[Name] = &[
    "", "", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
    "b8",
];
const REPLICAS: &[Name] = &["r1", "r2", "r3", "r4"];

/// How many adapters take part.
#[derive(Clone, Copy, Debug)]
pub enum Adapters {
    Few,
    Many,
}

/// What a run leans towards.
#[derive(Clone, Copy, Debug)]
pub struct Lean {
    /// Highest cap drawn.
    pub max_entries: u64,
    /// Whether tenants are under LFU: never, sometimes, always.
    pub lfu: &'static [Eviction],
    pub quotas: &'static [u64],
    /// Tenants that take part.
    pub tenants: usize,
    pub adapters: Adapters,
    pub ttls: &'static [i64],
}

pub fn setup(lean: Lean) -> impl Strategy<Value = Setup> {
    (
        1..=lean.max_entries,
        select(&[1_usize, 3, 100, 100][..]),
        select(&[5_usize, 100, 100][..]),
        select(&[0, SECOND, 90 * SECOND][..]),
        settings(lean),
    )
        .prop_map(|(max_entries, replicas_per_scope, replica_records, forget_after, default)| Setup {
            max_entries,
            replicas_per_scope,
            replica_records,
            forget_after,
            default,
        })
}

/// At most `most` operations, so that a failing sequence can be shrunk to few.
pub fn ops(lean: Lean, most: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(lean), 1..=most)
}

fn op(lean: Lean) -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => report(lean).prop_map(Op::Report),
        4 => event(lean).prop_map(Op::Event),
        1 => Just(Op::Sweep),
        4 => step().prop_map(Op::Step),
        1 => policies(lean),
        9 => lookup(lean).prop_map(Op::Lookup),
        4 => (any::<u8>(), 1..8_u8).prop_map(|(bits, times)| Op::Deliver { bits, times }),
        2 => (odd(tenant(lean)), odd(select(MODELS))).prop_map(|(tenant, model)| Op::State { tenant, model }),
    ]
}

fn tenant(lean: Lean) -> impl Strategy<Value = Name> + Clone {
    select(&TENANTS[..lean.tenants])
}

fn adapter(lean: Lean) -> impl Strategy<Value = Name> + Clone {
    select(match lean.adapters {
        Adapters::Few => &ADAPTERS[..4],
        Adapters::Many => ADAPTERS,
    })
}

/// Mostly `usual`, and now and then a name that must be dropped or is not there.
fn odd(usual: impl Strategy<Value = Name>) -> impl Strategy<Value = Name> {
    prop_oneof![
        40 => usual,
        1 => select(&["", PROBE_TENANT, LONG_NAME, "nobody"][..]),
    ]
}

fn chain() -> impl Strategy<Value = Vec<H>> {
    prop_oneof![
        4 => (0..3_u8, 1..=ENTRY_BLOCKS as u8)
            .prop_map(|(start, length)| (0..length).map(|at| H((start + at) % 6)).collect()),
        1 => prop::collection::vec((0..6_u8).prop_map(H), 1..=ENTRY_BLOCKS),
    ]
}

fn count() -> impl Strategy<Value = i32> {
    select(&[0, 1, 16, 16, 16, 64, i32::MAX][..])
}

fn tier() -> impl Strategy<Value = Tier> {
    select(&[Tier::T1, Tier::T1, Tier::T2, Tier::T3, Tier::Unknown][..])
}

/// What can be wrong with an entry.
#[derive(Clone, Copy, Debug)]
enum Flaw {
    CountMissing,
    CountTooMany,
    NoCounts,
    NoBlocks,
    EmptyBlock,
    LongBlock,
    LongHash,
    NegativeCount,
    NegativeTokens,
    Nothing,
    TooManyBlocks,
    LongAdapter,
}

fn flaw() -> impl Strategy<Value = Option<Flaw>> {
    use Flaw::*;
    let all = [
        CountMissing,
        CountTooMany,
        NoCounts,
        NoBlocks,
        EmptyBlock,
        LongBlock,
        LongHash,
        NegativeCount,
        NegativeTokens,
        Nothing,
        TooManyBlocks,
        LongAdapter,
    ];
    prop_oneof![9 => Just(None), 1 => select(all.to_vec()).prop_map(Some)]
}

fn prefix(lean: Lean) -> impl Strategy<Value = Prefix> {
    let form = prop_oneof![
        2 => (0..6_u8).prop_map(|hash| (H(hash), vec![])),
        3 => chain().prop_map(|blocks| (H::EMPTY, blocks)),
        1 => ((0..6_u8).prop_map(H), chain()),
    ];
    let counts = prop::collection::vec(count(), ENTRY_BLOCKS);
    (form, counts, count(), tier(), adapter(lean), flaw()).prop_map(
        |((hash, blocks), mut counts, tokens, tier, adapter, flaw)| {
            counts.truncate(blocks.len());
            let mut prefix = Prefix { hash, tokens, blocks, counts, tier, adapter };
            if let Some(flaw) = flaw {
                spoil(&mut prefix, flaw);
            }
            prefix
        },
    )
}

fn spoil(prefix: &mut Prefix, flaw: Flaw) {
    let last = |blocks: &mut Vec<H>, hash| {
        if let Some(block) = blocks.last_mut() {
            *block = hash;
        }
    };
    match flaw {
        Flaw::CountMissing => drop(prefix.counts.pop()),
        Flaw::CountTooMany => prefix.counts.push(1),
        Flaw::NoCounts => prefix.counts.clear(),
        Flaw::NoBlocks => prefix.blocks.clear(),
        Flaw::EmptyBlock => last(&mut prefix.blocks, H::EMPTY),
        Flaw::LongBlock => last(&mut prefix.blocks, H::LONG),
        Flaw::LongHash => prefix.hash = H::LONG,
        Flaw::NegativeCount => {
            if let Some(count) = prefix.counts.last_mut() {
                *count = -1;
            }
        }
        Flaw::NegativeTokens => prefix.tokens = i32::MIN,
        Flaw::Nothing => {
            *prefix = Prefix { hash: H::EMPTY, blocks: vec![], counts: vec![], ..prefix.clone() };
        }
        Flaw::TooManyBlocks => {
            prefix.blocks = vec![H(0); UPDATE_BLOCKS + 1];
            prefix.counts = vec![1; UPDATE_BLOCKS + 1];
        }
        Flaw::LongAdapter => prefix.adapter = LONG_NAME,
    }
}

fn stats() -> impl Strategy<Value = Stats> {
    let rate = || select(&[0.0, 0.25, 1.0, 1.5, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY][..]);
    (-1..3_i64, rate(), rate(), select(&["", "v1", LONG_NAME][..]), 0..3_i64, 0..3_i64).prop_map(
        |(memory, hit_rate, pressure, version, t2_hit, t2_query)| Stats {
            memory,
            hit_rate,
            pressure,
            version,
            t2_hit,
            t2_query,
        },
    )
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![
        6 => Just(At::Unset),
        3 => select(&[-1, -SECOND, -30 * SECOND, -60 * SECOND, -200 * SECOND, 0, 1, 10 * SECOND][..])
            .prop_map(At::FromNow),
        2 => Just(At::Again),
        1 => select(&[-5, 0, i64::MIN, i64::MAX][..]).prop_map(At::Absolute),
    ]
}

fn report(lean: Lean) -> impl Strategy<Value = Report> {
    let most_prefixes = match lean.adapters {
        Adapters::Few => 2,
        Adapters::Many => 24,
    };
    (
        odd(select(REPLICAS)),
        odd(tenant(lean)),
        odd(select(MODELS)),
        odd(select(SCHEMES)),
        odd(adapter(lean)),
        at(),
        prop::collection::vec(prefix(lean), 0..=most_prefixes),
        prop::option::weighted(0.3, stats()),
    )
        .prop_map(|(replica, tenant, model, scheme, adapter, at, prefixes, stats)| Report {
            replica,
            tenant,
            model,
            scheme,
            adapter,
            at,
            prefixes,
            stats,
        })
}

fn event(lean: Lean) -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        10 => Just(EventKind::PrefixEvicted),
        2 => Just(EventKind::AllCleared),
        2 => Just(EventKind::ReplicaUpdated),
        1 => Just(EventKind::PrefixAdded),
        1 => Just(EventKind::Unknown),
    ];
    let hash = prop_oneof![20 => (0..6_u8).prop_map(H), 1 => select(&[H::EMPTY, H::LONG][..])];
    (kind, odd(select(REPLICAS)), odd(tenant(lean)), odd(select(MODELS)), odd(adapter(lean)), hash).prop_map(
        |(kind, replica, tenant, model, adapter, hash)| Event { kind, replica, tenant, model, adapter, hash },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => select(&[-SECOND, 0, 1, SECOND, 20 * SECOND, 60 * SECOND - 1, 60 * SECOND][..]).prop_map(Step::By),
        2 => (any::<usize>(), 0..2_i64).prop_map(|(at, before)| Step::ToExpiry { at, before }),
    ]
}

fn settings(lean: Lean) -> impl Strategy<Value = Settings> {
    (select(lean.ttls), select(lean.lfu), select(lean.quotas)).prop_map(|(ttl, eviction, quota)| Settings {
        ttl,
        eviction,
        quota,
    })
}

fn policies(lean: Lean) -> impl Strategy<Value = Op> {
    (settings(lean), prop::collection::vec((tenant(lean), settings(lean)), 0..3))
        .prop_map(|(default, of)| Op::Policies { default, of })
}

fn lookup(lean: Lean) -> impl Strategy<Value = Lookup> {
    let input = prop_oneof![
        8 => (chain(), prop::collection::vec(count(), ENTRY_BLOCKS), any::<bool>()).prop_map(
            |(hashes, mut counts, is_derived)| {
                counts.truncate(hashes.len());
                Input::Chain { hashes, counts, is_derived }
            }
        ),
        4 => (0..6_u8, any::<bool>()).prop_map(|(hash, is_derived)| Input::Exact { hash: H(hash), is_derived }),
        1 => Just(Input::Nothing),
    ];
    (
        odd(tenant(lean)),
        odd(select(MODELS)),
        odd(select(SCHEMES)),
        odd(adapter(lean)),
        input,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(tenant, model, scheme, adapter, input, wants_warm, wants_heard)| Lookup {
            tenant,
            model,
            scheme,
            adapter,
            input,
            wants_warm,
            wants_heard,
        })
}
