//! Conversions at their edges, and there and back.

use super::wire::inferencecache::v1alpha1 as wire;
use super::*;
use crate::explanation::{ExplainedCandidate, ExplainedKnob, ExplainedStep, Explanation, Finding, Wait};
use crate::model::{Answer, EventKind, RankedReplica, Tier, Timestamp};

fn entry(tier: i32) -> wire::CacheStateUpdate {
    let prefixes = vec![wire::PrefixEntry { tier, ..Default::default() }];
    wire::CacheStateUpdate { prefixes, ..Default::default() }
}

#[test]
fn tiers_of_entries_never_become_hotter() {
    for (number, tier) in [
        (0, Tier::T1),
        (1, Tier::T1),
        (2, Tier::T2),
        (3, Tier::T3),
        (4, Tier::Unknown),
        (i32::MAX, Tier::Unknown),
        (-1, Tier::Unknown),
        (i32::MIN, Tier::Unknown),
    ] {
        let message = entry(number);
        assert_eq!(decode_update(&message).prefixes[0].tier, tier, "{number}");
        let again = encode_update(&decode_update(&message));
        assert_eq!(decode_update(&again).prefixes[0].tier, tier, "{number}, encoded again");
    }
}

#[test]
fn tiers_of_answers_are_unspecified_where_unknown() {
    for (tier, number) in [(Tier::T1, 1), (Tier::T2, 2), (Tier::T3, 3), (Tier::Unknown, 0)] {
        let answer = Answer {
            replicas: vec![RankedReplica {
                replica: "r1".to_owned(),
                score: 1.5,
                matched_tokens: 64,
                probability: 0.5,
                tier,
            }],
            reason_code: "PREFIX_MATCH".to_owned(),
            latency_us: 7,
            token_ids: vec![1, 2],
            adapter: "lora".to_owned(),
        };
        let message = encode_answer(answer.clone());
        assert_eq!(message.replica_scores[0].tier, number);
        assert_eq!(decode_answer(message), answer);
    }
}

#[test]
fn time_zero_is_no_time() {
    let update = |timestamp_us| wire::CacheStateUpdate { timestamp_us, ..Default::default() };
    assert_eq!(decode_update(&update(0)).at, None);
    assert_eq!(decode_update(&update(5)).at, Some(Timestamp::from_us(5)));
    assert_eq!(decode_update(&update(-5)).at, Some(Timestamp::from_us(-5)));
    assert_eq!(encode_update(&decode_update(&update(5))).timestamp_us, 5);
}

#[test]
fn unknown_event_types_are_unknown() {
    for (number, kind) in [
        (0, EventKind::Unknown),
        (1, EventKind::PrefixAdded),
        (2, EventKind::PrefixEvicted),
        (3, EventKind::ReplicaUpdated),
        (4, EventKind::AllCleared),
        (5, EventKind::Unknown),
        (-1, EventKind::Unknown),
    ] {
        let message = wire::CacheEvent { r#type: number, ..Default::default() };
        assert_eq!(decode_event(&message).kind, kind, "{number}");
    }
}

#[test]
fn json_reads_both_names_of_a_field_and_writes_one() {
    let text = r#"{"modelId":"m","tenant_id":"t","hashScheme":"vllm","blockHashes":["AQID"],"blockTokenCounts":[16],"slo":{"ttftMs":50}}"#;
    let message: LookupRouteRequest = from_json(text).unwrap();
    let request = decode_request(&message);
    assert_eq!((request.model, request.tenant, request.slo.ttft_ms), ("m", "t", 50));
    assert_eq!(request.block_hashes.get(0), [1, 2, 3]);
    assert_eq!(from_json::<LookupRouteRequest>(&to_json(&message).unwrap()).unwrap(), message);
    assert_eq!(encode_request(&request), message);
}

#[test]
fn json_names_what_it_does_not_know() {
    for (text, named) in [
        (r#"{"modelID":"m"}"#, "modelID"),
        (r#"{"slo":{"ttft":1}}"#, "ttft"),
        (r#"{"modelId":"m"} x"#, "trailing"),
        (r#"{"modelId":"m","modelId":"n"}"#, "modelId"),
        (r#"[]"#, "expected an object"),
    ] {
        let error = from_json::<LookupRouteRequest>(text).unwrap_err().to_string();
        assert!(error.contains(named), "{text}: {error}");
    }
    let error = from_json::<CacheEvent>(r#"{"type":"GONE"}"#).unwrap_err().to_string();
    assert!(error.contains("`GONE`"), "{error}");
}

#[test]
fn a_tier_without_a_name_has_no_json() {
    let error = to_json(&entry(9)).unwrap_err().to_string();
    assert!(error.contains('9'), "{error}");
}

#[test]
fn explanations_survive_the_wire() {
    let step = |outcome: &str| ExplainedStep {
        gate: "prefix-match".to_owned(),
        stage: "index".to_owned(),
        outcome: outcome.to_owned(),
        cause: "holders-found".to_owned(),
        detail: "replicas that hold the prefix were found".to_owned(),
        values: vec![("holders".to_owned(), "2".to_owned())],
        knobs: vec![ExplainedKnob {
            name: "evictionTTL".to_owned(),
            value: "30m".to_owned(),
            source: "default".to_owned(),
        }],
    };
    let explanation = Explanation {
        answer: Answer { reason_code: "NO_HINT".to_owned(), ..Answer::default() },
        decided_by: "answer".to_owned(),
        because: "routing-floor-score".to_owned(),
        steps: ["passed", "filtered", "downgraded", "decided", "skipped"].map(step).to_vec(),
        candidates: vec![ExplainedCandidate {
            replica: "r1".to_owned(),
            matched_tokens: 32,
            matched_blocks: 2,
            probability: 0.9,
            freshness: 0.8,
            pressure_factor: 0.7,
            slo_bias: 1.6,
            distinguishing_power: 0.5,
            score: 14.3,
            tier: Tier::T2,
            filtered_by: "minimum-matched-tokens".to_owned(),
            wait: Some(Wait {
                pending_tokens: 512.0,
                uncached_tokens: 16,
                provisional_tokens: 32,
                ahead_tokens: 640.0,
                rate: 9_000.0,
                pressure_scale: 1.5,
                wait_tokens: 1_013.5,
            }),
        }],
        findings: vec![Finding {
            id: "first-block-unknown".to_owned(),
            message: "0 of 2 blocks".to_owned(),
            advice: "compare tokenizers".to_owned(),
        }],
    };
    assert_eq!(decode_explanation(encode_explanation(explanation.clone())), explanation);
}
