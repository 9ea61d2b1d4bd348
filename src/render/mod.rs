//! Everything that is shown: tables, JSON shapes, traces, registry pages, errors. The only module that prints.
//!
//! All output goes through a [`Printer`], which knows whether there is colour, which characters may be used and how wide
//! the screen is, and for which a closed pipe is the end of the output and no error.

mod answer;
mod bench;
mod capture;
mod config;
mod diagnostics;
mod doctor;
mod drain;
mod error;
mod explanation;
pub mod html;
mod markdown;
mod metrics;
mod policy;
mod printer;
mod registry;
mod replay;
mod shapes;
mod simulate;
mod state;
mod table;
mod text;
mod top;

pub use answer::{AnswerJson, RankedReplicaJson, ack, answer};
pub use bench::{BenchProgress, bench, bench_page};
pub use capture::{CaptureProgress, Captured, EngineCaptured, captured, engine_captured};
pub use config::{config, settings_table};
pub use diagnostics::{
    DiagnosticFormat, Linted, diagnostics, lint_rules_page, policy_error, rule, rule_listing,
};
pub use doctor::{diagnosis, doctor_page};
pub use drain::drain;
pub use error::{ErrorText, error, warnings};
pub use explanation::{Asked, ExplanationJson, explanation};
pub use markdown::plain;
pub use metrics::metrics_table;
pub use policy::{policies, policy_diff, simulation};
pub use printer::{ColorWhen, Format, Look, Printer};
pub use registry::{
    Entry, exit_status_page, gates_page, listing, page, reason_codes_page, reason_codes_table,
};
pub use replay::{PageContext, Progress, replay, replay_page};
pub use shapes::{SHAPES, Shape, json_output_page};
pub use simulate::{SimulationProgress, simulated, simulated_page};
pub use state::state;
pub use table::Grid;
pub use text::{Tone, clean, real};
pub use top::{Screen, Shown, top};

/// Version of every JSON shape of this module; it grows when a field changes its meaning or goes.
pub const JSON_VERSION: u32 = 1;
