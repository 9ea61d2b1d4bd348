//! One event of a batch: its fields by position or by key, and what must be among them.

use crate::model::EngineHash;

use super::decode::{
    BlockRemoved, BlockStored, Event, ExtraKeys, Ignored, MAX_BLOCK_SIZE, MAX_HASHES, TokenIds,
};
use super::error::DecodeError;
use super::msgpack::{Head, Reader, bounded, text, wrong};

/// `None` for an event with an unknown tag.
pub(super) fn event<'a>(
    reader: &mut Reader<'a>,
    ignored: &mut Ignored,
) -> Result<Option<Event<'a>>, DecodeError> {
    let at = reader.at();
    let whole = *reader;
    let mut fields = Fields::new(at);
    let kind = match reader.head("event")? {
        Head::Array(0) => None,
        Head::Array(len) => {
            let kind = Kind::from_tag(reader.str("tag of event")?);
            for position in 1..len {
                match kind.map(|kind| kind.field_at(position)) {
                    Some(Some(field)) => fields.read(field, reader, ignored)?,
                    Some(None) => {
                        ignored.positions += 1;
                        reader.skip("event")?;
                    }
                    None => reader.skip("event")?,
                }
            }
            kind
        }
        Head::Map(len) => {
            let kind = find_kind(whole)?;
            for _ in 0..len {
                let key = reader.str("key of event")?;
                match kind.map(|_| Field::from_key(key)) {
                    Some(Some(field)) => fields.read(field, reader, ignored)?,
                    Some(None) => {
                        ignored.keys += 1;
                        reader.skip("event")?;
                    }
                    None => reader.skip("event")?,
                }
            }
            kind
        }
        head => return Err(wrong("event", at, head, "an array or a map")),
    };
    let Some(kind) = kind else {
        ignored.tags += 1;
        return Ok(None);
    };
    fields.finish(kind).map(Some)
}

/// Looks ahead for the `type` of an event map: only with it do the other keys mean something.
fn find_kind(mut reader: Reader<'_>) -> Result<Option<Kind>, DecodeError> {
    let Head::Map(len) = reader.head("event")? else {
        return Ok(None);
    };
    for _ in 0..len {
        if reader.str("key of event")? == "type" {
            return Ok(Kind::from_tag(reader.str("tag of event")?));
        }
        reader.skip("event")?;
    }
    Ok(None)
}

#[derive(Clone, Copy)]
enum Kind {
    Stored,
    Removed,
    Cleared,
}

impl Kind {
    fn from_tag(tag: &str) -> Option<Self> {
        match tag {
            "BlockStored" => Some(Self::Stored),
            "BlockRemoved" => Some(Self::Removed),
            "AllBlocksCleared" => Some(Self::Cleared),
            _ => None,
        }
    }

