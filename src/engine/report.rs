//! Words changes as the updates and events that the index takes.

use std::collections::BTreeMap;

use crate::model::{
    AdapterId, CacheEvent, EventKind, HashList, HashScheme, ModelId, PrefixEntry, PrefixHash, ReplicaId,
    StateUpdate, TenantId, Tier, Timestamp,
};

use super::changes::Change;
use super::holdings::Held;

/// Blocks in one update.
pub const MAX_UPDATE_BLOCKS: usize = 4_096;

/// On whose behalf changes are reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The engine, or one rank of it.
    pub replica: ReplicaId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its model.
    pub model: ModelId,
    /// Scheme of its prefix hashes.
    pub scheme: HashScheme,
}

/// One thing for the index.
#[derive(Clone, Debug)]
pub enum Fed<'a> {
    /// Additions.
    Update(StateUpdate<'a>),
    /// A removal, or the loss of everything.
    Event(CacheEvent<'a>),
}

/// Gives `sink` what the index must apply, in order; additions between two removals go together.
pub fn feed(changes: &[Change], identity: &Identity, at: Option<Timestamp>, sink: &mut impl FnMut(Fed<'_>)) {
    let mut pieces = Vec::new();
    let mut blocks_in_pieces = 0;
    for change in changes {
        let (kind, prefix_hash, adapter) = match change {
            Change::Stored { adapter, tier, blocks, sequence_start } => {
                let mut chain = *sequence_start;
                for blocks in blocks.chunks(MAX_UPDATE_BLOCKS) {
                    if blocks_in_pieces + blocks.len() > MAX_UPDATE_BLOCKS {
                        flush(&mut pieces, identity, at, sink);
                        blocks_in_pieces = 0;
                    }
                    blocks_in_pieces += blocks.len();
                    pieces.push(Piece { adapter: adapter.as_str(), tier: *tier, blocks, chain });
                    chain = false;
                }
                continue;
            }
            Change::Removed { prefix_hash, adapter } => {
                (EventKind::PrefixEvicted, prefix_hash.as_bytes(), adapter.as_str())
            }
            Change::Cleared => (EventKind::AllCleared, &[][..], ""),
        };
        flush(&mut pieces, identity, at, sink);
        blocks_in_pieces = 0;
        sink(Fed::Event(CacheEvent {
            kind,
            replica: identity.replica.as_str(),
            tenant: identity.tenant.as_str(),
            model: identity.model.as_str(),
            prefix_hash,
            adapter,
            at,
        }));
    }
    flush(&mut pieces, identity, at, sink);
}

/// Everything held as additions, after which the index is right whatever it knew of these blocks.
pub fn restate<'a>(held: impl Iterator<Item = Held<'a>>) -> Vec<Change> {
    let mut groups: BTreeMap<(&AdapterId, Tier), Vec<(PrefixHash, i32)>> = BTreeMap::new();
    for entry in held {
        let group = groups.entry((entry.adapter, entry.tier)).or_default();
        group.push((entry.prefix_hash, entry.cumulative_tokens));
    }
    let changes = groups.into_iter().map(|((adapter, tier), blocks)| Change::Stored {
        adapter: adapter.clone(),
        tier,
        blocks,
        sequence_start: false,
    });
    changes.collect()
}

/// Blocks of one entry of the update, or of one entry each.
struct Piece<'a> {
    adapter: &'a str,
    tier: Tier,
    blocks: &'a [(PrefixHash, i32)],
    /// The index counts the tokens of a chain from 0, so only the start of a sequence can be one.
    chain: bool,
}

fn flush(
    pieces: &mut Vec<Piece<'_>>,
    identity: &Identity,
    at: Option<Timestamp>,
    sink: &mut impl FnMut(Fed<'_>),
) {
    if pieces.is_empty() {
        return;
    }
    let mut hashes = Vec::new();
    let mut counts = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.chain) {
        let mut before = 0;
        for (hash, tokens) in piece.blocks {
            hashes.push(*hash);
            counts.push(tokens - before);
            before = *tokens;
        }
    }
    let mut prefixes = Vec::new();
    let mut chained = 0;
    for piece in pieces.iter() {
        let entry = PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::EMPTY,
            block_token_counts: &[],
            tier: piece.tier,
            adapter: piece.adapter,
        };
        if piece.chain {
            let range = chained..chained + piece.blocks.len();
            chained = range.end;
            prefixes.push(PrefixEntry {
                block_hashes: HashList::Fingerprints(&hashes[range.clone()]),
                block_token_counts: &counts[range],
                ..entry
            });
            continue;
        }
        prefixes.extend(piece.blocks.iter().map(|(hash, tokens)| PrefixEntry {
            prefix_hash: hash.as_bytes(),
            token_count: *tokens,
            ..entry
        }));
    }
    sink(Fed::Update(StateUpdate {
        replica: identity.replica.as_str(),
        tenant: identity.tenant.as_str(),
        model: identity.model.as_str(),
        scheme: identity.scheme.as_str(),
        adapter: "",
        at,
        prefixes,
        stats: None,
    }));
    pieces.clear();
}
