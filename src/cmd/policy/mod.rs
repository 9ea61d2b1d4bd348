//! `icache policy`: CachePolicies and CacheTenants before and while they are in force.

mod admin;
mod crd;
mod diff;
mod files;
mod input;
mod lint;
mod rules;
mod schema;
mod show;
mod simulate;

use clap::Subcommand;

pub use input::{in_place, refused_policy};

use super::Outcome;
use crate::render::Printer;

/// Check, show, compare and try out policies
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  icache policy lint policies/
      every problem in the files of a folder
  icache policy show policies/
      what holds for each namespace, and which object says so
  icache policy diff policies/ new-policies/
      what would change in effect
  icache policy simulate --policy policies/ --policy new-policies/ fleet.capture.jsonl
      what recorded traffic would be answered under each
  icache policy crd | kubectl apply -f -";

#[derive(Debug, Subcommand)]
enum Command {
    Lint(lint::Args),
    Rules(rules::Args),
    Show(show::Args),
    Diff(diff::Args),
    Simulate(simulate::Args),
    Crd(crd::Args),
    Schema(schema::Args),
}

/// Runs the command.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.command {
        Command::Lint(args) => lint::run(args, printer),
        Command::Rules(args) => rules::run(args, printer),
        Command::Show(args) => show::run(args, printer),
        Command::Diff(args) => diff::run(args, printer),
        Command::Simulate(args) => simulate::run(args, printer),
        Command::Crd(args) => crd::run(args, printer),
        Command::Schema(args) => schema::run(args, printer),
    }
}
