//! What differs in effect between two sets of policies, whatever their files look like.

use std::collections::BTreeSet;

use serde::Serialize;

use super::view::{KnobValue, KnobView, PolicyView};

/// Version of [`PolicyDiff`]; it grows when a field changes its meaning or goes.
pub const POLICY_DIFF_VERSION: u32 = 1;

/// The namespaces that are answered otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDiff {
    /// [`POLICY_DIFF_VERSION`].
    pub version: u32,
    /// Namespaces in which a value changes, by name.
    pub namespaces: Vec<NamespaceDiff>,
    /// What changes for every namespace that neither side names.
    pub default: Vec<KnobDiff>,
}

/// What changes in one namespace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceDiff {
    /// The tenant_id on the wire.
    pub namespace: String,
    /// Which side has objects for it.
    pub change: Change,
    /// Knobs whose value changes, in the order of the registry; not empty.
    pub knobs: Vec<KnobDiff>,
}

/// Which side names a namespace; the other side answers it by the defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The new side alone.
    Added,
    /// The old side alone.
    Removed,
    /// Both.
    Changed,
}

impl Change {
    /// As shown.
    pub fn label(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// One knob before and after.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnobDiff {
    /// The field as written below `spec`.
    pub name: String,
    /// Before.
    pub old: Setting,
    /// After.
    pub new: Setting,
}

/// A value and where it came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Setting {
    /// The effective value; `None` where that side does not know the knob.
    pub value: Option<KnobValue>,
    /// Its source.
    pub source: String,
}

impl PolicyDiff {
    /// Whether both sides answer alike.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.default.is_empty()
    }
}

/// What changes from `old` to `new`: values, not the objects or files that they come from.
pub fn diff(old: &PolicyView, new: &PolicyView) -> PolicyDiff {
    let names: BTreeSet<&str> =
        [old, new].into_iter().flat_map(|view| &view.namespaces).map(|of| of.namespace.as_str()).collect();
    let mut namespaces = Vec::new();
    for namespace in names {
        let change = match (old.written(namespace), new.written(namespace)) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        };
        let knobs = knob_diffs(old.knobs_of(namespace), new.knobs_of(namespace));
        if !knobs.is_empty() {
            namespaces.push(NamespaceDiff { namespace: namespace.to_owned(), change, knobs });
        }
    }
    PolicyDiff {
        version: POLICY_DIFF_VERSION,
        namespaces,
        default: knob_diffs(&old.default.knobs, &new.default.knobs),
    }
}

fn knob_diffs(old: &[KnobView], new: &[KnobView]) -> Vec<KnobDiff> {
    let find = |side: &[KnobView], name: &str| match side.iter().find(|knob| knob.name == name) {
        Some(knob) => Setting { value: Some(knob.value.clone()), source: knob.source.clone() },
        None => Setting { value: None, source: "unknown to that version".to_owned() },
    };
    // A server of another version may know knobs that this one does not.
    let more = new.iter().filter(|knob| old.iter().all(|known| known.name != knob.name));
    old.iter()
        .chain(more)
        .map(|knob| KnobDiff {
            name: knob.name.clone(),
            old: find(old, &knob.name),
            new: find(new, &knob.name),
        })
        .filter(|knob| knob.old.value != knob.new.value)
        .collect()
}
