//! The worked examples of the decision, as one table: through the real gRPC server, and through the pure functions on
//! evidence made by hand.

#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod examples;
mod pure;
mod served;

use examples::{Example, Expected, TENANT, examples};

/// An answer, whichever way it came.
#[derive(Debug)]
struct Given {
    reason: String,
    /// Replica, matched tokens, score.
    replicas: Vec<(String, i32, f32)>,
}

/// Scores are compared to this, in tokens.
const TOLERANCE: f32 = 0.01;

/// `elapsed_s` passed between the reports and the answer: scores have faded by at most what that makes.
fn check(example: &Example, given: &Given, elapsed_s: f32) {
    let name = example.name;
    assert_eq!(given.reason, example.expected.reason(), "{name}: {given:?}");
    match &example.expected {
        Expected::Ranked(_, expected) => {
            let order: Vec<(&str, i32)> =
                given.replicas.iter().map(|(replica, tokens, _)| (replica.as_str(), *tokens)).collect();
            let expected_order: Vec<(&str, i32)> =
                expected.iter().map(|(replica, tokens, _)| (*replica, *tokens)).collect();
            assert_eq!(order, expected_order, "{name}");
            for ((replica, _, score), (_, tokens, expected)) in given.replicas.iter().zip(expected) {
                // A hit rate fades within 5 minutes, tokens with an SLO bias twice within 30.
                let fades_per_s = (*tokens as f32 * 2.0 / 1_800.0).max(1.0 / 300.0);
                let lowest = expected - TOLERANCE - fades_per_s * elapsed_s;
                assert!(
                    (lowest..=expected + TOLERANCE).contains(score),
                    "{name}: {replica} scores {score}, not {expected}"
                );
            }
        }
        Expected::Affinity(roster) => {
            let seed = example.request.affinity_seed();
            let expected = (picked(&seed, roster).to_owned(), 0, 0.0);
            assert_eq!(given.replicas, [expected], "{name}");
        }
        Expected::Empty(_) => assert!(given.replicas.is_empty(), "{name}: {given:?}"),
    }
}

/// The first 8 bytes of SHA-256 of the seed, modulo the number of replicas.
fn picked<'a>(seed: &[u8], roster: &[&'a str]) -> &'a str {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(seed);
    let (head, _) = digest.split_first_chunk::<8>().expect("a digest has 32 bytes");
    let at = u64::from_be_bytes(*head) % roster.len() as u64;
    roster[usize::try_from(at).expect("a small number")]
}

#[test]
fn examples_hold_for_the_pure_functions() {
    for example in examples() {
        check(&example, &pure::answer(&example), 0.0);
    }
}

#[tokio::test]
async fn examples_hold_for_the_server() {
    for example in examples() {
        let (given, elapsed) = served::answer(&example).await;
        check(&example, &given, elapsed.as_secs_f32());
    }
}
