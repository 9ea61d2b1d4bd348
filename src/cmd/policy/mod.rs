//! `icache policy`: what is written in files of policies, and what it comes to.

mod files;
mod lint;
mod rules;

use clap::Subcommand;

use super::{Outcome, Printer};

/// Check policy files, and explain the rules
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
  icache policy rules bad-duration
      what a rule finds, and why";

#[derive(Debug, Subcommand)]
enum Command {
    Lint(lint::Args),
    Rules(rules::Args),
}

/// Runs the command.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.command {
        Command::Lint(args) => lint::run(args, printer),
        Command::Rules(args) => rules::run(args, printer),
    }
}
