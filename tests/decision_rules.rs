//! The numbers of the decision, at their boundaries: every formula, floor and limit with the value just inside and the
//! value just outside.

use std::sync::Arc;

use bytes::Bytes;
use icache::decision::{
    Arrival, Cause, ChainCounts, Decision, Evidence, GateId, Holder, Input, InputResolver, Knob, Number,
    Outcome, Reason, Roster, Settings, Stage, StatsSeen, Warm, distinguishing_power, freshness, plan,
    pressure_factor, recency, slo_bias,
};
use icache::hash::fingerprint_chain;
use icache::model::{
    HashList, Limits, LookupRequest, PrefixHash, RankerKnobs, ReplicaId, Slo, Source, Sourced, Tier,
    Timestamp,
};
use icache::policy::{Defaults, TenantPolicy, default_ranker, resolve};

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const TTL: i64 = 30 * MINUTE;
const NOW: Timestamp = Timestamp::from_ns(1_754_611_200 * SECOND);

struct Resolver;

impl InputResolver for Resolver {
    fn chain(&self, tokens: &[u32], block_size: u32) -> Vec<PrefixHash> {
        fingerprint_chain(tokens, block_size, None)
    }

    fn tokenize(&self, model: &str, text: &str) -> Option<Vec<u32>> {
        (model == "with-tokenizer").then(|| text.bytes().map(u32::from).collect())
    }
}

fn settings(written: TenantPolicy, ranker: RankerKnobs) -> Settings {
    Settings {
        policy: Arc::new(resolve(&written, &Arc::from("CachePolicy team-a/p"), &Defaults::default())),
        ranker: Arc::new(ranker),
        limits: Limits::default(),
        max_in_flight: Sourced::built_in(0),
    }
}

fn defaults() -> Settings {
    settings(TenantPolicy::default(), default_ranker())
}

const ARRIVAL: Arrival = Arrival { now: NOW, elapsed_ns: 0, deadline_ns: None, in_flight: 1 };

const KEYS: LookupRequest<'static> = LookupRequest {
    tenant: "team-a",
    model: "llama",
    scheme: "vllm",
    adapter: "",
    prefix_hash: b"prefix-1",
    prefix_token_count: 128,
    block_hashes: HashList::EMPTY,
    block_token_counts: &[],
    token_ids: &[],
    prompt_text: "",
    slo: Slo { ttft_ms: 0 },
};

fn decide(
    request: &LookupRequest<'_>,
    settings: &Settings,
    arrival: Arrival,
    evidence: Evidence,
) -> Decision {
    let plan = plan(request, settings, &Resolver, arrival);
    let evidence = plan.query().map(|_| evidence);
    plan.conclude(evidence).deliver(arrival.elapsed_ns).0
}

fn known(replicas: usize) -> Evidence {
    let ids = (0..replicas).map(|at| ReplicaId::from(format!("r{at}").as_str())).collect();
    Evidence {
        roster: Arc::new(Roster::new(ids)),
        tenant_is_known: true,
        model_is_known: true,
        ..Evidence::default()
    }
}

fn holder(member: u32, matched_tokens: i32) -> Holder {
    Holder { member, blocks: 0, matched_tokens, last_seen: NOW, tier: Tier::T1, stats: None }
}

fn close(got: f32, wanted: f32) {
    assert!((got - wanted).abs() <= wanted.abs() * 1e-6, "{got} is not {wanted}");
}

#[test]
fn freshness_falls_from_one_to_zero() {
    for (age_ns, wanted) in [
        (-1, 1.0),
        (0, 1.0),
        (MINUTE, 29.0 / 30.0),
        (TTL / 2, 0.5),
        (TTL * 9 / 10, 0.1),
        (TTL, 0.0),
        (TTL + 1, 0.0),
        (i64::MAX, 0.0),
    ] {
        close(freshness(age_ns, TTL), wanted);
    }
    assert!(freshness(TTL - 1, TTL) > 0.0, "the last nanosecond still counts");
}

