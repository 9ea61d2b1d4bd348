//! What is right and wrong with an installation, judged from what its ports answered. Nothing here asks anybody.
//!
//! A check looks at what the sources say that it needs. Where one of them could not be asked, the check is not made, and
//! the diagnosis says so.

mod checks;
mod overview;
mod registry;

use crate::model::Timestamp;
use crate::policy::PolicyView;
use crate::policy::lint::Severity;
use crate::server::{ConfigView, SnapshotView, UnknownView};
use crate::telemetry::Page;

pub use overview::{Overview, ReplicaAge};
pub use registry::{Check, CheckInfo};

/// Where an answer comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The gRPC port.
    Server,
    /// `/metrics` of the HTTP port.
    Metrics,
    /// `/snapshot` of the admin port.
    Snapshot,
    /// `/policy` of the admin port.
    Policy,
    /// `/unknown` of the admin port.
    Unknown,
    /// `/config` of the admin port.
    Config,
    /// The header `date` of any HTTP answer.
    Clock,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 7] =
        [Self::Server, Self::Metrics, Self::Snapshot, Self::Policy, Self::Unknown, Self::Config, Self::Clock];

    /// Stable name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Server => "gRPC",
            Self::Metrics => "/metrics",
            Self::Snapshot => "/snapshot",
            Self::Policy => "/policy",
            Self::Unknown => "/unknown",
            Self::Config => "/config",
            Self::Clock => "clock",
        }
    }
}

/// What kind of fault kept an answer away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Nothing answers there.
    Unreachable,
    /// TLS failed.
    Tls,
    /// The server does not know the caller, or admits it not.
    Refused,
    /// Something else answers, or an error.
    Other,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Of what kind.
    pub kind: FaultKind,
    /// What happened, as a sentence of its own.
    pub what: String,
    /// What to do.
    pub advice: String,
}

/// An answer, or why there is none.
pub type Answer<T> = Result<T, Fault>;

/// What was asked, and what was answered.
#[derive(Clone, Debug)]
pub struct Observations {
    /// This machine's clock.
    pub now: Timestamp,
    /// Where gRPC was asked.
    pub url: String,
    /// Version of this program.
    pub version: String,
    /// Whether the server says that it serves.
    pub serving: Answer<bool>,
    /// Whether the server knows the caller; an error where it refuses calls.
    pub access: Answer<()>,
    /// The metrics page.
    pub metrics: Answer<Page>,
    /// Replicas and tenants.
    pub snapshot: Answer<SnapshotView>,
    /// Policies in force.
    pub policy: Answer<PolicyView>,
    /// Keys that are asked for in vain.
    pub unknown: Answer<UnknownView>,
    /// The effective configuration.
    pub config: Answer<ConfigView>,
    /// The server's clock less this machine's, in nanoseconds, rounded to the seconds of the header `date`.
    pub skew_ns: Answer<i64>,
}

impl Observations {
    /// Why `source` has not answered; `None` where it has.
    pub fn fault(&self, source: Source) -> Option<&Fault> {
        match source {
            Source::Server => self.serving.as_ref().err(),
            Source::Metrics => self.metrics.as_ref().err(),
            Source::Snapshot => self.snapshot.as_ref().err(),
            Source::Policy => self.policy.as_ref().err(),
            Source::Unknown => self.unknown.as_ref().err(),
            Source::Config => self.config.as_ref().err(),
            Source::Clock => self.skew_ns.as_ref().err(),
        }
    }

    /// What a setting of the server is; `None` where it is not set, or not known.
    fn setting(&self, key: &str) -> Option<&serde_json::Value> {
        let config = self.config.as_ref().ok()?;
        config.settings.iter().find(|setting| setting.key == key).map(|setting| &setting.value)
    }
}

/// What a check saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Which check.
    pub check: Check,
    /// What was seen.
    pub message: String,
    /// What to do.
    pub advice: String,
}

impl Finding {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.check.info().severity
    }
}

/// Checks that were not made, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotChecked {
    /// What did not answer.
    pub source: Source,
    /// Why.
    pub fault: Fault,
    /// The checks that needed it.
    pub checks: Vec<Check>,
}

/// What is right and wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnosis {
    /// What there is.
    pub overview: Overview,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
    /// What could not be looked at.
    pub not_checked: Vec<NotChecked>,
    /// Checks that found nothing.
    pub passed: Vec<Check>,
}

impl Diagnosis {
    /// Findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
    }

    /// Whether the gRPC port could not be reached at all, or not be trusted.
    pub fn is_unreachable(&self) -> bool {
        let checks = [Check::ServerUnreachable, Check::TlsFailed];
        self.findings.iter().any(|finding| checks.contains(&finding.check))
    }
}

/// Makes every check that can be made.
pub fn diagnose(seen: &Observations) -> Diagnosis {
    let mut findings = Vec::new();
    let mut passed = Vec::new();
    let mut not_checked: Vec<NotChecked> = Vec::new();
    for &check in Check::ALL {
        let info = check.info();
        let missing = info.needs.iter().find_map(|source| Some((*source, seen.fault(*source)?)));
        if let Some((source, fault)) = missing {
            match not_checked.iter_mut().find(|known| known.source == source) {
                Some(known) => known.checks.push(check),
                None => not_checked.push(NotChecked { source, fault: fault.clone(), checks: vec![check] }),
            }
            continue;
        }
        let found = (info.check)(seen);
        if found.is_empty() {
            passed.push(check);
        }
        findings.extend(found.into_iter().map(|(message, advice)| Finding { check, message, advice }));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
    Diagnosis { overview: Overview::of(seen), findings, not_checked, passed }
}

#[cfg(test)]
mod tests;
