//! Request traces: who asked when, how long the prompts were and which of their blocks they share.
//!
//! The format is Mooncake's: JSON Lines with `timestamp` (milliseconds), `input_length` and `output_length` (tokens), and
//! `hash_ids`, one number for each block of 512 tokens, the last of which may be partial. A trace holds no tokens, so
//! the ids stand for them: a prompt's chain is the content fingerprint of its ids, one id a block. Equal ids after equal
//! ids are equal blocks, as equal tokens after equal tokens would be.

use std::io::{self, BufRead};

use hashbrown::HashMap;
use serde::Deserialize;
use thiserror::Error;

use crate::capture::{Line, next_line};
use crate::contract::read_json;
use crate::hash::fingerprint_chain;
use crate::model::{Limits, PrefixHash};

/// Tokens in a block of a trace.
pub const BLOCK_TOKENS: u32 = 512;
/// Requests in a trace at most, unless [`TraceOptions`] say otherwise.
pub const MAX_REQUESTS: usize = 1_000_000;
/// Blocks in all requests of a trace at most, unless [`TraceOptions`] say otherwise; each takes some 12 bytes.
pub const MAX_TRACE_BLOCKS: usize = 1 << 25;
/// Bytes of a line at most: room for as many ids as a request may have.
pub const MAX_TRACE_LINE_BYTES: usize = 2 << 20;
/// Latest timestamp, in milliseconds: a week.
pub const MAX_TIMESTAMP_MS: f64 = 7.0 * 86_400_000.0;
/// Bad lines that are kept by name; further ones are only counted.
pub const MAX_BAD_LINES: usize = 20;

/// Why a trace cannot be used.
#[derive(Debug, Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error("`{name}` cannot be read: {source}")]
    Io {
        /// File.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A line cannot be used.
    #[error("{name}:{line}: {what}")]
    Line {
        /// File.
        name: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong with it, with the field where there is one.
        what: String,
    },
    /// There is nothing in it that could be used.
    #[error("`{name}` holds no request{}", passed_over(*bad_lines))]
    Empty {
        /// File.
        name: String,
        /// Lines that were passed over.
        bad_lines: u64,
    },
    /// It is over a limit.
    #[error("`{name}` holds more than {what}")]
    Size {
        /// File.
        name: String,
        /// How much it may hold, with the unit.
        what: String,
    },
}

fn passed_over(bad_lines: u64) -> String {
    match bad_lines {
        0 => String::new(),
        1 => "; 1 line that cannot be used was passed over".to_owned(),
        more => format!("; {more} lines that cannot be used were passed over"),
    }
}

/// How a trace is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// Pass over and count lines that cannot be used, instead of failing at the first.
    pub skip_bad: bool,
    /// Requests at most.
    pub max_requests: usize,
    /// Blocks in all requests at most; no more than 32 bits count.
    pub max_blocks: usize,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { skip_bad: false, max_requests: MAX_REQUESTS, max_blocks: MAX_TRACE_BLOCKS }
    }
}

/// One request of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it arrives, in nanoseconds from the trace's zero.
    pub at_ns: i64,
    /// Tokens of its prompt.
    pub tokens: u64,
    /// Its first block in the trace's list.
    first: usize,
    /// Blocks of its prompt, a partial one included.
    blocks: usize,
}

impl Request {
    /// Blocks that its tokens fill; engines cache no others.
    pub fn full_blocks(&self) -> usize {
        (self.tokens / u64::from(BLOCK_TOKENS)) as usize
    }
}

/// A trace, read and checked.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    requests: Vec<Request>,
    /// Blocks of all requests, one after the other, by number.
    blocks: Vec<u32>,
    /// Their prefix hashes.
    hashes: Vec<PrefixHash>,
    /// Prefix hash of each distinct block, and how many blocks of the prompt end with it.
    distinct: Vec<(PrefixHash, u32)>,
    /// Lines that could not be used.
    pub bad_lines: u64,
    /// What was wrong with the first of them.
    pub first_bad: Vec<String>,
}

/// A line as written.
#[derive(Deserialize)]
struct TraceLine {
    timestamp: f64,
    input_length: u64,
    #[serde(default, rename = "output_length")]
    _output_length: u64,
    hash_ids: Vec<u32>,
}

impl Trace {
    /// Reads a trace; `name` stands for it in errors.
    ///
    /// Requests come in the order of their arrival: a timestamp that goes back makes its line a bad one.
    pub fn read(name: &str, mut source: impl BufRead, options: TraceOptions) -> Result<Self, TraceError> {
        let mut trace = Self::default();
        let mut numbers = HashMap::new();
        let mut buffer = Vec::new();
        let mut line = 0;
        loop {
            let read = next_line(&mut source, &mut buffer, MAX_TRACE_LINE_BYTES);
            let read = read.map_err(|source| TraceError::Io { name: name.to_owned(), source })?;
            let is_too_long = match read {
                Line::End => break,
                Line::Whole { .. } => false,
                Line::TooLong { .. } => true,
            };
            line += 1;
            if buffer.trim_ascii().is_empty() {
                continue;
            }
            let parsed = match is_too_long {
                true => Err(format!("the line is longer than {MAX_TRACE_LINE_BYTES} bytes")),
                false => trace.parse(&buffer),
            };
            match parsed {
                Ok(parsed) => {
                    trace.add((parsed.timestamp, parsed.input_length, &parsed.hash_ids), &mut numbers);
                }
                Err(what) if options.skip_bad => trace.pass_over(format!("{name}:{line}: {what}")),
                Err(what) => return Err(TraceError::Line { name: name.to_owned(), line, what }),
            }
            if let Some(what) = trace.over_limit(options) {
                return Err(TraceError::Size { name: name.to_owned(), what });
            }
        }
        if trace.requests.is_empty() {
            return Err(TraceError::Empty { name: name.to_owned(), bad_lines: trace.bad_lines });
        }
        Ok(trace)
    }

