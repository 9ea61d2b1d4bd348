//! The JSON of `icache bench`.

use super::{Shape, VERSION};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "Bench",
        stands: "`icache bench -o json`",
        fields: &[
            VERSION,
            ("service", "`LookupRoute` or `FastLookup`"),
            ("inFlight", "lookups in flight of a closed loop, all connections together; null with `--rate`"),
            ("rate", "lookups a second of an open loop; null without `--rate`"),
            ("connections", "connections to each server"),
            ("blocks", "blocks of a chain"),
            ("sharedHead", "part of a chain that is a shared head, 0 to 1"),
            ("chains", "distinct chains loaded"),
            ("replicas", "replicas that hold them"),
            ("mix", "weights of what was asked, as `--mix` takes them"),
            ("seed", "seed of the load"),
            ("partial", "whether the run ended before its time"),
            ("servers", "list of one server, or of two with `--against`"),
            ("comparison", "the first server over the second; null where there are not two that answered"),
        ],
    },
    Shape {
        name: "Bench server",
        stands: "item of `servers` of a bench",
        fields: &[
            ("url", "where it is"),
            ("seconds", "time of asking it, without the warm-up"),
            ("answers", "lookups answered"),
            ("rate", "answers a second"),
            ("meanUs", "mean latency, in microseconds from when a lookup was due to its answer"),
            ("p50Us", "latency that half of the answers do not exceed"),
            ("p75Us", "the same for 75 %"),
            ("p90Us", "for 90 %"),
            ("p99Us", "for 99 %"),
            ("p999Us", "for 99.9 %"),
            ("p9999Us", "for 99.99 %"),
            ("maxUs", "the greatest latency"),
            (
                "kinds",
                "object: answers by how much of the chain is held: `full`, `diverge`, `head` or `miss`",
            ),
            ("reasonCodes", "object: answers by reason code"),
            ("hints", "answers that name replicas"),
            ("wrong", "answers that contradict what was loaded"),
            ("firstWrong", "the first of them, in words; null where there is none"),
            ("failed", "lookups without an answer"),
            ("errors", "object: those, by gRPC status"),
            ("unsent", "lookups of an open loop that were due and not asked: too many were in flight"),
        ],
    },
    Shape {
        name: "Bench comparison",
        stands: "`comparison` of a bench",
        fields: &[
            ("pairs", "pairs of slices that both servers have answered in"),
            ("rate", "ratio of answers a second: object of {median, min, max} over the pairs"),
            ("p50", "ratio of the median latencies"),
            ("p99", "ratio of the 99th percentiles"),
        ],
    },
];
