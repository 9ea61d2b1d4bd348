//! The JSON of `icache policy lint` and `icache policy rules`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
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
];
