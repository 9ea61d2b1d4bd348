//! Exit statuses.

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Done.
    Done,
    /// The command line cannot be used.
    Usage,
    /// The server failed.
    Server,
}
