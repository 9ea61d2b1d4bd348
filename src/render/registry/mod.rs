//! The registries: reason codes, gates, knobs, causes, checks, lint rules, metrics, exit statuses; for the terminal, as JSON,
//! and as documents.

mod documents;
mod json;
mod page;

pub(super) use self::documents::{deeper, document};
pub use self::documents::{exit_status_page, gates_page, reason_codes_page, reason_codes_table};
pub use self::page::{listing, page};
use crate::cmd::Exit;
use crate::decision::{BALANCED_PIPELINE, Cause, GateId, Knob, KnobOwner, Reason};
use crate::doctor::{Check, Source};
use crate::policy::lint::Rule;
use crate::server::{self, MetricInfo};
use crate::subscribe;

/// One entry of a registry.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A reason code.
    Reason(Reason),
    /// A gate.
    Gate(GateId),
    /// A policy field or server setting.
    Knob(Knob),
    /// Why a gate did what it did.
    Cause(Cause),
    /// A check of `icache doctor`.
    Check(Check),
    /// A rule of `icache policy lint`.
    Rule(Rule),
    /// A metric of the server or the sidecar.
    Metric(&'static MetricInfo),
    /// An exit status.
    Exit(Exit),
}

impl Entry {
    /// Every entry, in the order of the registries.
    pub fn all() -> impl Iterator<Item = Entry> {
        let reasons = Reason::ALL.iter().copied().map(Entry::Reason);
        let gates = GateId::ALL.iter().copied().map(Entry::Gate);
        let knobs = Knob::ALL.iter().copied().map(Entry::Knob);
        let causes = Cause::ALL.iter().copied().map(Entry::Cause);
        let checks = Check::ALL.iter().copied().map(Entry::Check);
        let rules = Rule::ALL.iter().copied().map(Entry::Rule);
        let metrics = server::METRICS.iter().chain(subscribe::METRICS).map(Entry::Metric);
        let exits = Exit::ALL.iter().copied().map(Entry::Exit);
        reasons.chain(gates).chain(knobs).chain(causes).chain(checks).chain(rules).chain(metrics).chain(exits)
    }

    /// The name it is known by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.code(),
            Self::Gate(gate) => gate.id(),
            Self::Knob(knob) => knob.info().name,
            Self::Cause(cause) => cause.id(),
            Self::Check(check) => check.id(),
            Self::Rule(rule) => rule.id(),
            Self::Metric(metric) => metric.name,
            Self::Exit(exit) => exit.info().text,
        }
    }

    /// What it is.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Reason(_) => "reason code",
            Self::Gate(_) => "gate",
            Self::Knob(knob) if knob.info().owner == KnobOwner::Policy => "policy field",
            Self::Knob(_) => "server setting",
            Self::Cause(_) => "cause",
            Self::Check(_) => "check of `icache doctor`",
            Self::Rule(_) => "lint rule",
            Self::Metric(_) => "metric",
            Self::Exit(_) => "exit status",
        }
    }

    /// What it says, in a line.
    fn summary(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.info().summary,
            Self::Gate(gate) => gate.info().summary,
            Self::Knob(knob) => knob.info().summary,
            Self::Cause(cause) => cause.sentence(),
            Self::Check(check) => check.info().summary,
            Self::Rule(rule) => rule.info().summary,
            Self::Metric(metric) => metric.help,
            Self::Exit(exit) => exit.info().meaning,
        }
    }

    /// The long form, Markdown; empty where the line says it all.
    fn doc(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.info().doc,
            Self::Gate(gate) => gate.info().doc,
            Self::Check(check) => check.info().doc,
            Self::Rule(rule) => rule.info().doc,
            Self::Knob(_) | Self::Cause(_) | Self::Metric(_) | Self::Exit(_) => "",
        }
    }
}

fn needs(check: Check) -> Vec<&'static str> {
    check.info().needs.iter().copied().map(Source::label).collect()
}

fn stages(gate: GateId) -> Vec<&'static str> {
    // The balanced ranker has every gate.
    BALANCED_PIPELINE.iter().filter(|step| step.gate == gate).map(|step| step.stage.label()).collect()
}

fn names(knobs: &[Knob]) -> Vec<&'static str> {
    knobs.iter().map(|knob| knob.info().name).collect()
}

fn codes(reasons: &[Reason]) -> Vec<&'static str> {
    reasons.iter().map(|reason| reason.code()).collect()
}

fn gates_to(reason: Reason) -> Vec<&'static str> {
    let leads = |gate: &&GateId| gate.info().leads_to.contains(&reason);
    GateId::ALL.iter().filter(leads).map(|gate| gate.id()).collect()
}

fn gates_of(knob: Knob) -> Vec<&'static str> {
    GateId::ALL.iter().filter(|gate| gate.info().reads(knob)).map(|gate| gate.id()).collect()
}

fn gates_against(reason: Reason) -> Vec<&'static str> {
    GateId::ALL.iter().filter(|gate| gate.info().takes_away.contains(&reason)).map(|gate| gate.id()).collect()
}

/// Knobs of the gates that lead to a code or take it away, each once.
fn knobs_of(reason: Reason) -> Vec<&'static str> {
    let about = |gate: &&GateId| {
        let info = gate.info();
        info.leads_to.contains(&reason) || info.takes_away.contains(&reason)
    };
    let gates: Vec<&GateId> = GateId::ALL.iter().filter(about).collect();
    let moves = |knob: &&Knob| gates.iter().any(|gate| gate.info().reads(**knob));
    Knob::ALL.iter().filter(moves).map(|knob| knob.info().name).collect()
}
