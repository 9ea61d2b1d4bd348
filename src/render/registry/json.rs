//! An entry as JSON.

use serde::Serialize;

use super::{Entry, codes, gates_against, gates_of, gates_to, knobs_of, names, needs, stages};
use crate::decision::KnobOwner;
use crate::render::JSON_VERSION;
use crate::render::diagnostics::RuleJson;
use crate::render::metrics::metric_type;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(super) enum EntryJson {
    #[serde(rename_all = "camelCase")]
    Reason {
        version: u32,
        code: &'static str,
        summary: &'static str,
        hints: bool,
        gateway: &'static str,
        gates: Vec<&'static str>,
        undone_by: Vec<&'static str>,
        knobs: Vec<&'static str>,
        doc: &'static str,
    },
    #[serde(rename_all = "camelCase")]
    Gate {
        version: u32,
        id: &'static str,
        summary: &'static str,
        stages: Vec<&'static str>,
        knobs: Vec<&'static str>,
        balanced_knobs: Vec<&'static str>,
        leads_to: Vec<&'static str>,
        undoes: Vec<&'static str>,
        doc: &'static str,
    },
    #[serde(rename_all = "camelCase")]
    Knob {
        version: u32,
        name: &'static str,
        owner: &'static str,
        flag: Option<&'static str>,
        default: &'static str,
        off: &'static str,
        summary: &'static str,
        gates: Vec<&'static str>,
    },
    #[serde(rename_all = "camelCase")]
    Cause {
        version: u32,
        id: &'static str,
        sentence: &'static str,
    },
    #[serde(rename_all = "camelCase")]
    Check {
        version: u32,
        id: &'static str,
        severity: &'static str,
        summary: &'static str,
        needs: Vec<&'static str>,
        doc: &'static str,
    },
    Rule(RuleJson),
    #[serde(rename_all = "camelCase")]
    Metric {
        version: u32,
        name: &'static str,
        metric_type: &'static str,
        labels: &'static [&'static str],
        summary: &'static str,
    },
    #[serde(rename_all = "camelCase")]
    Exit {
        version: u32,
        status: u8,
        name: &'static str,
        summary: &'static str,
    },
}

impl From<Entry> for EntryJson {
    fn from(entry: Entry) -> Self {
        let version = JSON_VERSION;
        match entry {
            Entry::Reason(reason) => {
                let info = reason.info();
                let (gates, knobs) = (gates_to(reason), knobs_of(reason));
                let (code, summary, hints) = (info.code, info.summary, info.hints);
                let undone_by = gates_against(reason);
                Self::Reason {
                    version,
                    code,
                    summary,
                    hints,
                    gateway: info.gateway,
                    gates,
                    undone_by,
                    knobs,
                    doc: info.doc,
                }
            }
            Entry::Gate(gate) => {
                let info = gate.info();
                let (knobs, balanced_knobs) = (names(info.knobs), names(info.balanced_knobs));
                let (leads_to, undoes) = (codes(info.leads_to), codes(info.takes_away));
                let (id, summary, stages, doc) = (info.id, info.summary, stages(gate), info.doc);
                Self::Gate { version, id, summary, stages, knobs, balanced_knobs, leads_to, undoes, doc }
            }
            Entry::Knob(knob) => {
                let info = knob.info();
                let owner = if info.owner == KnobOwner::Policy { "policy" } else { "server" };
                let (name, flag, default, off) = (info.name, info.flag, info.default, info.off);
                let gates = gates_of(knob);
                Self::Knob { version, name, owner, flag, default, off, summary: info.summary, gates }
            }
            Entry::Cause(cause) => Self::Cause { version, id: cause.id(), sentence: cause.sentence() },
            Entry::Check(check) => {
                let info = check.info();
                let (id, severity, summary) = (info.id, info.severity.label(), info.summary);
                Self::Check { version, id, severity, summary, needs: needs(check), doc: info.doc }
            }
            Entry::Rule(rule) => Self::Rule(rule.into()),
            Entry::Metric(info) => Self::Metric {
                version,
                name: info.name,
                metric_type: metric_type(info.kind),
                labels: info.labels,
                summary: info.help,
            },
            Entry::Exit(exit) => {
                let info = exit.info();
                Self::Exit { version, status: info.status, name: info.name, summary: info.meaning }
            }
        }
    }
}
