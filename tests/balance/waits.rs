//! What raises and lowers a wait: delivery, reports, time. The rate is 1,000 tokens a second, a block has 64 tokens.

use super::*;

#[test]
fn a_delivered_hint_is_pending_until_time_or_a_report_takes_it_away() {
    let server = Server::with(&["a", "b"]);
    assert_eq!(server.wait("a", &[1, 2], at(1.0)), (0.0, 128, 0), "asking changes nothing");
    assert_eq!(server.first(&[1, 2], at(1.0)), "a");
    assert_eq!(server.wait("a", &[8], at(1.0)).0, 128.0);
    let left = server.wait("a", &[8], at(1.1)).0;
    assert!((left - 28.0).abs() < 0.01, "{left} tokens after 100 tokens' time");
    assert_eq!(server.wait("a", &[8], at(2.0)).0, 0.0, "a lost hint heals by itself");
    assert_eq!(server.wait("b", &[8], at(1.0)).0, 0.0);
    // Two hints, and a report for the first of them: the second is left, whatever time says.
    assert_eq!([server.first(&[3, 4], at(5.0)), server.first(&[5, 6], at(5.0))], ["b", "a"]);
    server.asks(&[5, 6, 7], at(5.0), true);
    server.stores("a", &[5, 6], at(5.1));
    assert_eq!(server.wait("a", &[8], at(5.1)).0, 64.0);
}

#[test]
fn a_burst_of_one_prompt_stays_together_before_any_report() {
    let server = Server::with(&["a", "b", "c", "d"]);
    let prompt: Vec<u64> = (1..=20).collect();
    let picks: Vec<String> = (0..10).map(|n| server.first(&prompt, at(1.0 + f64::from(n) * 0.05))).collect();
    assert_eq!(picks, vec!["a"; 10]);
    assert_eq!(server.wait("a", &prompt, at(1.5)).1, 0);
    assert_eq!(server.wait("a", &prompt, at(1.5)).2, 1_280);
    // What is provisional is never shown as held, and the index holds nothing.
    let decision = server.asks(&prompt, at(1.5), false);
    assert!(decision.candidates.iter().all(|candidate| candidate.matched_tokens == 0));
    assert_eq!((decision.reason, server.router.index().entries()), (Reason::LoadHint, 0));
}

#[test]
fn a_provisional_holding_ends_with_its_time_or_with_the_report() {
    let server = Server::with(&["a", "b"]);
    let prompt: Vec<u64> = (1..=10).collect();
    assert_eq!(server.first(&prompt, at(0.0)), "a");
    // 640 tokens take 0.64 s, and then come the ten seconds of `--in-flight-ttl`.
    assert_eq!(server.wait("a", &prompt, at(10.63)).2, 640);
    assert_eq!(server.wait("a", &prompt, at(10.65)).2, 0);
    assert_eq!(server.first(&prompt, at(20.0)), "b");
    server.stores("b", &prompt, at(20.5));
    assert_eq!(server.wait("b", &prompt, at(20.6)), (0.0, 0, 0));
    assert_eq!(server.routes(&prompt, at(20.6)), (Reason::PrefixMatch, vec!["b".to_owned()]));
}

#[test]
fn a_head_that_is_on_its_way_counts_for_longer_prompts() {
    let server = Server::with(&["a", "b"]);
    let head: Vec<u64> = (1..=8).collect();
    assert_eq!(server.first(&head, at(0.0)), "a");
    let longer: Vec<u64> = (1..=12).collect();
    assert_eq!(server.wait("a", &longer, at(0.0)), (512.0, 256, 512));
    let other: Vec<u64> = (101..=112).collect();
    assert_eq!(server.wait("a", &other, at(0.0)).2, 0);
}

#[test]
fn a_replica_that_clears_has_nothing_pending_and_nothing_on_its_way() {
    let server = Server::with(&["a", "b"]);
    assert_eq!(server.first(&[1, 2], at(0.0)), "a");
    server.event("a", EventKind::AllCleared, at(0.0));
    server.event("a", EventKind::ReplicaUpdated, at(0.0));
    assert_eq!(server.wait("a", &[1, 2], at(0.0)), (0.0, 128, 0));
}

/// `fast` reports in a third of the time: in the end it waits no longer for three times the tokens.
#[test]
fn the_rate_is_learnt_from_reports() {
    let server = Server::with(&["fast", "slow"]);
    let mut next = 0_u64;
    for round in 0..60 {
        let start = 10.0 * f64::from(round);
        for replica in ["fast", "slow"] {
            server.event(replica, EventKind::ReplicaUpdated, at(start));
        }
        for _ in 0..2 {
            next += 1;
            let prompt: Vec<u64> = (0..15).map(|block| next * 1_000 + block).collect();
            let replica = server.first(&prompt, at(start));
            let took = if replica == "fast" { 0.32 } else { 0.96 };
            server.stores(&replica, &prompt, at(start + took));
        }
    }
    let decision = server.asks(&[1], at(600.0), false);
    let rate = |replica: &str| {
        let member = decision.roster.member(replica).unwrap();
        decision.candidates.iter().find(|c| c.member == member).unwrap().wait.unwrap().rate
    };
    assert!((2_700.0..3_100.0).contains(&rate("fast")), "{}", rate("fast"));
    assert!((950.0..1_050.0).contains(&rate("slow")), "{}", rate("slow"));
    // Six prompts at once: the slow one gets some when four or so wait at the fast one.
    let prompt = |n: u64| (0..15).map(|block| 900_000 + n * 100 + block).collect::<Vec<u64>>();
    let picks: Vec<String> = (0..6).map(|n| server.first(&prompt(n), at(600.0))).collect();
    let fast = picks.iter().filter(|replica| *replica == "fast").count();
    assert!((4..=5).contains(&fast), "{picks:?}");
}
