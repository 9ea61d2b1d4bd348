//! The registry of fields of CachePolicy and CacheTenant: what may be written, and what it comes to when it is not.
//!
//! The loader, the lint rules, the CustomResourceDefinitions, the JSON Schema and the push decoder all read it here.

use crate::model::PROBE_TENANT;

/// Group and version of both kinds.
pub const API_VERSION: &str = "inferencecache.io/v1alpha1";
/// What `routingFloorScore` matches.
pub const DECIMAL_PATTERN: &str = r"^(0|[1-9][0-9]{0,7})(\.[0-9]{1,6})?$";
/// The namespace of an object that names none.
pub const DEFAULT_NAMESPACE: &str = "default";

/// A kind of object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ObjectKind {
    /// Applies to the tenant whose tenant_id is the object's namespace.
    CachePolicy,
    /// Applies to its `spec.tenantID`.
    CacheTenant,
}

impl ObjectKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::CachePolicy, Self::CacheTenant];

    /// As written in `kind`.
    pub fn label(self) -> &'static str {
        match self {
            Self::CachePolicy => "CachePolicy",
            Self::CacheTenant => "CacheTenant",
        }
    }

    /// The kind that is written `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == text)
    }

    /// The fields below `spec`, `spec` itself first, parents before children.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::CachePolicy => cache_policy(),
            Self::CacheTenant => cache_tenant(),
        }
    }
}

/// What a field holds, and which values are valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// A whole number from 0 to `i32::MAX`.
    Int32,
    /// A whole number from 0 to `i64::MAX`.
    Int64,
    /// `true` or `false`.
    Bool,
    /// Text: a Go duration above 0, such as `1h30m`.
    Duration,
    /// Text: a decimal of [`DECIMAL_PATTERN`].
    Decimal,
    /// Text: one of these words, in exactly this spelling.
    Enum(&'static [&'static str]),
    /// Text that is not empty, and none of these words.
    Text {
        /// Words that may not be written.
        reserved: &'static [&'static str],
    },
    /// An object with the fields of the table whose path continues this one's; without any it must be empty.
    Object,
}

/// One field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// From the top of the object, as in `spec.strategy.requireChain`.
    pub path: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// The value that holds when it is absent, as written in YAML but without quotes.
    pub default: Option<&'static str>,
    /// What its absence means where `default` is `None`; empty for objects and for what is required.
    pub unset: &'static str,
    /// Whether the object is refused without it.
    pub required: bool,
    /// One line.
    pub summary: &'static str,
}

impl Field {
    /// The last part of the path: the key as written.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// The path of the object that holds it; empty at the top.
    pub fn parent(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(parent, _)| parent)
    }
}

const fn field(path: &'static str, kind: FieldKind, default: &'static str, summary: &'static str) -> Field {
    Field { path, kind, default: Some(default), unset: "", required: false, summary }
}

const fn unset(path: &'static str, kind: FieldKind, unset: &'static str, summary: &'static str) -> Field {
    Field { path, kind, default: None, unset, required: false, summary }
}

const fn required(path: &'static str, kind: FieldKind, summary: &'static str) -> Field {
    Field { path, kind, default: None, unset: "", required: true, summary }
}

/// The fields of a CachePolicy below `spec`, `spec` itself first, parents before children.
pub fn cache_policy() -> &'static [Field] {
    use FieldKind::{Bool, Decimal, Duration, Enum, Int32, Object};
    const FIELDS: &[Field] = &[
        unset("spec", Object, "", "how lookups of the namespace's tenant are answered"),
        field("spec.eviction", Enum(&["LRU", "LFU"]), "LRU", "victim order when the index is over its cap"),
        unset(
            "spec.evictionTTL",
            Duration,
            "the server's --default-ttl, 30m",
            "how long an entry lives after its last report",
        ),
        unset(
            "spec.minimumPrefixTokens",
            Int32,
            "no gate",
            "shortest prompt that gets a hint, in tokens; 0 is no gate",
        ),
        field(
            "spec.minimumMatchedTokens",
            Int32,
            "64",
            "shortest match of a replica that counts, in tokens; 0 is no floor",
        ),
        field("spec.routingFloorScore", Decimal, "0.1", "lowest best score that counts; \"0\" is no floor"),
        unset(
            "spec.lookupTimeoutMs",
            Int32,
            "no deadline",
            "budget of one lookup in milliseconds; 0 is no deadline",
        ),
        unset("spec.strategy", Object, "", "which ways of matching are used"),
        field("spec.strategy.enableChainMatching", Bool, "true", "match block-hash chains"),
        field(
            "spec.strategy.requireChain",
            Bool,
            "false",
            "reject requests without a block-hash chain; true only with enableChainMatching",
        ),
        field("spec.strategy.enableTenantHot", Bool, "true", "allow warm-replica answers"),
        field(
            "spec.affinityRouting",
            Enum(&["Enabled", "Disabled"]),
            "Enabled",
            "answer with a stable replica where nothing matches",
        ),
    ];
    FIELDS
}

/// The fields of a CacheTenant below `spec`, `spec` itself first, parents before children.
pub fn cache_tenant() -> &'static [Field] {
    use FieldKind::{Enum, Int64, Object, Text};
    const FIELDS: &[Field] = &[
        required("spec", Object, "which tenant this is, and what it may use"),
        required("spec.tenantID", Text { reserved: &[PROBE_TENANT] }, "the tenant_id on the wire"),
        field(
            "spec.isolationMode",
            Enum(&["Fairness"]),
            "Fairness",
            "over quota, only that tenant's own oldest prefixes go",
        ),
        unset("spec.quota", Object, "", "bounds of what the tenant may hold"),
        unset(
            "spec.quota.maxIndexEntries",
            Int64,
            "no bound",
            "distinct (model, scheme, adapter, hash) keys at most; 0 admits nothing",
        ),
        unset("spec.crypto", Object, "", "reserved, and empty"),
    ];
    FIELDS
}

/// Fields of either kind beside `spec`.
pub fn envelope() -> &'static [Field] {
    use FieldKind::{Enum, Object, Text};
    const FIELDS: &[Field] = &[
        required("apiVersion", Enum(&[API_VERSION]), "group and version"),
        required("kind", Enum(&["CachePolicy", "CacheTenant"]), "what the object is"),
        required("metadata", Object, "name and namespace, and what the cluster keeps beside them"),
        required("metadata.name", Text { reserved: &[] }, "a DNS-1123 name"),
        field(
            "metadata.namespace",
            Text { reserved: &[] },
            DEFAULT_NAMESPACE,
            "a DNS-1123 label; of a CachePolicy it is the tenant_id that it applies to",
        ),
        unset("status", Object, "", "what the cluster writes; not read"),
    ];
    FIELDS
}

/// Keys that the cluster keeps in `metadata` beside name and namespace; whatever they hold is not read.
pub const CLUSTER_METADATA: [&str; 13] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_stand_before_their_children() {
        for kind in ObjectKind::ALL {
            let mut seen = vec![""];
            for field in kind.fields() {
                assert!(seen.contains(&field.parent()), "{}", field.path);
                assert!(!seen.contains(&field.path), "{}", field.path);
                seen.push(field.path);
            }
        }
    }

    #[test]
    fn absence_has_a_meaning() {
        for field in ObjectKind::ALL.iter().flat_map(|kind| kind.fields()) {
            let is_said = field.default.is_some() || !field.unset.is_empty();
            assert_eq!(is_said, !field.required && field.kind != FieldKind::Object, "{}", field.path);
        }
    }
}
