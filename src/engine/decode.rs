//! One published payload to a batch of events, for every release in `testdata/kv-events` and mixtures of them.
//!
//! Engines add fields and events at will, so what is not known is passed over and counted; what is known and wrong, or
//! beyond a limit, makes the whole batch an error, since a batch half applied leaves hints that nobody takes back.

use crate::model::EngineHash;

use super::error::DecodeError;
use super::event::event;
use super::msgpack::{Head, Reader, bounded, wrong};

/// Bytes of one payload: room for the longest hash list with the prompts of its blocks.
pub const MAX_PAYLOAD_BYTES: usize = 32 << 20;
/// Events in one batch.
pub const MAX_EVENTS: usize = 131_072;
/// Hashes in one event.
pub const MAX_HASHES: usize = 131_072;
/// Tokens in one block.
pub const MAX_BLOCK_SIZE: u32 = 4_096;

/// What one message of an engine says. Strings are borrowed from the payload.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch<'a> {
    /// Unix time of the batch in seconds, by the engine's clock.
    pub ts: f64,
    /// The events in order; those with an unknown tag are left out.
    pub events: Vec<Event<'a>>,
    /// Data-parallel rank that published, where it says so.
    pub rank: Option<u32>,
    /// What was passed over.
    pub ignored: Ignored,
}

/// Parts of a batch that this version does not know and passed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ignored {
    /// Events with an unknown tag, or with none.
    pub tags: u64,
    /// Unknown map keys.
    pub keys: u64,
    /// Array positions beyond the known ones.
    pub positions: u64,
}

/// One event of a batch.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<'a> {
    /// Blocks were stored on a medium.
    Stored(BlockStored<'a>),
    /// Blocks were removed from a medium.
    Removed(BlockRemoved<'a>),
    /// The cache is empty.
    Cleared,
}

/// `BlockStored`.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockStored<'a> {
    /// The blocks in order.
    pub block_hashes: Vec<EngineHash>,
    /// The block before the first one; `None` at the start of a sequence.
    pub parent_block_hash: Option<EngineHash>,
    /// Tokens of all blocks; none where the blocks are told of before.
    pub token_ids: TokenIds,
    /// Tokens in a block, 1 to [`MAX_BLOCK_SIZE`].
    pub block_size: u32,
    /// Load-order number of the adapter.
    pub lora_id: Option<i64>,
    /// Where the blocks are.
    pub medium: Option<&'a str>,
    /// Name of the adapter.
    pub lora_name: Option<&'a str>,
    /// What else than tokens went into the hashes.
    pub extra_keys: Option<ExtraKeys<'a>>,
    /// KV cache group.
    pub group_idx: Option<u32>,
    /// Salt that went into the hashes.
    pub cache_salt: Option<&'a str>,
}

/// `BlockRemoved`.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockRemoved<'a> {
    /// The blocks.
    pub block_hashes: Vec<EngineHash>,
    /// Where they were.
    pub medium: Option<&'a str>,
    /// KV cache group.
    pub group_idx: Option<u32>,
}

/// Tokens of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenIds {
    /// One number a token.
    Plain(Vec<u32>),
    /// Pairs of tokens (EAGLE), which have no fingerprint; how many.
    Pairs(usize),
    /// Some are not 32-bit token ids; how many there are in all.
    OutOfRange(usize),
}

/// For each block what else than its tokens went into its hash, left undecoded until it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtraKeys<'a>(pub(super) &'a [u8]);

impl ExtraKeys<'_> {
    /// First of `blocks` blocks with a key other than the adapter's name; `blocks` where there is none.
    ///
    /// A list of another length cannot be matched with the blocks: any key in it counts against the first block.
    pub fn foreign_from(&self, adapter: &str, blocks: usize) -> usize {
        let mut reader = Reader::new(self.0);
        let Ok(len) = reader.array("extra_keys") else {
            return 0;
        };
        for block in 0..len {
            let mut look = reader;
            let known = if len == blocks { adapter } else { "" };
            if !only_adapter(&mut look, known) {
                return if len == blocks { block } else { 0 };
            }
            if reader.skip("extra_keys").is_err() {
                return 0;
            }
        }
        blocks
    }
}

