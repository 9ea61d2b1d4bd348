//! Reads a capture record by record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::compress::Source;
use super::error::CaptureError;
use super::fields::{UnknownKind, parse_record, shortened};
use super::lines::{Line, MAX_LINE_BYTES, next_line};
use super::record::{Header, Record, VERSION};
use crate::model::{Timestamp, format_duration};

/// Unknown kinds, and bad lines, that are kept by name; further ones are only counted.
pub const MAX_NOTES: usize = 20;

/// How strictly a capture is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Pass over and count lines that cannot be used, instead of failing at the first.
    pub skip_bad: bool,
}

/// What was passed over so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// Records of kinds that this version does not know, by kind.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Records of unknown kinds, all told.
    pub unknown: u64,
    /// Lines that could not be used, all told.
    pub bad_lines: u64,
    /// What was wrong with the first of them.
    pub first_bad: Vec<String>,
    /// What was left of a last line that its writer did not finish.
    pub torn: Option<String>,
}

impl Notes {
    /// What a person should know of it, each as a sentence; bad lines beyond those kept are not among them.
    pub fn warnings(&self) -> Vec<String> {
        let kinds = self.unknown_kinds.iter().map(|(kind, count)| {
            let records = if *count == 1 { "record" } else { "records" };
            format!("passed over {count} {records} of kind `{kind}`, which this icache does not know")
        });
        let torn = self.torn.iter();
        let torn = torn.map(|torn| format!("the last line was not finished and is left out: {torn}"));
        self.first_bad.iter().cloned().chain(kinds).chain(torn).collect()
    }
}

/// Streams the records of a capture.
pub struct Reader<R: BufRead> {
    source: Source<R>,
    name: String,
    options: ReadOptions,
    header: Header,
    line: u64,
    bytes: u64,
    last: Option<(Timestamp, u64)>,
    notes: Notes,
    buffer: Vec<u8>,
}

