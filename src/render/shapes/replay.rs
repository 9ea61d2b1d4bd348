//! The JSON of `icache replay`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
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
];
