//! `icache policy schema`: the JSON Schema for editors.

use crate::cmd::{Exit, Outcome};
use crate::policy::json_schema;
use crate::render::Printer;

/// Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

const EXAMPLES: &str = "\
Examples:
  icache policy schema > inferencecache.schema.json
      then `# yaml-language-server: $schema=inferencecache.schema.json` at the head of a policy file";

/// Prints it.
pub fn run(_: &Args, printer: &mut Printer) -> Outcome {
    printer.json(&json_schema())?;
    Ok(Exit::Done)
}
