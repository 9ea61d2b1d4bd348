//! The files that a replay is given: captures, and bare batches.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::capture::{CaptureError, ReadOptions, Reader, looks_like_capture};
use crate::cmd::error::UsageError;
use crate::cmd::offline::{STDIN, told};
use crate::cmd::policy::refused_policy;
use crate::engine::MAX_PAYLOAD_BYTES;
use crate::replay::{BatchIdentity, ReplayError};

/// Whose bare batches are.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Bare batches")]
pub struct IdentityArgs {
    /// Replica of a bare batch
    #[arg(long, value_name = "ID")]
    replica: Option<String>,
    /// Model of a bare batch
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Tenant of a bare batch
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Hash scheme of a bare batch [default: vllm]
    #[arg(long, value_name = "NAME")]
    hash_scheme: Option<String>,
}

/// An opened file.
pub enum Input {
    /// A capture.
    Capture(Box<Reader<Box<dyn BufRead + Send>>>),
    /// One engine batch.
    Bare(Vec<u8>, BatchIdentity),
}

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path, identity: &IdentityArgs, skip_bad: bool) -> Result<Input, UsageError> {
    let options = ReadOptions { skip_bad };
    if is_stdin(path) {
        // A lock of standard input cannot move to another thread.
        let source: Box<dyn BufRead + Send> = Box::new(BufReader::new(io::stdin()));
        return Ok(Input::Capture(Box::new(Reader::new(STDIN, source, options).map_err(unusable)?)));
    }
    let name = path.display().to_string();
    if let Some(payload) = bare_batch(path)? {
        return Ok(Input::Bare(payload, identity.identity(&name)?));
    }
    let file = File::open(path).map_err(|error| UsageError::unreadable(&name, &error))?;
    let source: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(1 << 16, file));
    Ok(Input::Capture(Box::new(Reader::new(&name, source, options).map_err(unusable)?)))
}

/// Sizes of the files in bytes, and whether one is a bare batch; says what is wrong before anything is replayed.
pub fn look_at(files: &[PathBuf], identity: &IdentityArgs) -> Result<Vec<u64>, UsageError> {
    if files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err(UsageError::new("`-` is given twice", "standard input can be read once only"));
    }
    let mut has_batch = false;
    let mut sizes = Vec::new();
    for file in files {
        sizes.push(size_of(file)?);
        has_batch |= !is_stdin(file) && bare_batch(file)?.is_some();
    }
    if !has_batch {
        identity.refuse()?;
    }
    Ok(sizes)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Bytes of a file; unknown of standard input.
fn size_of(file: &Path) -> Result<u64, UsageError> {
    if is_stdin(file) {
        return Ok(0);
    }
    let unreadable = |error: &io::Error| UsageError::unreadable(&file.display().to_string(), error);
    let data = file.metadata().map_err(|error| unreadable(&error))?;
    if data.is_dir() {
        return Err(unreadable(&io::ErrorKind::IsADirectory.into()));
    }
    Ok(data.len())
}

/// The bytes of a file that is called a batch and is no capture.
fn bare_batch(file: &Path) -> Result<Option<Vec<u8>>, UsageError> {
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

impl IdentityArgs {
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
                "give `--replica`, `--model` and `--tenant`",
            )),
        }
    }

    /// Refuses the identity of a batch where no file is one.
    fn refuse(&self) -> Result<(), UsageError> {
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
}

/// A file that is called a batch and is none.
pub fn no_batch(name: &str, error: &crate::engine::DecodeError) -> UsageError {
    UsageError::new(
        format!("`{name}` is no engine batch: {error}"),
        "give the whole payload of one batch as the engine published it, or a capture",
    )
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
        ReplayError::Order { .. } => {
            "name rotated captures in the order of their times, or replay each into an index of its own with \
             `--separate`"
        }
    };
    UsageError::new(told(&error), advice)
}
