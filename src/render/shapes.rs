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

/// Every shape of the commands `lookup`, `state`, `report`, `event`, `explain` and `policy`.
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
