//! The body of a push: policies and quotas as controllers send them, read into policies as written.
//!
//! The protocol has versions. What a field means when it is absent depends on them in one place only:
//! `minimumMatchedTokens` is not optional on the sender's side, so that its absence is a 0, and before version 4 a 0
//! stood for the default.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use super::resolve::TenantPolicy;
use crate::model::{Eviction, PROBE_TENANT};

/// Versions that are taken.
pub const PUSH_VERSIONS: std::ops::RangeInclusive<i64> = 3..=7;
/// Bytes of a body at most.
pub const MAX_PUSH_BYTES: usize = 1 << 20;
/// In this version a 0 for `minimumMatchedTokens` stands for the default.
const ZERO_IS_DEFAULT_VERSION: i64 = 3;

/// What a push comes to, as written.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PushedPolicies {
    /// Version of the body.
    pub version: i64,
    /// Policies by namespace.
    pub policies: BTreeMap<String, TenantPolicy>,
    /// `maxIndexEntries` by tenantID; `None` is no bound.
    pub quotas: BTreeMap<String, Option<u64>>,
    /// Entries that have no effect, each as a sentence.
    pub inert: Vec<String>,
}

impl PushedPolicies {
    /// What the policy of `namespace` is called where its values are shown.
    pub fn policy_object(&self, namespace: &str) -> Arc<str> {
        Arc::from(format!("pushed policy of {namespace} (version {})", self.version))
    }

    /// What the quota of `tenant` is called where its value is shown.
    pub fn quota_object(&self, tenant: &str) -> Arc<str> {
        Arc::from(format!("pushed tenant {tenant} (version {})", self.version))
    }
}

/// Why a push is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PushError {
    /// The body is no JSON, or a field is unknown or of another type.
    #[error("{}{what}", at(path))]
    Body {
        /// The field, as in `policies[0].strategy`; empty for the body itself.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// There is no version.
    #[error("`version` is missing; versions {} to {} are taken", PUSH_VERSIONS.start(), PUSH_VERSIONS.end())]
    NoVersion,
    /// The version is not one of those that are taken.
    #[error(
        "`version` is {version}; versions {} to {} are taken{}",
        PUSH_VERSIONS.start(),
        PUSH_VERSIONS.end(),
        also(unknown)
    )]
    Version {
        /// The version.
        version: i64,
        /// A field that only another version may know, as the error about it.
        unknown: Option<String>,
    },
    /// A field holds what it may not.
    #[error("`{path}` is {value}; {wanted}")]
    Value {
        /// The field.
        path: String,
        /// What it holds, as shown.
        value: String,
        /// What it may hold.
        wanted: String,
    },
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

