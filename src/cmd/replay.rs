//! `icache replay`: captures in process, on a clock of their own.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::error::{UnmetError, UsageError};
use super::exit::Exit;
use super::offline::{STDIN, told};
use super::policy::{in_place, refused_policy};
use super::{CommandError, Outcome};
use crate::capture::{CaptureError, ReadOptions, Reader, looks_like_capture};
use crate::engine::MAX_PAYLOAD_BYTES;
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::render::{self, Format, Printer, Progress};
use crate::replay::{BatchIdentity, GivenPolicy, Replay, ReplayError, ReplayOptions, ReplayReport};

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
    /// Policies that hold in place of the captured ones: a YAML or JSON file, or a folder of them
    #[arg(long, value_name = "PATH")]
    policy: Option<String>,
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
    /// Hash scheme of a bare batch [default: vllm]
    #[arg(long, value_name = "NAME", help_heading = "Bare batches")]
    hash_scheme: Option<String>,
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
    let sizes = args.files.iter().map(|file| size_of(file)).collect::<Result<Vec<u64>, _>>()?;
    let mut progress = Progress::over(sizes.iter().sum());
    let mut sum = ReplayReport::default();
    let mut has_batch = false;
    for (file, size) in args.files.iter().zip(sizes) {
        progress.begin(&file.display().to_string());
        let (report, is_batch) = args.replay(file, options.clone(), &mut |bytes| progress.at(bytes))?;
        has_batch |= is_batch;
        sum.add(report, args.mismatches);
        progress.end(size);
    }
    drop(progress);
    if !has_batch {
        args.refuse_identity()?;
    }
    if let Some(idle) = sum.policy.as_ref().and_then(GivenPolicy::idle) {
        sum.warn(idle);
    }
    render::replay(printer, args.output, &sum, args.check)?;
    if args.check && sum.checked == 0 {
        return Err(UnmetError::new(
            "nothing was checked: no lookup has an answer or expectation that can be compared",
            "record answers in the capture, or write an `expect` beside its lookups",
        )
        .into());
    }
    Ok(if sum.mismatched == 0 { Exit::Done } else { Exit::Negative })
}

/// Bytes of a file; unknown of standard input.
fn size_of(file: &Path) -> Result<u64, UsageError> {
    if file == Path::new("-") {
        return Ok(0);
    }
    let unreadable = |error: &io::Error| UsageError::unreadable(&file.display().to_string(), error);
    let data = file.metadata().map_err(|error| unreadable(&error))?;
    if data.is_dir() {
        return Err(unreadable(&io::ErrorKind::IsADirectory.into()));
    }
    Ok(data.len())
}

impl Args {
    fn options(&self) -> Result<ReplayOptions, CommandError> {
        let policy = self.policy.as_deref().map(|path| in_place(path, DEFAULT_NAMESPACE)).transpose()?;
        Ok(ReplayOptions {
            policy,
            check: self.check,
            mismatches: self.mismatches,
            skip_bad: self.skip_bad,
            timings: self.timings,
        })
    }

    /// Refuses the identity of a batch where no file is one.
    fn refuse_identity(&self) -> Result<(), UsageError> {
        let given = [
            ("--replica", &self.replica),
            ("--model", &self.model),
            ("--tenant", &self.tenant),
            ("--hash-scheme", &self.hash_scheme),
        ];
        match given.into_iter().find(|(_, value)| value.is_some()) {
            None => Ok(()),
            Some((flag, _)) => Err(UsageError::new(
                format!("`{flag}` is given, and no file is a bare batch"),
                "leave it out: the records of a capture say themselves whose they are",
            )),
        }
    }

    /// What came of one file, and whether it is a bare batch.
    fn replay(
        &self,
        file: &Path,
        options: ReplayOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(ReplayReport, bool), CommandError> {
        if file == Path::new("-") {
            let read = ReadOptions { skip_bad: options.skip_bad };
            let mut reader = Reader::new(STDIN, io::stdin().lock(), read).map_err(unusable)?;
            let mut replay = Replay::new(reader.name(), options).map_err(unusable)?;
            replay.run(&mut reader, progress).map_err(unusable)?;
            return Ok((replay.finish(), false));
        }
        match self.bare_batch(file)? {
            Some(payload) => {
                let name = file.display().to_string();
                let mut replay = Replay::new(&name, options).map_err(unusable)?;
                replay.apply_bare(payload, &self.identity(&name)?).map_err(|error| {
                    UsageError::new(
                        format!("`{name}` is no engine batch: {error}"),
                        "give the whole payload of one batch as the engine published it, or a capture",
                    )
                })?;
                Ok((replay.finish(), true))
            }
            None => {
                let report = Replay::run_file(file, options, progress).map_err(unusable)?;
                Ok((report, false))
            }
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
                scheme: self.hash_scheme.clone().unwrap_or_else(|| "vllm".to_owned()),
            }),
            _ => Err(UsageError::new(
                format!("`{name}` is a bare batch, which does not say whose it is"),
                "give --replica, --model and --tenant",
            )),
        }
    }
}

/// A file that cannot be replayed, and what to do about it.
pub fn unusable(error: impl Into<ReplayError>) -> UsageError {
    let error = error.into();
    let advice = match &error {
        ReplayError::Capture(CaptureError::Io { name, source }) => {
            return UsageError::unreadable(if name == STDIN { "-" } else { name }, source);
        }
        ReplayError::Capture(CaptureError::NotACapture { .. }) => {
            "give a capture, or a bare engine batch in a file that ends in `.msgpack`"
        }
        ReplayError::Capture(CaptureError::Newer { .. }) => "replay it with a newer icache",
        ReplayError::Capture(CaptureError::Line { .. }) => {
            "repair the line, or pass over such lines with `--skip-bad`"
        }
        ReplayError::Policy(error) => return refused_policy(error),
    };
    UsageError::new(told(&error), advice)
}
