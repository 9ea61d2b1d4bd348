//! Every combination of the pipeline's conditions in a small world, against a plain restatement of the rules: each
//! reason is reached, each run has exactly one answer, and trace and answer agree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use icache::decision::{
    Arrival, BALANCED_PIPELINE, Decision, Evidence, GateId, Holder, InputResolver, Outcome, PIPELINE, Reason,
    Roster, Settings, StatsSeen, Warm, plan,
};
use icache::hash::fingerprint_chain;
use icache::model::{
    HashList, Limits, LookupRequest, PROBE_TENANT, PrefixHash, ReplicaId, Slo, Sourced, Tier, Timestamp,
};
use icache::policy::{Defaults, TenantPolicy, default_ranker, resolve};

const SECOND: i64 = 1_000_000_000;
const NOW: Timestamp = Timestamp::from_ns(1_754_611_200 * SECOND);

/// What the request carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
enum Carries {
    Chain,
    ChainAndHash,
    OneSided,
    OneSidedAndHash,
    EmptyBlock,
    NegativeCount,
    Hash,
    Tokens,
    FewTokens,
    ChainAndTokens,
    Text,
    Nothing,
}

const CARRIES: [Carries; 12] = [
    Carries::Chain,
    Carries::ChainAndHash,
    Carries::OneSided,
    Carries::OneSidedAndHash,
    Carries::EmptyBlock,
    Carries::NegativeCount,
    Carries::Hash,
    Carries::Tokens,
    Carries::FewTokens,
    Carries::ChainAndTokens,
    Carries::Text,
    Carries::Nothing,
];

/// What the index knows. Three replicas serve the domain wherever it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Knows {
    NothingAtAll,
    OtherTenant,
    OtherModel,
    OtherScheme,
    OtherPrefixes,
    Match,
    ShallowMatch,
    MatchOfAll,
    Warm,
}

const KNOWS: [Knows; 9] = [
    Knows::NothingAtAll,
    Knows::OtherTenant,
    Knows::OtherModel,
    Knows::OtherScheme,
    Knows::OtherPrefixes,
    Knows::Match,
    Knows::ShallowMatch,
    Knows::MatchOfAll,
    Knows::Warm,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Late {
    Never,
    OnArrival,
    AtTheEnd,
}

/// Which of the three replicas, all of the domain, were heard of in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Heard {
    NotAsked,
    All,
    ButTheFirst,
    None,
}

/// One point of the world.
#[derive(Clone, Copy, Debug)]
struct Point {
    late: Late,
    is_shed: bool,
    is_over_limit: bool,
    is_reserved: bool,
    requires_chain: bool,
    matches_chains: bool,
    carries: Carries,
    /// `minimumPrefixTokens`: 0, one that the request reaches, one that it does not.
    minimum_prefix: i32,
    has_affinity: bool,
    has_keys: bool,
    knows: Knows,
    allows_warm: bool,
    warm_age_s: i64,
    heard: Heard,
    minimum_matched: i32,
    floor: f32,
}

const PLAIN: Point = Point {
    late: Late::Never,
    is_shed: false,
    is_over_limit: false,
    is_reserved: false,
    requires_chain: false,
    matches_chains: true,
    carries: Carries::Chain,
    minimum_prefix: 0,
    has_affinity: true,
    has_keys: true,
    knows: Knows::Match,
    allows_warm: true,
    warm_age_s: 300,
    heard: Heard::NotAsked,
    minimum_matched: 64,
    floor: 0.1,
};

struct Resolver;

impl InputResolver for Resolver {
    fn chain(&self, tokens: &[u32], block_size: u32) -> Vec<PrefixHash> {
        fingerprint_chain(tokens, block_size, None)
    }

    fn tokenize(&self, _model: &str, _text: &str) -> Option<Vec<u32>> {
        None
    }
}

