//! The registry of rules.

use super::finding::Findings;
use super::input::Input;
use super::rules;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Valid; good to know.
    Info,
    /// Valid, and most likely not meant.
    Warning,
    /// Admission or a server would reject it, or would silently not do it.
    Error,
}

impl Severity {
    /// Stable name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One rule.
#[derive(Debug)]
pub struct RuleInfo {
    /// Stable id.
    pub id: &'static str,
    /// How much its findings matter.
    pub severity: Severity,
    /// One line: what it finds.
    pub summary: &'static str,
    /// The long form: sections `Why`, `Fails`, `Passes`, and `Fix` where `--fix` repairs some of it.
    pub doc: &'static str,
    /// Reports every place.
    pub(super) check: fn(&Input<'_>, &mut Findings<'_>),
}

macro_rules! rules {
    ($($variant:ident $id:literal $severity:ident $check:path, $summary:literal;)*) => {
        /// A rule of `icache policy lint`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $(#[doc = $summary] $variant,)*
        }

        impl Rule {
            /// Every rule: errors, warnings, and what is good to know.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static RuleInfo {
                match self {
                    $(Rule::$variant => &RuleInfo {
                        id: $id,
                        severity: Severity::$severity,
                        summary: $summary,
                        doc: include_str!(concat!("docs/", $id, ".md")),
                        check: $check,
                    },)*
                }
            }
        }
    };
}

rules! {
    Syntax "syntax" Error rules::text::syntax,
        "the text is no YAML, no text, too large or nested too deep";
    DuplicateKey "duplicate-key" Error rules::text::duplicate_key,
        "an object has the same key twice";
    UnknownField "unknown-field" Error rules::shape::unknown_field,
        "a field that no policy has";
    WrongType "wrong-type" Error rules::shape::wrong_type,
        "a value of another type than the field's";
    WrongCaseOrEnum "wrong-case-or-enum" Error rules::values::wrong_case_or_enum,
        "a word that is none of the field's, or one in another case";
    OutOfRange "out-of-range" Error rules::values::out_of_range,
        "a number below 0, or above what the field holds";
    BadDuration "bad-duration" Error rules::values::bad_duration,
        "a duration that cannot be read";
    NonPositiveTtl "non-positive-ttl" Error rules::values::non_positive_ttl,
        "an evictionTTL that is not above 0";
    BadFloorScore "bad-floor-score" Error rules::values::bad_floor_score,
        "a routingFloorScore that is no decimal in quotes";
    RequireChainWithoutMatching "require-chain-without-matching" Error rules::strategy::require_chain_without_matching,
        "requireChain is true and enableChainMatching is false";
    DuplicatePolicyInNamespace "duplicate-policy-in-namespace" Error rules::identity::duplicate_policy_in_namespace,
        "a second CachePolicy for a namespace, which has no effect";
    DuplicateTenant "duplicate-tenant" Error rules::identity::duplicate_tenant,
        "a second CacheTenant for a tenantID, which has no effect";
    ReservedTenant "reserved-tenant" Error rules::identity::reserved_tenant,
        "a tenantID that belongs to health probes";
    MissingRequired "missing-required" Error rules::shape::missing_required,
        "a field that must be there is missing or empty";
    BadApiVersion "bad-api-version" Error rules::identity::bad_api_version,
        "an apiVersion that is not ours";
    BadName "bad-name" Error rules::identity::bad_name,
        "a name or namespace that is no DNS-1123 name";
    CryptoNotEmpty "crypto-not-empty" Error rules::shape::crypto_not_empty,
        "the reserved object crypto has fields";
    ZeroTimeoutIsNoTimeout "zero-timeout-is-no-timeout" Warning rules::strategy::zero_timeout_is_no_timeout,
        "lookupTimeoutMs 0 is no deadline, not an immediate one";
    BothFloorsOff "both-floors-off" Warning rules::floors::both_floors_off,
        "any match counts, however short and however weak";
    MatchedFloorAbovePrefixGate "matched-floor-above-prefix-gate" Warning rules::floors::matched_floor_above_prefix_gate,
        "requests pass the prefix gate that can never reach the matched floor";
    MatchedFloorNotBlockAligned "matched-floor-not-block-aligned" Warning rules::floors::matched_floor_not_block_aligned,
        "minimumMatchedTokens is no multiple of the block size";
    FloorBelowOneBlock "floor-below-one-block" Warning rules::floors::floor_below_one_block,
        "minimumMatchedTokens is less than a block, so it never holds anything back";
    TtlBelowSweep "ttl-below-sweep" Warning rules::lifetime::ttl_below_sweep,
        "evictionTTL is shorter than the sweep interval";
    TtlVeryLong "ttl-very-long" Warning rules::lifetime::ttl_very_long,
        "evictionTTL is above 24 hours";
    LfuWithShortTtl "lfu-with-short-ttl" Warning rules::lifetime::lfu_with_short_ttl,
        "LFU with an evictionTTL too short for counts to mean anything";
    ChainOffAffinityOn "chain-off-affinity-on" Warning rules::strategy::chain_off_affinity_on,
        "callers with only a chain get NO_HINT, never affinity";
    TenantHotDead "tenant-hot-dead" Warning rules::strategy::tenant_hot_dead,
        "enableTenantHot is written true, and requireChain keeps it from ever answering";
    FloorHidesSingleReplica "floor-hides-single-replica" Warning rules::floors::floor_hides_single_replica,
        "routingFloorScore is so high that no match can pass";
    QuotaZeroAdmitsNothing "quota-zero-admits-nothing" Warning rules::identity::quota_zero_admits_nothing,
        "maxIndexEntries 0 admits nothing; it is not unlimited";
    PolicyWithoutNamespace "policy-without-namespace" Warning rules::identity::policy_without_namespace,
        "a CachePolicy that names no namespace, and with it no tenant";
    RequireChainBlocksTokens "require-chain-blocks-tokens" Info rules::strategy::require_chain_blocks_tokens,
        "requireChain also rejects callers that send token ids or prompt text";
    RedundantDefault "redundant-default" Info rules::values::redundant_default,
        "a field is written with its default";
}

impl Rule {
    /// Stable id.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// How much its findings matter.
    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// The rule called `id`.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// Whether a server refuses what the rule finds. No comment and no option allows that.
    pub fn is_enforced(self) -> bool {
        let is_inert = matches!(self, Self::DuplicatePolicyInNamespace | Self::DuplicateTenant);
        self.severity() == Severity::Error && !is_inert
    }

    /// Documents in which it finds something.
    pub fn failing_example(self) -> &'static str {
        self.example("## Fails")
    }

    /// The same documents as they should be.
    pub fn passing_example(self) -> &'static str {
        self.example("## Passes")
    }

    /// The first block of code below a heading of the long form.
    fn example(self, heading: &str) -> &'static str {
        let doc = self.info().doc;
        let block = doc.split_once(heading).and_then(|(_, rest)| rest.split_once("```yaml\n"));
        block.and_then(|(_, rest)| rest.split_once("```")).map_or("", |(code, _)| code)
    }
}
