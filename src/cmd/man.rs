//! `icache man`: the manual pages.

use std::path::PathBuf;

use super::Outcome;
use super::error::{UsageError, no_folder};
use super::exit::Exit;
use crate::generate;
use crate::render::Printer;

/// Print the manual page, or write the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder to write one page a command to; without it, icache(1) is printed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  icache man | man -l -
  icache man --dir ~/.local/share/man/man1";

/// Prints or writes.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let pages = generate::man_pages()?;
    let Some(folder) = &args.dir else {
        if let Some((_, page)) = pages.first() {
            printer.raw(page)?;
        }
        return Ok(Exit::Done);
    };
    let refused = |error: std::io::Error| {
        UsageError::new(
            format!("cannot write to `{}`: {}", folder.display(), no_folder(&error)),
            "give a folder that may be written to with `--dir`",
        )
    };
    std::fs::create_dir_all(folder).map_err(refused)?;
    for (name, page) in &pages {
        std::fs::write(folder.join(name), page).map_err(refused)?;
    }
    printer.line(&format!("{} pages written to {}", pages.len(), folder.display()))?;
    Ok(Exit::Done)
}