fn settings(point: &Point) -> Settings {
    let written = TenantPolicy {
        minimum_prefix_tokens: Some(point.minimum_prefix),
        minimum_matched_tokens: Some(point.minimum_matched),
        routing_floor_score: Some(point.floor),
        lookup_timeout_ms: Some(if point.late == Late::Never { 0 } else { 5 }),
        enable_chain_matching: Some(point.matches_chains),
        require_chain: Some(point.requires_chain),
        enable_tenant_hot: Some(point.allows_warm),
        affinity_routing: Some(point.has_affinity),
        ..TenantPolicy::default()
    };
    let mut ranker = default_ranker();
    ranker.tenant_hot_max_age_ns = Sourced::built_in(point.warm_age_s * SECOND);
    let timeout_s = if point.heard == Heard::NotAsked { 0 } else { 30 };
    ranker.replica_timeout_ns = Sourced::built_in(timeout_s * SECOND);
    Settings {
        policy: Arc::new(resolve(&written, &Arc::from("CachePolicy team-a/p"), &Defaults::default())),
        ranker: Arc::new(ranker),
        limits: Limits::default(),
        max_in_flight: Sourced::built_in(8),
    }
}

struct Parts {
    blocks: Vec<Bytes>,
    counts: Vec<i32>,
    hash: &'static [u8],
    tokens: Vec<u32>,
    text: &'static str,
}

/// Every prompt is 128 tokens long, in two blocks of 64 where it is a chain.
fn parts(carries: Carries) -> Parts {
    let chain = vec![Bytes::from_static(b"block-00"), Bytes::from_static(b"block-01")];
    let none = Parts { blocks: vec![], counts: vec![], hash: b"", tokens: vec![], text: "" };
    match carries {
        Carries::Chain => Parts { blocks: chain, counts: vec![64, 64], ..none },
        Carries::ChainAndHash => Parts { blocks: chain, counts: vec![64, 64], hash: b"prefix-1", ..none },
        Carries::OneSided => Parts { counts: vec![64, 64], ..none },
        Carries::OneSidedAndHash => Parts { blocks: chain, hash: b"prefix-1", ..none },
        Carries::EmptyBlock => {
            Parts { blocks: vec![chain[0].clone(), Bytes::new()], counts: vec![64, 64], ..none }
        }
        Carries::NegativeCount => Parts { blocks: chain, counts: vec![64, -64], ..none },
        Carries::Hash => Parts { hash: b"prefix-1", ..none },
        Carries::Tokens => Parts { tokens: (0..128).collect(), ..none },
        Carries::FewTokens => Parts { tokens: vec![1, 2, 3], ..none },
        Carries::ChainAndTokens => {
            Parts { blocks: chain, counts: vec![64, 64], tokens: (0..128).collect(), ..none }
        }
        Carries::Text => Parts { text: "hello", ..none },
        Carries::Nothing => none,
    }
}

fn evidence(knows: Knows, heard: Heard, is_chain: bool, wants_warm: bool) -> Evidence {
    let ids = ["r0", "r1", "r2"].map(ReplicaId::from).to_vec();
    let holder = |member, matched_tokens| Holder {
        member,
        blocks: u32::from(is_chain) * 2,
        matched_tokens,
        last_seen: NOW.plus_ns(-60 * SECOND),
        tier: Tier::T1,
        stats: Some(StatsSeen { hit_rate: 0.5, pressure: 0.25, reported_at: NOW }),
    };
    let stats = StatsSeen { hit_rate: 0.8, pressure: 0.1, reported_at: NOW.plus_ns(-30 * SECOND) };
    let known = Evidence {
        roster: Arc::new(Roster::new(ids)),
        tenant_is_known: true,
        model_is_known: true,
        heard: match heard {
            Heard::NotAsked => vec![],
            Heard::All => vec![NOW; 3],
            Heard::ButTheFirst => vec![NOW.plus_ns(-31 * SECOND), NOW, NOW.plus_ns(-30 * SECOND)],
            Heard::None => vec![NOW.plus_ns(-31 * SECOND); 3],
        }
        .into(),
        ..Evidence::default()
    };
    match knows {
        Knows::NothingAtAll => Evidence { index_is_empty: true, ..Evidence::default() },
        Knows::OtherTenant => Evidence::default(),
        Knows::OtherModel => Evidence { tenant_is_known: true, ..Evidence::default() },
        Knows::OtherScheme => Evidence { tenant_is_known: true, model_is_known: true, ..Evidence::default() },
        Knows::OtherPrefixes => known,
        Knows::Match => Evidence { holders: vec![holder(0, 128), holder(1, 64)].into(), ..known },
        Knows::ShallowMatch => Evidence { holders: vec![holder(0, 32)].into(), ..known },
        Knows::MatchOfAll => {
            Evidence { holders: (0..3).map(|member| holder(member, 128)).collect(), ..known }
        }
        Knows::Warm if wants_warm => Evidence { warm: vec![Warm { member: 0, stats }], ..known },
        Knows::Warm => known,
    }
}

