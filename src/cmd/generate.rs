//! `icache generate`: writes what is checked in and generated. For those who work on the program; not listed in the help.

use std::path::PathBuf;

use super::Outcome;
use super::error::{UsageError, sentence};
use super::exit::Exit;
use crate::generate;
use crate::render::Printer;

/// Write completions/, man/ and docs/ from the definitions in the source
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// Write nothing; end with status 1 where a file is stale
    #[arg(long)]
    check: bool,
    /// Root of the source tree
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

/// Writes or checks.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let stale = generate::stale(&args.root).map_err(|error| {
        UsageError::new(
            format!("cannot read the tree at `{}`: {}", args.root.display(), sentence(&error)),
            "run it in the source tree, or name its root with `--root`",
        )
    })?;
    for file in &stale {
        let path = args.root.join(&file.path);
        let verb = match (args.check, &file.wanted) {
            (true, Some(_)) => "stale",
            (true, None) => "left over",
            (false, Some(_)) => "written",
            (false, None) => "removed",
        };
        if !args.check {
            file.write(&args.root).map_err(|error| {
                UsageError::new(
                    format!("cannot write `{}`: {}", path.display(), sentence(&error)),
                    "run it in the source tree, or name its root with `--root`",
                )
            })?;
        }
        printer.line(&format!("{verb}: {}", file.path.display()))?;
    }
    if args.check && !stale.is_empty() {
        printer.line("`cargo run -- generate` brings them up to date")?;
        return Ok(Exit::Negative);
    }
    Ok(Exit::Done)
}