#[test]
fn recency_is_computed_in_single_precision() {
    for (age_ns, wanted) in
        [(-5, 1.0), (0, 1.0), (30 * SECOND, 0.9), (150 * SECOND, 0.5), (300 * SECOND, 0.0)]
    {
        close(recency(age_ns, 300 * SECOND), wanted);
    }
    let (age_ns, max_age_ns) = (123_456_789_123_i64, 300_000_000_007_i64);
    assert_eq!(
        recency(age_ns, max_age_ns).to_bits(),
        (1.0_f32 - age_ns as f32 / max_age_ns as f32).to_bits()
    );
}

#[test]
fn pressure_lowers_a_score_down_to_nothing() {
    for (weight, pressure, wanted) in [
        (1.0, 0.0, 1.0),
        (1.0, 0.25, 0.75),
        (1.0, 1.0, 0.0),
        (2.0, 0.25, 0.5),
        (2.0, 0.75, 0.0),
        (0.0, 1.0, 1.0),
    ] {
        close(pressure_factor(weight, pressure), wanted);
    }
}

#[test]
fn a_tight_target_favours_the_fresh() {
    for (ttft_ms, tight_ms, bias, decay, wanted) in [
        (0, 200, 1.0, 0.5, 1.0),
        (-1, 200, 1.0, 0.5, 1.0),
        (1, 200, 1.0, 0.5, 1.5),
        (199, 200, 1.0, 0.25, 1.25),
        (199, 200, 3.0, 0.25, 1.75),
        (200, 200, 1.0, 0.5, 1.0),
        (201, 200, 1.0, 0.5, 1.0),
        (50, 0, 1.0, 0.5, 1.0),
    ] {
        close(slo_bias(Slo { ttft_ms }, tight_ms, bias, decay), wanted);
    }
}

#[test]
fn what_everybody_holds_distinguishes_nobody() {
    for (holders, total, wanted) in
        [(1, 1, 1.0), (0, 0, 1.0), (1, 2, 0.5), (2, 2, 0.0), (1, 3, 2.0 / 3.0), (3, 3, 0.0), (5, 3, 0.0)]
    {
        close(distinguishing_power(holders, total), wanted);
    }
}

#[test]
fn counts_of_a_chain() {
    let given = ChainCounts::Given(&[16, 32, i32::MAX]);
    assert_eq!((given.get(0), given.get(1), given.get(9)), (16, 32, 0));
    assert_eq!((given.sum(0), given.sum(2), given.sum(3)), (0, 48, i32::MAX));
    let uniform = ChainCounts::Uniform(16);
    assert_eq!((uniform.get(0), uniform.sum(3), uniform.sum(usize::MAX)), (16, 48, i32::MAX));
}

#[test]
fn a_roster_is_sorted_by_bytes() {
    let roster = Roster::new(["r10", "r2", "R3", "r2"].map(ReplicaId::from).to_vec());
    let ids: Vec<&str> = (0..4).filter_map(|member| roster.get(member)).map(ReplicaId::as_str).collect();
    assert_eq!(ids, ["R3", "r10", "r2"]);
    assert_eq!((roster.len(), roster.is_empty(), Roster::default().is_empty()), (3, false, true));
    assert!(roster.iter().map(ReplicaId::as_str).eq(ids));
    let members = ["R3", "r10", "r2", "r1"].map(|id| roster.member(id));
    assert_eq!(members, [Some(0), Some(1), Some(2), None]);
}

/// The factors of a candidate that stand in the trace, for one holder among three replicas.
#[test]
fn a_score_is_the_product_of_its_factors() {
    let stats = |pressure, age_ns: i64| {
        Some(StatsSeen { hit_rate: 0.9, pressure, reported_at: NOW.plus_ns(-age_ns) })
    };
    for (stats, pressure_factor) in
        [(None, 1.0), (stats(0.25, 0), 0.75), (stats(0.25, TTL), 0.75), (stats(0.25, TTL + 1), 1.0)]
    {
        let holder = Holder { last_seen: NOW.plus_ns(-TTL / 2), stats, ..holder(1, 200) };
        let request = LookupRequest { slo: Slo { ttft_ms: 50 }, ..KEYS };
        let decision =
            decide(&request, &defaults(), ARRIVAL, Evidence { holders: vec![holder].into(), ..known(3) });
        let candidate = decision.candidates.first().unwrap();
        close(candidate.decay, 0.5);
        close(candidate.probability, 0.5);
        close(candidate.pressure_factor, pressure_factor);
        close(candidate.slo_bias, 1.5);
        close(candidate.distinguishing_power, 2.0 / 3.0);
        close(candidate.score, 200.0 * 0.5 * pressure_factor * 1.5 * 2.0 / 3.0);
        assert_eq!(decision.reason, Reason::PrefixMatch);
    }
}

