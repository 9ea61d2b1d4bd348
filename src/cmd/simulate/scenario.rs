//! Flags for what a fleet may be besides whole and asked by one gateway.

use super::{delay, number};
use crate::cmd::error::UsageError;
use crate::simulate::{Fault, FaultKind, MAX_FAULTS, MAX_GATEWAYS, Scenario};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Scenario")]
pub(super) struct ScenarioArgs {
    /// Gateways that share the requests in turn; each knows only what it has sent itself
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number(1, MAX_GATEWAYS as u64))]
    gateways: u64,
    /// Servers, each asked by its share of the gateways; there are as many gateways at least
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number(1, MAX_GATEWAYS as u64))]
    servers: u64,
    /// Each engine reports to one of the servers, in place of all
    #[arg(long)]
    split_reports: bool,
    /// An engine and its sidecar die without a word, so long after the first request: `r3@600s`, counted from r0
    #[arg(long, value_name = "ENGINE@DURATION", value_parser = fault)]
    kill: Vec<(usize, i64)>,
    /// An engine, dead or not, begins anew with an empty cache
    #[arg(long, value_name = "ENGINE@DURATION", value_parser = fault)]
    restart: Vec<(usize, i64)>,
    /// A replica not heard of for longer gets no hints; 0 switches it off
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = delay)]
    replica_timeout: i64,
}

impl ScenarioArgs {
    /// For a fleet of `replicas` engines.
    pub(super) fn scenario(&self, replicas: usize) -> Result<Scenario, UsageError> {
        let of = |(replica, at_ns): &(usize, i64), kind| Fault { replica: *replica, at_ns: *at_ns, kind };
        let kills = self.kill.iter().map(|at| of(at, FaultKind::Kill));
        let restarts = self.restart.iter().map(|at| of(at, FaultKind::Restart));
        let mut faults: Vec<Fault> = kills.chain(restarts).collect();
        faults.sort_by_key(|fault| fault.at_ns);
        if let Some(fault) = faults.iter().find(|fault| fault.replica >= replicas) {
            return Err(UsageError::new(
                format!("there is no engine `r{}` in a fleet of {replicas}", fault.replica),
                format!("name one of r0 to r{}", replicas.saturating_sub(1)),
            ));
        }
        if self.split_reports && self.servers == 1 {
            return Err(UsageError::new(
                "`--split-reports` is given with one server",
                "give `--servers` with a number above 1, too",
            ));
        }
        if faults.len() > MAX_FAULTS {
            return Err(UsageError::new(
                format!("{} faults are asked for", faults.len()),
                format!("give at most {MAX_FAULTS} of `--kill` and `--restart` together"),
            ));
        }
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let servers = size(self.servers);
        Ok(Scenario {
            gateways: size(self.gateways).max(servers),
            servers,
            split_reports: self.split_reports,
            faults,
            replica_timeout_ns: self.replica_timeout,
            ..Scenario::default()
        })
    }
}

/// An engine and a time, as in `r3@600s`.
fn fault(text: &str) -> Result<(usize, i64), String> {
    let wrong = || "write an engine and a time from the first request, as in `r3@600s`".to_owned();
    let (engine, at) = text.split_once('@').ok_or_else(wrong)?;
    let number = engine.strip_prefix('r').unwrap_or(engine).parse().map_err(|_| wrong())?;
    Ok((number, delay(at)?))
}
