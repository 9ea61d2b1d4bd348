//! The registries as pages: reason codes, gates, knobs, causes, exit statuses; for the terminal, as JSON, and as documents.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use super::JSON_VERSION;
use super::markdown::plain;
use super::printer::{Format, Printer};
use super::table::Grid;
use super::text::{Tone, wrap};
use crate::decision::{BALANCED_PIPELINE, Cause, GateId, Knob, KnobOwner, Reason};
use crate::doctor::{Check, Source};

/// One entry of a registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
}

impl Entry {
    /// Every entry, in the order of the registries.
    pub fn all() -> impl Iterator<Item = Entry> {
        let reasons = Reason::ALL.iter().copied().map(Entry::Reason);
        let gates = GateId::ALL.iter().copied().map(Entry::Gate);
        let knobs = Knob::ALL.iter().copied().map(Entry::Knob);
        let causes = Cause::ALL.iter().copied().map(Entry::Cause);
        let checks = Check::ALL.iter().copied().map(Entry::Check);
        reasons.chain(gates).chain(knobs).chain(causes).chain(checks)
    }

    /// The name it is known by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.code(),
            Self::Gate(gate) => gate.id(),
            Self::Knob(knob) => knob.info().name,
            Self::Cause(cause) => cause.id(),
            Self::Check(check) => check.id(),
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
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum EntryJson {
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
    Cause { version: u32, id: &'static str, sentence: &'static str },
    #[serde(rename_all = "camelCase")]
    Check {
        version: u32,
        id: &'static str,
        severity: &'static str,
        summary: &'static str,
        needs: Vec<&'static str>,
        doc: &'static str,
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

/// Prints the page of one entry.
pub fn page(printer: &mut Printer, format: Format, entry: Entry) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(&EntryJson::from(entry)),
        Format::Jsonl => return printer.json_line(&EntryJson::from(entry)),
        Format::Table => {}
    }
    let (summary, doc) = match entry {
        Entry::Reason(reason) => (reason.info().summary, reason.info().doc),
        Entry::Gate(gate) => (gate.info().summary, gate.info().doc),
        Entry::Knob(knob) => (knob.info().summary, ""),
        Entry::Cause(cause) => (cause.sentence(), ""),
        Entry::Check(check) => (check.info().summary, check.info().doc),
    };
    let width = printer.look().width;
    let title = format!("{} ({}): {summary}", entry.name(), entry.kind());
    for (at, line) in wrap(&title, width, 2).iter().enumerate() {
        let painted = printer.paint(Tone::Strong, entry.name());
        let line = if at == 0 { line.replacen(entry.name(), &painted, 1) } else { line.clone() };
        printer.line(&line)?;
    }
    printer.line("")?;
    for (label, value) in facts(entry) {
        for line in wrap(&format!("{label:<10}{value}"), width, 10) {
            printer.line(&line)?;
        }
    }
    if doc.is_empty() {
        return Ok(());
    }
    printer.line("")?;
    plain(doc, printer.look()).iter().try_for_each(|line| printer.line(line))
}

fn facts(entry: Entry) -> Vec<(&'static str, String)> {
    let listed = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match entry {
        Entry::Reason(reason) => vec![
            ("gateway", reason.info().gateway.to_owned()),
            ("gates", listed(gates_to(reason))),
            ("undone by", listed(gates_against(reason))),
            ("knobs", listed(knobs_of(reason))),
        ],
        Entry::Gate(gate) => {
            let info = gate.info();
            let mut facts = vec![
                ("runs", format!("on the {}", stages(gate).join(", and on the "))),
                ("leads to", listed(codes(info.leads_to))),
                ("undoes", listed(codes(info.takes_away))),
                ("knobs", listed(names(info.knobs))),
            ];
            if info.balanced_knobs != info.knobs {
                facts.push((
                    "balanced",
                    format!("{}, under `--ranker balanced`", listed(names(info.balanced_knobs))),
                ));
            }
            facts
        }
        Entry::Knob(knob) => {
            let info = knob.info();
            let set_by = match info.flag {
                Some(flag) => format!("flag {flag} of `icache serve`"),
                None => format!("spec.{} of the tenant's CachePolicy", info.name),
            };
            vec![
                ("set by", set_by),
                ("default", info.default.to_owned()),
                ("off", if info.off == "n/a" { "cannot be switched off" } else { info.off }.to_owned()),
                ("gates", listed(gates_of(knob))),
            ]
        }
        Entry::Cause(_) => vec![("seen in", "steps of `icache lookup --explain`".to_owned())],
        Entry::Check(check) => {
            vec![("severity", check.info().severity.label().to_owned()), ("needs", listed(needs(check)))]
        }
    }
}

/// Prints the tables of all codes, gates, knobs and causes.
pub fn listing(printer: &mut Printer, format: Format) -> io::Result<()> {
    match format {
        Format::Json => {
            #[derive(Serialize)]
            struct All {
                version: u32,
                entries: Vec<EntryJson>,
            }
            return printer
                .json(&All { version: JSON_VERSION, entries: Entry::all().map(EntryJson::from).collect() });
        }
        Format::Jsonl => {
            return Entry::all().try_for_each(|entry| printer.json_line(&EntryJson::from(entry)));
        }
        Format::Table => {}
    }
    let look = printer.look();
    let mut reasons = Grid::new(look, &["reason code", "meaning", "gateway"]);
    for info in Reason::ALL.iter().map(|reason| reason.info()) {
        reasons.row([info.code, info.summary, info.gateway]);
    }
    let mut gates = Grid::new(look, &["gate, in order", "checks"]);
    for info in GateId::ALL.iter().map(|gate| gate.info()) {
        gates.row([info.id, info.summary]);
    }
    let mut knobs = Grid::new(look, &["knob", "default", "does"]);
    for info in Knob::ALL.iter().map(|knob| knob.info()) {
        knobs.row([info.name, info.default, info.summary]);
    }
    let mut causes = Grid::new(look, &["cause", "says"]);
    for cause in Cause::ALL {
        causes.row([cause.id(), cause.sentence()]);
    }
    let mut checks = Grid::new(look, &["check of icache doctor", "finds"]);
    for info in Check::ALL.iter().map(|check| check.info()) {
        checks.row([info.id, info.summary]);
    }
    for grid in [reasons, gates, knobs, causes, checks] {
        for line in grid.lines() {
            printer.line(&line)?;
        }
        printer.line("")?;
    }
    printer.line("`icache explain NAME` prints the page of one of them")
}

/// The codes at a glance; `page` is where the links lead, before the code's anchor.
pub fn reason_codes_table(page: &str) -> String {
    let mut out = String::from("| code | replicas | meaning | gateway |\n|---|---|---|---|\n");
    for info in Reason::ALL.iter().map(|reason| reason.info()) {
        let hints = if info.hints { "yes" } else { "none" };
        let (code, anchor) = (info.code, info.code.to_lowercase());
        let (summary, gateway) = (info.summary, info.gateway);
        let _ = writeln!(out, "| [`{code}`]({page}#{anchor}) | {hints} | {summary} | {gateway} |");
    }
    out
}

/// `docs/reason-codes.md`.
pub fn reason_codes_page() -> String {
    let mut out = document(
        "Reason codes",
        "What LookupRoute says in `reason_code`, and what a gateway does with it. Treat a code that is not listed as `NO_HINT`.",
    );
    out.push_str(&reason_codes_table(""));
    for reason in Reason::ALL {
        let info = reason.info();
        let _ = write!(
            out,
            "\n## {}\n\nGates that lead to it: {}.\nGates that can undo it: {}.\nKnobs that move it: {}.\n\n{}",
            info.code,
            linked(&gates_to(*reason)),
            linked(&gates_against(*reason)),
            quoted(&knobs_of(*reason)),
            deeper(info.doc)
        );
    }
    out
}

/// `docs/gates.md`.
pub fn gates_page() -> String {
    let mut out = document(
        "Gates",
        "What LookupRoute checks, in order, and the knobs that move it. `icache lookup --explain` shows them at work.",
    );
    out.push_str("| gate | runs on the | checks | leads to |\n|---|---|---|---|\n");
    for gate in GateId::ALL {
        let info = gate.info();
        let leads = codes(info.leads_to);
        let runs = stages(*gate).join(", ");
        let _ =
            writeln!(out, "| [`{0}`](#{0}) | {runs} | {1} | {2} |", info.id, info.summary, quoted(&leads));
    }
    out.push_str("\n| knob | set by | default | off | does |\n|---|---|---|---|---|\n");
    for info in Knob::ALL.iter().map(|knob| knob.info()) {
        let set_by = info.flag.map_or("policy".to_owned(), |flag| format!("`{flag}`"));
        let off = if info.off == "n/a" { "" } else { info.off };
        let _ = writeln!(out, "| `{}` | {set_by} | {} | {off} | {} |", info.name, info.default, info.summary);
    }
    for gate in GateId::ALL {
        let info = gate.info();
        let knobs = quoted(&names(info.knobs));
        let balanced = match info.balanced_knobs == info.knobs {
            true => String::new(),
            false => format!(" Under `--ranker balanced`: {}.", quoted(&names(info.balanced_knobs))),
        };
        let _ = write!(out, "\n## {}\n\nKnobs: {knobs}.{balanced}\n\n{}", info.id, deeper(info.doc));
    }
    out
}

/// `docs/exit-status.md`, from rows of status, name and meaning.
pub fn exit_status_page<'a>(rows: impl IntoIterator<Item = (u8, &'a str, &'a str)>) -> String {
    let mut out = document("Exit status", "Of every command of `icache`.");
    out.push_str("| status | means | when |\n|---|---|---|\n");
    for (status, name, meaning) in rows {
        let _ = writeln!(out, "| {status} | {name} | {meaning} |");
    }
    out
}

/// The head of a generated document.
pub(super) fn document(title: &str, about: &str) -> String {
    format!(
        "<!-- Generated by `cargo run -- generate`; edit the registry instead. -->\n\n# {title}\n\n{about}\n\n"
    )
}

/// Headings of an entry's document, one level below the entry's own.
pub(super) fn deeper(doc: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(doc.len() + 64);
    for line in doc.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix("## ").filter(|_| !is_code) {
            Some(heading) => {
                let _ = writeln!(out, "### {heading}\n");
            }
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

fn quoted(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn linked(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("[`{name}`](gates.md#{name})")).collect::<Vec<_>>().join(", ")
}
