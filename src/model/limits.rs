//! Limits on what one message may hold.

/// Upper bounds on a request or update; a lookup over one is answered `NO_HINT`, an update over one is dropped in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a replica, tenant, model, hash scheme or adapter id.
    pub id_bytes: usize,
    /// Bytes of one hash.
    pub hash_bytes: usize,
    /// Blocks in one request, and in one update over all its entries.
    pub request_blocks: usize,
    /// Token ids in one request.
    pub request_tokens: usize,
    /// Bytes of prompt text in one request.
    pub prompt_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            id_bytes: 512,
            hash_bytes: 64,
            request_blocks: 131_072,
            request_tokens: 1_048_576,
            prompt_bytes: 1 << 20,
        }
    }
}
