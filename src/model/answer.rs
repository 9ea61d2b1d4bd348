//! The answer to a lookup, as it goes over the wire and stands in captures.

use super::Tier;

/// What a gateway gets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// Reason code; one that this version does not know stays as it is.
    pub reason_code: String,
    /// Best first.
    pub replicas: Vec<RankedReplica>,
    /// Time the server took, in microseconds.
    pub latency_us: i64,
    /// Tokens that the server itself made from text.
    pub token_ids: Vec<u32>,
    /// The partition that was consulted; empty where the index was not read.
    pub adapter: String,
}

/// One replica of an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct RankedReplica {
    /// Who.
    pub replica: String,
    /// Higher is better.
    pub score: f32,
    /// Tokens of the request that it holds.
    pub matched_tokens: i32,
    /// Estimated probability of a cache hit, 0..1.
    pub probability: f32,
    /// Coldest tier of the match; `Unknown` where there is none.
    pub tier: Tier,
}
