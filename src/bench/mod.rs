//! The load of `icache bench`: what is asked, what the answers must be, and what is counted. Nothing here talks to a
//! server or looks at a clock.

mod mix;
mod report;
mod tally;
mod workload;

pub use mix::{Kind, Mix, MixError};
pub use report::{BenchReport, Comparison, Loop, Ratio, ServerReport, Slice};
pub use tally::{MAX_CODES, MAX_LATENCY_NS, Tally};
pub use workload::{
    BLOCK_TOKENS, HASH_BYTES, Held, MAX_BLOCKS, Question, Shape, ShapeError, Verdict, Workload,
};
