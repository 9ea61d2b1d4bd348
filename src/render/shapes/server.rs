//! The JSON of the commands that ask a server or send to it: `state`, `report`, `event`, `drain`, `capture`, `serve --print-config`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Configuration",
        stands: "`icache serve --print-config -o json`; `GET /config`",
        fields: &[
            VERSION,
            (
                "settings",
                "list of {key, value, source, flag, variable}, in the order of the help; `value` is null where nothing is set",
            ),
        ],
    },
    Shape {
        name: "Drain",
        stands: "`icache drain -o json`; `/drain/REPLICA`",
        fields: &[
            VERSION,
            ("replicaId", "which replica"),
            ("drained", "whether it gets no hints"),
            ("since", "since when; left out where it is not drained"),
            ("until", "it gets hints again from here on; left out where it is not drained"),
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
        name: "Recording of an engine",
        stands: "`icache capture --zmq -o json`",
        fields: &[
            VERSION,
            ("files", "files written"),
            ("records", "records in them, headers left out"),
            ("bytes", "bytes on disk"),
            ("batches", "batches that were read"),
            ("restarts", "times that the engine began anew"),
            (
                "dropped",
                "batches that were lost, and messages, batches, events and blocks that were passed over, by cause",
            ),
        ],
    },
    Shape {
        name: "Unknown keys",
        stands: "`GET /unknown` of the admin port",
        fields: &[
            VERSION,
            (
                "keys",
                "list of keys that lookups asked for and the index does not know, most asked first; 256 at most",
            ),
        ],
    },
    Shape {
        name: "Unknown key",
        stands: "item of `keys` of unknown keys",
        fields: &[
            ("tenantId", "as asked for"),
            ("modelId", "as asked for"),
            ("hashScheme", "as asked for"),
            ("reasonCode", "the first of the three that is not known, as a reason code"),
            ("lookups", "lookups that asked for it since the server started"),
            ("lastAsked", "when the last one came, RFC 3339"),
            ("nearest", "the nearest name that is known; left out where none is near"),
            ("difference", "how the name asked for differs from it, in words; left out where none is near"),
            ("known", "names that are known in its place, nearest first; 5 at most"),
        ],
    },
];
