//! What can be wrong with a payload, and where.

/// Why a payload is not a batch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// There are no bytes.
    #[error("payload is empty")]
    Empty,
    /// A value, or what a length promises, goes beyond the end.
    #[error("payload ends within `{what}` at byte {at}")]
    Truncated {
        /// Field that was read.
        what: &'static str,
        /// Offset of the value.
        at: usize,
    },
    /// A field holds another kind of value than it can.
    #[error("`{what}` at byte {at} is {found}, expected {expected}")]
    WrongType {
        /// Field that was read.
        what: &'static str,
        /// Offset of the value.
        at: usize,
        /// What is there.
        found: &'static str,
        /// What can be there.
        expected: &'static str,
    },
    /// A number or length is beyond its bounds.
    #[error("`{what}` at byte {at} is {value}, allowed are {min} to {max}")]
    OutOfBounds {
        /// Field that was read.
        what: &'static str,
        /// Offset of the value.
        at: usize,
        /// What is there.
        value: u64,
        /// Lowest that is taken.
        min: u64,
        /// Highest that is taken.
        max: u64,
    },
    /// A field without which the batch or event means nothing is absent.
    #[error("`{what}` is missing in what starts at byte {at}")]
    Missing {
        /// Field that is absent.
        what: &'static str,
        /// Offset of the batch or event.
        at: usize,
    },
    /// The batch ends before the payload does.
    #[error("{bytes} bytes follow the batch, which ends at byte {at}")]
    Trailing {
        /// How many.
        bytes: usize,
        /// Where the batch ends.
        at: usize,
    },
}
