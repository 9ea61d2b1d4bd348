//! `icache replay`: captures in process, on a clock of their own.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::error::UsageError;
use super::exit::Exit;
use super::{CommandError, Outcome};
use crate::capture::{CaptureError, ReadOptions, Reader, looks_like_capture};
use crate::engine::MAX_PAYLOAD_BYTES;
use crate::render::{self, Format, Printer, Progress};
use crate::replay::{BatchIdentity, Replay, ReplayError, ReplayOptions, ReplayReport};

/// Replay captures in process: what was answered, why, and whether it is what was recorded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Captures, each replayed into an empty index; `-` is standard input; `.msgpack` is one bare engine batch
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compare each lookup with its recorded answer or expectation; any difference ends with exit status 1
    #[arg(long)]
    check: bool,
    /// Mismatches shown in full
    #[arg(long, default_value_t = 10, value_name = "N", requires = "check")]
    mismatches: usize,
    /// Policies that hold in place of the captured ones (CachePolicy and CacheTenant, YAML)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Pass over and count lines that cannot be used
    #[arg(long)]
    skip_bad: bool,
    /// Replica of a bare batch
    #[arg(long, value_name = "ID", help_heading = "Bare batches")]
    replica: Option<String>,
    /// Model of a bare batch
    #[arg(long, value_name = "ID", help_heading = "Bare batches")]
    model: Option<String>,
    /// Tenant of a bare batch
    #[arg(long, value_name = "ID", help_heading = "Bare batches")]
    tenant: Option<String>,
    /// Hash scheme of a bare batch
    #[arg(long, default_value = "vllm", value_name = "NAME", help_heading = "Bare batches")]
    hash_scheme: String,
    /// Also say how long lookups took on this machine
    #[arg(long, help_heading = "Output")]
    timings: bool,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache replay testdata/fleet/fleet.capture.jsonl
  icache replay --check testdata/reference/*.jsonl
  icache replay fleet.capture.jsonl --policy policies.yaml -o json
  icache replay batch.msgpack --replica vllm-0 --model llama-3.1-8b --tenant team-a";

/// Replays and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let options = args.options()?;
    let sizes: Vec<u64> =
        args.files.iter().map(|file| file.metadata().map_or(0, |data| data.len())).collect();
    let mut progress = Progress::over(sizes.iter().sum());
    let mut sum = ReplayReport::default();
    for (file, size) in args.files.iter().zip(sizes) {
        progress.begin(&file.display().to_string());
        let report = args.replay(file, options.clone(), &mut |bytes| progress.at(bytes))?;
        sum.add(report, args.mismatches);
        progress.end(size);
    }
    drop(progress);
    render::replay(printer, args.output, &sum, args.check)?;
    Ok(if sum.mismatched == 0 { Exit::Done } else { Exit::Negative })
}

impl Args {
    fn options(&self) -> Result<ReplayOptions, CommandError> {
        let policy = match &self.policy {
            Some(path) => {
                let name = path.display().to_string();
                let text =
                    std::fs::read_to_string(path).map_err(|error| UsageError::unreadable(&name, &error))?;
                Some((name, text))
            }
            None => None,
        };
        Ok(ReplayOptions {
            policy,
            check: self.check,
            mismatches: self.mismatches,
            skip_bad: self.skip_bad,
            timings: self.timings,
        })
    }

    fn replay(
        &self,
        file: &Path,
        options: ReplayOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<ReplayReport, CommandError> {
        if file == Path::new("-") {
            let read = ReadOptions { skip_bad: options.skip_bad };
            let mut reader = Reader::new("standard input", io::stdin().lock(), read).map_err(unusable)?;
            let mut replay = Replay::new(reader.name(), options).map_err(unusable)?;
            replay.run(&mut reader, progress).map_err(unusable)?;
            return Ok(replay.finish());
        }
        match self.bare_batch(file)? {
            Some(payload) => {
                let name = file.display().to_string();
                let mut replay = Replay::new(&name, options).map_err(unusable)?;
                replay.apply_bare(payload, &self.identity(&name)?);
                Ok(replay.finish())
            }
            None => Replay::run_file(file, options, progress).map_err(|error| unusable(error).into()),
        }
    }

    /// The bytes of a file that is called a batch and is no capture.
    fn bare_batch(&self, file: &Path) -> Result<Option<Vec<u8>>, UsageError> {
        if file.extension().is_none_or(|extension| extension != "msgpack") {
            return Ok(None);
        }
        // One byte over the bound is enough to be refused as too long.
        let most = MAX_PAYLOAD_BYTES as u64 + 1;
        let mut payload = Vec::new();
        File::open(file)
            .and_then(|open| open.take(most).read_to_end(&mut payload))
            .map_err(|error| UsageError::unreadable(&file.display().to_string(), &error))?;
        Ok((!looks_like_capture(&payload)).then_some(payload))
    }

    fn identity(&self, name: &str) -> Result<BatchIdentity, UsageError> {
        match (&self.replica, &self.model, &self.tenant) {
            (Some(replica), Some(model), Some(tenant)) => Ok(BatchIdentity {
                replica: replica.clone(),
                model: model.clone(),
                tenant: tenant.clone(),
                scheme: self.hash_scheme.clone(),
            }),
            _ => Err(UsageError::new(
                format!("`{name}` is a bare batch, which does not say whose it is"),
                "give --replica, --model and --tenant",
            )),
        }
    }
}

/// A file that cannot be replayed, and what to do about it.
fn unusable(error: impl Into<ReplayError>) -> UsageError {
    let error = error.into();
    let advice = match &error {
        ReplayError::Capture(CaptureError::Io { .. }) => "check that the file is there and may be read",
        ReplayError::Capture(CaptureError::NotACapture { .. }) => {
            "give a capture, or a bare engine batch in a file that ends in `.msgpack`"
        }
        ReplayError::Capture(CaptureError::Newer { .. }) => "replay it with a newer icache",
        ReplayError::Capture(CaptureError::Line { .. }) => {
            "repair the line, or pass over such lines with `--skip-bad`"
        }
        ReplayError::Policy(_) => {
            "repair the policy, for which `icache policy lint` shows every problem, or give another one with `--policy FILE`"
        }
    };
    let what = match &error {
        ReplayError::Policy(error) => error.headline(),
        ReplayError::Capture(error) => error.to_string(),
    };
    UsageError::new(what, advice)
}