fn only_adapter(reader: &mut Reader<'_>, adapter: &str) -> bool {
    let is_adapter = |head| match head {
        Ok(Head::Str(key)) => !key.is_empty() && key == adapter.as_bytes(),
        _ => false,
    };
    match reader.head("extra_keys") {
        Ok(Head::Nil) => true,
        Ok(Head::Array(keys)) => (0..keys).all(|_| is_adapter(reader.head("extra_keys"))),
        head => is_adapter(head),
    }
}

/// Reads one payload.
///
/// # Errors
///
/// Where the payload is not one whole batch within the limits.
pub fn decode_batch(payload: &[u8]) -> Result<Batch<'_>, DecodeError> {
    if payload.is_empty() {
        return Err(DecodeError::Empty);
    }
    bounded("payload", 0, payload.len() as u64, 1, MAX_PAYLOAD_BYTES as u64)?;
    let mut reader = Reader::new(payload);
    let mut parts = Parts::default();
    match reader.head("batch")? {
        Head::Array(len) => {
            for position in 0..len {
                match position {
                    0 => parts.read(BatchField::Ts, &mut reader)?,
                    1 => parts.read(BatchField::Events, &mut reader)?,
                    2 => parts.read(BatchField::Rank, &mut reader)?,
                    _ => {
                        parts.ignored.positions += 1;
                        reader.skip("batch")?;
                    }
                }
            }
        }
        Head::Map(len) => {
            for _ in 0..len {
                match reader.str("key of batch")? {
                    "ts" => parts.read(BatchField::Ts, &mut reader)?,
                    "events" => parts.read(BatchField::Events, &mut reader)?,
                    "data_parallel_rank" => parts.read(BatchField::Rank, &mut reader)?,
                    _ => {
                        parts.ignored.keys += 1;
                        reader.skip("batch")?;
                    }
                }
            }
        }
        head => return Err(wrong("batch", 0, head, "an array or a map")),
    }
    if reader.remaining() > 0 {
        return Err(DecodeError::Trailing { bytes: reader.remaining(), at: reader.at() });
    }
    let missing = |what| DecodeError::Missing { what, at: 0 };
    Ok(Batch {
        ts: parts.ts.ok_or_else(|| missing("ts"))?,
        events: parts.events.ok_or_else(|| missing("events"))?,
        rank: parts.rank,
        ignored: parts.ignored,
    })
}

#[derive(Clone, Copy)]
enum BatchField {
    Ts,
    Events,
    Rank,
}

#[derive(Default)]
struct Parts<'a> {
    ts: Option<f64>,
    events: Option<Vec<Event<'a>>>,
    rank: Option<u32>,
    ignored: Ignored,
}

impl<'a> Parts<'a> {
    fn read(&mut self, field: BatchField, reader: &mut Reader<'a>) -> Result<(), DecodeError> {
        match field {
            BatchField::Ts => {
                let at = reader.at();
                self.ts = Some(match reader.head("ts")? {
                    Head::Float(seconds) => seconds,
                    Head::Unsigned(seconds) => seconds as f64,
                    Head::Signed(seconds) => seconds as f64,
                    head => return Err(wrong("ts", at, head, "a number")),
                });
            }
            BatchField::Events => {
                let at = reader.at();
                let len = reader.array("events")?;
                bounded("events", at, len as u64, 0, MAX_EVENTS as u64)?;
                let mut events = Vec::new();
                for _ in 0..len {
                    events.extend(event(reader, &mut self.ignored)?);
                }
                self.events = Some(events);
            }
            BatchField::Rank => {
                let rank = reader.optional_uint("data_parallel_rank", 0, u64::from(u32::MAX))?;
                self.rank = rank.and_then(|rank| u32::try_from(rank).ok());
            }
        }
        Ok(())
    }
}