/// The rules once more, in the plainest words: the reason, and the replicas of the answer.
fn expected(point: &Point) -> (Reason, BTreeSet<&'static str>) {
    let nobody = BTreeSet::new();
    if point.late != Late::Never {
        return (Reason::Timeout, nobody);
    }
    if point.is_shed || point.is_over_limit || point.is_reserved {
        return (Reason::NoHint, nobody);
    }
    use Carries::{
        Chain, ChainAndHash, ChainAndTokens, EmptyBlock, Hash, NegativeCount, Nothing, OneSidedAndHash,
        Tokens,
    };
    let carries = point.carries;
    let has_valid_chain =
        matches!(carries, Chain | ChainAndHash | EmptyBlock | NegativeCount | ChainAndTokens);
    if point.requires_chain && !has_valid_chain {
        return (Reason::PolicyRequiresChain, nobody);
    }
    let is_usable = if point.matches_chains {
        matches!(carries, Chain | ChainAndHash | Hash | Tokens | ChainAndTokens | Nothing)
    } else {
        matches!(carries, ChainAndHash | OneSidedAndHash | Hash | Tokens | ChainAndTokens | Nothing)
    };
    if !is_usable {
        return (Reason::NoHint, nobody);
    }
    let is_chain = point.matches_chains && !matches!(carries, Hash | Nothing);
    // The prompt's length is known from a chain, or from tokens; prefix_token_count says 128 as well.
    let is_short = point.minimum_prefix > 128;
    if is_short && !point.has_affinity {
        return (Reason::NoHint, nobody);
    }
    if !point.has_keys {
        return (Reason::NoHint, nobody);
    }
    let has_hash = carries != Nothing;
    let has_match = has_hash && matches!(point.knows, Knows::Match | Knows::ShallowMatch | Knows::MatchOfAll);
    let has_warm = !is_chain && point.warm_age_s > 30 && point.knows == Knows::Warm;
    if !has_match && !has_warm {
        match point.knows {
            Knows::OtherTenant => return (Reason::UnknownTenant, nobody),
            Knows::OtherModel => return (Reason::UnknownModel, nobody),
            Knows::OtherScheme => return (Reason::UnknownHashScheme, nobody),
            _ => {}
        }
    }
    let alive: BTreeSet<&str> = match point.heard {
        Heard::NotAsked | Heard::All => BTreeSet::from(["r0", "r1", "r2"]),
        Heard::ButTheFirst => BTreeSet::from(["r1", "r2"]),
        Heard::None => BTreeSet::new(),
    };
    let mut answer: BTreeMap<&str, (i32, bool)> = BTreeMap::new();
    if has_match {
        let holders: &[(&str, i32, bool)] = match point.knows {
            Knows::Match => &[("r0", 128, true), ("r1", 64, true)],
            Knows::ShallowMatch => &[("r0", 32, true)],
            _ => &[("r0", 128, false), ("r1", 128, false), ("r2", 128, false)],
        };
        answer = holders.iter().map(|(id, tokens, scores)| (*id, (*tokens, *scores))).collect();
    } else if has_warm {
        answer.insert("r0", (0, true));
    }
    answer.retain(|id, _| alive.contains(id));
    if (has_warm && !point.allows_warm) || is_short {
        answer.clear();
    }
    if has_match {
        answer.retain(|_, (tokens, _)| *tokens >= point.minimum_matched);
        // Every replica below the first scores above 0.1 unless all three hold the prefix.
        if point.floor > 0.0 && !answer.values().any(|(_, scores)| *scores) {
            answer.clear();
        }
    }
    if !answer.is_empty() {
        let reason = if has_match { Reason::PrefixMatch } else { Reason::TenantHot };
        return (reason, answer.into_keys().collect());
    }
    let lists_agree = carries != OneSidedAndHash;
    let serves = point.knows != Knows::NothingAtAll
        && !matches!(point.knows, Knows::OtherTenant | Knows::OtherModel | Knows::OtherScheme);
    if point.has_affinity && lists_agree && has_hash && serves && !alive.is_empty() {
        return (Reason::AffinityHint, alive);
    }
    (Reason::NoHint, nobody)
}

