//! A lookup against a recorded state, in process.

use std::io::{self, BufRead};
use std::path::Path;

use clap::Args;

use super::error::{CommandError, UsageError};
use super::policy::{in_place, refused_policy};
use super::ranking::RankingArgs;
use crate::capture::{Body, CaptureError, ReadOptions, Reader};
use crate::contract::{LookupRouteRequest, decode_request};
use crate::explanation::{Explanation, explanation};
use crate::lookup::Call;
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::render::Asked;
use crate::replay::{Replay, ReplayError, ReplayOptions};

/// Four modelled engines and what they published, so that the first command needs nothing else.
const DEMO: &[u8] = include_bytes!("../../testdata/fleet/fleet.capture.jsonl");
const DEMO_NAME: &str = "built-in fleet capture";
/// What errors call standard input.
pub const STDIN: &str = "standard input";

/// A capture in place of a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Offline")]
pub struct OfflineArgs {
    /// Replay this capture in process and look up at its last instant, without a server; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "server", "timeout"])]
    capture: Option<String>,
    /// The same with the built-in capture of four engines; without a request, its last recorded one
    #[arg(long, conflicts_with_all = ["server", "timeout"])]
    demo: bool,
    /// Policies to look up under, in place of the captured ones: a YAML or JSON file, or a folder of them
    #[arg(long, value_name = "PATH")]
    policy: Option<String>,
    #[command(flatten)]
    ranking: RankingArgs,
}

/// What came of an offline lookup.
pub struct Replayed {
    /// The answer and how it came about.
    pub explanation: Explanation,
    /// What was looked up.
    pub asked: Asked,
    /// What a person should know of the capture, each as a sentence.
    pub warnings: Vec<String>,
}

impl OfflineArgs {
    /// Whether the lookup runs in process.
    pub fn is_given(&self) -> bool {
        self.demo || self.capture.is_some()
    }

    /// Refuses `--policy` where a server is asked, which has policies of its own.
    pub fn check(&self) -> Result<(), UsageError> {
        if self.policy.is_some() && !self.is_given() {
            return Err(UsageError::new(
                "`--policy` is given without `--capture`",
                "a server has its own policies; name a capture to try others on",
            ));
        }
        if let Some(flag) = self.ranking.given().filter(|_| !self.is_given()) {
            return Err(UsageError::new(
                format!("`{flag}` is given without `--capture`"),
                "a server has its own ranker; name a capture to try another on",
            ));
        }
        Ok(())
    }

    /// Replays the capture and looks up at its last instant; `None` asks what the demo's last lookup asked.
    pub fn explain(&self, request: Option<LookupRouteRequest>) -> Result<Replayed, CommandError> {
        let policy = self.policy.as_deref().map(|path| in_place(path, DEFAULT_NAMESPACE)).transpose()?;
        let options = ReplayOptions { policy, ranking: self.ranking.overrides(), ..ReplayOptions::default() };
        match &self.capture {
            None => {
                let mut reader = Reader::new(DEMO_NAME, DEMO, ReadOptions::default()).map_err(unusable)?;
                look_up(&mut reader, options, request)
            }
            Some(path) => {
                let request = request.ok_or_else(|| {
                    UsageError::new(
                        "no request is given",
                        "describe it with `--tenant`, `--model`, `--hash-scheme` and `--tokens` or `--blocks`, or give \
                         `--request FILE`",
                    )
                })?;
                if path == "-" {
                    let source = io::stdin().lock();
                    let mut reader = Reader::new(STDIN, source, ReadOptions::default()).map_err(unusable)?;
                    return look_up(&mut reader, options, Some(request));
                }
                let mut reader =
                    Reader::open_file(Path::new(path), ReadOptions::default()).map_err(unusable)?;
                look_up(&mut reader, options, Some(request))
            }
        }
    }
}

fn look_up<R: BufRead>(
    reader: &mut Reader<R>,
    options: ReplayOptions,
    request: Option<LookupRouteRequest>,
) -> Result<Replayed, CommandError> {
    let mut replay = Replay::new(reader.name(), options).map_err(refused)?;
    let mut last_asked = None;
    while let Some(record) = reader.next_record().map_err(unusable)? {
        replay.apply(&record).map_err(refused)?;
        if let Body::Lookup(lookup) = record.body {
            last_asked = Some(lookup.request);
        }
    }
    replay.note(reader.notes());
    let Some(request) = request.or(last_asked) else {
        return Err(UsageError::new("the capture holds no lookup", "describe one with flags").into());
    };
    let request = decode_request(&request);
    let asked = Asked::from(&request);
    let explained = replay.router().explain(&request, Call::at(replay.now().unwrap_or_default()));
    let explanation = explanation(&explained, &request, 0);
    let report = replay.finish();
    let idle = report.policy.as_ref().and_then(|policy| policy.idle_for_tenant(request.tenant));
    let mut warnings = report.told_warnings();
    warnings.extend(idle);
    Ok(Replayed { explanation, asked, warnings })
}

/// A capture that cannot be used, and what to do about it.
pub fn unusable(error: CaptureError) -> UsageError {
    match &error {
        CaptureError::Io { name, source } => {
            UsageError::unreadable(if name == STDIN { "-" } else { name }, source)
        }
        CaptureError::NotACapture { .. } => UsageError::new(
            told(&error),
            "give a file that begins with the header line of a capture, as JSON Lines",
        ),
        CaptureError::Newer { .. } => UsageError::new(told(&error), "update icache, and try again"),
        CaptureError::Line { .. } => UsageError::new(told(&error), "repair the line, or leave it out"),
    }
}

/// The error, with standard input under its own name and not as a file's.
pub fn told(error: &impl std::fmt::Display) -> String {
    error.to_string().replace(&format!("`{STDIN}`"), STDIN)
}

fn refused(error: ReplayError) -> UsageError {
    match error {
        ReplayError::Capture(error) => unusable(error),
        ReplayError::Policy(error) => refused_policy(&error),
        ReplayError::Order { .. } => UsageError::new(told(&error), "name one capture"),
    }
}
