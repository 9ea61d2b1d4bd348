//! `icache policy simulate`: recorded traffic under several policies.

use std::io;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;

use super::input::in_place;
use crate::capture::{ReadOptions, Reader};
use crate::cmd::error::UsageError;
use crate::cmd::replay::unusable;
use crate::cmd::{Exit, Outcome};
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::render::{self, Format, Printer, Progress};
use crate::replay::{MAX_VARIANTS, Simulation, Variant};

/// Replay captures under several policies, and compare the answers side by side
///
/// Each set of policies takes the place of those in the captures. With one `--policy`, it is compared with the
/// policies of the captures themselves.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Policies to answer under, the first to compare the others with: a YAML or JSON file, or a folder of them
    #[arg(long = "policy", required = true, value_name = "PATH", help_heading = "Policies")]
    policies: Vec<String>,
    /// Namespace of objects that name none
    #[arg(
        long,
        value_name = "NAME",
        default_value = DEFAULT_NAMESPACE,
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = "Policies"
    )]
    namespace: String,
    /// Captures, each replayed from an empty index; `-` is standard input
    #[arg(required = true, value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// Pass over and count lines that cannot be used
    #[arg(long)]
    skip_bad: bool,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache policy simulate --policy policies/ --policy new-policies/ fleet.capture.jsonl
      the same traffic under the old policies and the new ones
  icache policy simulate --policy new.yaml --namespace team-a fleet.capture.jsonl
      under the policies of the capture and a new one";

/// What the policies of the captures are called.
const CAPTURED: &str = "as captured";

/// Replays and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let mut simulation = Simulation::new(args.variants()?, args.skip_bad);
    let sizes: Vec<u64> =
        args.captures.iter().map(|file| file.metadata().map_or(0, |data| data.len())).collect();
    let mut progress = Progress::over(sizes.iter().sum());
    let read = ReadOptions { skip_bad: args.skip_bad };
    for (file, size) in args.captures.iter().zip(sizes) {
        progress.begin(&file.display().to_string());
        let at = &mut |bytes| progress.at(bytes);
        if file == Path::new("-") {
            let mut reader = Reader::new("standard input", io::stdin().lock(), read).map_err(unusable)?;
            simulation.run(&mut reader, at).map_err(unusable)?;
        } else {
            let mut reader = Reader::open_file(file, read).map_err(unusable)?;
            simulation.run(&mut reader, at).map_err(unusable)?;
        }
        progress.end(size);
    }
    drop(progress);
    render::simulation(printer, args.output, &simulation.finish())?;
    Ok(Exit::Done)
}

impl Args {
    fn variants(&self) -> Result<Vec<Variant>, UsageError> {
        if self.policies.len() > MAX_VARIANTS {
            return Err(UsageError::new(
                format!("{} sets of policies are given", self.policies.len()),
                format!("compare at most {MAX_VARIANTS} at once: each takes an index of its own"),
            ));
        }
        let mut variants = Vec::new();
        if self.policies.len() == 1 {
            variants.push(Variant { name: CAPTURED.to_owned(), policy: None });
        }
        for path in &self.policies {
            let policy = Some(in_place(path, &self.namespace)?);
            variants.push(Variant { name: path.clone(), policy });
        }
        Ok(variants)
    }
}
