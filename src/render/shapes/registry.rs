//! The JSON of `icache explain`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Registry",
        stands: "`icache explain -o json`",
        fields: &[
            VERSION,
            (
                "entries",
                "list of reason codes, gates, knobs, causes, checks, lint rules, metrics and exit statuses, told apart by \
                 `kind`; `-o jsonl` has one a line",
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
            ("knobs", "names of the knobs that it reads under the reference ranker"),
            ("balancedKnobs", "names of those that it reads under the balanced ranker"),
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
        name: "Check of the doctor",
        stands: "`icache explain CHECK -o json`",
        fields: &[
            ("kind", "`check`"),
            VERSION,
            ("id", "stable id"),
            ("severity", "`error`, `warning` or `info`"),
            ("summary", "one line"),
            ("needs", "answers of the server without which it is not made"),
            ("doc", "the long form, Markdown"),
        ],
    },
    Shape {
        name: "Explained lint rule",
        stands: "`icache explain RULE -o json`; without `kind` that of `icache policy rules RULE -o json`",
        fields: &[
            ("kind", "`rule`"),
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
        name: "Metric",
        stands: "`icache explain METRIC -o json`",
        fields: &[
            ("kind", "`metric`"),
            VERSION,
            ("name", "name on the page /metrics"),
            ("metricType", "`counter`, `gauge` or `histogram`"),
            ("labels", "names of its labels"),
            ("summary", "one line"),
        ],
    },
    Shape {
        name: "Exit status",
        stands: "`icache explain STATUS -o json`",
        fields: &[
            ("kind", "`exit`"),
            VERSION,
            ("status", "the number"),
            ("name", "short name"),
            ("summary", "when a command ends with it"),
        ],
    },
];
