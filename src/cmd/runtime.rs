//! The async runtimes that commands run in.

use std::io;

use tokio::runtime::{Builder, Runtime};

use super::ServerError;
use super::error::sentence;

/// One thread: a call, or a few at a time.
pub fn single() -> Result<Runtime, ServerError> {
    started(Builder::new_current_thread().enable_all().build())
}

/// A thread for each core.
pub fn many() -> Result<Runtime, ServerError> {
    started(Builder::new_multi_thread().enable_all().build())
}

fn started(runtime: io::Result<Runtime>) -> Result<Runtime, ServerError> {
    runtime.map_err(|error| {
        ServerError::new(
            format!("cannot start the async runtime: {}", sentence(&error)),
            "check the system's limits on threads and open files",
        )
    })
}
