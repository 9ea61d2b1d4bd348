//! The JSON that commands print, field by field: what `docs/json-output.md` lists and the tests compare with the output.

use std::fmt::Write as _;

use super::JSON_VERSION;

/// One JSON object.
#[derive(Debug)]
pub struct Shape {
    /// What it is called in the document.
    pub name: &'static str,
    /// Where it stands.
    pub stands: &'static str,
    /// Name and meaning of each field, in order.
    pub fields: &'static [(&'static str, &'static str)],
}

const VERSION: (&str, &str) = ("version", "version of this shape");

/// Every shape of the commands `lookup`, `state`, `report`, `event`, `explain`, `capture`, `replay`, `simulate` and `policy`.
pub const SHAPES: &[Shape] = &[
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
            ("recentTokens", "tokens that hints brought in the last minute or so"),
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
    Shape {
        name: "Lint",
        stands: "`icache policy lint --format json`",
        fields: &[
            VERSION,
            ("diagnostics", "list of diagnostics, by file, then place"),
            ("errors", "how many of them are errors"),
            ("warnings", "how many are warnings"),
            ("infos", "how many are neither"),
            ("allowed", "findings left out because a comment or an option allows them"),
            ("fixed", "fixes that `--fix` has written"),
            ("files", "files read"),
            ("policies", "CachePolicies read"),
            ("tenants", "CacheTenants read"),
            ("otherKinds", "objects of other kinds, passed over"),
        ],
    },
    Shape {
        name: "Diagnostic",
        stands: "item of `diagnostics`",
        fields: &[
            ("rule", "id of the rule"),
            ("severity", "`error`, `warning` or `info`"),
            ("file", "as named on the command line, or `standard input`"),
            ("line", "from 1"),
            ("column", "in characters, from 1"),
            ("endLine", "line of the first character behind it"),
            ("endColumn", "column of the first character behind it"),
            ("message", "what is wrong"),
            ("help", "what to do"),
            (
                "related",
                "list of {file, line, column, endLine, endColumn, message}: other places it speaks of",
            ),
            ("fixable", "whether `--fix` corrects it"),
        ],
    },
    Shape {
        name: "Lint rule",
        stands: "`icache policy rules RULE -o json`; item of `rules` of `icache policy rules -o json`",
        fields: &[
            VERSION,
            ("id", "stable id"),
            ("severity", "`error`, `warning` or `info`"),
            ("summary", "one line"),
            ("enforced", "whether a server refuses what it finds, so that nothing allows it"),
            ("fails", "documents in which it finds something"),
            ("passes", "the same documents as they should be"),
            ("doc", "the long form, Markdown"),
        ],
    },
    Shape {
        name: "State",
        stands: "`icache state -o json`",
        fields: &[
            VERSION,
            ("totalPrefixes", "distinct keys"),
            ("hotPrefixes", "keys with a delivered hit since the last sweep but one"),
            ("replicas", "list of replica statistics, by id"),
        ],
    },
    Shape {
        name: "Replica statistics",
        stands: "item of `replicas`; a line of `icache state -o jsonl`",
        fields: &[
            ("replicaId", "who"),
            ("cacheMemoryBytes", "size of the KV cache"),
            ("hitRate", "0 to 1"),
            ("pressure", "0 to 1"),
            ("clientVersion", "version of what reports"),
            ("t2HitTokens", "tokens found in tier 2"),
            ("t2QueryTokens", "tokens asked of tier 2"),
        ],
    },
    Shape {
        name: "Acknowledgement",
        stands: "`icache report -o json`, `icache event -o json`",
        fields: &[
            VERSION,
            ("accepted", "whether the server took it"),
            ("reasonCode", "empty on every path today"),
            ("sent", "messages sent"),
        ],
    },
    Shape {
        name: "Registry",
        stands: "`icache explain -o json`",
        fields: &[
            VERSION,
            (
                "entries",
                "list of reason codes, gates, knobs and causes, told apart by `kind`; `-o jsonl` has one a line",
            ),
        ],
    },
    Shape {
        name: "Reason code",
        stands: "`icache explain CODE -o json`; item of `entries` of `icache explain -o json`",
        fields: &[
            ("kind", "`reason`"),
            VERSION,
            ("code", "the string on the wire"),
            ("summary", "one line"),
            ("hints", "whether the answer names replicas"),
            ("gateway", "what a gateway does"),
            ("gates", "ids of the gates that lead to it"),
            ("undoneBy", "ids of the gates that can take it away, in part or whole"),
            ("knobs", "names of the knobs of all these gates"),
            ("doc", "the long form, Markdown"),
        ],
    },
    Shape {
        name: "Gate",
        stands: "`icache explain GATE -o json`",
        fields: &[
            ("kind", "`gate`"),
            VERSION,
            ("id", "stable id"),
            ("summary", "one line"),
            ("stages", "where it runs: `request`, `index`, `result`"),
            ("knobs", "names of the knobs that it reads"),
            ("leadsTo", "reason codes that it gives or leads to"),
            ("undoes", "reason codes whose answer it can take away"),
            ("doc", "the long form, Markdown"),
        ],
    },
    Shape {
        name: "Knob",
        stands: "`icache explain KNOB -o json`",
        fields: &[
            ("kind", "`knob`"),
            VERSION,
            ("name", "policy field or server setting"),
            ("owner", "`policy` or `server`"),
            ("flag", "flag of `icache serve`; null for a policy field"),
            ("default", "built-in value"),
            ("off", "value that switches it off; `n/a` where none does"),
            ("summary", "one line"),
            ("gates", "ids of the gates that read it"),
        ],
    },
    Shape {
        name: "Cause",
        stands: "`icache explain CAUSE -o json`",
        fields: &[("kind", "`cause`"), VERSION, ("id", "stable id"), ("sentence", "the cause as a sentence")],
    },
    Shape {
        name: "Replay",
        stands: "`icache replay -o json`",
        fields: &[
            VERSION,
            ("captures", "captures replayed; with `--separate`, all numbers are sums over them"),
            ("firstRecord", "time of the first record, RFC 3339; null without records"),
            ("lastRecord", "time of the last record"),
            ("records", "object: records by kind"),
            ("unknownKinds", "object: records of kinds that this version does not know, by kind"),
            ("unknownRecords", "their number"),
            ("badLines", "lines passed over with `--skip-bad`"),
            ("tornCaptures", "captures whose last line was not finished"),
            ("policiesOverridden", "policy records that `--policy` took the place of"),
            ("index", "what became of the index; null with `--server`"),
            ("events", "object: events by type"),
            ("dropped", "list of {by, cause, count}: what was dropped, by `ingest` or `engine`"),
            ("engineRestarts", "engines found to have restarted"),
            ("engineDuplicates", "batches that came twice"),
            ("lookups", "lookups decided"),
            ("hints", "lookups whose answer names a replica"),
            ("hintShare", "their share, 0 to 1"),
            ("askedTokens", "tokens of the prompts, as the requests say"),
            ("matchedTokens", "of those, tokens that the first replica of the answer holds"),
            ("matchedShare", "their share, 0 to 1"),
            ("reasonCodes", "list of shares by reason code, most frequent first"),
            ("because", "list of shares by the gate that is the cause of the answer, as in an explanation"),
            ("check", "what comparing came to; with `--check` only"),
            (
                "timings",
                "{p50Us, p90Us, p99Us, p999Us, maxUs}: how long a lookup took, in microseconds; with `--timings` or \
                 `--server` only",
            ),
            (
                "pace",
                "{speed, elapsedSeconds, greatestLagSeconds}: how a replay against a server kept to its times; `speed` is \
                 null for `max`; with `--server` only",
            ),
            ("timeline", "what happened when"),
            ("warnings", "list of sentences that a person should read"),
            ("moreWarnings", "warnings beyond those listed"),
        ],
    },
    Shape {
        name: "Replayed index",
        stands: "`index` of a replay",
        fields: &[
            ("blocks", "blocks stored or refreshed"),
            ("removed", "entries that events removed"),
            ("sweeps", "sweeps"),
            ("expired", "entries that reached their time to live"),
            ("evictedCap", "entries evicted over the cap"),
            ("evictedQuotaKeys", "keys evicted over a tenant's quota"),
            ("entriesAtEnd", "entries held at the end"),
        ],
    },
    Shape {
        name: "Timeline",
        stands: "`timeline` of a replay",
        fields: &[
            (
                "bucketSeconds",
                "length of a bucket in seconds: 0.001 times a power of 2, the shortest with which 512 buckets cover all",
            ),
            ("buckets", "list of buckets in order; those without records are left out"),
        ],
    },
    Shape {
        name: "Bucket",
        stands: "item of `buckets` of a timeline",
        fields: &[
            ("begin", "time at which it begins, RFC 3339"),
            ("records", "records in it"),
            ("lookups", "lookups decided in it"),
            ("hints", "of those, lookups whose answer names a replica"),
            ("askedTokens", "tokens of their prompts"),
            ("matchedTokens", "of those, tokens that the first replica of the answer holds"),
            ("reasonCodes", "object: lookups by reason code"),
            ("mismatched", "lookups answered otherwise; 0 without `--check`"),
            ("blocks", "blocks stored or refreshed in it"),
            ("dropped", "parts of updates, events and batches dropped in it"),
            ("entries", "entries in the index at its end; null with `--server`"),
        ],
    },
    Shape {
        name: "Share",
        stands: "item of `reasonCodes` and `because` of a replay",
        fields: &[("id", "reason code or gate id"), ("count", "lookups"), ("share", "their share, 0 to 1")],
    },
    Shape {
        name: "Check",
        stands: "`check` of a replay",
        fields: &[
            ("compared", "lookups compared; with 0 the exit status is 1"),
            ("mismatched", "of those, lookups answered otherwise"),
            ("notComparable", "lookups whose recorded answer is a `TIMEOUT`, which a replay cannot give"),
            ("mismatches", "list of the first mismatches, as many as `--mismatches` says"),
        ],
    },
    Shape {
        name: "Mismatch",
        stands: "item of `mismatches`",
        fields: &[
            ("file", "the capture"),
            ("line", "line of the lookup"),
            ("tenantId", "of the request"),
            ("modelId", "of the request"),
            ("hashScheme", "of the request"),
            ("adapterId", "of the request"),
            ("field", "the first field that differs"),
            ("expected", "what it should be"),
            ("got", "what it is"),
            ("expectedAnswer", "the whole answer expected, on one line"),
            ("gotAnswer", "the whole answer, on one line"),
            ("because", "id of the gate that is the cause of the answer; null with `--server`"),
        ],
    },
    Shape {
        name: "Policies",
        stands: "`icache policy show -o json`, and `GET /policy` of the admin port, which adds `pushed` {version, \
                 policies, tenants} after a push, and `lastReload` {at, succeeded, problems} after a reload of files",
        fields: &[
            VERSION,
            (
                "namespaces",
                "list of {namespace, knobs}: tenants with a policy or quota of their own, by name",
            ),
            ("default", "{knobs}: what holds for every other tenant"),
            (
                "inert",
                "list of objects that have no effect because another one comes first, each as a sentence",
            ),
        ],
    },
    Shape {
        name: "Policies of a server",
        stands: "`GET /policy`, `icache policy show --admin-url URL -o json`: beside the fields of policies",
        fields: &[
            (
                "pushed",
                "{version, policies, tenants}: what was pushed last, counted; absent where nothing was",
            ),
            (
                "lastReload",
                "{at, succeeded, problems}: how the last reading of the policy files ended; absent where there are none",
            ),
        ],
    },
    Shape {
        name: "Effective knob",
        stands: "item of `knobs` of policies",
        fields: &[
            ("name", "the field below `spec`, as in `strategy.requireChain`"),
            ("value", "in the type that the field has in a policy; null where there is no bound"),
            ("source", "`default`, `flag NAME`, or the object with file and line"),
        ],
    },
    Shape {
        name: "Policy changes",
        stands: "`icache policy diff -o json`",
        fields: &[
            VERSION,
            ("namespaces", "list of changed namespaces, by name"),
            ("default", "list of changed knobs: what changes for every namespace that neither side names"),
        ],
    },
    Shape {
        name: "Changed namespace",
        stands: "item of `namespaces` of policy changes",
        fields: &[
            ("namespace", "the tenant_id on the wire"),
            ("change", "`added`, `removed` or `changed`; the side that does not name it has the defaults"),
            ("knobs", "list of {name, old, new}, the latter {value, source}: knobs whose value changes"),
        ],
    },
    Shape {
        name: "Recording",
        stands: "`icache capture -o json`",
        fields: &[
            VERSION,
            ("files", "files written"),
            ("records", "records in them, headers left out"),
            ("bytes", "bytes on disk"),
            ("missed", "records that the server did not send, since they were not read fast enough"),
            ("interruptions", "times that the feed broke off and was begun anew, in a file of its own"),
        ],
    },
    Shape {
        name: "Simulation",
        stands: "`icache policy simulate -o json`",
        fields: &[
            VERSION,
            ("captures", "captures replayed"),
            ("lookups", "lookups answered under each"),
            ("askedTokens", "tokens that their prompts have"),
            ("policies", "list of policies, in the order of the command line"),
        ],
    },
    Shape {
        name: "Simulated policies",
        stands: "item of `policies` of a simulation",
        fields: &[
            ("name", "the path, or `as captured`"),
            ("hints", "lookups whose answer names a replica"),
            ("hintShare", "0 to 1"),
            ("matchedTokens", "tokens that the first replica of the answer holds"),
            ("matchedShare", "0 to 1, of the tokens asked for"),
            ("reasonCodes", "list of {id, count, share}, most frequent first"),
            ("because", "list of {id, count, share}: the gates that are the cause of the answers"),
            ("expired", "entries that reached their time to live"),
            ("evictedCap", "entries evicted over the cap of the index"),
            ("evictedQuotaKeys", "keys evicted over a quota"),
            ("entriesAtEnd", "entries held at the end"),
            ("differences", "lookups answered otherwise than under the first policies"),
            (
                "moves",
                "list of {count, from, to}, each side {reasonCode, because}: what they moved from and to, most \
                 frequent first",
            ),
            ("otherReplica", "differences with the same code and cause, and another first replica"),
            ("warnings", "list of sentences"),
        ],
    },
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
            ("prefillRate", "tokens that each prefills in a second; the first engine's where they differ"),
            ("prefillRates", "list of the rates that engines take in turn; empty where all have the same"),
            ("gateways", "gateways that share the requests"),
            ("servers", "servers that they ask"),
            ("splitReports", "whether an engine reports to one of the servers, in place of all"),
            ("faults", "list of {engine, at, kind}: `kill` or `restart`, a duration after the first request"),
            ("replicaTimeout", "duration after which a silent replica gets no hints; `0s` for none"),
            ("utilisationPercent", "what the clock was stretched to, under round-robin; or null"),
            ("publish", "`start` or `end` of the prefill: when stored blocks are told of"),
            ("eventDelay", "duration: how late what engines say comes to the index"),
            ("refresh", "duration between two reports of everything held; `0s` for none"),
            ("warmup", "requests to begin with that go round-robin"),
            ("seed", "of synthetic requests and of the random routing"),
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
            ("routing", "`reference`, `balanced`, `round-robin`, `random` or `least-loaded`"),
            ("policy", "path of the policies; null for the defaults, and for routings that do not ask"),
            ("foundTokens", "tokens found in the cache of the engine that served the request"),
            ("foundShare", "0 to 1, of the tokens asked for"),
            ("prefilledTokens", "tokens computed: those asked for, less those found"),
            (
                "missedTokens",
                "tokens computed that an engine held, or was computing, when the request was routed",
            ),
            ("retried", "times that a request met a dead engine and went to another"),
            ("lost", "requests given up because no engine was alive"),
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

/// `docs/json-output.md`.
pub fn json_output_page() -> String {
    let mut out = super::registry::document(
        "JSON output",
        "What commands print with `-o json` (one indented document) and `-o jsonl` (one a line). Fields are never \
         renamed, and none changes its meaning, without a new `version`; new fields may come. Numbers have their full \
         precision.",
    );
    let _ = writeln!(out, "The version of every shape is {JSON_VERSION}.");
    for shape in SHAPES {
        let _ = write!(
            out,
            "\n## {}\n\nStands in: {}.\n\n| field | holds |\n|---|---|\n",
            shape.name, shape.stands
        );
        for (field, meaning) in shape.fields {
            let _ = writeln!(out, "| `{field}` | {meaning} |");
        }
    }
    out
}