fn run(point: &Point) -> Decision {
    let parts = parts(point.carries);
    let long_id = "x".repeat(513);
    let request = LookupRequest {
        tenant: if point.is_reserved { PROBE_TENANT } else { "team-a" },
        model: "llama",
        scheme: if point.has_keys { "vllm" } else { "" },
        adapter: if point.is_over_limit { &long_id } else { "" },
        prefix_hash: parts.hash,
        prefix_token_count: 128,
        block_hashes: HashList::Wire(&parts.blocks),
        block_token_counts: &parts.counts,
        token_ids: &parts.tokens,
        prompt_text: parts.text,
        slo: Slo { ttft_ms: 50 },
    };
    let settings = settings(point);
    let arrival = Arrival {
        now: NOW,
        elapsed_ns: if point.late == Late::OnArrival { 5_000_000 } else { 4_999_999 },
        deadline_ns: None,
        in_flight: if point.is_shed { 9 } else { 8 },
    };
    let plan = plan(&request, &settings, &Resolver, arrival);
    let evidence = plan.query().map(|query| {
        let (is_chain, has_input) = match query.input {
            icache::decision::Input::Chain { .. } => (true, true),
            icache::decision::Input::Exact(_) => (false, true),
            icache::decision::Input::Nothing => (false, false),
        };
        let knows = match point.knows {
            Knows::Match | Knows::ShallowMatch | Knows::MatchOfAll if !has_input => Knows::OtherPrefixes,
            knows => knows,
        };
        evidence(knows, point.heard, is_chain, query.wants_warm)
    });
    plan.conclude(evidence).deliver(if point.late == Late::Never { 4_999_999 } else { 5_000_000 }).0
}

