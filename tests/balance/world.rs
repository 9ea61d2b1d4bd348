//! A small world: every combination of what members hold, what is before them and who was heard of, against a plain
//! restatement of the order.

use std::collections::BTreeMap;
use std::sync::Arc;

use icache::decision::{
    AHEAD_WEIGHT, Arrival, BALANCED_PIPELINE, Balance, Evidence, Holder, InputResolver, Load, Outcome,
    Roster, Settings, UNCACHED_WEIGHT, plan,
};
use icache::model::{Limits, ReplicaId};
use icache::policy::{TenantPolicy, resolve};

use super::*;

struct NoTokens;

impl InputResolver for NoTokens {
    fn chain(&self, _: &[u32], _: u32) -> Vec<PrefixHash> {
        Vec::new()
    }

    fn tokenize(&self, _: &str, _: &str) -> Option<Vec<u32>> {
        None
    }
}

/// One member: tokens held, pending, provisional; whether it was heard of, and whether it takes part.
#[derive(Clone, Copy, Debug)]
struct Member {
    held: i32,
    pending: f32,
    provisional: i32,
    is_heard: bool,
    is_absent: bool,
}

const KINDS: [Member; 7] = [
    Member { held: 0, pending: 0.0, provisional: 0, is_heard: true, is_absent: false },
    Member { held: 0, pending: 300.0, provisional: 128, is_heard: true, is_absent: false },
    Member { held: 32, pending: 0.0, provisional: 0, is_heard: true, is_absent: false },
    Member { held: 128, pending: 0.0, provisional: 0, is_heard: true, is_absent: false },
    Member { held: 128, pending: 500.0, provisional: 0, is_heard: true, is_absent: false },
    Member { held: 128, pending: 0.0, provisional: 0, is_heard: false, is_absent: false },
    Member { held: 0, pending: 0.0, provisional: 0, is_heard: true, is_absent: true },
];

fn decide(
    members: &[Member],
    idle: usize,
    floor: i32,
    affinity_shape: bool,
    minimum_prefix: i32,
) -> Decision {
    let written = TenantPolicy {
        minimum_matched_tokens: Some(floor),
        minimum_prefix_tokens: Some(minimum_prefix),
        ..TenantPolicy::default()
    };
    let code = if affinity_shape { LoadHintCode::Affinity } else { LoadHintCode::LoadHint };
    let ranker = RankerKnobs {
        load_hint_code: Sourced::built_in(code),
        replica_timeout_ns: Sourced::built_in(30 * SECOND),
        ..knobs()
    };
    let settings = Settings {
        policy: Arc::new(resolve(&written, &Arc::from("CachePolicy t/p"), &Defaults::default())),
        ranker: Arc::new(ranker),
        limits: Limits::default(),
        max_in_flight: Sourced::built_in(8),
    };
    let ids: Vec<ReplicaId> =
        (0..members.len()).map(|at| ReplicaId::from(format!("r{at}").as_str())).collect();
    let hashes = hashes(&[1, 2]);
    let request = LookupRequest {
        tenant: "t",
        model: "m",
        scheme: "s",
        block_hashes: HashList::Fingerprints(&hashes),
        block_token_counts: &[64, 64],
        ..LookupRequest::default()
    };
    let holders =
        members.iter().zip(0..).filter(|(member, _)| member.held > 0).map(|(member, place)| Holder {
            member: place,
            blocks: 2,
            matched_tokens: member.held,
            last_seen: at(0.0),
            tier: Tier::T1,
            stats: None,
        });
    let load = |member: &Member| Load {
        pending_tokens: member.pending,
        recent_tokens: 0.0,
        rate: 1_000.0,
        provisional_tokens: member.provisional,
    };
    let heard = |member: &Member| if member.is_heard { at(60.0) } else { at(0.0) };
    let evidence = Evidence {
        roster: Arc::new(Roster::new(ids)),
        holders: holders.collect(),
        heard: members.iter().map(heard).collect(),
        tenant_is_known: true,
        model_is_known: true,
        ..Evidence::default()
    };
    let absent =
        members.iter().zip(0..).filter(|(member, _)| member.is_absent).map(|(_, place)| place).collect();
    let balance = Balance { idle, absent, pressure: Vec::new(), loads: members.iter().map(load).collect() };
    let arrival = Arrival { now: at(60.0), elapsed_ns: 0, deadline_ns: None, in_flight: 1 };
    plan(&request, &settings, &NoTokens, arrival).conclude_balanced(Some((evidence, balance))).deliver(0).0
}

