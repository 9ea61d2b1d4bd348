//! Keys that lookups ask for and the index does not know: what `GET /unknown` tells, each with the nearest key that it
//! does know.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::policies::rfc3339;
use crate::decision::Reason;
use crate::explanation::{Nearest, nearest};
use crate::index::Index;
use crate::model::{LookupRequest, Timestamp};

/// Version of [`UnknownView`]; it grows when a field changes its meaning or goes.
pub const UNKNOWN_VIEW_VERSION: u32 = 1;

/// Keys that are told apart; the names come from callers. Beyond it the one asked for longest ago goes.
pub(super) const MAX_STRANGERS: usize = 256;

/// What was asked for in vain since the server started.
#[derive(Default)]
pub(super) struct Strangers {
    rows: Mutex<Vec<Row>>,
}

struct Row {
    tenant: String,
    model: String,
    scheme: String,
    reason: Reason,
    lookups: u64,
    last: Timestamp,
}

impl Strangers {
    /// Counts a lookup at `now`, where its answer says that a key is not known.
    pub(super) fn record(&self, lookup: &LookupRequest<'_>, reason: Reason, now: Timestamp) {
        if !matches!(reason, Reason::UnknownTenant | Reason::UnknownModel | Reason::UnknownHashScheme) {
            return;
        }
        let mut rows = self.rows.lock();
        let is_same = |row: &&mut Row| {
            row.scheme == lookup.scheme && row.model == lookup.model && row.tenant == lookup.tenant
        };
        if let Some(row) = rows.iter_mut().find(is_same) {
            (row.reason, row.lookups, row.last) = (reason, row.lookups.saturating_add(1), now);
            return;
        }
        if rows.len() >= MAX_STRANGERS {
            let oldest = rows.iter().enumerate().min_by_key(|(_, row)| row.last).map(|(at, _)| at);
            if let Some(at) = oldest {
                rows.swap_remove(at);
            }
        }
        rows.push(Row {
            tenant: lookup.tenant.to_owned(),
            model: lookup.model.to_owned(),
            scheme: lookup.scheme.to_owned(),
            reason,
            lookups: 1,
            last: now,
        });
    }

    /// What `index` still does not know, most asked first.
    pub(super) fn view(&self, index: &Index) -> UnknownView {
        let mut keys: Vec<UnknownKey> = {
            let rows = self.rows.lock();
            rows.iter().map(UnknownKey::of).collect()
        };
        keys.retain_mut(|key| key.compare(index));
        keys.sort_by(|a, b| {
            let names =
                |key: &UnknownKey| (key.tenant_id.clone(), key.model_id.clone(), key.hash_scheme.clone());
            b.lookups.cmp(&a.lookups).then_with(|| names(a).cmp(&names(b)))
        });
        UnknownView { version: UNKNOWN_VIEW_VERSION, keys }
    }
}

/// Keys that lookups ask for and the index does not know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownView {
    /// [`UNKNOWN_VIEW_VERSION`].
    pub version: u32,
    /// Most asked first; 256 at most.
    pub keys: Vec<UnknownKey>,
}

/// One of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownKey {
    /// As asked for.
    pub tenant_id: String,
    /// As asked for.
    pub model_id: String,
    /// As asked for.
    pub hash_scheme: String,
    /// `UNKNOWN_TENANT`, `UNKNOWN_MODEL` or `UNKNOWN_HASH_SCHEME`, as things stand now.
    pub reason_code: String,
    /// Lookups that asked for it.
    pub lookups: u64,
    /// When the last one came, in RFC 3339.
    pub last_asked: String,
    /// The name that is nearest among those known; absent where none is near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// How the name asked for differs from the nearest one, in words; absent where none is near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// Names that are known in its place, nearest first; 5 at most.
    pub known: Vec<String>,
}

impl UnknownKey {
    fn of(row: &Row) -> Self {
        Self {
            tenant_id: row.tenant.clone(),
            model_id: row.model.clone(),
            hash_scheme: row.scheme.clone(),
            reason_code: row.reason.code().to_owned(),
            lookups: row.lookups,
            last_asked: rfc3339(row.last),
            ..Self::default()
        }
    }

    /// The name that is not known.
    pub fn asked(&self) -> &str {
        match self.reason_code.as_str() {
            "UNKNOWN_TENANT" => &self.tenant_id,
            "UNKNOWN_MODEL" => &self.model_id,
            _ => &self.hash_scheme,
        }
    }

    /// Compares with what `index` knows; false where it knows the key by now.
    fn compare(&mut self, index: &Index) -> bool {
        let facts = index.facts(&self.tenant_id, &self.model_id, &self.hash_scheme);
        let parts = [
            (Reason::UnknownTenant, &self.tenant_id, &facts.tenants),
            (Reason::UnknownModel, &self.model_id, &facts.models),
            (Reason::UnknownHashScheme, &self.hash_scheme, &facts.schemes),
        ];
        let Some((reason, asked, known)) = parts.into_iter().find(|(_, asked, known)| !known.contains(asked))
        else {
            return false;
        };
        let Nearest { names, near } = nearest(asked, known);
        let (name, difference) = near.map(|near| (near.name, near.difference)).unzip();
        self.reason_code = reason.code().to_owned();
        (self.nearest, self.difference, self.known) = (name, difference, names);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexConfig;

    fn ask<'a>(tenant: &'a str, model: &'a str) -> LookupRequest<'a> {
        LookupRequest { tenant, model, scheme: "vllm", ..Default::default() }
    }

    #[test]
    fn the_key_asked_for_longest_ago_goes_first() {
        let strangers = Strangers::default();
        let at = Timestamp::from_us;
        let models: Vec<String> = (0..MAX_STRANGERS).map(|at| format!("m{at}")).collect();
        for (us, model) in models.iter().enumerate() {
            strangers.record(&ask("t", model), Reason::UnknownTenant, at(us as i64));
        }
        strangers.record(&ask("t", "m0"), Reason::UnknownTenant, at(1_000));
        strangers.record(&ask("t", "known"), Reason::PrefixMatch, at(1_001));
        let index = Index::new(IndexConfig::default());
        let view = strangers.view(&index);
        assert_eq!((view.keys.len(), view.keys[0].model_id.as_str(), view.keys[0].lookups), (256, "m0", 2));

        strangers.record(&ask("t", "one more"), Reason::UnknownTenant, at(1_002));
        let view = strangers.view(&index);
        let has = |model: &str| view.keys.iter().any(|key| key.model_id == model);
        assert_eq!(view.keys.len(), MAX_STRANGERS);
        assert!(has("m0") && has("m2") && has("one more") && !has("m1"), "m1 was asked for longest ago");
    }
}
