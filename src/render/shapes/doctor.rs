//! The JSON of `icache doctor`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Diagnosis",
        stands: "`icache doctor -o json`",
        fields: &[
            VERSION,
            (
                "server",
                "{url, serving, serverVersion, commit, version, clockSkewSeconds}: `version` is that of this program; null where the port did not say",
            ),
            (
                "replicas",
                "list of {replicaId, tenant, ageSeconds, prefixCount}; null where `/snapshot` did not answer",
            ),
            ("entries", "distinct prefixes; null where `/snapshot` did not answer"),
            (
                "lookups",
                "lookups since the server started by reason code; null where `/metrics` did not answer",
            ),
            ("policies", "policies in force; null where `/metrics` did not answer"),
            ("findings", "list of findings of checks, worst first"),
            (
                "notChecked",
                "list of {source, message, advice, checks}: what did not answer, and the ids of the checks that needed it",
            ),
            ("passed", "ids of the checks that found nothing"),
            ("errors", "findings that are errors"),
            ("warnings", "findings that are warnings"),
            ("infos", "findings that are notes"),
        ],
    },
    Shape {
        name: "Finding of a check",
        stands: "item of `findings` of a diagnosis; a line of `icache doctor -o jsonl`",
        fields: &[
            ("id", "id of the check"),
            ("severity", "`error`, `warning` or `info`"),
            ("message", "what was seen"),
            ("advice", "what to do"),
        ],
    },
    Shape {
        name: "Doctor check",
        stands: "`icache explain CHECK -o json`",
        fields: &[
            VERSION,
            ("kind", "`check`"),
            ("id", "stable id"),
            ("severity", "`error`, `warning` or `info`"),
            ("summary", "what it finds"),
            ("needs", "the answers that it looks at"),
            ("doc", "the long form, in Markdown"),
        ],
    },
];
