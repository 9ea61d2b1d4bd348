//! What inference engines say about their caches, turned into what the index is fed.
//!
//! Four steps, each pure and each usable alone: [`Stream`] brings the batches of one publisher into order,
//! [`decode_batch`] reads one payload, [`Mapper`] follows what one replica holds and says what changes in the index,
//! [`feed`] words those changes as updates and events.

mod adapters;
mod changes;
mod copies;
mod decode;
mod drops;
mod entries;
mod error;
mod event;
mod held_back;
mod holdings;
mod map;
mod msgpack;
mod options;
mod place;
mod report;
mod stream;

pub use changes::Change;
pub use decode::{
    Batch, BlockRemoved, BlockStored, Event, ExtraKeys, Ignored, MAX_BLOCK_SIZE, MAX_EVENTS, MAX_HASHES,
    MAX_PAYLOAD_BYTES, TokenIds, decode_batch,
};
pub use drops::{DropCounts, EngineDrop};
pub use error::DecodeError;
pub use holdings::{Held, MAX_PLACES_PER_BLOCK};
pub use map::{Applied, Counts, MAX_NOTICES, Mapper, Notice};
pub use msgpack::MAX_DEPTH;
pub use options::MapperOptions;
pub use place::{MAX_MEDIA, MAX_MEDIUM_BYTES};
pub use report::{Fed, Identity, MAX_UPDATE_BLOCKS, feed, restate};
pub use stream::{
    END_OF_REPLAY, MAX_FINGERPRINTS, MAX_PARKED, MAX_PARKED_BYTES, Numbered, ReplayEnd, Step, Stream,
};
