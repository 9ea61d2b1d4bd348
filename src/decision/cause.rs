//! The registry of causes: why a gate was skipped, downgraded or decided.

macro_rules! causes {
    ($($variant:ident $id:literal $sentence:literal;)*) => {
        /// Why a gate's outcome is what it is.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Cause {
            $(#[doc = $sentence] $variant,)*
        }

        impl Cause {
            /// Every cause.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant,)*];

            /// Stable id.
            pub fn id(self) -> &'static str {
                match self { $(Cause::$variant => $id,)* }
            }

            /// The cause as a sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(Cause::$variant => $sentence,)* }
            }
        }
    };
}

causes! {
    AlreadyDecided "already-decided" "an earlier gate gave the final answer";
    SwitchedOff "switched-off" "switched off by its knob";
    NoResult "no-result" "there is no result to check";
    NoDeadline "no-deadline" "neither a caller's deadline nor a lookup budget";
    DeadlinePassed "deadline-passed" "the caller's deadline has passed";
    BudgetSpent "budget-spent" "the lookup budget of the policy is spent";
    TooManyInFlight "too-many-in-flight" "the server has as many lookups in flight as it takes";
    OverLimit "over-limit" "a part of the request is over its limit";
    ReservedTenant "reserved-tenant" "the tenant is reserved for health probes";
    NoValidChain "no-valid-chain" "the request has no valid block-hash chain";
    Chain "chain" "the block-hash chain is looked up";
    ExactHash "exact-hash" "prefix_hash is looked up";
    ChainFromTokens "chain-from-tokens" "the chain is built from token_ids";
    ChainFromText "chain-from-text" "the chain is built from prompt_text";
    LastBlockOfTokens "last-block-of-tokens" "the last block of the tokens is looked up as one hash, since chain matching is off";
    NoInput "no-input" "the request has no hash, tokens or text";
    BlocksIgnored "blocks-ignored" "chain matching is off and the request has block fields only";
    BlockListsDisagree "block-lists-disagree" "block_hashes and block_token_counts differ in length";
    EmptyBlockHash "empty-block-hash" "a block hash is empty";
    NegativeBlockCount "negative-block-count" "a block token count is negative";
    TooManyTokens "too-many-tokens" "token_ids is over its limit";
    PromptTooLong "prompt-too-long" "prompt_text is over its limit";
    NoTokenizer "no-tokenizer" "no tokenizer for this model";
    ShorterThanOneBlock "shorter-than-one-block" "the tokens do not fill one block";
    CheckedOnResult "checked-on-result" "checked on the result, since affinity may still answer";
    CheckedOnRequest "checked-on-request" "checked on the request, since affinity cannot answer";
    TooShort "too-short" "the prompt is shorter than the policy asks for";
    KeyMissing "key-missing" "tenant_id, model_id or hash_scheme is empty";
    NoHolder "no-holder" "no replica holds a fresh entry for the start of the prefix";
    HoldersFound "holders-found" "replicas that hold the prefix were found";
    ChainLookup "chain-lookup" "a chain lookup is not answered with warm replicas";
    NoWarmReplica "no-warm-replica" "no replica of the domain is warm";
    WarmFound "warm-found" "warm replicas were found";
    IndexEmpty "index-empty" "the index holds no entry at all";
    TenantUnknown "tenant-unknown" "no entry for this tenant";
    ModelUnknown "model-unknown" "no entry for this model of the tenant";
    SchemeUnknown "scheme-unknown" "no entry under this hash scheme";
    Novel "novel" "the keys are right and nobody holds the prefix";
    NotHeardOf "not-heard-of" "replicas that were not heard of in time were dropped";
    Drained "drained" "replicas that are drained were dropped";
    NotHeardOfOrDrained "not-heard-of-or-drained" "replicas that were not heard of in time, and drained ones, were dropped";
    PolicyRefusesWarm "policy-refuses-warm" "the policy refuses warm-replica answers";
    BelowFloor "below-floor" "below the floor of the policy";
    NoSeed "no-seed" "the request has no hash to derive a stable replica from";
    NoReplica "no-replica" "no replica serves this domain, or all are drained or silent";
    ResultStands "result-stands" "a result was found";
    NotMatchResult "not-match-result" "only a prefix match has matched tokens and a comparable score";
    NotHotResult "not-hot-result" "the result is no warm-replica answer";
    StableReplica "stable-replica" "the seed picks one replica";
    BalancedRanker "balanced-ranker" "not under the balanced ranker, which ranks all replicas of the domain by expected wait";
    ScaleOfReference "scale-of-reference" "does not apply under the balanced ranker: the floor is on the reference ranker's scale";
    FirstBelowFloor "first-below-floor" "the replica with the shortest wait holds less than the floor of the policy";
    ShortestWait "shortest-wait" "this member has the shortest expected wait";
    TimedOut "timed-out" "the deadline ran out before this answer was delivered";
}