/// Of a chain, the replicas that match at least as many tokens count, and of an exact match all; equal scores go by
/// replica id.
#[test]
fn deeper_matches_distinguish_more_and_ties_go_by_id() {
    let exact = [holder(3, 64), holder(2, 128), holder(0, 128), holder(1, 192)];
    let chain = exact.map(|holder| Holder { blocks: holder.matched_tokens as u32 / 64, ..holder });
    for (holders, expected) in
        [(chain, [(1, 0.8), (0, 0.4), (2, 0.4), (3, 0.2)]), (exact, [(1, 0.2), (0, 0.2), (2, 0.2), (3, 0.2)])]
    {
        let evidence = Evidence { holders: holders.to_vec().into(), ..known(5) };
        let decision = decide(&KEYS, &defaults(), ARRIVAL, evidence);
        let candidates = decision.candidates.iter();
        let ranked: Vec<(u32, f32)> =
            candidates.map(|candidate| (candidate.member, candidate.distinguishing_power)).collect();
        assert_eq!(ranked, expected);
    }
}

#[test]
fn a_replica_is_warm_below_the_age_and_from_the_hit_rate_on() {
    const MAX_AGE: i64 = 5 * MINUTE;
    for (age_ns, hit_rate, is_warm) in [
        (0, 0.1, true),
        (0, 0.099, false),
        (MAX_AGE - 1, 0.8, true),
        (MAX_AGE, 0.8, false),
        (MAX_AGE, 0.099, false),
    ] {
        let stats = StatsSeen { hit_rate, pressure: 0.0, reported_at: NOW.plus_ns(-age_ns) };
        let evidence = Evidence { warm: vec![Warm { member: 0, stats }], ..known(2) };
        let decision = decide(&KEYS, &defaults(), ARRIVAL, evidence);
        let wanted = if is_warm { Reason::TenantHot } else { Reason::AffinityHint };
        assert_eq!(decision.reason, wanted, "age {age_ns}, hit rate {hit_rate}");
    }
}

#[test]
fn warm_replicas_are_ranked_by_hit_rate_recency_pressure_and_bias() {
    let warm = |member, hit_rate, pressure, age_ns: i64| Warm {
        member,
        stats: StatsSeen { hit_rate, pressure, reported_at: NOW.plus_ns(-age_ns) },
    };
    let evidence = Evidence { warm: vec![warm(0, 0.5, 0.5, 0), warm(1, 0.8, 0.1, 30 * SECOND)], ..known(2) };
    let request = LookupRequest { slo: Slo { ttft_ms: 50 }, ..KEYS };
    let decision = decide(&request, &defaults(), ARRIVAL, evidence);
    let hints: Vec<_> = decision.hints().collect();
    close(hints[0].score, 0.8 * 0.9 * 0.9 * 1.9);
    close(hints[0].probability, 0.8);
    close(hints[1].score, 0.5 * 0.5 * 2.0);
    assert_eq!((hints[0].matched_tokens, hints[0].tier), (0, Tier::Unknown));
    close(decision.candidates.first().unwrap().distinguishing_power, 1.0);
}

