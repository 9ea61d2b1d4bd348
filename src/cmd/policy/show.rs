//! `icache policy show`: what holds for each namespace, and what says so.

use super::admin;
use super::input::PolicyInput;
use crate::cmd::connect::AccessArgs;
use crate::cmd::error::UsageError;
use crate::cmd::{Exit, Outcome};
use crate::policy::view;
use crate::render::{self, Format, Printer};

/// Show the effective policy of each namespace: every knob with its value and where it comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Policies: YAML or JSON files, folders of them, `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "admin_url")]
    paths: Vec<String>,
    /// Ask a running server for what is in force, at its admin port
    #[arg(long, value_name = "URL", conflicts_with_all = ["paths", "namespace", "default_ttl"])]
    admin_url: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    input: PolicyInput,
    /// Show this tenant alone, with the defaults where it has no policy
    #[arg(long, value_name = "ID", help_heading = "Output")]
    tenant: Option<String>,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache policy show policies/
  icache policy show --namespace team-a policy.yaml
      for objects that leave the namespace to `kubectl --namespace team-a`
  icache policy show --tenant team-a --admin-url http://127.0.0.1:8081
      what a running server has in force for one tenant";

/// Loads or asks, and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let mut shown = match &args.admin_url {
        Some(url) => admin::policies(url, &args.access)?,
        None if args.paths.is_empty() => {
            return Err(
                UsageError::new("no policies are named", "give files or folders, or `--admin-url`").into()
            );
        }
        None => {
            let loaded = args.input.load(&args.paths)?;
            view(&loaded.set, &loaded.inert)
        }
    };
    if let Some(namespace) = &args.tenant {
        shown.keep(namespace);
    }
    render::policies(printer, args.output, &shown, args.tenant.is_some())?;
    Ok(Exit::Done)
}
