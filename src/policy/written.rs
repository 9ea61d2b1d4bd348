//! A set of policies as documents that come to the same set: what a capture keeps of a server's policies.

use super::fields::API_VERSION;
use super::store::PolicySet;
use super::view::{KnobValue, KnobView, knobs};
use crate::model::{ResolvedPolicy, Source};

/// Decimals that a score may be written with.
const DECIMALS: usize = 6;

/// The documents of every tenant that has something of its own, by tenant. Where values came from is left out.
pub fn documents(set: &PolicySet) -> String {
    let mut tenants: Vec<_> = set.iter().collect();
    tenants.sort_by_key(|(tenant, _)| tenant.as_str());
    let mut text = String::new();
    for (tenant, policy) in tenants {
        if has_policy(policy) {
            cache_policy(&mut text, tenant.as_str(), policy);
        }
        if policy.max_index_entries.value != u64::MAX {
            let tenant = quoted(tenant.as_str());
            begin(&mut text, "CacheTenant");
            text.push_str(&format!("metadata:\n  name: {NAME}\nspec:\n  tenantID: {tenant}\n  quota:\n"));
            text.push_str(&format!("    maxIndexEntries: {}\n", policy.max_index_entries.value));
        }
    }
    text
}

/// Name of every object: one that is written has no rival for its tenant.
const NAME: &str = "recorded";

fn begin(text: &mut String, kind: &str) {
    if !text.is_empty() {
        text.push_str("---\n");
    }
    text.push_str(&format!("apiVersion: {API_VERSION}\nkind: {kind}\n"));
}

fn cache_policy(text: &mut String, namespace: &str, policy: &ResolvedPolicy) {
    begin(text, "CachePolicy");
    text.push_str(&format!("metadata:\n  name: {NAME}\n  namespace: {}\nspec:\n", quoted(namespace)));
    let knobs = knobs(policy);
    for knob in knobs.iter().filter(|knob| !knob.name.contains('.')) {
        text.push_str(&format!("  {}: {}\n", knob.name, value(knob)));
    }
    text.push_str("  strategy:\n");
    for (name, knob) in knobs.iter().filter_map(|knob| Some((knob.name.strip_prefix("strategy.")?, knob))) {
        text.push_str(&format!("    {name}: {}\n", value(knob)));
    }
}

fn value(knob: &KnobView) -> String {
    match &knob.value {
        KnobValue::Text(text) if knob.name == "routingFloorScore" => quoted(&decimal(text)),
        KnobValue::Text(text) => quoted(text),
        other => other.to_string(),
    }
}

/// As many decimals as a policy may write.
fn decimal(text: &str) -> String {
    match text.split_once('.') {
        Some((_, decimals)) if decimals.len() > DECIMALS => {
            let value: f64 = text.parse().unwrap_or_default();
            format!("{value:.DECIMALS$}")
        }
        _ => text.to_owned(),
    }
}

/// A JSON string is a YAML scalar in double quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Whether an object beside a quota says something.
fn has_policy(policy: &ResolvedPolicy) -> bool {
    let sources = [
        &policy.eviction.source,
        &policy.ttl_ns.source,
        &policy.minimum_prefix_tokens.source,
        &policy.minimum_matched_tokens.source,
        &policy.routing_floor_score.source,
        &policy.lookup_timeout_ms.source,
        &policy.enable_chain_matching.source,
        &policy.require_chain.source,
        &policy.enable_tenant_hot.source,
        &policy.affinity_routing.source,
    ];
    sources.into_iter().any(|source| matches!(source, Source::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Defaults, load_policies};

    fn values(set: &PolicySet) -> Vec<(String, Vec<(String, KnobValue)>)> {
        let mut all: Vec<_> = set
            .iter()
            .map(|(tenant, policy)| {
                let knobs = knobs(policy).into_iter().map(|knob| (knob.name, knob.value));
                (tenant.to_string(), knobs.collect())
            })
            .collect();
        all.sort_by(|a: &(String, _), b: &(String, _)| a.0.cmp(&b.0));
        all
    }

    #[test]
    fn what_is_written_comes_to_the_same_set() {
        let text = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p, namespace: a}\n\
             spec: {eviction: LFU, evictionTTL: 90500us, minimumMatchedTokens: 0, routingFloorScore: \"0.123456\",\n\
             strategy: {requireChain: true, enableTenantHot: false}, affinityRouting: Disabled}\n---\n\
             apiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {name: t}\n\
             spec: {tenantID: \"b: 'c' \\\"d\\\"\", quota: {maxIndexEntries: 0}}\n---\n\
             apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: e, namespace: e}\nspec: {}\n";
        let loaded = load_policies("p.yaml", text, &Defaults::default()).unwrap();
        let written = documents(&loaded.set);
        let again = load_policies("again.yaml", &written, &Defaults::default()).unwrap();
        let without_e =
            |set: &PolicySet| values(set).into_iter().filter(|(id, _)| id != "e").collect::<Vec<_>>();
        assert_eq!(without_e(&again.set), without_e(&loaded.set), "{written}");
        assert_eq!(documents(&again.set), written);
        assert_eq!(documents(&PolicySet::empty(&Defaults::default())), "");
        assert_eq!(decimal("0.12345678"), "0.123457");
    }
}
