//! `icache capture`: what a running server applies and answers, or an engine publishes, into files that can be replayed.

mod engine;
mod feed;
mod record;
mod session;
mod stop;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::engine::EngineSession;
use self::feed::Feed;
use self::session::Session;
use super::client::ServerArgs;
use super::connect::AccessArgs;
use super::engine::OptionalEngine;
use super::error::{UsageError, sentence};
use super::exit::Exit;
use super::{CommandError, Outcome, input, runtime};
use crate::capture::{Compression, Recorder, RecorderOptions};
use crate::model::parse_size;
use crate::render::{self, Format, Printer};

/// Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`
///
/// Of a server: begins with its settings, policies and state. When it restarts, or this is too slow for it, recording goes on in
/// a further file, with a state of its own.
///
/// Of an engine, with `--zmq`: what `icache subscribe` would tell a server, as reports and events with fingerprints. With `--raw`
/// the engine's own bytes are kept instead, which hold the token ids of prompts, so that prompts can be read from them.
///
/// Both record until Ctrl-C, `--duration`, or SIGTERM. A file that ends in `.zst` or `.gz` is compressed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Server to record; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Share of lookups to record, 0 to 1; without all of them the credits of LFU are not those of the server
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = input::share)]
    lookups: f32,
    /// Engine to record in place of a server: where it publishes, as tcp://HOST:PORT; rank N at the port N higher
    #[arg(long, value_name = "ENDPOINT", conflicts_with_all = ["server", "lookups"], help_heading = "Engine")]
    zmq: Option<String>,
    /// Keep the engine's bytes: they hold the token ids of prompts; replay maps them with its own defaults
    #[arg(long, requires = "zmq", help_heading = "Engine")]
    raw: bool,
    #[command(flatten)]
    engine: OptionalEngine,
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
  icache capture --zmq tcp://127.0.0.1:5557 --replica vllm-0 --tenant team-a \\
      --model llama-3.1-8b --out engine.jsonl.zst
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
    let runtime = runtime::single()?;
    let outcome = runtime.block_on(async {
        match &args.zmq {
            Some(endpoint) => args.record_engine(endpoint, printer).await,
            None => args.record_server(printer).await,
        }
    });
    // A connection that is being made is of no more use.
    runtime.shutdown_background();
    match outcome {
        Ok(()) | Err(CommandError::Interrupted) => Ok(Exit::Done),
        Err(error) => Err(error),
    }
}

impl Args {
    async fn record_server(&self, printer: &mut Printer) -> Result<(), CommandError> {
        if let Some(flag) = &self.engine.given {
            return Err(UsageError::new(
                format!("`{flag}` is of an engine, and a server is recorded"),
                "name the engine with `--zmq tcp://HOST:PORT`, or leave the flag out",
            )
            .into());
        }
        let feed = Feed::new(&ServerArgs::of(self.server.clone(), self.access.clone()), self.lookups)?;
        let mut session = Session::new(feed, self.duration, printer)?;
        let sample =
            if self.lookups < 1.0 { format!(", {} of its lookups", self.lookups) } else { String::new() };
        session.begin(|url| self.recorder(&format!("{url}{sample}"))).await?;
        let summary = session.run().await?;
        Ok(render::captured(printer, self.output, &summary)?)
    }

    async fn record_engine(&self, endpoint: &str, printer: &mut Printer) -> Result<(), CommandError> {
        let followed = self.engine.follow("--zmq", endpoint)?;
        let what = if self.raw { ", as its own bytes with token ids" } else { "" };
        let create = |endpoint: &str| self.recorder(&format!("{endpoint}{what}"));
        let session = EngineSession::begin(followed, self.raw, self.duration, printer, create)?;
        let summary = session.run().await?;
        Ok(render::engine_captured(printer, self.output, &summary)?)
    }

    fn recorder(&self, what: &str) -> Result<Recorder, CommandError> {
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
            source: format!("icache {} capture of {what}", env!("CARGO_PKG_VERSION")),
        };
        Recorder::create(options).map_err(|(path, error)| unwritable(&path, &error))
    }
}

/// A file that cannot be written, and what to do about it.
fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    let shown = input::shown(&path.display().to_string());
    let (what, advice) = match error.kind() {
        io::ErrorKind::AlreadyExists => (
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

fn written(
    recorder: &mut Recorder,
    step: impl FnOnce(&mut Recorder) -> io::Result<()>,
) -> Result<(), CommandError> {
    step(recorder).map_err(|error| unwritable(recorder.path(), &error))
}
