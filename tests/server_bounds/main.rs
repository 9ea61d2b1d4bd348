//! What callers can make a server hold, and for how long: names, connections, streams, messages.

#![allow(clippy::unwrap_used)]

#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;

mod connections;
mod crowd;
mod memory;
mod messages;
