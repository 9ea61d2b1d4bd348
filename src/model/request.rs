//! A lookup, borrowed from the message it came in.

use super::HashList;

/// What a gateway asks. Empty means absent, as on the wire.
#[derive(Clone, Copy, Debug)]
pub struct LookupRequest<'a> {
    /// Contract key: the tenant.
    pub tenant: &'a str,
    /// Contract key: the model.
    pub model: &'a str,
    /// Contract key: the hash scheme.
    pub scheme: &'a str,
    /// Adapter partition; empty for the base model.
    pub adapter: &'a str,
    /// One hash for the whole prefix (exact lookup).
    pub prefix_hash: &'a [u8],
    /// Tokens that `prefix_hash` stands for.
    pub prefix_token_count: i32,
    /// One hash a block (chain lookup).
    pub block_hashes: HashList<'a>,
    /// Tokens of each block.
    pub block_token_counts: &'a [i32],
    /// The prompt as token ids.
    pub token_ids: &'a [u32],
    /// The prompt as text.
    pub prompt_text: &'a str,
    /// Latency targets.
    pub slo: Slo,
}

impl Default for LookupRequest<'_> {
    fn default() -> Self {
        Self {
            tenant: "",
            model: "",
            scheme: "",
            adapter: "",
            prefix_hash: &[],
            prefix_token_count: 0,
            block_hashes: HashList::EMPTY,
            block_token_counts: &[],
            token_ids: &[],
            prompt_text: "",
            slo: Slo::default(),
        }
    }
}

/// Latency targets; 0 means none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slo {
    /// Time to first token, in milliseconds.
    pub ttft_ms: i32,
}