/// The rules once more: the answer's code and its replicas in order.
fn expected(
    members: &[Member],
    idle: usize,
    floor: i32,
    affinity_shape: bool,
    is_short: bool,
) -> (Reason, Vec<String>) {
    let load_hint = if affinity_shape { Reason::AffinityHint } else { Reason::LoadHint };
    if idle == members.len() {
        return (Reason::UnknownHashScheme, vec![]);
    }
    let wait = |member: &Member| member.pending + 2.0 * (128 - member.held.max(member.provisional)) as f32;
    let mut order: Vec<(usize, &Member)> =
        members.iter().enumerate().filter(|(_, member)| member.is_heard && !member.is_absent).collect();
    order.sort_by(|a, b| wait(a.1).total_cmp(&wait(b.1)).then(b.1.held.cmp(&a.1.held)).then(a.0.cmp(&b.0)));
    let name = |(at, _): &(usize, &Member)| format!("r{at}");
    let Some(first) = order.first() else { return (Reason::NoHint, vec![]) };
    if is_short || first.1.held < floor.max(1) {
        return (load_hint, vec![name(first)]);
    }
    (Reason::PrefixMatch, order.iter().filter(|(_, member)| member.held >= floor.max(1)).map(name).collect())
}

#[test]
fn every_combination_of_three_members() {
    assert_eq!((UNCACHED_WEIGHT, AHEAD_WEIGHT), (2.0, 0.5));
    let mut reached: BTreeMap<Reason, u64> = BTreeMap::new();
    for bits in 0..7 * 7 * 7 {
        let members = [bits % 7, bits / 7 % 7, bits / 49].map(|kind| KINDS[kind]);
        let holding = members.iter().filter(|member| member.held > 0).count();
        for idle in [0, if holding == 0 { 3 } else { 0 }] {
            for floor in [0, 64] {
                for affinity_shape in [false, true] {
                    for minimum_prefix in [0, 129] {
                        let decision = decide(&members, idle, floor, affinity_shape, minimum_prefix);
                        let is_short = minimum_prefix > 128;
                        let wanted = expected(&members, idle, floor, affinity_shape, is_short);
                        let point = format!("{members:?} {idle} {floor} {affinity_shape} {minimum_prefix}");
                        assert_eq!(answer(&decision), wanted, "{point}");
                        check(&decision, &point);
                        *reached.entry(decision.reason).or_default() += 1;
                    }
                }
            }
        }
    }
    let codes: Vec<&str> = reached.keys().map(|reason| reason.code()).collect();
    assert_eq!(codes, ["PREFIX_MATCH", "AFFINITY_HINT", "LOAD_HINT", "NO_HINT", "UNKNOWN_HASH_SCHEME"]);
}

fn check(decision: &Decision, point: &str) {
    let decided: Vec<_> =
        decision.steps.iter().filter(|step| matches!(step.outcome, Outcome::Decided(_))).collect();
    assert_eq!(decided.len(), 1, "{point}");
    assert_eq!(
        (decided[0].gate, decided[0].outcome),
        (decision.decided_by, Outcome::Decided(decision.reason))
    );
    assert!(decided[0].gate.info().leads_to.contains(&decision.reason), "{point}");
    assert_eq!(decision.steps.len(), BALANCED_PIPELINE.len());
    let hints: Vec<_> = decision.hints().collect();
    assert_eq!(!hints.is_empty(), decision.reason.info().hints, "{point}");
    assert!(hints.windows(2).all(|pair| pair[0].score >= pair[1].score), "{point}");
    for candidate in decision.candidates.iter() {
        let wait = candidate.wait.unwrap();
        let score = 128.0 / (128.0 + wait.wait_tokens);
        assert_eq!(score.to_bits(), candidate.score.to_bits(), "the shown score is the used one: {point}");
        let replica = decision.roster.get(candidate.member).unwrap();
        let is_in_answer =
            decision.reason != Reason::AffinityHint && hints.iter().any(|hint| hint.replica == replica);
        assert_eq!(candidate.filtered_by.is_none(), is_in_answer, "{point}");
    }
}