fn also(unknown: &Option<String>) -> String {
    unknown.as_ref().map_or_else(String::new, |unknown| format!(" (and {unknown})"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object with `version`")]
struct Body {
    version: i64,
    policies: Option<Vec<Policy>>,
    tenants: Option<Vec<Tenant>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct Policy {
    namespace: Option<String>,
    #[serde(rename = "evictionTTL")]
    eviction_ttl: Option<i64>,
    minimum_prefix_tokens: Option<i32>,
    minimum_matched_tokens: Option<i32>,
    routing_floor_score: Option<f64>,
    lookup_timeout_ms: Option<i32>,
    affinity_routing: Option<bool>,
    eviction: Option<String>,
    strategy: Option<Strategy>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct Strategy {
    enable_chain_matching: Option<bool>,
    require_chain: Option<bool>,
    enable_tenant_hot: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct Tenant {
    #[serde(rename = "tenantID")]
    tenant_id: Option<String>,
    max_index_entries: Option<i64>,
    isolation_mode: Option<String>,
}

/// Only the version, so that a body of another version is refused for that.
#[derive(Deserialize)]
#[serde(expecting = "an object with `version`")]
struct Versioned {
    version: Option<i64>,
}

/// Reads the body of a push.
pub fn decode_push(body: &[u8]) -> Result<PushedPolicies, PushError> {
    let versioned: Versioned = json(body)?;
    let version = versioned.version.ok_or(PushError::NoVersion)?;
    only_objects(body)?;
    let body = json::<Body>(body);
    if !PUSH_VERSIONS.contains(&version) {
        return Err(PushError::Version { version, unknown: body.err().map(|error| error.to_string()) });
    }
    let body = body?;
    let mut pushed = PushedPolicies { version: body.version, ..PushedPolicies::default() };
    for (at, policy) in body.policies.unwrap_or_default().into_iter().enumerate() {
        let path = format!("policies[{at}]");
        let Some(namespace) = policy.namespace.clone().filter(|namespace| !namespace.is_empty()) else {
            pushed.inert.push(format!("pushed `{path}` has no effect: it names no namespace"));
            continue;
        };
        let written = decode_policy(&path, policy, version)?;
        if pushed.policies.insert(namespace.clone(), written).is_some() {
            pushed
                .inert
                .push(format!("an earlier pushed policy of {namespace} has no effect: `{path}` replaces it"));
        }
    }
    for (at, tenant) in body.tenants.unwrap_or_default().into_iter().enumerate() {
        let path = format!("tenants[{at}]");
        let Some(id) = tenant.tenant_id.clone().filter(|id| !id.is_empty()) else {
            pushed.inert.push(format!("pushed `{path}` has no effect: it names no tenantID"));
            continue;
        };
        let quota = decode_quota(&path, &tenant)?;
        if pushed.quotas.insert(id.clone(), quota).is_some() {
            pushed.inert.push(format!("an earlier pushed tenant {id} has no effect: `{path}` replaces it"));
        }
    }
    Ok(pushed)
}

fn decode_policy(path: &str, policy: Policy, version: i64) -> Result<TenantPolicy, PushError> {
    let field = |name: &str| format!("{path}.{name}");
    let count = |name: &str, value: Option<i32>| match value {
        Some(value) if value < 0 => Err(wrong(field(name), value, "write a number of 0 or more")),
        value => Ok(value),
    };
    not_reserved(field("namespace"), policy.namespace.as_deref())?;
    let strategy = policy.strategy.unwrap_or_default();
    if strategy.require_chain == Some(true) && strategy.enable_chain_matching == Some(false) {
        let wanted = "it needs `enableChainMatching`, or every lookup would be refused";
        return Err(wrong(field("strategy.requireChain"), true, wanted));
    }
    Ok(TenantPolicy {
        eviction: match policy.eviction.as_deref() {
            None | Some("") => None,
            Some("lru") => Some(Eviction::Lru),
            Some("lfu") => Some(Eviction::Lfu),
            Some(other) => return Err(wrong(field("eviction"), quoted(other), "write `lru` or `lfu`")),
        },
        ttl_ns: match policy.eviction_ttl {
            None | Some(0) => None,
            Some(ns) if ns < 0 => {
                return Err(wrong(field("evictionTTL"), ns, "write nanoseconds above 0"));
            }
            ttl_ns => ttl_ns,
        },
        minimum_prefix_tokens: count("minimumPrefixTokens", policy.minimum_prefix_tokens)?,
        minimum_matched_tokens: match count("minimumMatchedTokens", policy.minimum_matched_tokens)?
            .unwrap_or(0)
        {
            0 if version == ZERO_IS_DEFAULT_VERSION => None,
            tokens => Some(tokens),
        },
        routing_floor_score: policy
            .routing_floor_score
            .map(|score| {
                floor_score(score)
                    .ok_or_else(|| wrong(field("routingFloorScore"), score, "write a number of 0 or more"))
            })
            .transpose()?,
        lookup_timeout_ms: count("lookupTimeoutMs", policy.lookup_timeout_ms)?,
        enable_chain_matching: strategy.enable_chain_matching,
        require_chain: strategy.require_chain,
        enable_tenant_hot: strategy.enable_tenant_hot,
        affinity_routing: policy.affinity_routing,
        max_index_entries: None,
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "scores are 32-bit; what does not fit is infinite and refused"
)]
fn floor_score(score: f64) -> Option<f32> {
    let score = score as f32;
    (score.is_finite() && score >= 0.0).then_some(score)
}

/// The quota; one below 0 admits nothing, as 0 does.
fn decode_quota(path: &str, tenant: &Tenant) -> Result<Option<u64>, PushError> {
    not_reserved(format!("{path}.tenantID"), tenant.tenant_id.as_deref())?;
    match tenant.isolation_mode.as_deref() {
        None | Some("" | "Fairness") => {
            Ok(tenant.max_index_entries.map(|most| u64::try_from(most).unwrap_or(0)))
        }
        Some(other) => Err(wrong(format!("{path}.isolationMode"), quoted(other), "write `Fairness`")),
    }
}

fn not_reserved(path: String, tenant: Option<&str>) -> Result<(), PushError> {
    match tenant {
        Some(PROBE_TENANT) => {
            Err(wrong(path, quoted(PROBE_TENANT), "that one is reserved for health probes"))
        }
        _ => Ok(()),
    }
}

fn wrong(path: String, value: impl ToString, wanted: &str) -> PushError {
    PushError::Value { path, value: value.to_string(), wanted: wanted.to_owned() }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// Refuses lists where objects belong, which the fields in their order could be read from all the same.
fn only_objects(body: &[u8]) -> Result<(), PushError> {
    let body: serde_json::Value = json(body)?;
    let refused =
        |path: String| PushError::Body { path, what: "a list stands where an object belongs".to_owned() };
    for list in ["policies", "tenants"] {
        let items = body.get(list).and_then(serde_json::Value::as_array);
        for (at, item) in items.into_iter().flatten().enumerate() {
            if item.is_array() {
                return Err(refused(format!("{list}[{at}]")));
            }
            if item.get("strategy").is_some_and(serde_json::Value::is_array) {
                return Err(refused(format!("{list}[{at}].strategy")));
            }
        }
    }
    Ok(())
}

fn json<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, PushError> {
    let mut text = serde_json::Deserializer::from_slice(body);
    let refused = |path: String, error: &serde_json::Error| PushError::Body {
        path: if path == "." { String::new() } else { path },
        what: in_words(&error.to_string()),
    };
    let value = serde_path_to_error::deserialize(&mut text)
        .map_err(|error| refused(error.path().to_string(), error.inner()))?;
    text.end().map_err(|error| refused(String::new(), &error))?;
    Ok(value)
}

/// The parser's sentence, with words for its types.
fn in_words(sentence: &str) -> String {
    [
        ("expected i32", "expected a whole number of 32 bits"),
        ("expected i64", "expected a whole number"),
        ("expected f64", "expected a number"),
    ]
    .iter()
    .fold(sentence.to_owned(), |text, (name, words)| text.replace(name, words))
}
