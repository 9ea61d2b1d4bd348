//! Cache-aware routing of LLM inference: the fleet-wide index of which replica holds which prompt prefix, the decision
//! that ranks them, and the tools around both.

pub mod bench;
pub mod capture;
pub mod cmd;
pub mod contract;
pub mod decision;
pub mod doctor;
pub mod engine;
pub mod explanation;
pub mod generate;
pub mod hash;
pub mod index;
pub mod load;
pub mod lookup;
pub mod model;
pub mod policy;
pub mod render;
pub mod replay;
pub mod server;
pub mod simulate;
pub mod subscribe;
pub mod telemetry;
pub mod top;
