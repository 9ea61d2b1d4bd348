//! `icache policy crd`: the CustomResourceDefinitions.

use crate::cmd::{Exit, Outcome};
use crate::policy::crd::definitions;
use crate::render::Printer;

/// Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "\
Examples:
  icache policy crd | kubectl apply -f -";

/// Prints both as YAML documents.
pub fn run(_: &Args, printer: &mut Printer) -> Outcome {
    for (at, definition) in definitions().iter().enumerate() {
        if at > 0 {
            printer.line("---")?;
        }
        printer.line(&definition.yaml()?)?;
    }
    Ok(Exit::Done)
}
