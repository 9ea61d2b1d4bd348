//! Answers against recorded answers and written expectations.

use super::report::Checked;
use crate::capture::Expectation;
use crate::model::{Answer, LookupRequest, RankedReplica, Tier};

/// Relative difference that scores and probabilities may have.
const RELATIVE: f32 = 1e-5;
/// Absolute difference below which both are zero.
const ZERO: f32 = 1e-9;

/// The code of answers that hang on the recorded server's own pace.
const TIMEOUT: &str = "TIMEOUT";

/// The first thing in which two answers differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Field, as it is called on the wire.
    pub field: String,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub got: String,
}

/// A lookup that was answered otherwise than it should have been.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Capture.
    pub file: String,
    /// Line of the lookup.
    pub line: u64,
    /// Keys of the request: tenant, model, hash scheme, adapter.
    pub keys: [String; 4],
    /// The first difference.
    pub difference: Difference,
    /// The whole answer that was expected, on one line.
    pub expected: String,
    /// The whole answer, on one line.
    pub got: String,
    /// The gate that decided it; a server does not say.
    pub because: Option<&'static str>,
}

impl Mismatch {
    pub(super) fn new(
        (file, line): (String, u64),
        request: &LookupRequest<'_>,
        because: Option<&'static str>,
        difference: Difference,
        expected: String,
        got: &Answer,
    ) -> Self {
        let keys = [request.tenant, request.model, request.scheme, request.adapter].map(str::to_owned);
        Self { file, line, keys, difference, expected, got: one_line(got), because }
    }
}

/// Compares an answer with what a person expects, else with what was recorded: reason code, replicas in order, matched
/// tokens and tiers exactly, scores and probabilities to 1e-5. The adapter and the latency are not compared.
///
/// A recorded `TIMEOUT` says how busy that server was, and an unrecorded one cannot happen on a clock that stands still,
/// so such an answer is not comparable.
pub fn compare(expect: Option<&Expectation>, recorded: Option<&Answer>, got: &Answer) -> Checked {
    let difference = match (expect, recorded) {
        (Some(expect), _) => against_expectation(expect, got),
        (None, Some(recorded)) if recorded.reason_code == TIMEOUT => return Checked::NotComparable,
        (None, Some(recorded)) => against_answer(recorded, got),
        (None, None) => return Checked::Nothing,
    };
    difference.map_or(Checked::Agrees, Checked::Differs)
}

fn against_expectation(expect: &Expectation, got: &Answer) -> Option<Difference> {
    if expect.reason_code != got.reason_code {
        return differs("reason_code", &expect.reason_code, &got.reason_code);
    }
    let replicas = expect.replicas.as_ref()?;
    let (expected, got) = (replicas.join(", "), ids(got));
    if expected == got { None } else { differs("replicas", &listed(&expected), &listed(&got)) }
}

fn against_answer(expected: &Answer, got: &Answer) -> Option<Difference> {
    if expected.reason_code != got.reason_code {
        return differs("reason_code", &expected.reason_code, &got.reason_code);
    }
    let (expected_ids, got_ids) = (ids(expected), ids(got));
    if expected_ids != got_ids {
        return differs("replicas", &listed(&expected_ids), &listed(&got_ids));
    }
    expected.replicas.iter().zip(&got.replicas).find_map(|(expected, got)| against_replica(expected, got))
}

fn against_replica(expected: &RankedReplica, got: &RankedReplica) -> Option<Difference> {
    let field = |name: &str| format!("{name} of {}", expected.replica);
    if expected.matched_tokens != got.matched_tokens {
        differs(
            &field("matched_tokens"),
            &expected.matched_tokens.to_string(),
            &got.matched_tokens.to_string(),
        )
    } else if expected.tier != got.tier {
        differs(&field("tier"), expected.tier.label(), got.tier.label())
    } else if !is_close(expected.score, got.score) {
        differs(&field("score"), &expected.score.to_string(), &got.score.to_string())
    } else if !is_close(expected.probability, got.probability) {
        let name = field("estimated_cache_hit_prob");
        differs(&name, &expected.probability.to_string(), &got.probability.to_string())
    } else {
        None
    }
}

fn is_close(expected: f32, got: f32) -> bool {
    let difference = (expected - got).abs();
    difference <= ZERO || difference <= RELATIVE * expected.abs().max(got.abs())
}

fn differs(field: &str, expected: &str, got: &str) -> Option<Difference> {
    Some(Difference { field: field.to_owned(), expected: expected.to_owned(), got: got.to_owned() })
}

fn ids(answer: &Answer) -> String {
    answer.replicas.iter().map(|replica| replica.replica.as_str()).collect::<Vec<_>>().join(", ")
}

