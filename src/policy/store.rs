//! A set of policies: it is put in force whole.

use std::sync::Arc;

use hashbrown::HashMap;

use super::resolve::{Defaults, TenantPolicy, resolve};
use crate::model::{ResolvedPolicy, TenantId};

/// The effective policy of every tenant that has one, and the one that holds for all others.
#[derive(Clone, Debug)]
pub struct PolicySet {
    default: Arc<ResolvedPolicy>,
    by_tenant: HashMap<TenantId, Arc<ResolvedPolicy>>,
}

impl PolicySet {
    /// No tenant has a policy.
    pub fn empty(defaults: &Defaults) -> Self {
        let none = resolve(&TenantPolicy::default(), &Arc::from(""), defaults);
        Self { default: Arc::new(none), by_tenant: HashMap::new() }
    }

    /// Sets the policy of one tenant.
    pub fn insert(&mut self, tenant: TenantId, policy: ResolvedPolicy) {
        self.by_tenant.insert(tenant, Arc::new(policy));
    }

    /// The policy in force for `tenant`.
    pub fn policy_of(&self, tenant: &str) -> &Arc<ResolvedPolicy> {
        self.by_tenant.get(tenant).unwrap_or(&self.default)
    }

    /// The tenants that have a policy, and the policies.
    pub fn iter(&self) -> impl Iterator<Item = (&TenantId, &Arc<ResolvedPolicy>)> {
        self.by_tenant.iter()
    }

    /// The policy of tenants that have none of their own.
    pub fn default_policy(&self) -> &Arc<ResolvedPolicy> {
        &self.default
    }
}