    fn field_at(self, position: usize) -> Option<Field> {
        match (self, position) {
            (Self::Stored | Self::Removed, 1) => Some(Field::BlockHashes),
            (Self::Stored, 2) => Some(Field::Parent),
            (Self::Stored, 3) => Some(Field::TokenIds),
            (Self::Stored, 4) => Some(Field::BlockSize),
            (Self::Stored, 5) => Some(Field::LoraId),
            (Self::Stored, 6) | (Self::Removed, 2) => Some(Field::Medium),
            (Self::Stored, 7) => Some(Field::LoraName),
            (Self::Stored, 8) => Some(Field::ExtraKeys),
            (Self::Stored, 9) | (Self::Removed, 3) => Some(Field::GroupIdx),
            (Self::Stored, 10 | 11) => Some(Field::Unused),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Field {
    BlockHashes,
    Parent,
    TokenIds,
    BlockSize,
    LoraId,
    Medium,
    LoraName,
    ExtraKeys,
    GroupIdx,
    CacheSalt,
    /// Known, and of no use here.
    Unused,
}

impl Field {
    fn from_key(key: &str) -> Option<Self> {
        Some(match key {
            "block_hashes" => Self::BlockHashes,
            "parent_block_hash" => Self::Parent,
            "token_ids" => Self::TokenIds,
            "block_size" => Self::BlockSize,
            "lora_id" => Self::LoraId,
            "medium" => Self::Medium,
            "lora_name" => Self::LoraName,
            "extra_keys" => Self::ExtraKeys,
            "group_idx" => Self::GroupIdx,
            "cache_salt" => Self::CacheSalt,
            "type"
            | "kv_cache_spec_kind"
            | "kv_cache_spec_sliding_window"
            | "locality"
            | "ownership"
            | "session_id"
            | "lookahead_token_ids" => Self::Unused,
            _ => return None,
        })
    }
}

/// Fields as they come, in any order.
struct Fields<'a> {
    at: usize,
    block_hashes: Option<Vec<EngineHash>>,
    parent: Option<EngineHash>,
    token_ids: TokenIds,
    block_size: Option<u32>,
    lora_id: Option<i64>,
    medium: Option<&'a str>,
    lora_name: Option<&'a str>,
    extra_keys: Option<ExtraKeys<'a>>,
    group_idx: Option<u32>,
    cache_salt: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn new(at: usize) -> Self {
        Self {
            at,
            block_hashes: None,
            parent: None,
            token_ids: TokenIds::Plain(Vec::new()),
            block_size: None,
            lora_id: None,
            medium: None,
            lora_name: None,
            extra_keys: None,
            group_idx: None,
            cache_salt: None,
        }
    }

    fn read(
        &mut self,
        field: Field,
        reader: &mut Reader<'a>,
        ignored: &mut Ignored,
    ) -> Result<(), DecodeError> {
        match field {
            Field::BlockHashes => self.block_hashes = Some(hash_list(reader)?),
            Field::Parent => self.parent = optional_hash("parent_block_hash", reader)?,
            Field::TokenIds => self.token_ids = token_ids(reader)?,
            Field::BlockSize => {
                let size = reader.optional_uint("block_size", 1, u64::from(MAX_BLOCK_SIZE))?;
                self.block_size = size.and_then(|size| u32::try_from(size).ok());
            }
            Field::LoraId => self.lora_id = lora_id(reader)?,
            Field::Medium => self.medium = reader.optional_str("medium")?,
            Field::LoraName => self.lora_name(reader, ignored)?,
            Field::ExtraKeys => {
                let at = reader.at();
                let mut look = *reader;
                match look.head("extra_keys")? {
                    Head::Nil | Head::Array(_) => reader.skip("extra_keys")?,
                    head => return Err(wrong("extra_keys", at, head, "an array or nil")),
                }
                let raw = reader.since(at);
                self.extra_keys = (raw != [0xc0]).then_some(ExtraKeys(raw));
            }
            Field::GroupIdx => {
                let group = reader.optional_uint("group_idx", 0, u64::from(u32::MAX))?;
                self.group_idx = group.and_then(|group| u32::try_from(group).ok());
            }
            Field::CacheSalt => self.cache_salt = reader.optional_str("cache_salt")?,
            Field::Unused => reader.skip("event")?,
        }
        Ok(())
    }

    /// Two SGLang releases send a map {cache_salt} in place of the name.
    fn lora_name(&mut self, reader: &mut Reader<'a>, ignored: &mut Ignored) -> Result<(), DecodeError> {
        let at = reader.at();
        match reader.head("lora_name")? {
            Head::Nil => self.lora_name = None,
            Head::Str(bytes) => self.lora_name = Some(text("lora_name", at, bytes)?),
            Head::Map(len) => {
                for _ in 0..len {
                    if reader.str("key of lora_name")? == "cache_salt" {
                        self.cache_salt = reader.optional_str("cache_salt")?;
                    } else {
                        ignored.keys += 1;
                        reader.skip("lora_name")?;
                    }
                }
            }
            head => return Err(wrong("lora_name", at, head, "a string, a map or nil")),
        }
        Ok(())
    }

    fn finish(self, kind: Kind) -> Result<Event<'a>, DecodeError> {
        let at = self.at;
        let missing = |what| DecodeError::Missing { what, at };
        let hashes = || self.block_hashes.ok_or_else(|| missing("block_hashes"));
        Ok(match kind {
            Kind::Stored => Event::Stored(BlockStored {
                block_hashes: hashes()?,
                parent_block_hash: self.parent,
                token_ids: self.token_ids,
                block_size: self.block_size.ok_or_else(|| missing("block_size"))?,
                lora_id: self.lora_id,
                medium: self.medium,
                lora_name: self.lora_name,
                extra_keys: self.extra_keys,
                group_idx: self.group_idx,
                cache_salt: self.cache_salt,
            }),
            Kind::Removed => Event::Removed(BlockRemoved {
                block_hashes: hashes()?,
                medium: self.medium,
                group_idx: self.group_idx,
            }),
            Kind::Cleared => Event::Cleared,
        })
    }
}

fn hash_list(reader: &mut Reader<'_>) -> Result<Vec<EngineHash>, DecodeError> {
    let at = reader.at();
    let len = reader.array("block_hashes")?;
    bounded("block_hashes", at, len as u64, 0, MAX_HASHES as u64)?;
    let mut hashes = Vec::with_capacity(len);
    for _ in 0..len {
        let at = reader.at();
        match optional_hash("block_hashes", reader)? {
            Some(hash) => hashes.push(hash),
            None => return Err(wrong("block_hashes", at, Head::Nil, HASH_FORMS)),
        }
    }
    Ok(hashes)
}

const HASH_FORMS: &str = "an integer or at least 8 bytes";

fn optional_hash(what: &'static str, reader: &mut Reader<'_>) -> Result<Option<EngineHash>, DecodeError> {
    let at = reader.at();
    let hash = match reader.head(what)? {
        Head::Nil => return Ok(None),
        Head::Unsigned(value) => Some(EngineHash::from_unsigned(value)),
        Head::Signed(value) => Some(EngineHash::from_signed(value)),
        Head::Bin(bytes) => EngineHash::from_bytes(bytes),
        head => return Err(wrong(what, at, head, HASH_FORMS)),
    };
    match hash {
        Some(hash) => Ok(Some(hash)),
        None => Err(DecodeError::WrongType { what, at, found: "less than 8 bytes", expected: HASH_FORMS }),
    }
}

fn token_ids(reader: &mut Reader<'_>) -> Result<TokenIds, DecodeError> {
    let at = reader.at();
    let len = match reader.head("token_ids")? {
        Head::Nil => 0,
        Head::Array(len) => len,
        head => return Err(wrong("token_ids", at, head, "an array")),
    };
    let mut tokens = Vec::with_capacity(len);
    let mut pairs = false;
    for _ in 0..len {
        let at = reader.at();
        let mut look = *reader;
        match look.head("token_ids")? {
            Head::Unsigned(token) => {
                tokens.extend(u32::try_from(token));
                *reader = look;
            }
            Head::Signed(token) => {
                tokens.extend(u32::try_from(token));
                *reader = look;
            }
            Head::Array(_) => {
                pairs = true;
                reader.skip("token_ids")?;
            }
            head => return Err(wrong("token_ids", at, head, "an integer or a pair")),
        }
    }
    Ok(if pairs {
        TokenIds::Pairs(len)
    } else if tokens.len() < len {
        TokenIds::OutOfRange(len)
    } else {
        TokenIds::Plain(tokens)
    })
}

fn lora_id(reader: &mut Reader<'_>) -> Result<Option<i64>, DecodeError> {
    let at = reader.at();
    match reader.head("lora_id")? {
        Head::Nil => Ok(None),
        Head::Signed(id) => Ok(Some(id)),
        Head::Unsigned(id) => {
            bounded("lora_id", at, id, 0, i64::MAX as u64)?;
            Ok(Some(id as i64))
        }
        head => Err(wrong("lora_id", at, head, "an integer or nil")),
    }
}
