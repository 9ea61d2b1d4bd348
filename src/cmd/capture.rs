//! `icache capture`: what a running server applies and answers, into files that can be replayed.

mod feed;
mod record;
mod session;

use std::path::{Path, PathBuf};
use std::time::Duration;

use self::feed::Feed;
use self::session::Session;
use super::client::ServerArgs;
use super::connect::AccessArgs;
use super::error::{UsageError, sentence};
use super::exit::Exit;
use super::{CommandError, Outcome, input};
use crate::capture::{Compression, Recorder, RecorderOptions};
use crate::model::parse_size;
use crate::render::{self, Format, Printer};

/// Record what a server applies and answers, into a capture that `icache replay` answers alike
///
/// Begins with the server's settings, policies and state, and records until Ctrl-C, `--duration`, or SIGTERM. A file that
/// ends in `.zst` or `.gz` is compressed. When the server restarts, or this is too slow for it, recording goes on in a
/// further file, with a state of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Server to record; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Share of lookups to record, 0 to 1; without all of them the credits of LFU are not those of the server
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = input::share)]
    lookups: f32,
    /// File to write; one that is there already is not written over
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How files are compressed; without it as the name says: `.zst`, `.gz`, or not at all
    #[arg(long, value_enum, value_name = "HOW")]
    compress: Option<Compress>,
    /// Begin a further file once one has this size on disk: `fleet.00002.jsonl.zst` after `fleet.jsonl.zst`
    #[arg(long, value_name = "SIZE", value_parser = file_size)]
    max_size: Option<u64>,
    /// Stop after recording for this time
    #[arg(long, value_name = "DURATION", value_parser = input::span)]
    duration: Option<Duration>,
    /// Form of the result
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
    #[command(flatten)]
    access: AccessArgs,
}

/// How files are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Compress {
    /// Plain JSON Lines
    None,
    /// gzip
    Gzip,
    /// zstd
    Zstd,
}

const EXAMPLES: &str = "\
Examples:
  icache capture --out fleet.jsonl.zst
  icache capture --server http://icache:9090 --out fleet.jsonl.zst --max-size 1GB
  icache capture --lookups 0.1 --duration 10m --out sample.jsonl.gz
  icache replay --check fleet.jsonl.zst";

/// Least size of a file: a state of some size must fit in.
const LEAST_SIZE: u64 = 4_096;

fn file_size(text: &str) -> Result<u64, String> {
    match parse_size(text).map_err(|error| error.to_string())? {
        size if size < LEAST_SIZE => Err(format!("a file must have at least {LEAST_SIZE} bytes")),
        size => Ok(size),
    }
}

/// Records until it is stopped, and says what was recorded.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let feed = Feed::new(&ServerArgs::of(args.server.clone(), args.access.clone()), args.lookups)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let mut session = Session::new(feed, args.duration, printer)?;
        session.begin(|url| args.recorder(url)).await?;
        session.run().await
    });
    // A connection that is being made is of no more use.
    runtime.shutdown_background();
    match outcome {
        Ok(summary) => {
            render::captured(printer, args.output, &summary).map(|()| Exit::Done).map_err(Into::into)
        }
        Err(CommandError::Interrupted) => Ok(Exit::Done),
        Err(error) => Err(error),
    }
}

impl Args {
    fn recorder(&self, url: &str) -> Result<Recorder, CommandError> {
        let sample =
            if self.lookups < 1.0 { format!(", {} of its lookups", self.lookups) } else { String::new() };
        let compression = match self.compress {
            Some(Compress::None) => Compression::None,
            Some(Compress::Gzip) => Compression::Gzip,
            Some(Compress::Zstd) => Compression::Zstd,
            None => Compression::of_name(&self.out),
        };
        let options = RecorderOptions {
            path: self.out.clone(),
            compression,
            max_bytes: self.max_size,
            source: format!("icache {} capture of {url}{sample}", env!("CARGO_PKG_VERSION")),
        };
        Recorder::create(options).map_err(|(path, error)| unwritable(&path, &error))
    }
}

/// A file that cannot be written, and what to do about it.
fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    let shown = input::shown(&path.display().to_string());
    let (what, advice) = match error.kind() {
        std::io::ErrorKind::AlreadyExists => (
            format!("{shown} is there already, and is not written over"),
            "name another file with `--out`, or move that one away",
        ),
        _ => (
            format!("cannot write {shown}: {}", sentence(error)),
            "check the disk, and that the folder may be written to",
        ),
    };
    UsageError::new(what, advice).into()
}
