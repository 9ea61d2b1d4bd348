//! The questions that the model answers.

use std::collections::BTreeMap;

use icache::decision::StatsSeen;
use icache::index::{CacheState, DomainFacts};
use icache::model::{PROBE_TENANT, Tier};

use crate::model::{Entry, Key, KeyName, Model, key_of};
use crate::op::{H, Input, Lookup, Name};

/// What a lookup sees.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    pub roster: Vec<String>,
    /// Sorted by replica.
    pub holders: Vec<SeenHolder>,
    pub warm: Vec<(String, StatsSeen)>,
    pub heard: Vec<i64>,
    pub index_is_empty: bool,
    pub tenant_is_known: bool,
    pub model_is_known: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SeenHolder {
    pub replica: String,
    pub blocks: u32,
    pub tokens: i32,
    pub last_seen: i64,
    pub tier: Tier,
    pub stats: Option<StatsSeen>,
}

impl Model {
    pub fn lookup(&self, lookup: &Lookup, now: i64) -> Seen {
        let Lookup { tenant, model, scheme, .. } = *lookup;
        let in_scope = |e: &&Entry| e.key.tenant == tenant && e.key.model == model;
        let mut roster: Vec<Name> = self
            .entries
            .iter()
            .filter(in_scope)
            .filter(|e| e.key.scheme == scheme)
            .map(|e| e.replica)
            .collect();
        roster.sort_unstable();
        roster.dedup();
        let stats = |name: &str| self.replica(name, tenant, model)?.stats.as_ref().map(|(seen, _)| *seen);
        let mut holders: Vec<SeenHolder> =
            roster.iter().filter_map(|name| self.holder(lookup, name, now)).collect();
        for holder in &mut holders {
            holder.stats = stats(&holder.replica);
        }
        let warm = if lookup.wants_warm && holders.is_empty() {
            roster.iter().filter_map(|name| Some(((*name).to_owned(), stats(name)?))).collect()
        } else {
            vec![]
        };
        let heard = roster.iter().filter_map(|name| Some(self.replica(name, tenant, model)?.heard));
        Seen {
            holders,
            warm,
            heard: if lookup.wants_heard { heard.collect() } else { vec![] },
            roster: roster.iter().map(|name| (*name).to_owned()).collect(),
            index_is_empty: self.entries.is_empty(),
            tenant_is_known: self.entries.iter().any(|e| e.key.tenant == tenant),
            model_is_known: self.entries.iter().any(|e| in_scope(&e)),
        }
    }

    fn holder(&self, lookup: &Lookup, replica: &str, now: i64) -> Option<SeenHolder> {
        let ttl = self.settings_of(lookup.tenant).ttl;
        let fresh = |hash: H| {
            self.entries.iter().find(|e| {
                e.key == key_of(lookup, hash) && e.replica == replica && now.saturating_sub(e.last_seen) < ttl
            })
        };
        let (blocks, tokens, run) = match &lookup.input {
            Input::Nothing => return None,
            Input::Exact { hash, .. } => {
                let entry = fresh(*hash)?;
                (0, entry.tokens, vec![entry])
            }
            Input::Chain { hashes, counts, .. } => {
                let run: Vec<&Entry> = hashes.iter().map_while(|hash| fresh(*hash)).collect();
                let counts = counts.iter().take(run.len());
                (run.len() as u32, counts.fold(0_i32, |sum, count| sum.saturating_add(*count)), run)
            }
        };
        let last_seen = run.iter().map(|entry| entry.last_seen).min()?;
        let tier = run.iter().map(|entry| entry.tier).max()?;
        let replica = replica.to_owned();
        (tokens > 0).then_some(SeenHolder { replica, blocks, tokens, last_seen, tier, stats: None })
    }

    /// An empty name admits all.
    pub fn cache_state(&self, tenant: &str, model: &str) -> CacheState {
        if tenant == PROBE_TENANT {
            return CacheState::default();
        }
        let admits =
            |t: &str, m: &str| (tenant.is_empty() || t == tenant) && (model.is_empty() || m == model);
        let keys: Vec<&Key> = self.keys.iter().filter(|k| admits(k.name.tenant, k.name.model)).collect();
        let is_hot = |key: &&&Key| key.hit_after_sweeps.is_some_and(|after| self.sweeps - after <= 1);
        let replicas = self.replicas.iter().filter(|r| admits(r.tenant, r.model));
        CacheState {
            replicas: replicas.filter_map(|r| Some(r.stats.as_ref()?.1.clone())).collect(),
            total_prefixes: keys.len() as u64,
            hot_prefixes: keys.iter().filter(is_hot).count() as u64,
        }
    }

    /// What stands beside an explanation; names are those with entries below them.
    pub fn facts(&self, tenant: &str, model: &str, scheme: &str) -> DomainFacts {
        let names = |of: &dyn Fn(&KeyName) -> Option<Name>| {
            let mut names: Vec<String> =
                self.keys.iter().filter_map(|k| Some(of(&k.name)?.to_owned())).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let in_scope = |k: &KeyName| k.tenant == tenant && k.model == model;
        let in_domain = |k: &KeyName| in_scope(k) && k.scheme == scheme;
        let mut replicas: Vec<Name> =
            self.entries.iter().filter(|e| in_domain(&e.key)).map(|e| e.replica).collect();
        replicas.sort_unstable();
        replicas.dedup();
        DomainFacts {
            keys: self.keys.iter().filter(|k| in_domain(&k.name)).count() as u64,
            replicas: replicas.len() as u64,
            tenants: names(&|k| Some(k.tenant)),
            models: names(&|k| (k.tenant == tenant).then_some(k.model)),
            schemes: names(&|k| in_scope(k).then_some(k.scheme)),
            adapters: names(&|k| (in_domain(k) && !k.adapter.is_empty()).then_some(k.adapter)),
        }
    }

    /// Distinct keys and serving replicas of each model that has any, over all tenants.
    pub fn by_model(&self) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
        let (mut keys, mut replicas) = (BTreeMap::new(), BTreeMap::new());
        for key in &self.keys {
            *keys.entry(key.name.model.to_owned()).or_default() += 1;
        }
        for r in &self.replicas {
            let serves =
                |e: &Entry| e.replica == r.name && e.key.tenant == r.tenant && e.key.model == r.model;
            if self.entries.iter().any(serves) {
                *replicas.entry(r.model.to_owned()).or_default() += 1;
            }
        }
        (keys, replicas)
    }
}
