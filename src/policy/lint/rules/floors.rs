//! Rules about the gate on the prompt and the two floors on the match.

use crate::model::Limits;
use crate::policy::lint::finding::Findings;
use crate::policy::lint::input::Input;

const PREFIX: &str = "spec.minimumPrefixTokens";
const MATCHED: &str = "spec.minimumMatchedTokens";
const SCORE: &str = "spec.routingFloorScore";

/// `both-floors-off`.
pub(in crate::policy::lint) fn both_floors_off(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let policy = item.policy();
        let is_off = policy.minimum_matched_tokens == Some(0) && policy.routing_floor_score == Some(0.0);
        if let (true, Some(matched), Some(score)) = (is_off, item.get(MATCHED), item.get(SCORE)) {
            let what = "both floors are off: a match of one block sends a request, however stale it is";
            let help = "leave one of the two out for its default, or write a floor above 0";
            let finding = findings.of(item, score, what, help);
            findings.push(finding.related(item.site(matched), "the other floor, off too"));
        }
    }
}

/// `matched-floor-above-prefix-gate`.
pub(in crate::policy::lint) fn matched_floor_above_prefix_gate(
    input: &Input<'_>,
    findings: &mut Findings<'_>,
) {
    for item in input.policies() {
        let (Some(gate), Some(entry)) = (item.policy().minimum_prefix_tokens, item.get(PREFIX)) else {
            continue;
        };
        let floor = item.effective().minimum_matched_tokens.value;
        // No gate at all says nothing of which prompts were meant to match.
        if gate == 0 || gate >= floor {
            continue;
        }
        let what = format!(
            "prompts of {gate} to {} tokens pass the gate and can never match {floor} tokens",
            floor - 1
        );
        let help = format!("raise `minimumPrefixTokens` to {floor}, or lower `minimumMatchedTokens`");
        let mut finding = findings.of(item, entry, what, help);
        if let Some(matched) = item.get(MATCHED) {
            finding = finding.related(item.site(matched), "the floor");
        }
        findings.push(finding);
    }
}

/// `matched-floor-not-block-aligned`.
pub(in crate::policy::lint) fn matched_floor_not_block_aligned(
    input: &Input<'_>,
    findings: &mut Findings<'_>,
) {
    let block = i64::from(input.options.block_size.max(1));
    for item in input.policies() {
        let (Some(floor), Some(entry)) = (item.policy().minimum_matched_tokens, item.get(MATCHED)) else {
            continue;
        };
        let floor = i64::from(floor);
        // Below one block the floor has a rule of its own.
        if floor <= block || floor % block == 0 {
            continue;
        }
        let (below, above) = (floor - floor % block, floor - floor % block + block);
        let what =
            format!("matches grow by blocks of {block} tokens, so a floor of {floor} is one of {above}");
        let help = format!("write {above}, or {below} to let matches of {} blocks through", below / block);
        findings.push(findings.of(item, entry, what, help));
    }
}

/// `floor-below-one-block`.
pub(in crate::policy::lint) fn floor_below_one_block(input: &Input<'_>, findings: &mut Findings<'_>) {
    let block = i64::from(input.options.block_size);
    for item in input.policies() {
        let (Some(floor), Some(entry)) = (item.policy().minimum_matched_tokens, item.get(MATCHED)) else {
            continue;
        };
        if floor > 0 && i64::from(floor) < block {
            let what = format!(
                "the shortest match is one block of {block} tokens, so a floor of {floor} holds nothing back"
            );
            let help = format!("write more than {block}, or 0 to say that there is no floor");
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

/// `floor-hides-single-replica`.
pub(in crate::policy::lint) fn floor_hides_single_replica(input: &Input<'_>, findings: &mut Findings<'_>) {
    let longest = Limits::default().request_tokens;
    for item in input.policies() {
        let (Some(floor), Some(entry)) = (item.policy().routing_floor_score, item.get(SCORE)) else {
            continue;
        };
        let gate = item.effective().minimum_prefix_tokens.value;
        // Both are below 2^31, where the difference between the two types does not matter.
        if f64::from(floor) > f64::from(gate) && f64::from(floor) > longest as f64 {
            let what = format!(
                "a score is at most the matched tokens of a replica, and no prompt has {floor} of them: nothing ever matches"
            );
            let help = "write a floor of a few tokens, as in \"0.1\" or \"16\"";
            findings.push(findings.of(item, entry, what, help));
        }
    }
}
