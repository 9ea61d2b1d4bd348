//! What inference engines say about their caches, turned into what the index is fed.

mod decode;
mod error;
mod event;
mod msgpack;

pub use decode::{
    Batch, BlockRemoved, BlockStored, Event, ExtraKeys, Ignored, MAX_BLOCK_SIZE, MAX_EVENTS,
    MAX_HASHES, MAX_PAYLOAD_BYTES, TokenIds, decode_batch,
};
pub use error::DecodeError;
pub use msgpack::MAX_DEPTH;
