//! Who may call what over gRPC, and which tenants it may name: the callers of `--auth-file`, known by a token or by the
//! certificate they present.
//!
//! Every call is judged by its path before it is read, and by the tenants that its messages name. A caller that may not
//! name a tenant is told the same whether the tenant exists or not. Long streams are judged anew with each message, so
//! that a token which is taken out of the file ends them.

mod callers;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use tonic::Status;
use tonic::codegen::http::{Extensions, HeaderMap, header};

pub(super) use self::callers::Callers;

use self::callers::{Credential, Grant};
use super::metrics::{Denial, Metrics};
use super::tls::Peer;
use super::tokens::bearer;
use super::watched::Watched;

/// Characters of a tenant that an answer repeats.
const MAX_SHOWN: usize = 64;

/// What a caller may do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    /// LookupRoute, LookupPDRoute, RenderTemplate, FastLookup's Lookup.
    Lookup,
    /// ReportCacheState, PublishEvent.
    Report,
    /// GetCacheState, StreamCacheEvents, StreamMetrics, Observe.
    Observe,
    /// ExplainRoute.
    Explain,
}

impl Role {
    fn label(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Report => "report",
            Self::Observe => "observe",
            Self::Explain => "explain",
        }
    }

    /// The role that a method asks for; none where there is no such method.
    pub(super) fn for_method(path: &str) -> Option<Self> {
        let (_, method) = path.rsplit_once('/')?;
        Some(match method {
            "LookupRoute" | "LookupPDRoute" | "RenderTemplate" | "Lookup" => Self::Lookup,
            "ReportCacheState" | "PublishEvent" => Self::Report,
            "GetCacheState" | "StreamCacheEvents" | "StreamMetrics" | "Observe" => Self::Observe,
            "ExplainRoute" => Self::Explain,
            _ => return None,
        })
    }
}

/// The gate of gRPC; without a file it lets everybody through.
#[derive(Clone)]
pub(super) struct Access {
    callers: Option<Arc<Watched<Callers>>>,
    metrics: Arc<Metrics>,
}

impl Access {
    pub(super) fn new(callers: Option<Arc<Watched<Callers>>>, metrics: Arc<Metrics>) -> Self {
        Self { callers, metrics }
    }

    /// Who calls `path`, where it may.
    pub(super) fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Caller, Status> {
        let Some(watched) = &self.callers else { return Ok(Caller(Who::Anyone)) };
        let unknown = || {
            self.metrics.observe_denial(Denial::Unauthenticated);
            Status::unauthenticated(
                "the caller is not known here; send `authorization: Bearer TOKEN`, or present a certificate that is",
            )
        };
        let names =
            extensions.get::<Peer>().map(|peer| Arc::clone(&peer.names)).filter(|names| !names.is_empty());
        let credential = match (headers.get(header::AUTHORIZATION), names) {
            (Some(value), _) => Credential::Token(bearer(value.as_bytes()).ok_or_else(unknown)?),
            (None, Some(names)) => Credential::Certificate(names),
            (None, None) => return Err(unknown()),
        };
        let callers = watched.current();
        let grant = callers.find(&credential).ok_or_else(unknown)?;
        if let Some(role) = Role::for_method(path).filter(|role| !grant.roles.contains(role)) {
            self.metrics.observe_denial(Denial::Forbidden);
            return Err(Status::permission_denied(format!(
                "the caller is known, and has not the role `{}`",
                role.label()
            )));
        }
        let (watched, metrics) = (Arc::clone(watched), Arc::clone(&self.metrics));
        let role = Role::for_method(path);
        Ok(Caller(Who::Known(Arc::new(Known { watched, metrics, callers, grant, credential, role }))))
    }
}

/// Who made a call; an extension of its request.
#[derive(Clone)]
pub(super) struct Caller(Who);

#[derive(Clone)]
enum Who {
    /// There is no access control.
    Anyone,
    Known(Arc<Known>),
    /// The call came by no door.
    Nobody,
}

struct Known {
    watched: Arc<Watched<Callers>>,
    metrics: Arc<Metrics>,
    callers: Arc<Callers>,
    grant: Arc<Grant>,
    credential: Credential,
    role: Option<Role>,
}

