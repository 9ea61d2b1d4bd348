//! Who takes part, and what the answer is called.

use super::*;

#[test]
fn replicas_that_only_said_that_they_live_take_part_in_turn() {
    let server = Server::with(&["a", "b", "c"]);
    let picks = [1, 2, 3].map(|prompt| server.routes(&[prompt, prompt + 100], at(1.0)));
    assert_eq!(
        picks.map(|(reason, replicas)| (reason, replicas.join(","))),
        ["a", "b", "c"].map(|replica| (Reason::LoadHint, replica.to_owned()))
    );
}

#[test]
fn a_replica_under_another_scheme_or_long_silent_takes_no_part() {
    let server = Server::with(&["old"]);
    server.stores_under("other", "elsewhere", &[1, 2], at(290.0));
    server.stores("holder", &[7, 8], at(290.0));
    server.event("new", EventKind::ReplicaUpdated, at(290.0));
    let members = |now| {
        let decision = server.asks(&[1, 2], now, false);
        let id = |member| decision.roster.get(member).map(|replica| replica.as_str().to_owned()).unwrap();
        let mut members: Vec<String> = decision.candidates.iter().map(|c| id(c.member)).collect();
        members.sort();
        members
    };
    assert_eq!(members(at(299.0)), ["holder", "new", "old"]);
    // TenantHotMaxAge is five minutes.
    assert_eq!(members(at(300.0)), ["holder", "new"]);
    assert_eq!(members(at(590.0)), ["holder"]);
}

#[test]
fn codes_of_unknown_keys_keep_their_precedence() {
    let server = Server::with(&["a"]);
    assert_eq!(server.routes(&[1], at(1.0)).0, Reason::LoadHint, "an empty index accuses nobody");
    server.stores_under("other", "b", &[1], at(1.0));
    assert_eq!(server.routes(&[1], at(1.0)), (Reason::UnknownHashScheme, vec![]));
}

#[test]
fn the_first_replica_decides_between_match_and_load_hint() {
    let server = Server::with(&["idle"]);
    server.stores("holder", &[1, 2, 3, 4], at(0.0));
    let (reason, replicas) = server.routes(&[1, 2, 3, 4], at(1.0));
    assert_eq!(
        (reason, replicas),
        (Reason::PrefixMatch, vec!["holder".to_owned()]),
        "`idle` is below the floor"
    );
    // So much before the holder that even a full match waits longer there.
    for prompt in 0..8_u64 {
        server.asks(&[1, 2, 3, 4, 500 + prompt, 600 + prompt], at(1.0), true);
    }
    let decision = server.asks(&[1, 2, 3, 4], at(1.0), false);
    let waits: Vec<f32> = decision.candidates.iter().map(|c| c.wait.unwrap().wait_tokens).collect();
    assert!(waits.is_sorted(), "{waits:?}");
    for candidate in decision.candidates.iter() {
        let wait = candidate.wait.unwrap().wait_tokens;
        assert_eq!(candidate.score.to_bits(), (256.0 / (256.0 + wait)).to_bits());
    }
}

#[test]
fn a_load_hint_in_the_shape_of_affinity() {
    let code = Sourced::built_in(LoadHintCode::Affinity);
    let server = Server::new(RankerKnobs { load_hint_code: code, ..knobs() });
    ["a", "b"].iter().for_each(|replica| server.event(replica, EventKind::ReplicaUpdated, at(0.0)));
    let decision = server.asks(&[1, 2], at(1.0), true);
    let hints: Vec<_> = decision.hints().collect();
    assert_eq!((decision.reason, hints.len()), (Reason::AffinityHint, 1));
    assert_eq!((hints[0].score, hints[0].matched_tokens, hints[0].probability), (0.0, 0, 0.0));
    assert_eq!(server.first(&[3, 4], at(1.0)), "b", "it counts as delivered all the same");
}

#[test]
fn gone_is_who_said_so_until_heard_of_again() {
    let server = Server::with(&["a", "b"]);
    server.stores("a", &[1, 2, 3], at(1.0));
    assert_eq!(server.first(&[1, 2, 3], at(2.0)), "a");
    server.event("a", EventKind::AllCleared, at(3.0));
    for prompt in 10..20 {
        assert_eq!(server.first(&[prompt], at(4.0)), "b");
    }
    server.event("a", EventKind::ReplicaUpdated, at(60.0));
    assert_eq!(server.first(&[30], at(60.0)), "a", "it has nothing before it");
}

#[test]
fn who_is_silent_gets_no_hint_after_the_timeout() {
    let timeout = Sourced::built_in(15 * SECOND);
    let server = Server::new(RankerKnobs { replica_timeout_ns: timeout, ..knobs() });
    server.stores("a", &[1, 2], at(0.0));
    server.stores("b", &[3], at(0.0));
    server.event("b", EventKind::ReplicaUpdated, at(14.0));
    assert_eq!(server.first(&[1, 2], at(15.0)), "a");
    assert_eq!(server.routes(&[1, 2], at(15.1)), (Reason::LoadHint, vec!["b".to_owned()]));
    assert_eq!(server.routes(&[1, 2], at(29.1)), (Reason::NoHint, vec![]));
    server.event("a", EventKind::ReplicaUpdated, at(30.0));
    assert_eq!(server.first(&[1, 2], at(30.0)), "a");
}

#[test]
fn tenant_hot_and_affinity_are_not_emitted_and_the_score_floor_is_off() {
    let server = Server::with(&["a"]);
    server.stores("a", &[9], at(0.0));
    server.pressure("a", 0.5, at(0.0));
    let decision = server.asks(&[1, 2], at(1.0), false);
    assert_eq!(decision.reason, Reason::LoadHint);
    let cause = |gate: &str| {
        let step = decision.steps.iter().find(|step| step.gate.id() == gate).unwrap();
        step.cause.map(|cause| cause.id())
    };
    assert_eq!(cause("routing-floor-score"), Some("scale-of-reference"));
    assert_eq!(cause("affinity"), Some("already-decided"));
    // Pressure 0.5 doubles the wait of 2 x 128 tokens.
    assert_eq!(decision.candidates.first().unwrap().wait.unwrap().wait_tokens, 512.0);
    assert_eq!(decision.hints().next().unwrap().score, 128.0 / (128.0 + 512.0));
}