/// What the index is asked for: warm replicas only where they can answer, silence only where it matters.
#[test]
fn the_query_asks_for_what_the_gates_need() {
    let blocks = [Bytes::from_static(b"block-00")];
    let chain = LookupRequest { block_hashes: HashList::Wire(&blocks), block_token_counts: &[64], ..KEYS };
    let none = LookupRequest { prefix_hash: b"", ..KEYS };
    let no_warm = RankerKnobs { tenant_hot_max_age_ns: Sourced::built_in(0), ..default_ranker() };
    let timeout = RankerKnobs { replica_timeout_ns: Sourced::built_in(1), ..default_ranker() };
    for (request, ranker, wanted) in [
        (&KEYS, default_ranker(), (true, false)),
        (&none, default_ranker(), (true, false)),
        (&chain, default_ranker(), (false, false)),
        (&KEYS, no_warm, (false, false)),
        (&chain, timeout.clone(), (false, true)),
        (&KEYS, timeout, (true, true)),
    ] {
        let settings = settings(TenantPolicy::default(), ranker);
        let plan = plan(request, &settings, &Resolver, ARRIVAL);
        let query = plan.query().expect("nothing decides before the index");
        assert_eq!((query.wants_warm, query.wants_heard), wanted);
        assert_eq!(query.ttl_ns, TTL);
    }
}

#[test]
fn the_tighter_of_deadline_and_budget_counts() {
    const MS: i64 = 1_000_000;
    for (timeout_ms, deadline_ns, elapsed_ns, cause) in [
        (0, None, i64::MAX, None),
        (5, None, 5 * MS - 1, None),
        (5, None, 5 * MS, Some("budget-spent")),
        (0, Some(5 * MS), 5 * MS - 1, None),
        (0, Some(5 * MS), 5 * MS, Some("deadline-passed")),
        (0, Some(0), 0, Some("deadline-passed")),
        (5, Some(7 * MS), 5 * MS, Some("budget-spent")),
        (7, Some(5 * MS), 5 * MS, Some("deadline-passed")),
    ] {
        let written = TenantPolicy { lookup_timeout_ms: Some(timeout_ms), ..TenantPolicy::default() };
        let settings = settings(written, default_ranker());
        let arrival = Arrival { elapsed_ns, deadline_ns, ..ARRIVAL };
        let decision = decide(&KEYS, &settings, arrival, known(1));
        let step = decision.steps.iter().next().unwrap();
        let got = match step.outcome {
            Outcome::Decided(Reason::Timeout) => step.cause.map(|cause| cause.id()),
            _ => None,
        };
        assert_eq!(got, cause, "{timeout_ms} ms, {deadline_ns:?}, {elapsed_ns}");
        assert_eq!(decision.reason == Reason::Timeout, cause.is_some());
    }
}

/// The index was consulted for it, though nothing it said is delivered.
#[test]
fn a_timeout_after_the_index_was_read_echoes_the_adapter() {
    let request = LookupRequest { adapter: "lora", ..KEYS };
    let settings = defaults();
    for (elapsed_ns, delivered_ns, echoed) in [(0, 5, "lora"), (5, 5, "")] {
        let arrival = Arrival { elapsed_ns, deadline_ns: Some(5), ..ARRIVAL };
        let plan = plan(&request, &settings, &Resolver, arrival);
        let evidence = plan.query().map(|_| Evidence { holders: vec![holder(0, 128)].into(), ..known(1) });
        assert_eq!(evidence.is_some(), !echoed.is_empty());
        let decision = plan.conclude(evidence).deliver(delivered_ns).0;
        let answer = icache::explanation::answer(&decision, &request, 0);
        assert_eq!((answer.reason_code.as_str(), answer.replicas.len()), ("TIMEOUT", 0));
        assert_eq!(answer.adapter, echoed, "{elapsed_ns} ns before the index");
    }
}

