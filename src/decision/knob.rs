//! The registry of knobs: every setting that can move an answer.

use super::pipeline::Settings;
use crate::model::Source;

/// Who sets a knob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnobOwner {
    /// A field of the tenant's CachePolicy.
    Policy,
    /// A setting of the server.
    Server,
}

/// One knob.
#[derive(Debug)]
pub struct KnobInfo {
    /// The policy field as written, or the setting's name.
    pub name: &'static str,
    /// The command line flag, for a server setting.
    pub flag: Option<&'static str>,
    /// Who sets it.
    pub owner: KnobOwner,
    /// The built-in value, as shown.
    pub default: &'static str,
    /// How to switch off what it does.
    pub off: &'static str,
    /// One line.
    pub summary: &'static str,
}

macro_rules! knobs {
    ($($variant:ident $name:literal $owner:ident $flag:expr, default $default:literal off $off:literal $summary:literal;)*) => {
        /// A setting that can move an answer.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Knob {
            $(#[doc = $summary] $variant,)*
        }

        impl Knob {
            /// Every knob.
            pub const ALL: &'static [Knob] = &[$(Knob::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static KnobInfo {
                match self {
                    $(Knob::$variant => &KnobInfo {
                        name: $name,
                        flag: $flag,
                        owner: KnobOwner::$owner,
                        default: $default,
                        off: $off,
                        summary: $summary,
                    },)*
                }
            }
        }
    };
}

knobs! {
    LookupTimeoutMs "lookupTimeoutMs" Policy None, default "0" off "0"
        "budget of one lookup in milliseconds";
    RequireChain "strategy.requireChain" Policy None, default "false" off "false"
        "reject requests without a block-hash chain";
    EnableChainMatching "strategy.enableChainMatching" Policy None, default "true" off "false"
        "match block-hash chains";
    MinimumPrefixTokens "minimumPrefixTokens" Policy None, default "0" off "0"
        "shortest prompt that gets a hint, in tokens";
    AffinityRouting "affinityRouting" Policy None, default "Enabled" off "Disabled"
        "answer with a stable replica where nothing matches";
    EvictionTtl "evictionTTL" Policy None, default "30m" off "n/a"
        "how long an entry lives after its last report";
    EnableTenantHot "strategy.enableTenantHot" Policy None, default "true" off "false"
        "allow warm-replica answers";
    MinimumMatchedTokens "minimumMatchedTokens" Policy None, default "64" off "0"
        "shortest match of a replica that counts, in tokens";
    RoutingFloorScore "routingFloorScore" Policy None, default "0.1" off "0"
        "lowest best score that counts";
    PressureWeight "PressureWeight" Server Some("--pressure-weight"), default "1" off "0"
        "how much a replica's pressure lowers its score";
    SloTightTtftMs "SLOTightTTFTMs" Server Some("--slo-tight-ttft-ms"), default "200" off "0"
        "requests with a lower TTFT target favour fresh holders, in milliseconds";
    SloTightBias "SLOTightBias" Server Some("--slo-tight-bias"), default "1" off "0"
        "how much they do";
    TenantHotMaxAge "TenantHotMaxAge" Server Some("--tenant-hot-max-age"), default "5m" off "0"
        "oldest statistics that make a replica warm";
    TenantHotMinHitRate "TenantHotMinHitRate" Server Some("--tenant-hot-min-hit-rate"), default "0.1" off "n/a"
        "lowest hit rate of a warm replica";
    ReplicaTimeout "ReplicaTimeout" Server Some("--replica-timeout"), default "0" off "0"
        "a replica not heard of for longer gets no hints";
    BlockSize "BlockSize" Server Some("--block-size"), default "16" off "n/a"
        "tokens in a block, where the server builds the chain from token ids";
    Ranker "Ranker" Server Some("--ranker"), default "reference" off "n/a"
        "what replicas are ranked by: who holds the prefix, or how long the request would wait";
    InFlightTtl "InFlightTTL" Server Some("--in-flight-ttl"), default "10s" off "0"
        "how long a hinted prompt counts as held before its replica reports it, beyond the expected prefill";
    PrefillRate "PrefillRate" Server Some("--prefill-rate"), default "10000" off "n/a"
        "tokens that a replica prefills in a second, until its reports tell";
    LoadHintCode "LoadHintCode" Server Some("--load-hint-code"), default "load-hint" off "n/a"
        "code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other";
    MaxInFlight "MaxInFlight" Server Some("--max-in-flight"), default "4096" off "0"
        "lookups in flight above which further ones are shed";
}

impl Knob {
    /// The effective value as shown to people, and where it came from.
    pub fn effective(self, settings: &Settings) -> (String, Source) {
        let policy = &settings.policy;
        let ranker = &settings.ranker;
        match self {
            Self::LookupTimeoutMs => shown(&policy.lookup_timeout_ms, i32::to_string),
            Self::RequireChain => shown(&policy.require_chain, bool::to_string),
            Self::EnableChainMatching => shown(&policy.enable_chain_matching, bool::to_string),
            Self::MinimumPrefixTokens => shown(&policy.minimum_prefix_tokens, i32::to_string),
            Self::AffinityRouting => shown(&policy.affinity_routing, |on| switch(*on)),
            Self::EvictionTtl => shown(&policy.ttl_ns, |ns| span(*ns)),
            Self::EnableTenantHot => shown(&policy.enable_tenant_hot, bool::to_string),
            Self::MinimumMatchedTokens => shown(&policy.minimum_matched_tokens, i32::to_string),
            Self::RoutingFloorScore => shown(&policy.routing_floor_score, f32::to_string),
            Self::PressureWeight => shown(&ranker.pressure_weight, f32::to_string),
            Self::SloTightTtftMs => shown(&ranker.slo_tight_ttft_ms, i32::to_string),
            Self::SloTightBias => shown(&ranker.slo_tight_bias, f32::to_string),
            Self::TenantHotMaxAge => shown(&ranker.tenant_hot_max_age_ns, |ns| span(*ns)),
            Self::TenantHotMinHitRate => shown(&ranker.tenant_hot_min_hit_rate, f32::to_string),
            Self::ReplicaTimeout => shown(&ranker.replica_timeout_ns, |ns| span(*ns)),
            Self::BlockSize => shown(&ranker.block_size, u32::to_string),
            Self::Ranker => shown(&ranker.ranker, |ranker| ranker.label().to_owned()),
            Self::InFlightTtl => shown(&ranker.in_flight_ttl_ns, |ns| span(*ns)),
            Self::PrefillRate => shown(&ranker.prefill_rate, u32::to_string),
            Self::LoadHintCode => shown(&ranker.load_hint_code, |code| code.label().to_owned()),
            Self::MaxInFlight => shown(&settings.max_in_flight, u64::to_string),
        }
    }
}

fn shown<T>(value: &crate::model::Sourced<T>, show: impl Fn(&T) -> String) -> (String, Source) {
    (show(&value.value), value.source.clone())
}

fn switch(on: bool) -> String {
    if on { "Enabled" } else { "Disabled" }.to_owned()
}

fn span(ns: i64) -> String {
    crate::model::format_duration(ns)
}
