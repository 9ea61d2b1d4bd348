//! Where the policies in force come from: files, and what was pushed on top of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::load::LoadedPolicies;
use super::push::PushedPolicies;
use super::resolve::{Defaults, resolve};
use super::store::PolicySet;
use super::view::{PolicyView, PushedView, view};
use crate::model::{Source, Sourced, TenantId};

/// The policies of files and those pushed, each replaced whole.
///
/// A pushed policy takes the place of a file's for the same namespace, and a pushed tenant that of a file's quota for
/// the same tenantID; fields are never mixed.
#[derive(Clone, Debug)]
pub struct PolicySources {
    files: LoadedPolicies,
    pushed: Option<PushedPolicies>,
}

impl PolicySources {
    /// Nothing is pushed.
    pub fn new(files: LoadedPolicies) -> Self {
        Self { files, pushed: None }
    }

    /// Nothing is pushed, and no file stands behind `set`.
    pub fn of_set(set: PolicySet) -> Self {
        let files = LoadedPolicies {
            set,
            policies: 0,
            tenants: 0,
            policy_objects: BTreeMap::new(),
            tenant_objects: BTreeMap::new(),
            inert: Vec::new(),
            other_kinds: 0,
        };
        Self::new(files)
    }

    /// Replaces the policies of files.
    pub fn set_files(&mut self, files: LoadedPolicies) {
        self.files = files;
    }

    /// Replaces the pushed policies.
    pub fn set_pushed(&mut self, pushed: PushedPolicies) {
        self.pushed = Some(pushed);
    }

    /// What holds.
    pub fn effective(&self) -> PolicySet {
        let mut set = self.files.set.clone();
        let Some(pushed) = &self.pushed else { return set };
        // Absent fields fall back to what they fall back to in files.
        let defaults = Defaults { ttl_ns: set.default_policy().ttl_ns.clone() };
        for (namespace, written) in &pushed.policies {
            let quota = set.policy_of(namespace).max_index_entries.clone();
            let mut policy = resolve(written, &pushed.policy_object(namespace), &defaults);
            policy.max_index_entries = quota;
            set.insert(TenantId::from(namespace.as_str()), policy);
        }
        for (tenant, most) in &pushed.quotas {
            let mut policy = (**set.policy_of(tenant)).clone();
            policy.max_index_entries = match most {
                Some(most) => Sourced::new(*most, Source::Object(pushed.quota_object(tenant))),
                None => Sourced::built_in(u64::MAX),
            };
            set.insert(TenantId::from(tenant.as_str()), policy);
        }
        set
    }

    /// CachePolicies in force, those of files and those pushed.
    pub fn policies(&self) -> usize {
        let pushed = self.pushed.as_ref().map_or(0, |pushed| pushed.policies.len());
        let is_in_force = |namespace: &&String| {
            self.pushed.as_ref().is_none_or(|pushed| !pushed.policies.contains_key(*namespace))
        };
        self.files.policy_objects.keys().filter(is_in_force).count() + pushed
    }

    /// What has no effect, and why, each as a sentence.
    pub fn inert(&self) -> Vec<String> {
        let mut inert = self.files.inert.clone();
        let Some(pushed) = &self.pushed else { return inert };
        let comes_first =
            |object: &str, first: Arc<str>| format!("{object} has no effect: {first} comes first");
        inert.extend(pushed.policies.keys().filter_map(|id| {
            Some(comes_first(self.files.policy_objects.get(id)?, pushed.policy_object(id)))
        }));
        inert.extend(
            pushed.quotas.keys().filter_map(|id| {
                Some(comes_first(self.files.tenant_objects.get(id)?, pushed.quota_object(id)))
            }),
        );
        inert.extend(pushed.inert.iter().cloned());
        inert
    }

    /// What `set`, which is in force, and its sources come to for whoever asks.
    pub fn view(&self, set: &PolicySet) -> PolicyView {
        PolicyView {
            pushed: self.pushed.as_ref().map(|pushed| PushedView {
                version: pushed.version,
                policies: pushed.policies.len(),
                tenants: pushed.quotas.len(),
            }),
            ..view(set, &self.inert())
        }
    }
}
