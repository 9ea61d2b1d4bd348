//! Cache-aware routing of LLM inference: the fleet-wide index of which replica holds which prompt prefix, the decision
//! that ranks them, and the tools around both.

pub mod contract;
pub mod engine;
pub mod hash;
pub mod model;
