//! The policies of a running server: each change of files and each push is put in force whole, one after the other.

use std::sync::Arc;

use parking_lot::Mutex;

use super::metrics::Metrics;
use super::order::Order;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::lookup::Router;
use crate::model::Timestamp;
use crate::policy::{
    FileProblem, LoadedPolicies, PolicySet, PolicySources, PolicyView, PushedPolicies, ReloadView, Reloaded,
    documents,
};

/// Puts policies in force, and tells which are.
pub(super) struct Policies {
    router: Arc<Router>,
    metrics: Arc<Metrics>,
    order: Arc<Order>,
    /// Held while a change is put in force, so that two cannot mix.
    state: Mutex<State>,
}

struct State {
    sources: PolicySources,
    last_reload: Option<ReloadView>,
}

impl Policies {
    /// `files`, where there are any, are in force in `router`.
    pub(super) fn new(
        router: Arc<Router>,
        metrics: Arc<Metrics>,
        order: Arc<Order>,
        files: Option<LoadedPolicies>,
    ) -> Self {
        let now = Timestamp::now();
        let last_reload = files.is_some().then(|| reload(now, &[]));
        let sources = match files {
            Some(loaded) => PolicySources::new(loaded),
            None => PolicySources::of_set(PolicySet::clone(&router.policies())),
        };
        metrics.observe_policies(sources.policies(), now);
        Self { router, metrics, order, state: Mutex::new(State { sources, last_reload }) }
    }

    /// The files have changed. An invalid set leaves what is in force as it is.
    pub(super) fn reload(&self, reloaded: Reloaded) {
        let now = Timestamp::now();
        let mut state = self.state.lock();
        match reloaded {
            Ok(loaded) => {
                let (policies, tenants, other_kinds) = (loaded.policies, loaded.tenants, loaded.other_kinds);
                state.sources.set_files(loaded);
                self.put_in_force(&state.sources, now);
                state.last_reload = Some(reload(now, &[]));
                tracing::info!(policies, tenants, other_kinds, "policy files reloaded");
                for sentence in state.sources.inert() {
                    tracing::warn!("{sentence}");
                }
            }
            Err(problems) => {
                for problem in &problems {
                    tracing::error!("{problem}");
                }
                let problems_found = problems.len();
                tracing::error!(
                    problems = problems_found,
                    "policy files are not valid; the last good set is kept"
                );
                state.last_reload = Some(reload(now, &problems));
            }
        }
        self.metrics.observe_reload(state.last_reload.as_ref().is_none_or(|last| last.succeeded));
    }

    /// A controller has pushed.
    pub(super) fn push(&self, pushed: PushedPolicies) {
        let (version, policies, tenants) = (pushed.version, pushed.policies.len(), pushed.quotas.len());
        let mut state = self.state.lock();
        state.sources.set_pushed(pushed);
        self.put_in_force(&state.sources, Timestamp::now());
        tracing::info!(version, policies, tenants, "policies pushed");
    }

    fn put_in_force(&self, sources: &PolicySources, now: Timestamp) {
        let mut turn = self.order.change();
        let evicted = self.router.replace_policies(sources.effective());
        turn.record(|| Some(Body::Policy(documents(&self.router.policies()))));
        drop(turn);
        for (tenant, keys) in evicted {
            self.metrics.observe_quota_evictions(tenant.as_str(), keys);
        }
        self.metrics.observe_policies(sources.policies(), now);
    }

    /// What is in force, and where it came from.
    pub(super) fn view(&self) -> PolicyView {
        let state = self.state.lock();
        let view = state.sources.view(&self.router.policies());
        PolicyView { last_reload: state.last_reload.clone(), ..view }
    }
}

fn reload(now: Timestamp, problems: &[FileProblem]) -> ReloadView {
    ReloadView {
        at: rfc3339(now),
        succeeded: problems.is_empty(),
        problems: problems.iter().map(ToString::to_string).collect(),
    }
}

/// A time as JSON has it.
pub(super) fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_nanosecond(at.as_ns().into()).unwrap_or_default().to_string()
}
