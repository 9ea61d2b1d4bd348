//! Errors of commands: what happened, and what to do.

use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The command line cannot be used.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The server failed.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// A command line that cannot be used.
#[derive(Debug, Error)]
#[error("{what}; {advice}")]
pub struct UsageError {
    what: String,
    advice: String,
}

/// A server that failed.
#[derive(Debug, Error)]
#[error("{what}; {advice}")]
pub struct ServerError {
    what: String,
    advice: String,
}

impl UsageError {
    /// What is wrong, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

impl ServerError {
    /// What happened, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}
