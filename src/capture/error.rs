//! What can be wrong with a capture, and where.

use std::io;

use thiserror::Error;

use super::record::VERSION;

/// Why a capture, or a line of it, cannot be used. `name` is the file's.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened or read.
    #[error("`{name}` cannot be read: {source}")]
    Io {
        /// File.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The first line is no header of a capture.
    #[error("`{name}` is not a capture: {why}")]
    NotACapture {
        /// File.
        name: String,
        /// What is there instead.
        why: String,
    },
    /// The header names a version that this program does not know.
    #[error("`{name}` is a capture of version {version} and this icache reads version {VERSION}")]
    Newer {
        /// File.
        name: String,
        /// As the header says.
        version: u64,
    },
    /// A record cannot be used.
    #[error("{name}:{line}: {what}")]
    Line {
        /// File.
        name: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong with it, with the field where there is one.
        what: String,
    },
}
