//! The report as a JSON document.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::bench::{BenchReport, Comparison, Kind, Loop, Ratio, ServerReport};
use crate::render::JSON_VERSION;

/// The document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BenchJson<'a> {
    version: u32,
    service: &'static str,
    in_flight: Option<u32>,
    rate: Option<f64>,
    connections: u32,
    blocks: u32,
    shared_head: f32,
    chains: u32,
    replicas: u32,
    mix: String,
    seed: u64,
    partial: bool,
    servers: Vec<ServerJson<'a>>,
    comparison: Option<ComparisonJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    url: &'a str,
    seconds: f64,
    answers: u64,
    rate: f64,
    mean_us: f64,
    p50_us: f64,
    p75_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    p9999_us: f64,
    max_us: f64,
    kinds: BTreeMap<&'static str, u64>,
    reason_codes: &'a BTreeMap<String, u64>,
    hints: u64,
    wrong: u64,
    first_wrong: Option<&'a str>,
    failed: u64,
    errors: &'a BTreeMap<String, u64>,
    unsent: u64,
}

#[derive(Serialize)]
struct ComparisonJson {
    pairs: usize,
    rate: RatioJson,
    p50: RatioJson,
    p99: RatioJson,
}

#[derive(Serialize)]
struct RatioJson {
    median: f64,
    min: f64,
    max: f64,
}

impl<'a> BenchJson<'a> {
    pub(super) fn new(report: &'a BenchReport) -> Self {
        let (in_flight, rate) = match report.pace {
            Loop::Closed(in_flight) => (Some(in_flight), None),
            Loop::Open(rate) => (None, Some(rate)),
        };
        let shape = &report.shape;
        Self {
            version: JSON_VERSION,
            service: if report.is_fast { "FastLookup" } else { "LookupRoute" },
            in_flight,
            rate,
            connections: report.connections,
            blocks: shape.blocks,
            shared_head: shape.shared_head,
            chains: shape.chains,
            replicas: shape.replicas,
            mix: shape.mix.text(),
            seed: shape.seed,
            partial: report.is_partial,
            servers: report.servers.iter().map(ServerJson::from).collect(),
            comparison: report.comparison().map(ComparisonJson::from),
        }
    }
}

impl<'a> From<&'a ServerReport> for ServerJson<'a> {
    fn from(server: &'a ServerReport) -> Self {
        let tally = &server.tally;
        Self {
            url: &server.url,
            seconds: server.seconds(),
            answers: tally.answers(),
            rate: server.rate(),
            mean_us: tally.mean_us(),
            p50_us: tally.percentile_us(0.5),
            p75_us: tally.percentile_us(0.75),
            p90_us: tally.percentile_us(0.9),
            p99_us: tally.percentile_us(0.99),
            p999_us: tally.percentile_us(0.999),
            p9999_us: tally.percentile_us(0.9999),
            max_us: tally.percentile_us(1.0),
            kinds: Kind::ALL.into_iter().map(Kind::name).zip(tally.kinds).collect(),
            reason_codes: &tally.codes,
            hints: tally.hints,
            wrong: tally.wrong,
            first_wrong: tally.first_wrong.as_deref(),
            failed: tally.failed(),
            errors: &tally.errors,
            unsent: tally.unsent,
        }
    }
}

impl From<Comparison> for ComparisonJson {
    fn from(comparison: Comparison) -> Self {
        let Comparison { pairs, rate, p50, p99 } = comparison;
        Self { pairs, rate: rate.into(), p50: p50.into(), p99: p99.into() }
    }
}

impl From<Ratio> for RatioJson {
    fn from(Ratio { median, least, most }: Ratio) -> Self {
        Self { median, min: least, max: most }
    }
}
