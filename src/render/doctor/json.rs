//! A diagnosis as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::doctor::{Check, Diagnosis, Finding, NotChecked, ReplicaAge};
use crate::policy::lint::Severity;
use crate::render::JSON_VERSION;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiagnosisJson<'a> {
    version: u32,
    server: ServerJson<'a>,
    replicas: Option<Vec<ReplicaJson<'a>>>,
    entries: Option<u64>,
    lookups: Option<&'a BTreeMap<String, u64>>,
    policies: Option<u64>,
    findings: Vec<FindingJson<'a>>,
    not_checked: Vec<NotCheckedJson<'a>>,
    passed: Vec<&'static str>,
    errors: usize,
    warnings: usize,
    infos: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    url: &'a str,
    serving: Option<bool>,
    server_version: Option<&'a str>,
    commit: Option<&'a str>,
    version: &'a str,
    clock_skew_seconds: Option<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplicaJson<'a> {
    replica_id: &'a str,
    tenant: &'a str,
    age_seconds: Option<f64>,
    prefix_count: u64,
}

impl<'a> From<&'a ReplicaAge> for ReplicaJson<'a> {
    fn from(replica: &'a ReplicaAge) -> Self {
        Self {
            replica_id: &replica.replica,
            tenant: &replica.tenant,
            age_seconds: replica.age_ns.map(|age| (age / 1_000_000) as f64 / 1e3),
            prefix_count: replica.prefixes,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingJson<'a> {
    id: &'static str,
    severity: &'static str,
    message: &'a str,
    advice: &'a str,
}

impl<'a> From<&'a Finding> for FindingJson<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            id: finding.check.id(),
            severity: finding.severity().label(),
            message: &finding.message,
            advice: &finding.advice,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotCheckedJson<'a> {
    source: &'static str,
    message: &'a str,
    advice: &'a str,
    checks: Vec<&'static str>,
}

fn ids(checks: &[Check]) -> Vec<&'static str> {
    checks.iter().map(|check| check.id()).collect()
}

impl<'a> From<&'a NotChecked> for NotCheckedJson<'a> {
    fn from(left: &'a NotChecked) -> Self {
        Self {
            source: left.source.label(),
            message: &left.fault.what,
            advice: &left.fault.advice,
            checks: ids(&left.checks),
        }
    }
}

impl<'a> From<&'a Diagnosis> for DiagnosisJson<'a> {
    fn from(diagnosis: &'a Diagnosis) -> Self {
        let overview = &diagnosis.overview;
        let version = overview.server_version.as_ref();
        Self {
            version: JSON_VERSION,
            server: ServerJson {
                url: &overview.url,
                serving: overview.serving,
                server_version: version.map(|(version, _)| version.as_str()),
                commit: version.map(|(_, commit)| commit.as_str()),
                version: &overview.version,
                clock_skew_seconds: overview.skew_ns.map(|skew| skew / 1_000_000_000),
            },
            replicas: overview.replicas.as_ref().map(|all| all.iter().map(ReplicaJson::from).collect()),
            entries: overview.entries,
            lookups: overview.lookups.as_ref(),
            policies: overview.policies,
            findings: diagnosis.findings.iter().map(FindingJson::from).collect(),
            not_checked: diagnosis.not_checked.iter().map(NotCheckedJson::from).collect(),
            passed: ids(&diagnosis.passed),
            errors: diagnosis.count(Severity::Error),
            warnings: diagnosis.count(Severity::Warning),
            infos: diagnosis.count(Severity::Info),
        }
    }
}
