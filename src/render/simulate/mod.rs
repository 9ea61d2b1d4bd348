//! What a simulation came to: tables for people, one JSON document for scripts, a page with plots,
//! a bar while it runs.

mod json;
mod page;
mod progress;
mod table;

use std::io;

pub use page::simulated_page;
pub use progress::SimulationProgress;

use super::printer::{Format, Printer};
use super::text::{count_of, grouped};
use crate::model::format_duration;
use crate::simulate::{BLOCK_TOKENS, FaultKind, Publish, Run, Scenario, Simulated};
use json::SimulatedJson;

/// Prints what a simulation came to.
pub fn simulated(printer: &mut Printer, format: Format, result: &Simulated) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&SimulatedJson::new(result)),
        Format::Jsonl => printer.json_line(&SimulatedJson::new(result)),
        Format::Table => table::table(printer, result),
    }
}

/// What the defaults are called among policies.
const DEFAULTS: &str = "the defaults";

/// The policies of the runs that ask, each once; `None` are the defaults.
fn policies(result: &Simulated) -> Vec<Option<&str>> {
    let mut seen = Vec::new();
    for run in result.runs.iter().filter(|run| run.routing.asks()) {
        let policy = run.policy.as_deref();
        if !seen.contains(&policy) {
            seen.push(policy);
        }
    }
    seen
}

/// What policy `at` is called in tables: paths do not fit beside numbers.
fn letter(at: usize) -> char {
    u8::try_from(at).map_or('?', |at| char::from(b'A' + at % 26))
}

/// What a run is called: its routing, and a letter for its policies where there are several.
fn name(result: &Simulated, run: &Run) -> String {
    let policies = policies(result);
    let at = policies.iter().position(|policy| *policy == run.policy.as_deref());
    match at.filter(|_| run.routing.asks() && policies != [None]) {
        Some(at) => format!("{} {}", run.routing.name(), letter(at)),
        None => run.routing.name().to_owned(),
    }
}

/// Seconds, in as many digits as tell something.
fn seconds(ns: f64) -> String {
    match ns / 1e9 {
        seconds if seconds < 100.0 => format!("{seconds:.2} s"),
        seconds => format!("{} s", grouped(seconds.round() as i64)),
    }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What was simulated, as a sentence.
fn setting(result: &Simulated) -> String {
    let settings = &result.settings;
    let mut text = format!(
        "{}, {} asked for; {} with a cache of {} of {BLOCK_TOKENS} tokens, each prefilling {} a second",
        count_of(result.requests, "request"),
        count_of(result.reachable.asked_tokens, "token"),
        count_of(settings.replicas as u64, "engine"),
        count_of(settings.blocks_per_replica as u64, "block"),
        count_of(settings.prefill_rate, "token"),
    );
    if settings.warmup > 0 {
        let requests = count_of(settings.warmup.min(result.requests), "request");
        text.push_str(&format!("; {requests} of warm-up"));
    }
    if settings.event_delay_ns > 0 {
        text.push_str(&format!("; events {} late", format_duration(settings.event_delay_ns)));
    }
    if settings.publish == Publish::Start {
        text.push_str("; blocks told of when their prefill begins");
    }
    text.push_str(&scenario(&settings.scenario));
    text
}

/// What differs from one server in front of equal engines that never fail.
fn scenario(scenario: &Scenario) -> String {
    let mut text = String::new();
    if !scenario.prefill_rates.is_empty() {
        let rates: Vec<String> = scenario.prefill_rates.iter().map(|rate| count(*rate)).collect();
        text.push_str(&format!("; prefill rates {} in turn", rates.join("; ")));
    }
    if let Some(percent) = scenario.utilisation {
        text.push_str(&format!(
            "; arrivals that keep engines busy {percent} % of the time under round-robin"
        ));
    }
    if scenario.gateways > 1 {
        let servers = count_of(scenario.servers as u64, "server");
        text.push_str(&format!("; {} in front of {servers}", count_of(scenario.gateways as u64, "gateway")));
    }
    if scenario.split_reports {
        text.push_str(", each engine reporting to one");
    }
    for fault in &scenario.faults {
        let what = match fault.kind {
            FaultKind::Kill => "dies",
            FaultKind::Restart => "is back",
        };
        text.push_str(&format!("; r{} {what} after {}", fault.replica, format_duration(fault.at_ns)));
    }
    text
}