#[test]
fn every_part_of_a_request_has_its_limit() {
    let at = |size: usize| "x".repeat(size);
    let (id, long_id) = (at(512), at(513));
    let (hash, long_hash) = (vec![7_u8; 64], vec![7_u8; 65]);
    let blocks = vec![Bytes::from(hash.clone()); 131_073];
    let long_block = [Bytes::from(long_hash.clone())];
    let counts = vec![1_i32; 131_073];
    let chain = |length: usize| LookupRequest {
        block_hashes: HashList::Wire(&blocks[..length]),
        block_token_counts: &counts[..length],
        ..KEYS
    };
    for (request, field) in [
        (LookupRequest { tenant: &id, model: &id, scheme: &id, adapter: &id, ..KEYS }, None),
        (LookupRequest { prefix_hash: &hash, ..KEYS }, None),
        (chain(131_072), None),
        (LookupRequest { tenant: &long_id, ..KEYS }, Some("tenant_id")),
        (LookupRequest { model: &long_id, ..KEYS }, Some("model_id")),
        (LookupRequest { scheme: &long_id, ..KEYS }, Some("hash_scheme")),
        (LookupRequest { adapter: &long_id, ..KEYS }, Some("adapter_id")),
        (LookupRequest { prefix_hash: &long_hash, ..KEYS }, Some("prefix_hash")),
        (chain(131_073), Some("block_hashes")),
        (LookupRequest { block_token_counts: &counts, ..KEYS }, Some("block_token_counts")),
        (
            LookupRequest {
                block_hashes: HashList::Wire(&long_block),
                block_token_counts: &counts[..1],
                ..KEYS
            },
            Some("block_hashes item"),
        ),
    ] {
        let decision = decide(&request, &defaults(), ARRIVAL, known(1));
        let step = decision.steps.iter().find(|step| step.gate.id() == "over-limit").expect("the gate ran");
        let got = step.values.first().map(|value| value.number);
        assert_eq!(got, field.map(Number::Field));
        assert_eq!(step.outcome == Outcome::Decided(Reason::NoHint), field.is_some());
    }
}

#[test]
fn tokens_and_text_have_their_limits() {
    let tokens = vec![1_u32; 1_048_577];
    let text = "x".repeat((1 << 20) + 1);
    let ask = |token_ids, prompt_text, model| LookupRequest {
        prefix_hash: b"",
        token_ids,
        prompt_text,
        model,
        ..KEYS
    };
    for (request, cause) in [
        (ask(&tokens[..16], "", "llama"), "chain-from-tokens"),
        (ask(&tokens[..1_048_576], "", "llama"), "chain-from-tokens"),
        (ask(&tokens, "", "llama"), "too-many-tokens"),
        (ask(&tokens[..15], "", "llama"), "shorter-than-one-block"),
        (ask(&[], "a text of sixteen", "llama"), "no-tokenizer"),
        (ask(&[], "a text of sixteen", "with-tokenizer"), "chain-from-text"),
        (ask(&[], &text[..1 << 20], "with-tokenizer"), "chain-from-text"),
        (ask(&[], &text, "with-tokenizer"), "prompt-too-long"),
        (ask(&[], "short", "with-tokenizer"), "shorter-than-one-block"),
    ] {
        let decision = decide(&request, &defaults(), ARRIVAL, known(1));
        let step =
            decision.steps.iter().find(|step| step.gate.id() == "resolve-input").expect("the gate ran");
        assert_eq!(step.cause.map(|cause| cause.id()), Some(cause));
        let was_tokenized = !request.prompt_text.is_empty()
            && request.model == "with-tokenizer"
            && request.prompt_text.len() <= 1 << 20;
        assert_eq!(decision.tokens.len(), if was_tokenized { request.prompt_text.len() } else { 0 });
    }
}

/// A count of zero tokens is no fault of a chain; a negative one is.
#[test]
fn block_counts_may_be_zero() {
    let blocks = [Bytes::from_static(b"block-00"), Bytes::from_static(b"block-01")];
    for (counts, reason) in [([0, 0], Reason::AffinityHint), ([0, -1], Reason::NoHint)] {
        let request =
            LookupRequest { block_hashes: HashList::Wire(&blocks), block_token_counts: &counts, ..KEYS };
        assert_eq!(decide(&request, &defaults(), ARRIVAL, known(2)).reason, reason);
    }
}

