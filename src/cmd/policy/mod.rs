//! `icache policy`: CachePolicies and CacheTenants before and while they are in force.

mod admin;
mod crd;
mod diff;
mod input;
mod schema;
mod show;
mod simulate;

use clap::Subcommand;

pub use input::{PolicyInput, refused_policy};

use super::Outcome;
use crate::render::Printer;

/// Show, compare and try out policies
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: PolicyCommand,
}

const EXAMPLES: &str = "\
Examples:
  icache policy show policies/
      what holds for each namespace, and which object says so
  icache policy diff policies/ new-policies/
      what would change in effect
  icache policy simulate --policy policies/ --policy new-policies/ fleet.capture.jsonl
      what recorded traffic would be answered under each
  icache policy crd | kubectl apply -f -";

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    Show(show::Args),
    Diff(diff::Args),
    Simulate(simulate::Args),
    Crd(crd::Args),
    Schema(schema::Args),
}

/// Runs the command that is named.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.command {
        PolicyCommand::Show(args) => show::run(args, printer),
        PolicyCommand::Diff(args) => diff::run(args, printer),
        PolicyCommand::Simulate(args) => simulate::run(args, printer),
        PolicyCommand::Crd(args) => crd::run(args, printer),
        PolicyCommand::Schema(args) => schema::run(args, printer),
    }
}
