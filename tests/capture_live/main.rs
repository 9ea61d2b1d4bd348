//! Captures of the real server by the real recorder: replayed, they are answered as the server answered.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod endings;
mod exact;
#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
mod recorder;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;
mod traffic;

use process::Process;
use recorder::{Recorder, replayed};
use server_support::until;
use traffic::Traffic;
