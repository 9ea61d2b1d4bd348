//! The JSON of `icache simulate`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Fleet simulation",
        stands: "`icache simulate -o json`",
        fields: &[
            VERSION,
            ("trace", "the trace, as named on the command line"),
            ("requests", "requests of the trace"),
            ("askedTokens", "tokens of their prompts"),
            ("fleet", "the fleet, and how it is used"),
            ("reachable", "marks: what caches without a choice of engine would reach"),
            (
                "runs",
                "list of runs, in the order of the command line; of a routing that asks, one for each policy",
            ),
            ("warnings", "list of sentences"),
        ],
    },
    Shape {
        name: "Simulated fleet",
        stands: "`fleet` of a fleet simulation",
        fields: &[
            ("replicas", "engines"),
            ("blocksPerReplica", "blocks in the cache of each"),
            ("blockTokens", "tokens in a block"),
            ("prefillRate", "tokens that each prefills in a second"),
            ("publish", "`start` or `end` of the prefill: when stored blocks are told of"),
            ("eventDelay", "duration: how late what engines say comes to the index"),
            ("refresh", "duration between two reports of everything held; `0s` for none"),
            ("warmup", "requests to begin with that go round-robin"),
            ("seed", "of the random routing"),
            ("tenant", "whose requests they are"),
        ],
    },
    Shape {
        name: "Marks",
        stands: "`reachable` of a fleet simulation",
        fields: &[
            ("idealShare", "0 to 1: tokens that one cache without a bound would find; it holds full blocks"),
            ("idealBlockShare", "0 to 1: blocks that it would find if it held partial ones too"),
            ("pooledShare", "0 to 1: tokens that one cache with the memory of all engines would find"),
        ],
    },
    Shape {
        name: "Run",
        stands: "item of `runs` of a fleet simulation",
        fields: &[
            ("routing", "`reference`, `round-robin`, `random` or `least-loaded`"),
            ("policy", "path of the policies; null for the defaults, and for routings that do not ask"),
            ("foundTokens", "tokens found in the cache of the engine that served the request"),
            ("foundShare", "0 to 1, of the tokens asked for"),
            ("prefilledTokens", "tokens computed: those asked for, less those found"),
            (
                "missedTokens",
                "tokens computed that an engine held, or was computing, when the request was routed",
            ),
            ("spread", "most prefilled tokens of an engine over the mean"),
            ("utilisation", "0 to 1: share of the time that engines prefill"),
            ("ttft", "time to first token of all requests"),
            ("answers", "answers of LookupRoute; null for routings that do not ask"),
            ("index", "what the index did; null for routings that do not ask"),
            ("engines", "list of engines"),
            ("windows", "list of at most 60 windows: how it went over time"),
        ],
    },
    Shape {
        name: "Times",
        stands: "`ttft` of a run and of a window",
        fields: &[
            ("meanMs", "milliseconds; 0 without requests"),
            ("p50Ms", "exact, by nearest rank"),
            ("p99Ms", "the same"),
            ("maxMs", "the longest"),
        ],
    },
    Shape {
        name: "Answers",
        stands: "`answers` of a run",
        fields: &[
            ("lookups", "requests that were looked up: all but those of the warm-up"),
            ("hints", "answers that name a replica"),
            ("reasonCodes", "list of {id, count, share}, most frequent first"),
            ("because", "list of gates that are the cause of answers, most frequent first"),
        ],
    },
    Shape {
        name: "Gate's share",
        stands: "item of `because` of a run's answers",
        fields: &[
            ("id", "the gate"),
            ("count", "lookups"),
            ("share", "0 to 1, of the lookups"),
            ("askedTokens", "tokens of their prompts"),
            ("foundTokens", "tokens that they found in cache"),
            ("missedTokens", "tokens computed that an engine held when the request was routed"),
        ],
    },
    Shape {
        name: "Simulated index",
        stands: "`index` of a run",
        fields: &[
            ("blocks", "blocks stored or refreshed"),
            ("removed", "entries removed by events"),
            ("expired", "entries that reached their time to live"),
            ("evictedCap", "entries evicted over the cap of the index"),
            ("evictedQuotaKeys", "keys evicted over a quota"),
            ("entriesAtEnd", "entries held at the end"),
        ],
    },
    Shape {
        name: "Simulated engine",
        stands: "item of `engines` of a run",
        fields: &[
            ("replicaId", "who"),
            ("requests", "requests that it served"),
            ("askedTokens", "tokens of their prompts"),
            ("foundTokens", "tokens found in its cache"),
            ("prefilledTokens", "tokens that it computed"),
            ("busyMs", "milliseconds that it prefilled"),
        ],
    },
    Shape {
        name: "Window",
        stands: "item of `windows` of a run",
        fields: &[
            ("fromMs", "milliseconds from the first arrival of all; requests count by their arrival"),
            ("requests", "requests"),
            ("askedTokens", "tokens of their prompts"),
            ("foundTokens", "tokens found in cache"),
            ("ttft", "time to first token"),
            ("reasonCodes", "counts by reason code"),
            ("prefilledTokens", "list: tokens that each engine computed for them, in the order of `engines`"),
        ],
    },
];