fn listed(ids: &str) -> String {
    if ids.is_empty() { "none".to_owned() } else { ids.to_owned() }
}

/// What was to be answered, on one line.
pub(super) fn expectation(expect: Option<&Expectation>, recorded: Option<&Answer>) -> String {
    match (expect, recorded) {
        (Some(expect), _) => match &expect.replicas {
            Some(replicas) => format!("{} {}", expect.reason_code, listed(&replicas.join(", "))),
            None => expect.reason_code.clone(),
        },
        (None, Some(recorded)) => one_line(recorded),
        (None, None) => String::new(),
    }
}

/// Replicas that a line shows.
const SHOWN: usize = 8;

fn one_line(answer: &Answer) -> String {
    let mut line = answer.reason_code.clone();
    for replica in answer.replicas.iter().take(SHOWN) {
        line.push_str(&format!(" {}", replica.replica));
        if replica.matched_tokens == 0 && replica.score == 0.0 && replica.probability == 0.0 {
            continue;
        }
        line.push_str(&format!(
            "({} tokens, score {}, prob {}",
            replica.matched_tokens, replica.score, replica.probability
        ));
        if replica.tier != Tier::Unknown {
            line.push_str(&format!(", {}", replica.tier.label()));
        }
        line.push(')');
    }
    let more = answer.replicas.len().saturating_sub(SHOWN);
    if more > 0 {
        line.push_str(&format!(" and {more} more"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(code: &str, score: f32) -> Answer {
        Answer {
            reason_code: code.to_owned(),
            replicas: vec![RankedReplica {
                replica: "r1".to_owned(),
                score,
                matched_tokens: 64,
                probability: 0.5,
                tier: Tier::T1,
            }],
            ..Answer::default()
        }
    }

    fn field_of(expected: &Answer, got: &Answer) -> Option<String> {
        match compare(None, Some(expected), got) {
            Checked::Differs(difference) => Some(difference.field),
            Checked::Agrees => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn scores_may_differ_in_the_sixth_digit() {
        let base = one("PREFIX_MATCH", 100.0);
        for (score, differs) in [(100.0, false), (100.000_9, false), (100.002, true), (0.0, true)] {
            let expected = differs.then(|| "score of r1".to_owned());
            assert_eq!(field_of(&base, &one("PREFIX_MATCH", score)), expected, "{score}");
        }
        let zero = one("PREFIX_MATCH", 0.0);
        assert_eq!(field_of(&zero, &one("PREFIX_MATCH", 1e-10)), None);
        assert!(field_of(&zero, &one("PREFIX_MATCH", 1e-8)).is_some());
        assert!(field_of(&base, &one("PREFIX_MATCH", f32::NAN)).is_some());
    }

    #[test]
    fn the_first_difference_is_named() {
        let base = one("PREFIX_MATCH", 1.0);
        let change = |change: fn(&mut RankedReplica)| {
            let mut other = base.clone();
            change(&mut other.replicas[0]);
            field_of(&base, &other)
        };
        assert_eq!(field_of(&base, &one("NO_HINT", 1.0)).as_deref(), Some("reason_code"));
        assert_eq!(change(|r| r.replica = "r2".to_owned()).as_deref(), Some("replicas"));
        assert_eq!(change(|r| r.matched_tokens = 65).as_deref(), Some("matched_tokens of r1"));
        assert_eq!(change(|r| r.tier = Tier::T2).as_deref(), Some("tier of r1"));
        assert_eq!(change(|r| r.probability = 0.6).as_deref(), Some("estimated_cache_hit_prob of r1"));
    }

    #[test]
    fn an_expectation_counts_above_the_recorded_answer() {
        let got = one("PREFIX_MATCH", 1.0);
        let recorded = one("NO_HINT", 1.0);
        let expect = |replicas: Option<&[&str]>| Expectation {
            reason_code: "PREFIX_MATCH".to_owned(),
            replicas: replicas.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()),
        };
        assert_eq!(compare(Some(&expect(None)), Some(&recorded), &got), Checked::Agrees);
        assert_eq!(compare(Some(&expect(Some(&["r1"]))), None, &got), Checked::Agrees);
        for wrong in [&[][..], &["r2"], &["r1", "r2"]] {
            assert!(
                matches!(compare(Some(&expect(Some(wrong))), None, &got), Checked::Differs(_)),
                "{wrong:?}"
            );
        }
        assert_eq!(compare(None, None, &got), Checked::Nothing);
        assert_eq!(compare(None, Some(&one("TIMEOUT", 0.0)), &got), Checked::NotComparable);
    }
}
