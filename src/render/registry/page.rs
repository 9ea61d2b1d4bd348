//! Pages for the terminal.

use std::io;

use serde::Serialize;

use super::json::EntryJson;
use super::{Entry, codes, gates_against, gates_of, gates_to, knobs_of, names, needs, stages};
use crate::cmd::Exit;
use crate::decision::{Cause, GateId, Knob, Reason};
use crate::doctor::Check;
use crate::policy::lint::Rule;
use crate::render::JSON_VERSION;
use crate::render::markdown::plain;
use crate::render::metrics::metric_type;
use crate::render::printer::{Format, Printer};
use crate::render::table::Grid;
use crate::render::text::{Tone, wrap};
use crate::server::{self, MetricInfo};
use crate::subscribe;

/// Prints the page of one entry.
pub fn page(printer: &mut Printer, format: Format, entry: Entry) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(&EntryJson::from(entry)),
        Format::Jsonl => return printer.json_line(&EntryJson::from(entry)),
        Format::Table => {}
    }
    let (summary, doc) = (entry.summary(), entry.doc());
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
    if !doc.is_empty() {
        printer.line("")?;
        plain(doc, printer.look()).iter().try_for_each(|line| printer.line(line))?;
    }
    let is_other_rule = |other: Entry| matches!(other, Entry::Rule(_)) && other.name() == entry.name();
    if !matches!(entry, Entry::Rule(_)) && Entry::all().any(is_other_rule) {
        printer.line("")?;
        printer.line(&format!("A rule of lint has the same name: `icache policy rules {}`", entry.name()))?;
    }
    Ok(())
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
        Entry::Rule(rule) => {
            let refuses = if rule.is_enforced() { "refuse what it finds" } else { "take what it finds" };
            vec![("severity", rule.severity().label().to_owned()), ("servers", refuses.to_owned())]
        }
        Entry::Metric(metric) => vec![
            ("type", metric_type(metric.kind).to_owned()),
            ("labels", listed(metric.labels.to_vec())),
            ("served by", served_by(metric).to_owned()),
        ],
        Entry::Exit(exit) => vec![("means", exit.info().name.to_owned())],
    }
}

fn served_by(metric: &MetricInfo) -> &'static str {
    let is_of_server = server::METRICS.iter().any(|known| known.name == metric.name);
    if is_of_server { "/metrics of `icache serve`" } else { "/metrics of `icache subscribe`" }
}

/// Prints the tables of all registries.
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
    let mut rules = Grid::new(look, &["rule of icache policy lint", "finds"]);
    for info in Rule::ALL.iter().map(|rule| rule.info()) {
        rules.row([info.id, info.summary]);
    }
    let mut metrics = Grid::new(look, &["metric", "counts"]);
    for info in server::METRICS.iter().chain(subscribe::METRICS) {
        metrics.row([info.name, info.help]);
    }
    let mut exits = Grid::new(look, &["exit status", "means", "when"]);
    for info in Exit::ALL.iter().map(|exit| exit.info()) {
        exits.row([info.text, info.name, info.meaning]);
    }
    for grid in [reasons, gates, knobs, causes, checks, rules, metrics, exits] {
        for line in grid.lines() {
            printer.line(&line)?;
        }
        printer.line("")?;
    }
    printer.line("`icache explain NAME` prints the page of one of them")
}
