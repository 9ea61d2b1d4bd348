//! The decision: a request, the tenant's policy and what the index knows become an answer and the trace that led to it.
//!
//! Pure and total: no clock, no lock, no I/O, no error. The pipeline is data ([`PIPELINE`]); its gates and the reason
//! codes are registries that every page, table and label is made from. One run gives both the answer and the trace.

mod alike;
mod cause;
mod evidence;
mod gate;
mod gates;
mod holders;
mod knob;
mod pipeline;
mod places;
mod rank;
mod reason;
mod trace;
mod wait;

pub use alike::{Alike, OfMember};
pub use cause::Cause;
pub use evidence::{
    Balance, ChainCounts, ChainHashes, Evidence, ExactHash, Input, Load, Query, Roster, Standing, StatsSeen,
    Surroundings, Warm,
};
pub use gate::{GateId, GateInfo, Stage};
pub use holders::{Holder, Holders};
pub use knob::{Knob, KnobInfo, KnobOwner};
pub use pipeline::{Arrival, InputResolver, Plan, Settings, plan};
pub use places::{BALANCED_PIPELINE, PIPELINE};
pub use rank::{distinguishing_power, freshness, pressure_factor, recency, slo_bias};
pub use reason::{Reason, ReasonInfo};
pub use trace::{Candidate, Candidates, Decision, Hint, Number, Outcome, Step, Steps, Value, Wait};
pub use wait::{AHEAD_WEIGHT, MAX_PRESSURE_SCALE, UNCACHED_WEIGHT, pressure_scale, score};
