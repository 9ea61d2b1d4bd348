//! Captures: what a server was told and what it answered, as JSON Lines that can be replayed.
//!
//! The first line is a header, every other line one [`Record`] with its time, in time order. [`Reader`] streams them and
//! says file, line and field of what it cannot use, compressed or not; [`Writer`] writes what [`Reader`] reads, and a
//! [`Recorder`] does so into files, one after the other.

mod compress;
mod error;
mod fields;
mod lines;
mod read;
mod record;
mod recorder;

mod tiers;
mod time;
mod write;

pub use compress::{Compression, Decompressed};
pub use error::CaptureError;
pub use lines::{Line, MAX_LINE_BYTES, next_line};
pub use read::{MAX_NOTES, Notes, ReadOptions, Reader, looks_like_capture};
pub use record::{
    Body, Config, ConfigLimits, ConfigRanker, Expectation, Header, KvBatch, Lookup, Record, State, VERSION,
};
pub use recorder::{Recorded, Recorder, RecorderOptions};
pub use write::Writer;
