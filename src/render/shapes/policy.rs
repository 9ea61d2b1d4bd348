//! The JSON of `icache policy`, but for its diagnostics.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
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
];