impl Reader<BufReader<File>> {
    /// Opens a file and reads its header.
    pub fn open_file(path: &Path, options: ReadOptions) -> Result<Self, CaptureError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(&name, BufReader::with_capacity(1 << 16, file), options),
            Err(source) => Err(CaptureError::Io { name, source }),
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the header from `source`, which may be compressed; `name` stands for it in errors.
    pub fn new(name: &str, source: R, options: ReadOptions) -> Result<Self, CaptureError> {
        let source =
            Source::new(source).map_err(|source| CaptureError::Io { name: name.to_owned(), source })?;
        let mut reader = Self {
            source,
            name: name.to_owned(),
            options,
            header: Header { created: String::new(), source: String::new() },
            line: 0,
            bytes: 0,
            last: None,
            notes: Notes::default(),
            buffer: Vec::new(),
        };
        let line = reader.read_line()?;
        reader.header = match line {
            Line::End if reader.source.is_torn() => {
                return Err(reader.not_a_capture("its compressed data ends before the first line does"));
            }
            Line::End => return Err(reader.not_a_capture("it is empty; a capture begins with a header line")),
            Line::TooLong { .. } => return Err(reader.not_a_capture(&too_long())),
            Line::Whole { .. } => reader.parse_header()?,
        };
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The name that errors give.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was passed over so far.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Bytes read so far, as they are in the file: compressed ones where it is compressed.
    pub fn bytes_read(&self) -> u64 {
        self.source.compressed_bytes().unwrap_or(self.bytes)
    }

    /// The next record, `None` at the end.
    ///
    /// After an error the reader stands behind the bad line and can go on.
    pub fn next_record(&mut self) -> Result<Option<Record>, CaptureError> {
        loop {
            let (outcome, ended) = match self.read_line()? {
                Line::End => {
                    self.note_torn_stream();
                    return Ok(None);
                }
                Line::TooLong { ended } => (Err(too_long()), ended),
                Line::Whole { ended } => (self.parse_line(), ended),
            };
            match outcome {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                Err(what) if !ended && !self.is_json() => {
                    self.notes.torn = Some(self.line_error(&what).to_string());
                    return Ok(None);
                }
                Err(what) => self.bad_line(&what)?,
            }
        }
    }

    fn read_line(&mut self) -> Result<Line, CaptureError> {
        let line = next_line(&mut self.source, &mut self.buffer, MAX_LINE_BYTES)
            .map_err(|source| CaptureError::Io { name: self.name.clone(), source })?;
        if line != Line::End {
            self.line += 1;
            self.bytes += self.buffer.len() as u64 + 1;
        }
        Ok(line)
    }

    fn parse_line(&mut self) -> Result<Option<Record>, String> {
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1))?;
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let (at, body) = parse_record(text)?;
        if let Some((last, line)) = self.last.filter(|(last, _)| at < *last) {
            let behind = format_duration(at.age_ns(last));
            return Err(format!(
                "field `t`: the record is {behind} older than the one in line {line}; records stand in the order \
                 of their times"
            ));
        }
        self.last = Some((at, self.line));
        Ok(match body {
            Ok(body) => Some(Record { line: self.line, at, body }),
            Err(UnknownKind(kind)) => {
                self.note_unknown(&kind);
                None
            }
        })
    }

    /// A compressed capture whose writer was killed ends between two lines as often as within one.
    fn note_torn_stream(&mut self) {
        if self.source.is_torn() && self.notes.torn.is_none() {
            let what = "the compressed data ends in the middle";
            self.notes.torn = Some(format!("{}: {what}", self.name));
        }
    }

    fn note_unknown(&mut self, kind: &str) {
        self.notes.unknown += 1;
        let kind = shortened(kind);
        let kinds = &mut self.notes.unknown_kinds;
        if kinds.len() < MAX_NOTES || kinds.contains_key(&kind) {
            *kinds.entry(kind).or_default() += 1;
        }
    }

    /// Whether the line in the buffer is a whole JSON value: a torn object never is.
    fn is_json(&self) -> bool {
        serde_json::from_slice::<serde::de::IgnoredAny>(&self.buffer).is_ok()
    }

    fn bad_line(&mut self, what: &str) -> Result<(), CaptureError> {
        let error = self.line_error(what);
        if !self.options.skip_bad {
            return Err(error);
        }
        self.notes.bad_lines += 1;
        if self.notes.first_bad.len() < MAX_NOTES {
            self.notes.first_bad.push(error.to_string());
        }
        Ok(())
    }

    fn line_error(&self, what: &str) -> CaptureError {
        CaptureError::Line { name: self.name.clone(), line: self.line, what: what.to_owned() }
    }

    fn not_a_capture(&self, why: &str) -> CaptureError {
        CaptureError::NotACapture { name: self.name.clone(), why: why.to_owned() }
    }

    fn parse_header(&self) -> Result<Header, CaptureError> {
        let is_header = |text: &&HeaderLine| text.icache.as_deref() == Some("capture");
        let line: Option<HeaderLine> = serde_json::from_slice(without_bom(&self.buffer)).ok();
        let Some(line) = line.as_ref().filter(is_header) else {
            return Err(self.not_a_capture(&foreign(&self.buffer)));
        };
        match line.version {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(CaptureError::Newer { name: self.name.clone(), version });
            }
            _ => return Err(self.not_a_capture("its header names no version that ever was")),
        }
        Ok(Header {
            created: line.created.clone().unwrap_or_default(),
            source: line.source.clone().unwrap_or_default(),
        })
    }
}

/// Header line, as read: a newer version may have changed all but the first two.
#[derive(Deserialize)]
struct HeaderLine {
    icache: Option<String>,
    version: Option<u64>,
    created: Option<String>,
    source: Option<String>,
}

/// Whether `head`, the first bytes of a file, begin as a capture does: with a line of JSON that says so.
pub fn looks_like_capture(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    serde_json::from_slice::<HeaderLine>(without_bom(line))
        .is_ok_and(|line| line.icache.as_deref() == Some("capture"))
}

fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

fn too_long() -> String {
    format!("the line is longer than {MAX_LINE_BYTES} bytes")
}

/// What a file that is no capture seems to be.
fn foreign(line: &[u8]) -> String {
    let what = match std::str::from_utf8(line) {
        Ok(text) if !text.contains('\0') => format!("its first line is `{}`", shortened(text.trim_ascii())),
        _ => "it holds binary data".to_owned(),
    };
    format!("{what}; a capture begins with {{\"icache\":\"capture\",\"version\":{VERSION}}}")
}
