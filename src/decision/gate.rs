//! The registry of gates.

use super::{Knob, Reason};
use crate::model::Ranker;

/// Part of the pipeline that a gate runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// On the request, before the index is read.
    Request,
    /// On what the index knows.
    Index,
    /// On the result.
    Result,
}

impl Stage {
    /// Stable name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Index => "index",
            Self::Result => "result",
        }
    }
}

/// One gate: what it is called, what it is for, what moves it and what it can answer.
#[derive(Debug)]
pub struct GateInfo {
    /// Stable id.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Policy fields and server settings that it reads under the reference ranker; none where it stands for the balanced
    /// one only.
    pub knobs: &'static [Knob],
    /// Those that it reads under the balanced ranker.
    pub balanced_knobs: &'static [Knob],
    /// Codes it gives or leads to.
    pub leads_to: &'static [Reason],
    /// Codes whose answer it can take away, in part or whole.
    pub takes_away: &'static [Reason],
    /// The long form: sections `Checks`, `Outcome`, `Why`, `Tune`.
    pub doc: &'static str,
}

/// The second list where there is one, else the first.
macro_rules! choose {
    ([$($first:expr),*]) => { &[$($first),*] };
    ([$($first:expr),*] [$($second:expr),*]) => { &[$($second),*] };
}

macro_rules! gates {
    ($($variant:ident $id:literal $summary:literal knobs [$($knob:ident),*] $(balanced [$($balanced:ident),*])? leads_to [$($reason:ident),*] takes_away [$($taken:ident),*];)*) => {
        /// A gate of the pipeline.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum GateId {
            $(#[doc = $summary] $variant,)*
        }

        impl GateId {
            /// Every gate, in pipeline order of its first step.
            pub const ALL: &'static [GateId] = &[$(GateId::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static GateInfo {
                match self {
                    $(GateId::$variant => &GateInfo {
                        id: $id,
                        summary: $summary,
                        knobs: &[$(Knob::$knob,)*],
                        balanced_knobs: choose!([$(Knob::$knob),*] $([$(Knob::$balanced),*])?),
                        leads_to: &[$(Reason::$reason,)*],
                        takes_away: &[$(Reason::$taken,)*],
                        doc: include_str!(concat!("gates/", $id, ".md")),
                    },)*
                }
            }
        }
    };
}

gates! {
    Deadline "deadline" "the caller's deadline and the policy's lookup budget"
        knobs [LookupTimeoutMs] leads_to [Timeout]
        takes_away [PrefixMatch, TenantHot, AffinityHint, LoadHint, NoHint, PolicyRequiresChain, UnknownTenant, UnknownModel,
            UnknownHashScheme];
    LoadShed "load-shed" "more requests in flight than the server takes"
        knobs [MaxInFlight] leads_to [NoHint] takes_away [];
    OverLimit "over-limit" "an id, hash or list of the request is over its limit"
        knobs [] leads_to [NoHint] takes_away [];
    ReservedTenant "reserved-tenant" "the tenant that health probes use"
        knobs [] leads_to [NoHint] takes_away [];
    RequireChain "require-chain" "the policy takes requests with a block-hash chain only"
        knobs [RequireChain] leads_to [PolicyRequiresChain] takes_away [];
    ResolveInput "resolve-input" "which of chain, hash, token ids and text is looked up"
        knobs [EnableChainMatching, BlockSize] leads_to [NoHint] takes_away [];
    MinimumPrefixTokens "minimum-prefix-tokens" "prompts too short to be worth a hint"
        knobs [MinimumPrefixTokens, AffinityRouting] leads_to [NoHint, AffinityHint, LoadHint] takes_away [PrefixMatch, TenantHot];
    ContractKeys "contract-keys" "tenant, model and hash scheme are all set"
        knobs [] leads_to [NoHint] takes_away [];
    PrefixMatch "prefix-match" "replicas that hold the prefix or a leading part of it"
        knobs [EvictionTtl, PressureWeight, SloTightTtftMs, SloTightBias]
        balanced [Ranker, EvictionTtl, PressureWeight, InFlightTtl, PrefillRate]
        leads_to [PrefixMatch] takes_away [];
    TenantHot "tenant-hot" "warm replicas of the domain, where an exact lookup found nothing"
        knobs [TenantHotMaxAge, TenantHotMinHitRate, EvictionTtl, PressureWeight, SloTightTtftMs, SloTightBias]
        balanced [] leads_to [TenantHot] takes_away [];
    ColdStart "cold-start" "the index is empty"
        knobs [] leads_to [NoHint, LoadHint] takes_away [];
    UnknownTenant "unknown-tenant" "no entry for this tenant"
        knobs [] leads_to [UnknownTenant] takes_away [];
    UnknownModel "unknown-model" "the tenant has no entry for this model"
        knobs [] leads_to [UnknownModel] takes_away [];
    UnknownHashScheme "unknown-hash-scheme" "the model has no entry under this hash scheme"
        knobs [] leads_to [UnknownHashScheme] takes_away [];
    NovelPrefix "novel-prefix" "the keys are right and nobody holds the prefix"
        knobs [] leads_to [NoHint, AffinityHint, LoadHint] takes_away [];
    ReplicaTimeout "replica-timeout" "replicas that have not been heard of get no hints"
        knobs [ReplicaTimeout] leads_to [NoHint, AffinityHint, LoadHint] takes_away [PrefixMatch, TenantHot];
    EnableTenantHot "enable-tenant-hot" "the policy may refuse warm-replica answers"
        knobs [EnableTenantHot] leads_to [NoHint, AffinityHint] takes_away [TenantHot];
    MinimumMatchedTokens "minimum-matched-tokens" "matches too short to be worth a detour"
        knobs [MinimumMatchedTokens] leads_to [NoHint, AffinityHint, LoadHint] takes_away [PrefixMatch];
    RoutingFloorScore "routing-floor-score" "the best score is too low to mean anything"
        knobs [RoutingFloorScore] balanced [] leads_to [NoHint, AffinityHint] takes_away [PrefixMatch];
    LoadHint "load-hint" "without cache evidence, the replica where the request waits least"
        knobs [] balanced [Ranker, LoadHintCode, TenantHotMaxAge, PressureWeight, InFlightTtl, PrefillRate]
        leads_to [LoadHint, AffinityHint] takes_away [];
    Affinity "affinity" "the same prompt goes to the same replica"
        knobs [AffinityRouting] balanced [] leads_to [AffinityHint] takes_away [];
    Answer "answer" "what remains is the answer"
        knobs [] leads_to [PrefixMatch, TenantHot, NoHint] takes_away [];
}

impl GateInfo {
    /// The knobs that it reads under `ranker`.
    pub fn knobs_under(&self, ranker: Ranker) -> &'static [Knob] {
        match ranker {
            Ranker::Reference => self.knobs,
            Ranker::Balanced => self.balanced_knobs,
        }
    }

    /// Whether it reads `knob` under some ranker.
    pub fn reads(&self, knob: Knob) -> bool {
        self.knobs.contains(&knob) || self.balanced_knobs.contains(&knob)
    }
}

impl GateId {
    /// Stable id.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The gate called `id`.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|gate| gate.id() == id)
    }
}