/// What holds for every run, whatever the point.
fn check_record(point: &Point, decision: &Decision) {
    let decided: Vec<_> =
        decision.steps.iter().filter(|step| matches!(step.outcome, Outcome::Decided(_))).collect();
    assert_eq!(decided.len(), 1, "one answer: {point:?}\n{:?}", decision.steps);
    assert_eq!(decided[0].outcome, Outcome::Decided(decision.reason), "{point:?}");
    assert_eq!(decided[0].gate, decision.decided_by, "{point:?}");
    assert!(decided[0].gate.info().leads_to.contains(&decision.reason), "{point:?}: {:?}", decided[0]);
    for step in decision.steps.iter() {
        let (takes, is_match) =
            (step.gate.info().takes_away, decision.candidates.iter().any(|c| c.matched_tokens > 0));
        let had = if is_match { Reason::PrefixMatch } else { Reason::TenantHot };
        let removed = decision.candidates.iter().any(|candidate| candidate.filtered_by == Some(step.gate));
        assert!(!removed || takes.contains(&had), "{point:?}: {step:?} is not known to undo {had:?}");
    }
    let gates: Vec<_> = decision.steps.iter().map(|step| (step.gate, step.stage)).collect();
    let pipeline: Vec<_> = PIPELINE.iter().map(|step| (step.gate, step.stage)).collect();
    assert_eq!(gates, pipeline, "{point:?}");

    let because = decision.steps.iter().filter(|step| step.gate == decision.because);
    assert!(
        because.into_iter().any(|step| !matches!(step.outcome, Outcome::Skipped)),
        "the cause did something: {point:?} {decision:?}"
    );
    let hints: Vec<_> = decision.hints().collect();
    assert_eq!(!hints.is_empty(), decision.reason.info().hints, "{point:?}");
    assert!(hints.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first: {point:?}");
    for candidate in decision.candidates.iter() {
        let base = match decision.candidates.iter().any(|candidate| candidate.matched_tokens > 0) {
            true => candidate.matched_tokens as f32,
            false => candidate.probability,
        };
        let product = base
            * candidate.decay
            * candidate.pressure_factor
            * candidate.slo_bias
            * candidate.distinguishing_power;
        assert_eq!(
            product.to_bits(),
            candidate.score.to_bits(),
            "the shown score is the used one: {point:?}"
        );
        let replica = decision.roster.get(candidate.member).expect("a candidate is of the roster");
        let is_in_answer =
            hints.iter().any(|hint| hint.replica == replica) && decision.reason != Reason::AffinityHint;
        assert_eq!(candidate.filtered_by.is_none(), is_in_answer, "{point:?}");
    }
}

fn check(point: &Point, reached: &mut BTreeMap<Reason, u64>) {
    let decision = run(point);
    check_record(point, &decision);
    let (reason, replicas) = expected(point);
    assert_eq!(decision.reason, reason, "{point:?}\n{:#?}", decision.steps);
    let got: BTreeSet<&str> = decision.hints().map(|hint| hint.replica.as_str()).collect();
    if reason == Reason::AffinityHint {
        assert!(got.len() == 1 && got.is_subset(&replicas), "{point:?}: {got:?}");
    } else {
        assert_eq!(got, replicas, "{point:?}");
    }
    *reached.entry(reason).or_default() += 1;
}

const SWITCH: [bool; 2] = [false, true];

#[test]
fn every_combination_on_the_request() {
    let mut reached = BTreeMap::new();
    for late in [Late::Never, Late::OnArrival, Late::AtTheEnd] {
        for bits in 0..64_u32 {
            let bit = |at: u32| bits >> at & 1 == 1;
            for carries in CARRIES {
                for minimum_prefix in [0, 128, 129] {
                    for knows in [Knows::Match, Knows::OtherTenant, Knows::OtherPrefixes] {
                        for has_affinity in SWITCH {
                            let point = Point {
                                late,
                                is_shed: bit(0),
                                is_over_limit: bit(1),
                                is_reserved: bit(2),
                                requires_chain: bit(3),
                                matches_chains: bit(4),
                                has_keys: bit(5),
                                carries,
                                minimum_prefix,
                                has_affinity,
                                knows,
                                ..PLAIN
                            };
                            check(&point, &mut reached);
                        }
                    }
                }
            }
        }
    }
    assert_eq!(reached.values().sum::<u64>(), 3 * 64 * 12 * 3 * 3 * 2);
    assert!(reached.contains_key(&Reason::PolicyRequiresChain), "{reached:?}");
}

#[test]
fn every_combination_on_the_index_and_the_result() {
    let mut reached = BTreeMap::new();
    for late in [Late::Never, Late::AtTheEnd] {
        for (matches_chains, carries) in [
            (true, Carries::Chain),
            (true, Carries::Hash),
            (true, Carries::Tokens),
            (true, Carries::Nothing),
            (false, Carries::Tokens),
            (false, Carries::OneSidedAndHash),
            (false, Carries::ChainAndHash),
        ] {
            for knows in KNOWS {
                for minimum_prefix in [0, 128, 129] {
                    for bits in 0..32_u32 {
                        let bit = |at: u32| bits >> at & 1 == 1;
                        for heard in [Heard::NotAsked, Heard::All, Heard::ButTheFirst, Heard::None] {
                            let point = Point {
                                late,
                                matches_chains,
                                carries,
                                minimum_prefix,
                                has_affinity: bit(0),
                                allows_warm: bit(1),
                                warm_age_s: if bit(2) { 300 } else { 0 },
                                minimum_matched: if bit(3) { 64 } else { 0 },
                                floor: if bit(4) { 0.1 } else { 0.0 },
                                knows,
                                heard,
                                ..PLAIN
                            };
                            check(&point, &mut reached);
                        }
                    }
                }
            }
        }
    }
    let missing: Vec<_> = Reason::ALL
        .iter()
        // The last is the balanced ranker's, whose world is in tests/balance.
        .filter(|reason| !matches!(reason, Reason::PolicyRequiresChain | Reason::LoadHint))
        .filter(|reason| !reached.contains_key(reason))
        .collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

/// The registry names every reason a gate decides, and nothing that it never leads to.
#[test]
fn every_gate_and_reason_is_documented_and_parses_back() {
    for gate in GateId::ALL {
        assert_eq!(GateId::parse(gate.id()), Some(*gate));
        for section in ["## Checks\n", "## Outcome\n", "## Why\n", "## Tune\n"] {
            assert!(gate.info().doc.contains(section), "{} lacks `{section}`", gate.id());
        }
        // The balanced ranker has every gate of the reference ranker, and one more.
        assert!(BALANCED_PIPELINE.iter().any(|step| step.gate == *gate), "{} is in the pipeline", gate.id());
    }
    for reason in Reason::ALL {
        assert_eq!(Reason::parse(reason.code()), Some(*reason));
        for section in ["## Meaning\n", "## When\n", "## Response\n", "## Gateway\n", "## Check\n"] {
            assert!(reason.info().doc.contains(section), "{} lacks `{section}`", reason.code());
        }
        let leads = GateId::ALL.iter().any(|gate| gate.info().leads_to.contains(reason));
        assert!(leads, "some gate leads to {}", reason.code());
    }
}
