//! Records into files: flushed when asked, one file after the other.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::compress::{Compression, Sink};
use super::record::{Body, Header};
use super::write::Writer;
use crate::model::Timestamp;

/// Writes captures. Each file is a capture by itself as far as its records are; a file that is there already is never
/// written over.
pub struct Recorder {
    options: RecorderOptions,
    path: PathBuf,
    writer: Writer<Sink>,
    done: Recorded,
    /// Time of the newest record of the file: none after it may be older.
    newest: Timestamp,
    /// Bytes of the file that the state takes which it begins with.
    beginning: u64,
}

/// What is written, and where.
#[derive(Clone, Debug)]
pub struct RecorderOptions {
    /// The first file; further ones have a number in their names.
    pub path: PathBuf,
    /// How files are compressed.
    pub compression: Compression,
    /// Bytes of a file on disk at which it is time for the next; the last record may go beyond.
    pub max_bytes: Option<u64>,
    /// What is recorded, for the header.
    pub source: String,
}

/// What was written so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Files, the one in progress included.
    pub files: u64,
    /// Records, headers left out.
    pub records: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

impl Recorder {
    /// Creates the first file. An error names its path.
    pub fn create(options: RecorderOptions) -> Result<Self, (PathBuf, io::Error)> {
        let path = options.path.clone();
        let done = Recorded { files: 1, ..Recorded::default() };
        match begin(&path, &options) {
            Ok(writer) => Ok(Self { options, path, writer, done, newest: Timestamp::MIN, beginning: 0 }),
            Err(error) => Err((path, error)),
        }
    }

    /// Appends a record. One that is older than the one before it, as after a step of the clock, gets that one's time.
    pub fn append(&mut self, at: Timestamp, body: &Body) -> io::Result<()> {
        self.newest = self.newest.max(at);
        self.writer.append(self.newest, body)?;
        self.done.records += 1;
        if matches!(body, Body::Config(_) | Body::State(_)) {
            self.beginning = self.writer.get_ref().bytes();
        }
        Ok(())
    }

    /// Makes everything so far readable from the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Whether the file has as many bytes as it should have. One that begins with a large state has twice the size of
    /// that at least, or most files would hold little else.
    pub fn is_full(&self) -> bool {
        let least = self.beginning.saturating_mul(2);
        self.options.max_bytes.is_some_and(|most| self.writer.get_ref().bytes() >= most.max(least))
    }

    /// Finishes the file and begins the next.
    pub fn rotate(&mut self) -> Result<(), (PathBuf, io::Error)> {
        let path = numbered(&self.options.path, self.done.files + 1);
        let next = begin(&path, &self.options).map_err(|error| (path.clone(), error))?;
        let full = std::mem::replace(&mut self.writer, next);
        let of_full = std::mem::replace(&mut self.path, path);
        self.newest = Timestamp::MIN;
        self.beginning = 0;
        self.done.bytes += full.into_inner().finish().map_err(|error| (of_full, error))?;
        self.done.files += 1;
        Ok(())
    }

    /// The file in progress.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was written so far.
    pub fn recorded(&self) -> Recorded {
        Recorded { bytes: self.done.bytes + self.writer.get_ref().bytes(), ..self.done }
    }

    /// Finishes the last file.
    pub fn finish(self) -> io::Result<Recorded> {
        let bytes = self.done.bytes + self.writer.into_inner().finish()?;
        Ok(Recorded { bytes, ..self.done })
    }
}

fn begin(path: &Path, options: &RecorderOptions) -> io::Result<Writer<Sink>> {
    let file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    let created = jiff::Timestamp::from_microsecond(Timestamp::now().as_us()).unwrap_or_default();
    let header = Header { created: created.to_string(), source: options.source.clone() };
    let mut writer = Writer::create(Sink::new(file, options.compression)?, &header)?;
    writer.flush()?;
    Ok(writer)
}

/// Endings that a number comes before.
const ENDINGS: [&str; 4] = [".zst", ".zstd", ".gz", ".jsonl"];

/// `fleet.jsonl.zst` as the file of a number: `fleet.00002.jsonl.zst`, which sorts after it in every listing by name.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut stem = name.as_str();
    for ending in ENDINGS {
        stem = stem.strip_suffix(ending).filter(|stem| !stem.is_empty()).unwrap_or(stem);
    }
    path.with_file_name(format!("{stem}.{number:05}{}", &name[stem.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_before_the_endings() {
        for (name, second) in [
            ("a/fleet.jsonl.zst", "a/fleet.00002.jsonl.zst"),
            ("fleet.capture.jsonl", "fleet.capture.00002.jsonl"),
            ("fleet.gz", "fleet.00002.gz"),
            ("fleet", "fleet.00002"),
            (".zst", ".zst.00002"),
        ] {
            assert_eq!(numbered(Path::new(name), 2), Path::new(second));
        }
    }
}
