//! The sidecar between an engine that was not written here and the real server: whatever is killed, dropped or cut,
//! lookups are right again soon, without a restart of the sidecar.
#![allow(clippy::unwrap_used)]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod support;

mod engine;
mod faults;
mod flow;
mod outbox;
mod proxy;
mod ranks;
mod record;
mod sidecar;