    fn over_limit(&self, options: TraceOptions) -> Option<String> {
        let TraceOptions { max_requests, max_blocks, .. } = options;
        if self.requests.len() > max_requests {
            return Some(format!("{max_requests} requests"));
        }
        (self.blocks.len() > max_blocks).then(|| format!("{max_blocks} blocks in all"))
    }

    fn parse(&self, line: &[u8]) -> Result<TraceLine, String> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| "it is no UTF-8 text".to_owned())?;
        // The parser takes a list of values for an object, too.
        if text.trim_ascii_start().starts_with('[') {
            return Err("it is a list; a request is an object".to_owned());
        }
        let parsed: TraceLine = read_json(text)?;
        let (timestamp, tokens, ids) = (parsed.timestamp, parsed.input_length, parsed.hash_ids.len());
        if !(0.0..=MAX_TIMESTAMP_MS).contains(&timestamp) {
            return Err(format!(
                "field `timestamp`: `{timestamp}` is not within a week; write milliseconds from the start"
            ));
        }
        if self.requests.last().is_some_and(|last| last.at_ns > nanoseconds(timestamp)) {
            return Err(format!(
                "field `timestamp`: `{timestamp}` lies before that of the request before; sort the lines by it"
            ));
        }
        if tokens == 0 {
            return Err("field `input_length`: a prompt has at least one token".to_owned());
        }
        let most = Limits::default().request_blocks;
        if ids > most {
            return Err(format!("field `hash_ids`: {ids} blocks; a request has {most} at most"));
        }
        if tokens.div_ceil(u64::from(BLOCK_TOKENS)) != ids as u64 {
            return Err(format!(
                "field `hash_ids`: {ids} {} for {tokens} tokens; write one for each block of {BLOCK_TOKENS} tokens, \
                 the last one partial or not",
                if ids == 1 { "id" } else { "ids" }
            ));
        }
        Ok(parsed)
    }

    /// Appends a request that is known to be sound; `numbers` holds the number of each distinct block so far.
    pub(super) fn add(
        &mut self,
        (timestamp_ms, tokens, ids): (f64, u64, &[u32]),
        numbers: &mut HashMap<PrefixHash, u32>,
    ) {
        let first = self.blocks.len();
        for (at, hash) in fingerprint_chain(ids, 1, None).into_iter().enumerate() {
            let distinct = &mut self.distinct;
            let number = *numbers.entry(hash).or_insert_with(|| {
                // Neither a trace nor a request has as many blocks as 32 bits count.
                distinct.push((hash, at as u32 + 1));
                distinct.len() as u32 - 1
            });
            self.blocks.push(number);
            self.hashes.push(hash);
        }
        let at_ns = nanoseconds(timestamp_ms);
        let blocks = self.blocks.len() - first;
        self.requests.push(Request { at_ns, tokens, first, blocks });
    }

    /// The same requests on a clock that goes `factor` times slower, from the first arrival on.
    pub(super) fn stretched(mut self, factor: f64) -> Self {
        let start_ns = self.requests.first().map_or(0, |first| first.at_ns);
        for request in &mut self.requests {
            request.at_ns = ((request.at_ns - start_ns) as f64 * factor).round() as i64;
        }
        self
    }

    fn pass_over(&mut self, what: String) {
        self.bad_lines += 1;
        if self.first_bad.len() < MAX_BAD_LINES {
            self.first_bad.push(what);
        }
    }

    /// The requests, in the order of their arrival.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Blocks of a request's prompt by number, a partial one included.
    pub fn blocks(&self, request: &Request) -> &[u32] {
        &self.blocks[request.first..request.first + request.blocks]
    }

    /// The full ones of them.
    pub fn full_blocks(&self, request: &Request) -> &[u32] {
        &self.blocks(request)[..request.full_blocks()]
    }

    /// The prefix hashes of the full ones.
    pub fn chain(&self, request: &Request) -> &[PrefixHash] {
        &self.hashes[request.first..request.first + request.full_blocks()]
    }

    /// Prefix hash of a block, and tokens from the start of the prompt to its end.
    pub fn block(&self, number: u32) -> Option<(PrefixHash, i32)> {
        let (hash, depth) = self.distinct.get(number as usize)?;
        Some((*hash, i32::try_from(depth * BLOCK_TOKENS).unwrap_or(i32::MAX)))
    }

    /// Distinct blocks, partial ones included.
    pub fn distinct_blocks(&self) -> usize {
        self.distinct.len()
    }

    /// Blocks of the longest prompt.
    pub fn longest(&self) -> usize {
        self.requests.iter().map(|request| request.blocks).max().unwrap_or(0)
    }

    /// Tokens of all prompts.
    pub fn tokens(&self) -> u64 {
        self.requests.iter().map(|request| request.tokens).sum()
    }
}

/// Milliseconds as nanoseconds.
fn nanoseconds(timestamp_ms: f64) -> i64 {
    (timestamp_ms * 1e6).round() as i64
}