impl Known {
    /// What it may by the file as it is now.
    fn grant(&self) -> Option<Arc<Grant>> {
        let current = self.watched.current();
        if Arc::ptr_eq(&current, &self.callers) {
            return Some(Arc::clone(&self.grant));
        }
        let grant = current.find(&self.credential);
        grant.filter(|grant| self.role.is_none_or(|role| grant.roles.contains(&role)))
    }
}

impl Caller {
    /// Of a server without access control.
    #[cfg(test)]
    pub(super) fn anyone() -> Self {
        Self(Who::Anyone)
    }

    /// Of a request; one that came by no door may do nothing.
    pub(super) fn of<T>(request: &tonic::Request<T>) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or(Self(Who::Nobody))
    }

    /// Whether the tenant is one that it may name. An empty name is no tenant.
    pub(super) fn may_name(&self, tenant: &str) -> Result<(), Status> {
        match &self.0 {
            Who::Anyone => Ok(()),
            Who::Nobody => Err(Status::permission_denied("the call came by no door")),
            Who::Known(known) => {
                let Some(grant) = known.grant() else {
                    known.metrics.observe_denial(Denial::Unauthenticated);
                    return Err(Status::unauthenticated("the caller is not known here any more"));
                };
                if tenant.is_empty() || grant.sees_all || grant.tenants.contains(tenant) {
                    return Ok(());
                }
                known.metrics.observe_denial(Denial::Forbidden);
                let shown: String = tenant.chars().take(MAX_SHOWN).collect();
                Err(Status::permission_denied(format!("the caller may not name the tenant `{shown}`")))
            }
        }
    }

    /// Whether it may name every tenant, which whoever is shown everything has to.
    pub(super) fn may_name_all(&self) -> Result<(), Status> {
        match &self.0 {
            Who::Known(known) if !self.sees_all() => {
                known.metrics.observe_denial(Denial::Forbidden);
                Err(Status::permission_denied(
                    "this shows every tenant, and the caller may not name them all",
                ))
            }
            _ => self.may_name(""),
        }
    }

    /// The tenants that it may name; none where it may name all.
    pub(super) fn tenants(&self) -> Option<HashSet<String>> {
        match &self.0 {
            Who::Anyone => None,
            Who::Nobody => Some(HashSet::new()),
            Who::Known(known) => match known.grant() {
                Some(grant) if grant.sees_all => None,
                Some(grant) => Some(grant.tenants.clone()),
                None => Some(HashSet::new()),
            },
        }
    }

    /// Whether what is told of `tenant` may be told to it.
    pub(super) fn sees(&self, tenant: &str) -> bool {
        match &self.0 {
            Who::Anyone => true,
            Who::Nobody => false,
            Who::Known(known) => {
                known.grant().is_some_and(|grant| grant.sees_all || grant.tenants.contains(tenant))
            }
        }
    }

    /// Whether it may name every tenant.
    pub(super) fn sees_all(&self) -> bool {
        match &self.0 {
            Who::Anyone => true,
            Who::Nobody => false,
            Who::Known(known) => known.grant().is_some_and(|grant| grant.sees_all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_our_services_has_a_role() {
        for (service, proto) in [
            (
                "inferencecache.v1alpha1.InferenceCache",
                include_str!("../../proto/inferencecache/v1alpha1/inferencecache.proto"),
            ),
            ("icache.v1alpha1.Explain", include_str!("../../proto/icache/v1alpha1/explain.proto")),
            ("icache.v1alpha1.Observe", include_str!("../../proto/icache/v1alpha1/observe.proto")),
            ("icache.v1alpha1.FastLookup", include_str!("../../proto/icache/v1alpha1/fast_lookup.proto")),
        ] {
            let methods: Vec<_> = proto
                .lines()
                .filter_map(|line| line.trim().strip_prefix("rpc ")?.split_once('(').map(|(name, _)| name))
                .collect();
            assert!(!methods.is_empty());
            for method in methods {
                assert!(Role::for_method(&format!("/{service}/{method}")).is_some(), "{method}");
            }
        }
    }
}