/// With an empty index no key is accused; with any entry anywhere, the first unknown key is.
#[test]
fn an_empty_index_accuses_nobody() {
    let empty = Evidence { index_is_empty: true, ..Evidence::default() };
    let decision = decide(&KEYS, &defaults(), ARRIVAL, empty);
    assert_eq!((decision.reason, decision.because.id()), (Reason::NoHint, "cold-start"));
    let decision = decide(&KEYS, &defaults(), ARRIVAL, Evidence::default());
    assert_eq!((decision.reason, decision.because.id()), (Reason::UnknownTenant, "unknown-tenant"));
    let step = decision.steps.iter().find(|step| step.gate.id() == "cold-start").expect("the gate ran");
    assert_eq!(step.outcome, Outcome::Passed);
}

/// The seed of an exact lookup is its hash alone; of a chain each hash stands behind its length.
#[test]
fn affinity_picks_by_the_published_rule() {
    use sha2::{Digest as _, Sha256};
    let pick = |seed: &[u8], replicas: u64| {
        let digest: [u8; 32] = Sha256::digest(seed).into();
        let head = u64::from_be_bytes(digest[..8].try_into().expect("eight bytes"));
        format!("r{}", head % replicas)
    };
    let blocks = [Bytes::from_static(b"ab"), Bytes::from_static(b"cde")];
    let chain =
        LookupRequest { block_hashes: HashList::Wire(&blocks), block_token_counts: &[64, 64], ..KEYS };
    let tokens: Vec<u32> = (1..=16).collect();
    let of_tokens = LookupRequest { prefix_hash: b"", token_ids: &tokens, ..KEYS };
    let mut token_seed = vec![0, 0, 0, 8];
    token_seed.extend(16_863_443_419_780_771_464_u64.to_be_bytes());
    for (request, seed) in [
        (&KEYS, &b"prefix-1"[..]),
        (&chain, &b"\0\0\0\x02ab\0\0\0\x03cde"[..]),
        (&of_tokens, &token_seed[..]),
    ] {
        for replicas in 1..=9 {
            let decision = decide(request, &defaults(), ARRIVAL, known(replicas as usize));
            let got: Vec<&str> = decision.hints().map(|hint| hint.replica.as_str()).collect();
            assert_eq!(got, [pick(seed, replicas).as_str()]);
        }
    }
}

/// A replica heard of exactly the timeout ago still counts, for a match and for affinity.
#[test]
fn a_replica_times_out_after_the_timeout() {
    let ranker = RankerKnobs { replica_timeout_ns: Sourced::built_in(30 * SECOND), ..default_ranker() };
    let settings = settings(TenantPolicy::default(), ranker);
    for (silent_ns, reason) in [(30 * SECOND, Reason::PrefixMatch), (30 * SECOND + 1, Reason::AffinityHint)] {
        let heard = vec![NOW.plus_ns(-silent_ns), NOW];
        let evidence = Evidence { holders: vec![holder(0, 128)].into(), heard: heard.into(), ..known(2) };
        let decision = decide(&KEYS, &settings, ARRIVAL, evidence);
        assert_eq!(decision.reason, reason);
        if reason == Reason::AffinityHint {
            assert_eq!(decision.because.id(), "replica-timeout");
            assert!(decision.hints().all(|hint| hint.replica.as_str() == "r1"));
        }
    }
}

/// Drained counts as timed out, with and without a timeout, for a match and for affinity.
#[test]
fn a_drained_replica_is_treated_as_timed_out() {
    let timeout = RankerKnobs { replica_timeout_ns: Sourced::built_in(30 * SECOND), ..default_ranker() };
    let silent = NOW.plus_ns(-31 * SECOND);
    for (ranker, heard, drained, left, cause) in [
        (default_ranker(), vec![], vec![0], &["r1", "r2"][..], Cause::Drained),
        (default_ranker(), vec![], vec![0, 2], &["r1"], Cause::Drained),
        (timeout.clone(), vec![NOW, silent, NOW], vec![0], &["r2"], Cause::NotHeardOfOrDrained),
        (timeout.clone(), vec![silent, NOW, NOW], vec![0], &["r1", "r2"], Cause::Drained),
        (timeout, vec![silent, NOW, NOW], vec![], &["r1", "r2"], Cause::NotHeardOf),
    ] {
        let settings = settings(TenantPolicy::default(), ranker);
        let holders = vec![holder(0, 128), holder(1, 128), holder(2, 128)].into();
        let evidence = Evidence { holders, heard: heard.into(), drained, ..known(4) };
        let decision = decide(&KEYS, &settings, ARRIVAL, evidence);
        let names: Vec<&str> = decision.hints().map(|hint| hint.replica.as_str()).collect();
        assert_eq!(names, left);
        let step = decision.steps.iter().find(|step| step.gate == GateId::ReplicaTimeout).unwrap();
        assert_eq!((step.outcome, step.cause), (Outcome::Filtered, Some(cause)));
    }
    let all = Evidence { holders: vec![holder(1, 128)].into(), drained: vec![1], ..known(2) };
    let decision = decide(&KEYS, &settings(TenantPolicy::default(), default_ranker()), ARRIVAL, all);
    assert_eq!((decision.reason, decision.because.id()), (Reason::AffinityHint, "replica-timeout"));
    assert!(decision.hints().all(|hint| hint.replica.as_str() == "r0"));
}

