//! `icache policy lint`: what is wrong with files of policies.

use std::path::Path;

use super::files;
use super::rules::find;
use crate::cmd::Outcome;
use crate::cmd::error::{UsageError, sentence};
use crate::cmd::exit::Exit;
use crate::cmd::input;
use crate::cmd::names::Names;
use crate::policy::SourceText;
use crate::policy::lint::{LintOptions, Rule, Severity, fixed, lint};
use crate::render::{self, DiagnosticFormat, Linted, Printer};

/// Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, folders (*.yaml, *.yml, *.json below them), or `-` for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// Form of the findings
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    format: DiagnosticFormat,
    /// Write the fixes that are safe into the files; of standard input, print the fixed text
    #[arg(long)]
    fix: bool,
    /// End with status 1 on these findings too
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
    /// Leave out what this rule finds (repeatable; also separated by commas)
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = Names::RULES, hide_possible_values = true)]
    allow: Vec<String>,
    /// Namespace of objects that name none
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Tokens in a block of the engines
    #[arg(long, value_name = "TOKENS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    block_size: u32,
    /// Interval between two sweeps of the server
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = input::span)]
    sweep_interval: std::time::Duration,
}

/// Findings beyond errors that end with status 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Deny {
    /// Warnings
    Warnings,
}

const EXAMPLES: &str = "\
Examples:
  icache policy lint policies/
      every problem in the files of a folder
  icache policy lint --deny warnings --format github policies/
      in a workflow of GitHub Actions: findings stand beside the lines, and warnings fail the job
  icache policy lint --fix policies/team-a.yaml
      correct what has but one right form, and keep all else byte for byte
  kubectl get cachepolicies,cachetenants -A -o yaml | icache policy lint -
      what the cluster holds

A comment `# icache: allow RULE` on the line or above it leaves a finding out.
Exit status: 0 no errors, 1 errors (with --deny warnings also warnings), 2 usage or a file that cannot be read";

/// Checks, fixes where asked to, and prints what is left.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let options = args.options()?;
    let mut sources = files::sources(&args.paths)?;
    let mut count = 0;
    if args.fix {
        for source in &mut sources {
            let Some((text, fixes)) = fixed(source, &options) else { continue };
            count += fixes;
            write(&text)?;
            *source = text;
        }
        // Standard input can only be fixed on its way to standard output, where nothing else may stand.
        if let Some(text) = sources.iter().find(|source| source.name() == files::STANDARD_INPUT) {
            printer.raw(text.text().as_bytes())?;
            return Ok(self::exit(args, &lint(&sources, &options)));
        }
    }
    let report = lint(&sources, &options);
    render::diagnostics(printer, args.format, &Linted { sources: &sources, report: &report, fixed: count })?;
    Ok(exit(args, &report))
}

fn exit(args: &Args, report: &crate::policy::lint::LintReport) -> Exit {
    let warnings = if args.deny.is_some() { report.count(Severity::Warning) } else { 0 };
    if report.count(Severity::Error) + warnings > 0 { Exit::Negative } else { Exit::Done }
}

impl Args {
    fn options(&self) -> Result<LintOptions, UsageError> {
        let allow = self.allow.iter().map(|id| allowed(id.trim())).collect::<Result<Vec<_>, _>>()?;
        Ok(LintOptions {
            block_size: self.block_size,
            sweep_interval_ns: i64::try_from(self.sweep_interval.as_nanos()).unwrap_or(i64::MAX),
            namespace: self.namespace.clone(),
            allow,
        })
    }
}

fn allowed(id: &str) -> Result<Rule, UsageError> {
    let rule = find(id)?;
    if rule.is_enforced() {
        let what = format!("`--allow {id}` cannot be given: a server refuses what the rule finds");
        return Err(UsageError::new(what, "correct the files; `--fix` does what is safe"));
    }
    Ok(rule)
}

/// Writes a fixed text in place of its file: aside first, so that no half of it is ever there.
fn write(source: &SourceText) -> Result<(), UsageError> {
    if source.name() == files::STANDARD_INPUT {
        return Ok(());
    }
    // A link is followed, so that it stays one.
    let write = |name: &str| -> std::io::Result<()> {
        let path = std::fs::canonicalize(name)?;
        let mut aside = path.clone().into_os_string();
        aside.push(".icache-fix");
        let aside = Path::new(&aside);
        let written = std::fs::write(aside, source.text())
            .and_then(|()| std::fs::set_permissions(aside, std::fs::metadata(&path)?.permissions()))
            .and_then(|()| std::fs::rename(aside, &path));
        if written.is_err() {
            // What could not be put in place is of no use; the error that counts is the first one.
            let _ = std::fs::remove_file(aside);
        }
        written
    };
    write(source.name()).map_err(|error| {
        UsageError::new(
            format!("cannot write `{}`: {}", source.name(), sentence(&error)),
            "check that the file and its folder may be written, or leave `--fix` out",
        )
    })
}
