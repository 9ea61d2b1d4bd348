//! Rules about the strategy: fields that work against each other, or otherwise than they read.

use crate::policy::lint::finding::Findings;
use crate::policy::lint::input::Input;

const REQUIRE: &str = "spec.strategy.requireChain";
const CHAIN: &str = "spec.strategy.enableChainMatching";
const HOT: &str = "spec.strategy.enableTenantHot";

/// `require-chain-without-matching`.
pub(in crate::policy::lint) fn require_chain_without_matching(
    input: &Input<'_>,
    findings: &mut Findings<'_>,
) {
    for item in input.policies() {
        let (Some(require), Some(chain)) = (item.get(REQUIRE), item.get(CHAIN)) else { continue };
        if item.boolean(REQUIRE) == Some(true) && item.boolean(CHAIN) == Some(false) {
            let what = format!(
                "{} is true and `enableChainMatching` is false: every lookup would be refused",
                item.path_of(REQUIRE)
            );
            let finding = findings.of(item, require, what, "change one of them");
            findings.push(finding.related(item.site(chain), "chains are not matched"));
        }
    }
}

/// `zero-timeout-is-no-timeout`.
pub(in crate::policy::lint) fn zero_timeout_is_no_timeout(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let Some(entry) = item.get("spec.lookupTimeoutMs") else { continue };
        if item.policy().lookup_timeout_ms == Some(0) {
            let what = "a lookupTimeoutMs of 0 is no deadline, not an immediate one";
            findings.push(findings.of(
                item,
                entry,
                what,
                "leave it out for no deadline, or write milliseconds above 0",
            ));
        }
    }
}

/// `chain-off-affinity-on`.
pub(in crate::policy::lint) fn chain_off_affinity_on(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let Some(chain) = item.get(CHAIN) else { continue };
        let policy = item.policy();
        // With requireChain nobody gets an answer at all, which is an error of its own.
        let is_off = policy.enable_chain_matching == Some(false) && policy.require_chain != Some(true);
        if is_off && item.effective().affinity_routing.value {
            let what = "callers that send only a chain get NO_HINT, never the affinity replica that other callers get";
            let help =
                "write `affinityRouting: Disabled` where no caller is to have affinity, or match chains";
            let mut finding = findings.of(item, chain, what, help);
            if let Some(affinity) = item.get("spec.affinityRouting") {
                finding = finding.related(item.site(affinity), "affinity is on");
            }
            findings.push(finding);
        }
    }
}

/// `tenant-hot-dead`.
pub(in crate::policy::lint) fn tenant_hot_dead(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let policy = item.policy();
        let (Some(hot), Some(require)) = (item.get(HOT), item.get(REQUIRE)) else { continue };
        if policy.enable_tenant_hot == Some(true) && policy.require_chain == Some(true) {
            let what = "enableTenantHot never answers: with requireChain every request has a chain, and a chain never reaches it";
            let finding = findings.of(item, hot, what, "leave `enableTenantHot` out, or `requireChain`");
            findings.push(finding.related(item.site(require), "every request has a chain"));
        }
    }
}

/// `require-chain-blocks-tokens`.
pub(in crate::policy::lint) fn require_chain_blocks_tokens(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let Some(require) = item.get(REQUIRE) else { continue };
        let policy = item.policy();
        if policy.require_chain == Some(true) && policy.enable_chain_matching != Some(false) {
            let what = "callers that send token ids or prompt text are rejected too: the server builds no chain for them";
            let help = "make sure that every caller of the tenant sends a block-hash chain";
            findings.push(findings.of(item, require, what, help));
        }
    }
}
