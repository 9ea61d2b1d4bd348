//! The policies in force as people and programs read them: `GET /policy` and `icache policy show` print this shape.

use serde::{Deserialize, Serialize};

use super::store::PolicySet;
use crate::model::{ResolvedPolicy, Sourced, format_duration};

/// Version of [`PolicyView`]; it grows when a field changes its meaning or goes.
pub const POLICY_VIEW_VERSION: u32 = 1;

/// Every effective policy, each value with where it came from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// [`POLICY_VIEW_VERSION`].
    pub version: u32,
    /// The tenants that have a policy or a quota of their own, by name.
    pub namespaces: Vec<NamespaceView>,
    /// What holds for every other tenant.
    pub default: KnobsView,
    /// Objects that have no effect because another one comes first, each as a sentence.
    #[serde(default)]
    pub inert: Vec<String>,
    /// What was pushed last; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed: Option<PushedView>,
    /// How the last reload of the policy files ended; absent where nothing is reloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reload: Option<ReloadView>,
}

/// The effective policy of one tenant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceView {
    /// The tenant_id on the wire: namespace of a CachePolicy, tenantID of a CacheTenant.
    pub namespace: String,
    /// Every knob, in the order of the registry.
    pub knobs: Vec<KnobView>,
}

/// A list of knobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnobsView {
    /// Every knob, in the order of the registry.
    pub knobs: Vec<KnobView>,
}

/// One knob of one policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnobView {
    /// The field as written below `spec`, such as `strategy.requireChain`.
    pub name: String,
    /// The effective value.
    pub value: KnobValue,
    /// `default`, `flag --default-ttl`, or the object that sets it, with file and line where known.
    pub source: String,
}

/// A value in the type that the field has in a policy file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KnobValue {
    /// No bound.
    Unbounded,
    /// A switch.
    Switch(bool),
    /// A count.
    Count(u64),
    /// A word, a duration or a decimal.
    Text(String),
}

impl std::fmt::Display for KnobValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unbounded => out.write_str("no bound"),
            Self::Switch(on) => write!(out, "{on}"),
            Self::Count(count) => write!(out, "{count}"),
            Self::Text(text) => out.write_str(text),
        }
    }
}

/// A set of policies that a controller pushed; the values say which of them are in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushedView {
    /// Version of the push protocol.
    pub version: i64,
    /// Policies in it.
    pub policies: usize,
    /// Tenants in it.
    pub tenants: usize,
}

/// How a reload of the policy files ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReloadView {
    /// When, in RFC 3339.
    pub at: String,
    /// Whether what the files say is in force; if not, the last good set still is.
    pub succeeded: bool,
    /// What is wrong with the files, each as `file:line: sentence`; empty after a success.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl PolicyView {
    /// What holds for a tenant by objects of its own; `None` where it has none.
    pub fn written(&self, namespace: &str) -> Option<&[KnobView]> {
        let own = self.namespaces.iter().find(|own| own.namespace == namespace)?;
        Some(&own.knobs)
    }

    /// Leaves out every other tenant; one that has no objects of its own is shown with the defaults.
    pub fn keep(&mut self, namespace: &str) {
        let knobs = self.knobs_of(namespace).to_vec();
        self.namespaces = vec![NamespaceView { namespace: namespace.to_owned(), knobs }];
    }

    /// What holds for a tenant.
    pub fn knobs_of(&self, namespace: &str) -> &[KnobView] {
        self.written(namespace).unwrap_or(&self.default.knobs)
    }
}

/// What `set` comes to, and the objects that came to nothing.
pub fn view(set: &PolicySet, inert: &[String]) -> PolicyView {
    let mut namespaces: Vec<NamespaceView> = set
        .iter()
        .map(|(tenant, policy)| NamespaceView { namespace: tenant.to_string(), knobs: knobs(policy) })
        .collect();
    namespaces.sort_by(|a, b| a.namespace.cmp(&b.namespace));
    PolicyView {
        version: POLICY_VIEW_VERSION,
        namespaces,
        default: KnobsView { knobs: knobs(set.default_policy()) },
        inert: inert.to_vec(),
        pushed: None,
        last_reload: None,
    }
}

/// Every knob of one policy, in the order of the documentation.
pub fn knobs(policy: &ResolvedPolicy) -> Vec<KnobView> {
    let count = |value: i32| KnobValue::Count(u64::try_from(value).unwrap_or(0));
    let text = |value: &str| KnobValue::Text(value.to_owned());
    vec![
        knob("eviction", &policy.eviction, |value| text(value.label())),
        knob("evictionTTL", &policy.ttl_ns, |ns| KnobValue::Text(format_duration(*ns))),
        knob("minimumPrefixTokens", &policy.minimum_prefix_tokens, |value| count(*value)),
        knob("minimumMatchedTokens", &policy.minimum_matched_tokens, |value| count(*value)),
        knob("routingFloorScore", &policy.routing_floor_score, |value| KnobValue::Text(value.to_string())),
        knob("lookupTimeoutMs", &policy.lookup_timeout_ms, |value| count(*value)),
        knob("strategy.enableChainMatching", &policy.enable_chain_matching, |on| KnobValue::Switch(*on)),
        knob("strategy.requireChain", &policy.require_chain, |on| KnobValue::Switch(*on)),
        knob("strategy.enableTenantHot", &policy.enable_tenant_hot, |on| KnobValue::Switch(*on)),
        knob("affinityRouting", &policy.affinity_routing, |on| {
            text(if *on { "Enabled" } else { "Disabled" })
        }),
        knob("quota.maxIndexEntries", &policy.max_index_entries, |most| match *most {
            u64::MAX => KnobValue::Unbounded,
            most => KnobValue::Count(most),
        }),
    ]
}

fn knob<T>(name: &str, sourced: &Sourced<T>, value: impl Fn(&T) -> KnobValue) -> KnobView {
    KnobView { name: name.to_owned(), value: value(&sourced.value), source: sourced.source.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Defaults, load_policies};

    #[test]
    fn the_shape_reads_back_as_it_was_written() {
        let text = "apiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {name: t}\n\
                    spec: {tenantID: team-a, quota: {maxIndexEntries: 0}}\n";
        let loaded = load_policies("t.yaml", text, &Defaults::default()).unwrap();
        let mut shown = view(&loaded.set, &["a sentence".to_owned()]);
        shown.last_reload =
            Some(ReloadView { at: "2026-01-01T00:00:00Z".to_owned(), succeeded: true, problems: Vec::new() });
        let json = serde_json::to_value(&shown).unwrap();
        assert_eq!(json["version"], 1);
        assert_eq!(json["namespaces"][0]["namespace"], "team-a");
        assert_eq!(
            json["namespaces"][0]["knobs"][10],
            serde_json::json!({
                "name": "quota.maxIndexEntries", "value": 0, "source": "CacheTenant default/t (t.yaml:4)"
            })
        );
        assert_eq!(
            json["default"]["knobs"][10],
            serde_json::json!({"name": "quota.maxIndexEntries", "value": null, "source": "default"})
        );
        assert_eq!(json["default"]["knobs"][4]["value"], "0.1");
        assert_eq!(serde_json::from_value::<PolicyView>(json).unwrap(), shown);
    }
}
