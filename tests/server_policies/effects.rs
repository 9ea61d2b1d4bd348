//! What a change of policy does to the next lookup, and to the index.

use crate::*;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_change_is_in_force_for_the_next_lookup() {
    let served = Served::start(&["--sweep-interval", "1h"]).await;
    served.report("p", 10 * MINUTE).await;
    let ns = |minutes: u64| minutes * 60_000_000_000;
    for (fields, reason) in [
        (r#""affinityRouting": false"#.to_owned(), MATCH),
        // Entries older than a shorter time to live are invisible at once, and none was removed.
        (format!(r#""affinityRouting": false, "evictionTTL": {}"#, ns(9)), HIDDEN),
        (format!(r#""affinityRouting": false, "evictionTTL": {}"#, ns(11)), MATCH),
        (r#""affinityRouting": false, "minimumMatchedTokens": 101"#.to_owned(), HIDDEN),
        (r#""affinityRouting": false, "minimumMatchedTokens": 100"#.to_owned(), MATCH),
        (r#""affinityRouting": false, "routingFloorScore": 1e9"#.to_owned(), HIDDEN),
        (r#""affinityRouting": false, "routingFloorScore": 0"#.to_owned(), MATCH),
        (r#""affinityRouting": true, "minimumMatchedTokens": 101"#.to_owned(), "AFFINITY_HINT"),
        (r#""strategy": {"requireChain": true}"#.to_owned(), "POLICY_REQUIRES_CHAIN"),
        (r#""strategy": {"requireChain": false}"#.to_owned(), MATCH),
    ] {
        served.push(&pushed(&fields)).await;
        assert_eq!(served.reason("p").await, reason, "{fields}");
    }
    assert_eq!(served.metric("index_replica_entries").await, Some(1.0));
}

/// Which of some hashes still match.
async fn held(served: &Served, hashes: &[&'static str]) -> Vec<&'static str> {
    let mut held = Vec::new();
    for hash in hashes {
        if served.reason(hash).await == MATCH {
            held.push(*hash);
        }
    }
    held
}

const EVICTED: &str = "tenant_evictions_total{reason=\"over_entries\",tenant_id=\"team-a\"}";

#[tokio::test]
async fn a_quota_evicts_the_oldest_when_it_comes_and_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.yaml");
    fs::write(&path, policy("p", "affinityRouting: Disabled")).unwrap();
    let served = Served::under(folder.path()).await;
    for (hash, age) in [("a", 3), ("b", 5), ("c", 4), ("d", 2), ("e", 1)] {
        served.report(hash, age * MINUTE).await;
    }
    let hashes = ["a", "b", "c", "d", "e", "f", "p"];
    assert_eq!(held(&served, &hashes).await, ["a", "b", "c", "d", "e", "p"]);
    assert_eq!(served.metric(EVICTED).await, None);

    replace(&path, &(policy("p", "affinityRouting: Disabled") + &quota(3)));
    server_support::until(|| served.metric(EVICTED), |evicted| *evicted == Some(3.0)).await;
    assert_eq!(held(&served, &hashes).await, ["d", "e", "p"], "the oldest go at once");
    served.report("f", Duration::ZERO).await;
    assert_eq!(held(&served, &hashes).await, ["e", "f", "p"]);
    assert_eq!(served.metric(EVICTED).await, Some(4.0));

    // A pushed quota that admits nothing.
    served.push(r#"{"version": 7, "tenants": [{"tenantID": "team-a", "maxIndexEntries": -5}]}"#).await;
    assert_eq!(served.metric(EVICTED).await, Some(7.0), "in force, and counted, when the push is answered");
    assert_eq!(held(&served, &hashes).await, [""; 0]);
    served.report("a", Duration::ZERO).await;
    assert_eq!(held(&served, &hashes).await, [""; 0]);

    // Without it the file's holds again.
    served.push(r#"{"version": 7}"#).await;
    for hash in ["a", "b", "c", "d"] {
        served.report(hash, Duration::ZERO).await;
    }
    assert_eq!(held(&served, &hashes).await.len(), 3);
}

#[tokio::test]
async fn the_order_of_victims_is_the_policys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let with = |eviction: &str| policy("p", &format!("eviction: {eviction}, affinityRouting: Disabled"));
    for (eviction, kept) in [("LRU", ["new", "young"]), ("LFU", ["new", "old"])] {
        fs::write(&path, with(eviction)).unwrap();
        let flags = ["--policy", path.to_str().unwrap(), "--max-entries", "2"];
        let served = Served::start(&flags).await;
        served.report("old", 20 * MINUTE).await;
        served.report("young", 10 * MINUTE).await;
        assert_eq!(held(&served, &["old"]).await, ["old"], "which credits it");
        served.report("new", 5 * MINUTE).await;
        assert_eq!(held(&served, &["new", "old", "young"]).await, kept, "{eviction}");
    }
}

#[tokio::test]
async fn a_changed_order_holds_for_the_next_victim() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let with = |eviction: &str| policy("p", &format!("eviction: {eviction}, affinityRouting: Disabled"));
    fs::write(&path, with("LRU")).unwrap();
    let served = Served::start(&["--policy", path.to_str().unwrap(), "--max-entries", "2"]).await;
    served.report("old", 20 * MINUTE).await;
    served.report("young", 10 * MINUTE).await;
    replace(&path, &with("LFU"));
    server_support::until(|| served.knob("eviction"), |knob| knob.0 == "LFU").await;
    assert_eq!(held(&served, &["old"]).await, ["old"]);
    served.report("new", 5 * MINUTE).await;
    assert_eq!(held(&served, &["new", "old", "young"]).await, ["new", "old"]);
    assert_eq!(served.metric("index_evictions_total{algorithm=\"lfu\",reason=\"cap\"}").await, Some(1.0));
}
