//! The nouns of cache-aware routing: ids, hashes, tiers, times, requests, updates, resolved policies.
//!
//! Everything else depends on this module and it depends on nothing of this crate.

mod answer;
mod duration;
mod hash;
mod id;
mod limits;
mod policy;
mod request;
mod size;
mod tier;
mod time;
mod update;

pub use answer::{Answer, RankedReplica};
pub use duration::{DurationError, format_duration, parse_duration};
pub use hash::{EngineHash, HashList, PrefixHash};
pub use id::{AdapterId, HashScheme, ModelId, PROBE_TENANT, ReplicaId, TenantId};
pub use limits::Limits;
pub use policy::{Eviction, LoadHintCode, Ranker, RankerKnobs, ResolvedPolicy, Source, Sourced};
pub use request::{LookupRequest, Slo};
pub use size::{SizeError, parse_size};
pub use tier::Tier;
pub use time::{Timestamp, duration_ns};
pub use update::{CacheEvent, EventKind, PrefixEntry, ReplicaStats, StateUpdate};
