//! Policies: what is in force, what changes, and what recorded traffic makes of it.

mod diff;
mod show;
mod simulate;

pub use diff::policy_diff;
pub use show::policies;
pub use simulate::simulation;
