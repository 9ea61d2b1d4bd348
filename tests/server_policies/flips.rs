//! Lookups at full rate while the policy file flips: each answer is of one policy or the other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use icache::contract::wire::icache::v1alpha1::ExplainRouteResponse;
use tokio::task::JoinSet;

use crate::*;

const FLIPS: usize = 200;
const LOOKERS: usize = 3;

/// Each writes every field that this lookup depends on, so that a mixture shows: r1's entry is ten minutes old, and
/// the two differ in its visibility and in what is answered without it.
const ALL_MATCH: &str = "evictionTTL: 1h, minimumMatchedTokens: 1, minimumPrefixTokens: 0, routingFloorScore: \"0\", \
     affinityRouting: Disabled, strategy: {enableTenantHot: true, requireChain: false, enableChainMatching: true}";
const ALL_AFFINITY: &str = "evictionTTL: 1m, minimumMatchedTokens: 2, minimumPrefixTokens: 0, routingFloorScore: \"1\", \
     affinityRouting: Enabled, strategy: {enableTenantHot: false, requireChain: false, enableChainMatching: true}";

const ANSWERS: [&str; 2] = [MATCH, "AFFINITY_HINT"];

/// The policies that the knobs of an explanation came from.
fn policies_behind(explained: &ExplainRouteResponse) -> BTreeSet<&str> {
    let knobs = explained.steps.iter().flat_map(|step| &step.knobs);
    knobs.filter_map(|knob| knob.source.strip_prefix("CachePolicy team-a/")?.split(' ').next()).collect()
}

/// Asks until told to stop; how often each policy answered.
async fn look(served: Arc<Served>, stop: Arc<AtomicBool>) -> [u64; 2] {
    let mut counts = [0; 2];
    while !stop.load(Ordering::Relaxed) {
        let reason = served.reason("old").await;
        let answered = ANSWERS.iter().position(|answer| *answer == reason);
        counts[answered.unwrap_or_else(|| panic!("{reason} is of neither policy"))] += 1;
    }
    counts
}

/// The same for explanations: the answer is that of the policy which every knob came from.
async fn explain(served: Arc<Served>, stop: Arc<AtomicBool>) -> [u64; 2] {
    let mut counts = [0; 2];
    while !stop.load(Ordering::Relaxed) {
        let explained = served.explain.clone().explain_route(ask("old")).await.unwrap().into_inner();
        let reason = explained.answer.as_ref().unwrap().reason_code.clone();
        let policies: Vec<&str> = policies_behind(&explained).into_iter().collect();
        let answered = match policies[..] {
            ["matches"] => 0,
            ["affinity"] => 1,
            _ => panic!("{reason} is explained by {policies:?}"),
        };
        assert_eq!(reason, ANSWERS[answered]);
        counts[answered] += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_lookup_sees_a_mixture_of_two_policies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let texts = [policy("matches", ALL_MATCH), policy("affinity", ALL_AFFINITY)];
    fs::write(&path, &texts[0]).unwrap();
    let flags = ["--policy", path.to_str().unwrap(), "--sweep-interval", "1h"];
    let served = Arc::new(Served::start(&flags).await);
    served.report("old", Duration::from_secs(600)).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut lookers = JoinSet::new();
    for _ in 0..LOOKERS {
        lookers.spawn(look(Arc::clone(&served), Arc::clone(&stop)));
    }
    lookers.spawn(explain(Arc::clone(&served), Arc::clone(&stop)));
    for flip in 1..=FLIPS {
        replace(&path, &texts[flip % 2]);
        let changed = Instant::now();
        while served.reason("old").await != ANSWERS[flip % 2] {
            assert!(changed.elapsed() < LIMIT, "flip {flip} is not in force after {LIMIT:?}");
            assert!(lookers.try_join_next().is_none(), "a looker ended");
        }
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(counts) = lookers.join_next().await {
        let counts = counts.unwrap();
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    }
    assert_eq!(served.metric("shed_total").await, Some(0.0));
    assert_eq!(served.metric("policy_reload_success").await, Some(1.0));
}
