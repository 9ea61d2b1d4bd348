//! Simulation: traces, the modelled cache, tiny fleets reckoned by hand, invariants of random ones, the command.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod cli;
mod fleets;
mod model;
mod random;
#[path = "../server_support/shapes.rs"]
mod shapes;
mod traces;

use icache::policy::{Defaults, load_policies};
use icache::simulate::{
    Contender, NamedPolicies, Publish, Routing, Run, Scenario, Settings, Simulated, Trace, TraceError,
    TraceOptions, simulate,
};

/// One line of a trace: milliseconds, tokens, ids.
type Line<'a> = (u64, u64, &'a [u32]);

fn text(lines: &[Line<'_>]) -> String {
    let line = |(at, tokens, ids): &Line<'_>| {
        format!("{{\"timestamp\":{at},\"input_length\":{tokens},\"output_length\":1,\"hash_ids\":{ids:?}}}\n")
    };
    lines.iter().map(line).collect()
}

fn read(text: &str) -> Result<Trace, TraceError> {
    Trace::read("t.jsonl", text.as_bytes(), TraceOptions::default())
}

fn trace(lines: &[Line<'_>]) -> Trace {
    read(&text(lines)).unwrap()
}

/// Engines of so many blocks that compute a block a second.
fn settings(replicas: usize, blocks_per_replica: usize) -> Settings {
    Settings {
        replicas,
        blocks_per_replica,
        prefill_rate: 512,
        publish: Publish::End,
        event_delay_ns: 0,
        refresh_ns: 600_000_000_000,
        warmup: 0,
        seed: 0,
        tenant: "default".to_owned(),
        scenario: Scenario::default(),
    }
}

fn contender(routing: Routing) -> Contender {
    Contender { routing, policy: None }
}

/// The reference under a policy with these fields.
fn under(name: &str, spec: &str) -> Contender {
    let text = format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: p, namespace: default}}\nspec: {{{spec}}}\n"
    );
    let set = load_policies("p.yaml", &text, &Defaults::default()).unwrap().set;
    Contender { routing: Routing::Reference, policy: Some(NamedPolicies { name: name.to_owned(), set }) }
}

fn all(trace: &Trace, settings: &Settings, contenders: &[Contender]) -> Simulated {
    simulate("t.jsonl", trace, settings, contenders, &mut |_| {})
}

fn one(trace: &Trace, settings: &Settings, contender: Contender) -> Run {
    all(trace, settings, &[contender]).runs.remove(0)
}
