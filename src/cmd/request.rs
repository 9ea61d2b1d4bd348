//! The request of a lookup, given by flags or as JSON.

use bytes::Bytes;
use clap::Args;

use super::error::UsageError;
use super::input;
use crate::contract::wire::inferencecache::v1alpha1 as wire;

/// Contract keys: who asks, and about what.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// Tenant that the prefix belongs to (tenant_id)
    #[arg(long, value_name = "ID")]
    pub tenant: Option<String>,
    /// Model that computed the prefix (model_id)
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Scheme of the hashes: function, block size and seed (hash_scheme)
    #[arg(long, value_name = "NAME")]
    pub hash_scheme: Option<String>,
    /// Adapter (LoRA) partition; without it the base model (adapter_id)
    #[arg(long, value_name = "ID")]
    pub adapter: Option<String>,
}

/// A prefix: a chain of block hashes, or one hash.
#[derive(Debug, Args)]
pub struct PrefixArgs {
    /// Hash of one block in hex or base64; repeat in order, from the start of the prompt
    ///
    /// Text that can be read as both is hex; `base64:` in front makes it base64.
    #[arg(long = "block", value_name = "HASH", value_parser = input::hash)]
    pub block: Vec<Bytes>,
    /// Hashes of the blocks in hex or base64, in order, between commas
    #[arg(long, value_name = "HASH,...", value_delimiter = ',', value_parser = input::hash, conflicts_with = "block")]
    pub blocks: Vec<Bytes>,
    /// Tokens in each block
    #[arg(long, value_name = "TOKENS", conflicts_with = "block_token_counts", allow_negative_numbers = true)]
    pub block_tokens: Option<i32>,
    /// Tokens of each block, between commas, where blocks differ
    #[arg(long, value_name = "TOKENS,...", value_delimiter = ',', allow_negative_numbers = true)]
    pub block_token_counts: Vec<i32>,
    /// One hash for the whole prefix, in hex or base64
    #[arg(long, value_name = "HASH", value_parser = input::hash)]
    pub prefix_hash: Option<Bytes>,
    /// Tokens that --prefix-hash stands for
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub prefix_tokens: Option<i32>,
    /// The prompt as token ids, between commas
    #[arg(long, value_name = "ID,...", value_delimiter = ',', conflicts_with = "tokens")]
    pub token_ids: Vec<u32>,
    /// File with the prompt's token ids, as a JSON array or as numbers; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,
}

impl PrefixArgs {
    /// Hashes and token counts of the blocks, as given: the lists may differ in length.
    pub fn chain(&self) -> Result<(Vec<Bytes>, Vec<i32>), UsageError> {
        let hashes = if self.blocks.is_empty() { &self.block } else { &self.blocks };
        if hashes.is_empty() && (self.block_tokens.is_some() || !self.block_token_counts.is_empty()) {
            return Err(UsageError::new(
                "token counts of blocks are given without the blocks",
                "name them with `--blocks`, or give the prompt with `--tokens` or `--prefix-hash`",
            ));
        }
        let counts = match self.block_tokens {
            Some(tokens) => vec![tokens; hashes.len()],
            None => self.block_token_counts.clone(),
        };
        if counts.is_empty() && !hashes.is_empty() {
            return Err(UsageError::new(
                "blocks are given without their token counts",
                "add `--block-tokens 16` for blocks of 16 tokens, or `--block-token-counts` for one count a block",
            ));
        }
        Ok((hashes.clone(), counts))
    }

    /// Token ids, from the flag or the file.
    pub fn token_ids(&self) -> Result<Vec<u32>, UsageError> {
        match &self.tokens {
            Some(path) => input::tokens(path),
            None => Ok(self.token_ids.clone()),
        }
    }

    /// Whether blocks or their token counts are given.
    pub fn has_blocks(&self) -> bool {
        !self.block.is_empty()
            || !self.blocks.is_empty()
            || self.block_tokens.is_some()
            || !self.block_token_counts.is_empty()
    }

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.block.is_empty()
            && self.blocks.is_empty()
            && self.block_tokens.is_none()
            && self.block_token_counts.is_empty()
            && self.prefix_hash.is_none()
            && self.prefix_tokens.is_none()
            && self.token_ids.is_empty()
            && self.tokens.is_none()
    }
}

impl KeyArgs {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        [&self.tenant, &self.model, &self.hash_scheme, &self.adapter].into_iter().all(Option::is_none)
    }
}

/// What is looked up.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    prefix: PrefixArgs,
    /// The prompt as text of one user message; needs a tokenizer on the server
    #[arg(long, value_name = "TEXT")]
    prompt_text: Option<String>,
    /// Target of the time to first token, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i32).range(0..))]
    ttft_ms: Option<i32>,
    /// File with a LookupRouteRequest in proto3 JSON, instead of the flags above; `-` is standard input
    #[arg(long, value_name = "FILE")]
    request: Option<String>,
}

impl RequestArgs {
    /// The request; `None` where nothing is given.
    pub fn request(&self) -> Result<Option<wire::LookupRouteRequest>, UsageError> {
        let has_flags = !self.keys.is_empty()
            || !self.prefix.is_empty()
            || self.prompt_text.is_some()
            || self.ttft_ms.is_some();
        match &self.request {
            Some(_) if has_flags => Err(UsageError::new(
                "`--request` and flags that describe the request are both given",
                "give the request either as a file or by flags",
            )),
            Some(path) => input::message(path, "LookupRouteRequest").map(Some),
            None if has_flags => self.by_flags().map(Some),
            None => Ok(None),
        }
    }

    fn by_flags(&self) -> Result<wire::LookupRouteRequest, UsageError> {
        let (block_hashes, block_token_counts) = self.prefix.chain()?;
        let token_ids = self.prefix.token_ids()?;
        let prefix_hash = self.prefix.prefix_hash.clone().unwrap_or_default();
        let prompt_text = self.prompt_text.clone().unwrap_or_default();
        let has_input = !prefix_hash.is_empty()
            || !block_hashes.is_empty()
            || !token_ids.is_empty()
            || !prompt_text.is_empty();
        if !has_input {
            return Err(UsageError::new(
                "the request describes no prompt",
                "give it with `--tokens`, `--token-ids`, `--blocks`, `--prefix-hash` or `--prompt-text`; a request that \
                 is meant to have none goes into `--request FILE`",
            ));
        }
        let keys = &self.keys;
        Ok(wire::LookupRouteRequest {
            model_id: keys.model.clone().unwrap_or_default(),
            tenant_id: keys.tenant.clone().unwrap_or_default(),
            prefix_hash,
            prefix_token_count: self.prefix.prefix_tokens.unwrap_or_default(),
            hash_scheme: keys.hash_scheme.clone().unwrap_or_default(),
            slo: self.ttft_ms.map(|ttft_ms| wire::Slo { ttft_ms, tbt_ms: 0 }),
            block_hashes,
            block_token_counts,
            token_ids,
            prompt_text,
            adapter_id: keys.adapter.clone().unwrap_or_default(),
        })
    }
}
