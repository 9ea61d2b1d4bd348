//! The registry of checks.

use super::{Observations, Source, checks};
use crate::policy::lint::Severity;

/// What a check found: what was seen, and what to do.
pub(super) type Found = Vec<(String, String)>;

/// One check.
#[derive(Debug)]
pub struct CheckInfo {
    /// Stable id.
    pub id: &'static str,
    /// How much its findings matter.
    pub severity: Severity,
    /// What it looks at; it is not made where one of them does not answer.
    pub needs: &'static [Source],
    /// One line: what it finds.
    pub summary: &'static str,
    /// The long form: why it matters, and what to do.
    pub doc: &'static str,
    /// Makes the check.
    pub(super) check: fn(&Observations) -> Found,
}

macro_rules! checks {
    ($($variant:ident $id:literal $severity:ident [$($need:ident)*] $check:path, $summary:literal;)*) => {
        /// A check of `icache doctor`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Check {
            $(#[doc = $summary] $variant,)*
        }

        impl Check {
            /// Every check, in the order in which they are made.
            pub const ALL: &'static [Check] = &[$(Check::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static CheckInfo {
                match self {
                    $(Check::$variant => &CheckInfo {
                        id: $id,
                        severity: Severity::$severity,
                        needs: &[$(Source::$need,)*],
                        summary: $summary,
                        doc: include_str!(concat!("docs/", $id, ".md")),
                        check: $check,
                    },)*
                }
            }
        }
    };
}

checks! {
    ServerUnreachable "server-unreachable" Error [] checks::connection::server_unreachable,
        "nothing answers as a gRPC server";
    TlsFailed "tls-failed" Error [] checks::connection::tls_failed,
        "the server is there, and TLS with it fails";
    AccessRefused "access-refused" Error [Server] checks::connection::access_refused,
        "the server does not know the token or certificate that was shown";
    NotServing "not-serving" Error [Server] checks::connection::not_serving,
        "the server says that it does not serve: it is on its way out";
    PlaintextBeyondHost "plaintext-beyond-host" Warning [] checks::connection::plaintext_beyond_host,
        "calls leave this machine without TLS";
    CredentialsStale "credentials-stale" Error [Metrics] checks::connection::credentials_stale,
        "files of certificates, tokens or callers were changed, and cannot be used";
    CertificateEndsSoon "certificate-ends-soon" Warning [Metrics] checks::connection::certificate_ends_soon,
        "the server's certificate ends within 14 days";
    ClockSkew "clock-skew" Warning [Clock] checks::connection::clock_skew,
        "the clocks of server and this machine are more than 2 s apart";
    VersionsDiffer "versions-differ" Info [Metrics] checks::connection::versions_differ,
        "server and this program are of different versions";
    CallersRefused "callers-refused" Warning [Metrics] checks::connection::callers_refused,
        "the server has refused gRPC calls";
    HandshakesFail "handshakes-fail" Warning [Metrics] checks::connection::handshakes_fail,
        "TLS handshakes with the server have failed";
    NothingReported "nothing-reported" Error [Snapshot] checks::reports::nothing_reported,
        "no replica has reported anything";
    AllSilent "all-silent" Error [Snapshot] checks::reports::all_silent,
        "no replica has been heard of lately";
    ReplicaSilent "replica-silent" Warning [Snapshot] checks::reports::replica_silent,
        "some replicas have not been heard of lately";
    NoStatistics "no-statistics" Info [Snapshot] checks::reports::no_statistics,
        "replicas report what they hold, and no statistics";
    ReportsDropped "reports-dropped" Warning [Metrics] checks::reports::reports_dropped,
        "parts of reports and events were dropped";
    ReplicasDrained "replicas-drained" Info [Metrics] checks::reports::replicas_drained,
        "replicas get no hints because they are drained";
    NoLookups "no-lookups" Info [Metrics] checks::lookups::no_lookups,
        "no gateway has asked anything yet";
    TenantMismatch "tenant-mismatch" Error [Unknown] checks::lookups::tenant_mismatch,
        "lookups name a tenant that no replica reports under";
    ModelMismatch "model-mismatch" Error [Unknown] checks::lookups::model_mismatch,
        "lookups name a model that no replica of the tenant reports";
    HashSchemeMismatch "hash-scheme-mismatch" Error [Unknown] checks::lookups::hash_scheme_mismatch,
        "lookups name a hash scheme that no replica of the model reports";
    PromptsNeverMatch "prompts-never-match" Warning [Metrics] checks::lookups::prompts_never_match,
        "the keys agree and no prompt is ever found: block size, tokenizer or hash seed may differ";
    LookupsLate "lookups-late" Warning [Metrics] checks::lookups::lookups_late,
        "more than 1 % of lookups were answered TIMEOUT";
    LookupsShed "lookups-shed" Warning [Metrics] checks::lookups::lookups_shed,
        "lookups were answered NO_HINT because too many were in flight";
    LookupsOverLimit "lookups-over-limit" Warning [Metrics] checks::lookups::lookups_over_limit,
        "lookups were answered NO_HINT because they are over a limit";
    HintsConcentrate "hints-concentrate" Warning [Metrics Snapshot] checks::hints::hints_concentrate,
        "nearly all hints go to one replica";
    PolicyReloadFailed "policy-reload-failed" Error [Policy] checks::policies::policy_reload_failed,
        "policy files were changed, and are not valid";
    PolicyInert "policy-inert" Warning [Policy] checks::policies::policy_inert,
        "policies have no effect because another one comes first";
    NoPolicies "no-policies" Info [Policy] checks::policies::no_policies,
        "no policy is loaded: defaults hold for every tenant";
    CapBites "cap-bites" Warning [Metrics] checks::limits::cap_bites,
        "entries were evicted before their time because the index is full";
    CapNear "cap-near" Warning [Metrics Config] checks::limits::cap_near,
        "the index is more than 90 % full";
    QuotaBites "quota-bites" Warning [Metrics] checks::limits::quota_bites,
        "keys were evicted because their tenant is over its quota";
    StateNotSaved "state-not-saved" Error [Metrics] checks::limits::state_not_saved,
        "the state could not be saved: a restart begins with what was saved before";
}

impl Check {
    /// Stable id.
    pub fn id(self) -> &'static str {
        self.info().id
    }
}
