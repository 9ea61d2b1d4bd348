//! `icache policy diff`: what changes in effect.

use super::admin;
use super::input::PolicyInput;
use crate::cmd::connect::AccessArgs;
use crate::cmd::error::UsageError;
use crate::cmd::{CommandError, Exit, Outcome};
use crate::policy::{PolicyView, diff, view};
use crate::render::{self, Format, Printer};

/// Compare two sets of policies in effect, not in text
///
/// Only values count: what moves to another file, is renamed, or is written out as the default changes nothing. A
/// namespace that one side does not name is compared with the defaults.
///
/// Exit status 0 where nothing changes in effect, 1 where something does.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Policies before: a YAML or JSON file, a folder of them, `-` for standard input, or the URL of an admin port
    #[arg(value_name = "OLD")]
    old: String,
    /// Policies after, in the same forms
    #[arg(value_name = "NEW")]
    new: String,
    #[command(flatten)]
    input: PolicyInput,
    #[command(flatten)]
    access: AccessArgs,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache policy diff policies/ new-policies/
  git show main:policy.yaml | icache policy diff - policy.yaml
      what a change in git comes to
  icache policy diff http://127.0.0.1:8081 policies/
      what a running server would do otherwise, had it these files

Exit status: 0 nothing changes in effect, 1 something changes, 2 usage or invalid policies, 3 no server";

/// Loads both sides, compares and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if args.old == "-" && args.new == "-" {
        let advice = "give a file, a folder or a URL for one of them";
        return Err(UsageError::new("both sides are standard input, which can be read once", advice).into());
    }
    let (old, new) = (args.side(&args.old)?, args.side(&args.new)?);
    let found = diff(&old, &new);
    render::policy_diff(printer, args.output, &found)?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Negative })
}

impl Args {
    fn side(&self, from: &str) -> Result<PolicyView, CommandError> {
        if admin::is_url(from) {
            return admin::policies(from, &self.access);
        }
        let loaded = self.input.load(&[from.to_owned()])?;
        Ok(view(&loaded.set, &loaded.inert))
    }
}
