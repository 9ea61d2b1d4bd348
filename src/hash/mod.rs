//! Content fingerprint: token ids to a chain of prefix hashes.
//!
//! The format is frozen, since engine sidecars, gateways and this server must agree on it bit for bit: XXH3-64 with
//! seed 1337 over the block's token ids (u32, little-endian) gives the content hash; a block's prefix hash is XXH3-64
//! over its parent's prefix hash and its own content hash (both u64, little-endian); the first block of a sequence has
//! no parent and its prefix hash is its content hash. On the wire a prefix hash is 8 bytes, big-endian. A trailing
//! partial block has no hash.

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::model::PrefixHash;

const SEED: u64 = 1337;

/// Prefix hashes of all full blocks of `block_size` tokens, in order.
///
/// `parent` is the prefix hash of the block before the first one; `None` at the start of a sequence.
pub fn fingerprint_chain(tokens: &[u32], block_size: u32, parent: Option<PrefixHash>) -> Vec<PrefixHash> {
    let size = block_size as usize;
    if size == 0 {
        return Vec::new();
    }
    let mut chain = Vec::with_capacity(tokens.len() / size);
    let mut last = parent;
    for block in tokens.chunks_exact(size) {
        let hash = prefix(last, content(block));
        chain.push(hash);
        last = Some(hash);
    }
    chain
}

fn content(block: &[u32]) -> u64 {
    let mut hasher = Xxh3::with_seed(SEED);
    for token in block {
        hasher.update(&token.to_le_bytes());
    }
    hasher.digest()
}

fn prefix(parent: Option<PrefixHash>, content: u64) -> PrefixHash {
    let Some(parent) = parent else {
        return PrefixHash::new(content);
    };
    let mut pair = [0_u8; 16];
    pair[..8].copy_from_slice(&parent.value().to_le_bytes());
    pair[8..].copy_from_slice(&content.to_le_bytes());
    PrefixHash::new(xxh3_64_with_seed(&pair, SEED))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published vector: tokens 1..16 in one block.
    #[test]
    fn vector_of_the_format() {
        let tokens: Vec<u32> = (1..=16).collect();
        let chain = fingerprint_chain(&tokens, 16, None);
        assert_eq!(chain.len(), 1);
        assert_eq!(chain[0].value(), 16_863_443_419_780_771_464);
        assert_eq!(chain[0].as_bytes(), hex::decode("ea06fc71a5ee6e88").unwrap());
    }

    #[test]
    fn a_chain_continues_from_its_parent() {
        let tokens: Vec<u32> = (0..48).collect();
        let whole = fingerprint_chain(&tokens, 16, None);
        let tail = fingerprint_chain(&tokens[16..], 16, Some(whole[0]));
        assert_eq!(whole[1..], tail[..]);
    }

    #[test]
    fn a_partial_block_is_dropped() {
        let tokens: Vec<u32> = (0..31).collect();
        assert_eq!(fingerprint_chain(&tokens, 16, None).len(), 1);
        assert_eq!(fingerprint_chain(&tokens[..15], 16, None), []);
        assert_eq!(fingerprint_chain(&tokens, 0, None), []);
    }
}
