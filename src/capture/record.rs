//! The records of a capture.

use serde::{Deserialize, Serialize};

use crate::contract::{CacheEvent, CacheStateUpdate, KeyOrder, LookupRouteRequest, LookupRouteResponse};
use crate::model::Timestamp;

/// Version of the format that is read and written.
pub const VERSION: u64 = 1;

/// The first line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// When recording began, RFC 3339; empty where the header does not say.
    pub created: String,
    /// What was recorded, in free text.
    pub source: String,
}

/// One line: what happened, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Line in the file, from 1; the header is line 1.
    pub line: u64,
    /// When, exact to the microsecond.
    pub at: Timestamp,
    /// What.
    pub body: Body,
}

/// What a record holds, by kind.
#[derive(Clone, PartialEq, Debug)]
pub enum Body {
    /// A batch as an engine published it.
    KvBatch(KvBatch),
    /// A state update that a server took.
    Report(CacheStateUpdate),
    /// An event that a server took.
    Event(CacheEvent),
    /// A lookup, with its answer.
    Lookup(Box<Lookup>),
    /// Policy documents (YAML), in force from here on.
    Policy(String),
    /// Settings of the server that was recorded.
    Config(Config),
    /// What the index held when recording began.
    State(State),
    /// The server swept here.
    Sweep,
}

impl Body {
    /// The kind as it stands in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::KvBatch(_) => "kv-batch",
            Self::Report(_) => "report",
            Self::Event(_) => "event",
            Self::Lookup(_) => "lookup",
            Self::Policy(_) => "policy",
            Self::Config(_) => "config",
            Self::State(_) => "state",
            Self::Sweep => "sweep",
        }
    }
}

/// One published batch of an engine, and on whose behalf it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KvBatch {
    /// The engine.
    pub replica: String,
    /// Its model.
    pub model: String,
    /// Its tenant.
    pub tenant: String,
    /// Scheme of the fingerprints.
    pub scheme: String,
    /// Topic frame.
    #[serde(default)]
    pub topic: String,
    /// Sequence frame; absent is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Payload frame.
    #[serde(with = "super::fields::base64_bytes")]
    pub payload: Vec<u8>,
}

/// A lookup.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lookup {
    /// What was asked.
    pub request: LookupRouteRequest,
    /// What the server answered, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<LookupRouteResponse>,
    /// What must be answered, where a person wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
}

/// What a person expects of a lookup. An unknown field is an error: a typing error must not pass for a check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expectation {
    /// The reason code.
    pub reason_code: String,
    /// The replicas in order; absent is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Vec<String>>,
}

/// Settings of a server. Absent is its default.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    /// Ranking settings.
    pub ranker: ConfigRanker,
    /// `--block-size`, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<u32>,
    /// `--default-ttl`, a duration.
    #[serde(rename = "defaultTTL", alias = "defaultTtl", skip_serializing_if = "Option::is_none")]
    pub default_ttl: Option<String>,
    /// Bounds of the index.
    pub limits: ConfigLimits,
    /// The capture has a record of every sweep, so that a replay must not sweep by its clock.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub records_sweeps: bool,
    /// Whatever else is there.
    #[serde(flatten)]
    pub others: std::collections::BTreeMap<String, serde_json::Value>,
}

/// Ranking settings; durations as in policies.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigRanker {
    /// `PressureWeight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_weight: Option<f32>,
    /// `SLOTightTTFTMs`, in milliseconds.
    #[serde(rename = "sloTightTTFTMs", alias = "sloTightTtftMs", skip_serializing_if = "Option::is_none")]
    pub slo_tight_ttft_ms: Option<i32>,
    /// `SLOTightBias`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slo_tight_bias: Option<f32>,
    /// `TenantHotMaxAge`, a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_hot_max_age: Option<String>,
    /// `TenantHotMinHitRate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_hot_min_hit_rate: Option<f32>,
    /// `--replica-timeout`, a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_timeout: Option<String>,
    /// `--ranker`.
    #[serde(rename = "name", skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
    /// `--in-flight-ttl`, a duration.
    #[serde(rename = "inFlightTTL", skip_serializing_if = "Option::is_none")]
    pub in_flight_ttl: Option<String>,
    /// `--prefill-rate`, in tokens a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill_rate: Option<u32>,
    /// `--load-hint-code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_hint_code: Option<String>,
    /// Whatever else is there.
    #[serde(flatten)]
    pub others: std::collections::BTreeMap<String, serde_json::Value>,
}

/// Bounds of the index.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigLimits {
    /// `--max-entries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_entries: Option<u64>,
    /// `--max-memory`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_bytes: Option<u64>,
    /// `--max-replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<usize>,
    /// `--max-replica-records`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replica_records: Option<usize>,
    /// `--max-blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_blocks: Option<usize>,
    /// `--max-hash-bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hash_bytes: Option<usize>,
    /// `--max-id-bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_id_bytes: Option<usize>,
    /// Token ids of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Bytes of prompt text of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_prompt_bytes: Option<usize>,
    /// Whatever else is there.
    #[serde(flatten)]
    pub others: std::collections::BTreeMap<String, serde_json::Value>,
}

/// What an index held, or a part of it, worded as the updates that bring it about: their timestamps say when it was last
/// reported. Several records, one after the other, make up a large state.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Replicas with their statistics, and entries: of equal ones, those first that came first.
    #[serde(default)]
    pub updates: Vec<CacheStateUpdate>,
    /// For each update, when its replica was last heard of, in Unix microseconds; where it is missing, at the record's
    /// time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard_us: Vec<i64>,
    /// For each update, the LFU credits of its prefixes; none where it is missing or empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<Vec<u32>>,
    /// Keys in the order in which a quota takes them; it comes after all entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<KeyOrder>,
    /// Whatever else is there.
    #[serde(flatten)]
    pub others: std::collections::BTreeMap<String, serde_json::Value>,
}
