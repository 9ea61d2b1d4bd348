//! Where a block is held.

/// Cache tier, hottest first: the order of the variants is the order of coldness.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tier {
    /// The engine's own KV cache.
    T1,
    /// An offload pool on the host.
    T2,
    /// A remote store.
    T3,
    /// A tier this version does not know: colder than all others, and reported as unspecified.
    Unknown,
}

impl Tier {
    /// The short name shown to people: `T1`, `T2`, `T3`, `unspecified`.
    pub fn label(self) -> &'static str {
        match self {
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
            Self::Unknown => "unspecified",
        }
    }
}
