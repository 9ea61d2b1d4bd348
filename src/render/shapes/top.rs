//! The JSON of `icache top`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[Shape {
    name: "View",
    stands: "`icache top --once -o json`",
    fields: &[
        VERSION,
        ("url", "the server"),
        ("serverVersion", "its version; null where `/metrics` did not answer"),
        (
            "lookups",
            "{total, hintShare, byCode, latency}; null where `/metrics` did not answer; `byCode` is a list of {reasonCode, total, share}, `latency` of {percentile, atMostSeconds}, which is null above the last bucket",
        ),
        ("index", "{keys, entries, memoryBytes}; null where `/metrics` did not answer"),
        (
            "replicas",
            "list of {replicaId, tenant, ageSeconds, hitRate, pressure, prefixCount}; null where `/snapshot` did not answer",
        ),
        (
            "policies",
            "{namespaces, inert, failed}: tenants with a policy of their own, objects without effect, and what is wrong with the files; null where `/policy` did not answer",
        ),
        ("away", "list of {source, message}: what did not answer"),
    ],
}];
