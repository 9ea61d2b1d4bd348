//! The state of the index as GetCacheState tells it.

use std::io;

use serde::Serialize;

use super::JSON_VERSION;
use super::error::warnings;
use super::printer::{Format, Printer};
use super::table::Grid;
use super::text::{count_of, grouped, real};
use crate::index::{CacheState, ReplicaState};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateJson<'a> {
    version: u32,
    total_prefixes: u64,
    hot_prefixes: u64,
    replicas: Vec<ReplicaJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplicaJson<'a> {
    replica_id: &'a str,
    cache_memory_bytes: i64,
    hit_rate: f32,
    pressure: f32,
    client_version: &'a str,
    t2_hit_tokens: i64,
    t2_query_tokens: i64,
}

impl<'a> From<&'a ReplicaState> for ReplicaJson<'a> {
    fn from(replica: &'a ReplicaState) -> Self {
        Self {
            replica_id: &replica.replica,
            cache_memory_bytes: replica.cache_memory_bytes,
            hit_rate: replica.hit_rate,
            pressure: replica.pressure,
            client_version: &replica.client_version,
            t2_hit_tokens: replica.t2_hit_tokens,
            t2_query_tokens: replica.t2_query_tokens,
        }
    }
}

/// Prints the state; as JSON Lines, one replica a line, and a warning where there is none.
pub fn state(printer: &mut Printer, format: Format, state: &CacheState) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&StateJson {
            version: JSON_VERSION,
            total_prefixes: state.total_prefixes,
            hot_prefixes: state.hot_prefixes,
            replicas: state.replicas.iter().map(ReplicaJson::from).collect(),
        }),
        Format::Jsonl => {
            if state.replicas.is_empty() {
                let none = "no replica has reported statistics; `-o json` tells the size of the index";
                warnings(printer.when(), &[none.to_owned()]);
            }
            state.replicas.iter().try_for_each(|replica| printer.json_line(&ReplicaJson::from(replica)))
        }
        Format::Table => table(printer, state),
    }
}

fn table(printer: &mut Printer, state: &CacheState) -> io::Result<()> {
    let sum = format!(
        "{}, {} of them hot (hit since the last sweep but one)",
        count_of(state.total_prefixes, "prefix"),
        grouped(i64::try_from(state.hot_prefixes).unwrap_or(i64::MAX))
    );
    printer.prose(&sum, 2)?;
    if state.replicas.is_empty() {
        return printer.line("no replica has reported statistics");
    }
    printer.line("")?;
    let mut grid = Grid::new(
        printer.look(),
        &["-replica", ">hit rate", ">pressure", ">cache bytes", ">T2 hit/query tokens", "client"],
    );
    for replica in &state.replicas {
        grid.row([
            replica.replica.as_str(),
            &real(replica.hit_rate.into()),
            &real(replica.pressure.into()),
            &grouped(replica.cache_memory_bytes),
            &t2(replica),
            &replica.client_version,
        ]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}

/// A fleet without an offload pool never asks tier 2.
fn t2(replica: &ReplicaState) -> String {
    if replica.t2_query_tokens == 0 && replica.t2_hit_tokens == 0 {
        return "-".to_owned();
    }
    format!("{}/{}", grouped(replica.t2_hit_tokens), grouped(replica.t2_query_tokens))
}
