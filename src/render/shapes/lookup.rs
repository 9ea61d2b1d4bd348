//! The JSON of `icache lookup`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Answer",
        stands: "`icache lookup -o json`; `answer` of an explanation",
        fields: &[
            VERSION,
            ("reasonCode", "the reason code"),
            ("replicaScores", "list of ranked replicas, best first; empty where there is no hint"),
            ("lookupLatencyUs", "time the server took, in microseconds; 0 offline"),
            ("tokenIds", "token ids that the server made from prompt_text"),
            (
                "adapterId",
                "the adapter partition that was consulted; empty for the base model, and where the index was not read",
            ),
        ],
    },
    Shape {
        name: "Ranked replica",
        stands: "item of `replicaScores`",
        fields: &[
            ("replicaId", "who"),
            ("score", "higher is better; comparable within one answer only"),
            ("matchedTokens", "tokens of the request that it holds"),
            ("estimatedCacheHitProb", "0 to 1"),
            ("tier", "`T1`, `T2`, `T3` or `unspecified`"),
        ],
    },
    Shape {
        name: "Explanation",
        stands: "`icache lookup --explain -o json`",
        fields: &[
            VERSION,
            ("answer", "the answer"),
            ("decidedBy", "id of the gate that gave the answer"),
            (
                "because",
                "id of the gate that is its cause: the one that found the result, or the one that took it away",
            ),
            ("steps", "list of steps, one for each gate, in pipeline order"),
            ("candidates", "list of candidates, best first, the filtered ones too"),
            ("findings", "list of findings: likely causes of an answer that is probably not meant"),
        ],
    },
    Shape {
        name: "Step",
        stands: "item of `steps`",
        fields: &[
            ("gate", "id of the gate"),
            ("stage", "`request`, `index` or `result`"),
            ("outcome", "`passed`, `filtered`, `downgraded`, `decided` or `skipped`"),
            ("cause", "id of the cause; empty where the outcome needs none"),
            ("detail", "the cause as a sentence"),
            ("values", "list of {name, value}: what was compared, as text"),
            ("knobs", "list of {name, value, source}: what was consulted, and where the value came from"),
        ],
    },
    Shape {
        name: "Candidate",
        stands: "item of `candidates`",
        fields: &[
            ("replicaId", "who"),
            ("matchedTokens", "tokens of the leading run, or of the exact entry; 0 for a warm replica"),
            ("matchedBlocks", "blocks of the leading run; 0 for an exact match or a warm replica"),
            ("estimatedCacheHitProb", "freshness of a match, hit rate of a warm replica"),
            ("freshness", "freshness of a match, recency of a warm replica; 0 to 1"),
            ("pressureFactor", "0 to 1"),
            ("sloBias", "1 or more"),
            ("distinguishingPower", "0 to 1; 1 for a warm replica"),
            ("score", "the product"),
            ("tier", "`T1`, `T2`, `T3` or `unspecified`"),
            ("filteredBy", "id of the gate that removed it; empty where it is in the answer"),
            ("wait", "what the score is made of under the balanced ranker; null under the reference"),
        ],
    },
    Shape {
        name: "Wait",
        stands: "`wait` of a candidate",
        fields: &[
            ("pendingTokens", "tokens that hints brought and that are not computed yet"),
            ("uncachedTokens", "tokens of the request that the replica neither holds nor is about to hold"),
            ("provisionalTokens", "tokens of it that the replica is about to hold"),
            (
                "aheadTokens",
                "half of what hints of the last minutes brought beyond its share; at most what the request costs anew",
            ),
            ("rate", "tokens that the replica computes in a second"),
            ("pressureScale", "1 or more"),
            ("waitTokens", "the wait, in tokens at `--prefill-rate`"),
        ],
    },
    Shape {
        name: "Finding",
        stands: "item of `findings`",
        fields: &[("id", "stable id"), ("message", "what was seen"), ("advice", "what to do")],
    },
];