#[test]
fn labels_and_effective_values_are_the_documented_ones() {
    let stages = [Stage::Request, Stage::Index, Stage::Result].map(Stage::label);
    assert_eq!(stages, ["request", "index", "result"]);
    let outcomes = [
        Outcome::Passed,
        Outcome::Filtered,
        Outcome::Downgraded,
        Outcome::Decided(Reason::NoHint),
        Outcome::Skipped,
    ];
    assert_eq!(outcomes.map(Outcome::label), ["passed", "filtered", "downgraded", "decided", "skipped"]);
    let settings = defaults();
    for knob in Knob::ALL {
        let (value, source) = knob.effective(&settings);
        let is_span = ["TenantHotMaxAge", "ReplicaTimeout"].contains(&knob.info().name);
        let default = match knob.info().default {
            "0" if is_span => "0s",
            _ if knob.info().name == "MaxInFlight" => "0",
            default => default,
        };
        assert_eq!((value.as_str(), source), (default, Source::Default), "{}", knob.info().name);
    }
    let written = TenantPolicy { affinity_routing: Some(false), ..TenantPolicy::default() };
    let (value, source) = Knob::AffinityRouting.effective(&self::settings(written, default_ranker()));
    assert_eq!((value.as_str(), source.to_string().as_str()), ("Disabled", "CachePolicy team-a/p"));
}

#[test]
fn an_exact_input_shows_its_bytes() {
    let plan = plan(&KEYS, SETTINGS.get_or_init(defaults), &Resolver, ARRIVAL);
    let query = plan.query().expect("nothing decides before the index");
    assert!(matches!(query.input, Input::Exact(hash) if hash.as_bytes() == b"prefix-1"));
}

static SETTINGS: std::sync::OnceLock<Settings> = std::sync::OnceLock::new();

/// A floor lets through what is exactly at it; switched off it is skipped, and where it removes nothing it passes.
#[test]
fn floors_at_their_boundaries() {
    for (floor_score, floor_tokens, score_outcome, tokens_outcome) in [
        (50.0, 100, Outcome::Passed, Outcome::Passed),
        (50.001, 100, Outcome::Downgraded, Outcome::Passed),
        (50.0, 101, Outcome::Skipped, Outcome::Downgraded),
        (0.0, 0, Outcome::Skipped, Outcome::Skipped),
    ] {
        let written = TenantPolicy {
            routing_floor_score: Some(floor_score),
            minimum_matched_tokens: Some(floor_tokens),
            ..TenantPolicy::default()
        };
        let evidence = Evidence { holders: vec![holder(0, 100)].into(), ..known(2) };
        let decision = decide(&KEYS, &settings(written, default_ranker()), ARRIVAL, evidence);
        let outcome = |id| decision.steps.iter().find(|step| step.gate.id() == id).map(|step| step.outcome);
        assert_eq!(outcome("routing-floor-score"), Some(score_outcome), "{floor_score}, {floor_tokens}");
        assert_eq!(outcome("minimum-matched-tokens"), Some(tokens_outcome), "{floor_score}, {floor_tokens}");
    }
}
