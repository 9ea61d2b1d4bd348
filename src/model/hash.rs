//! The two kinds of hash: the one an engine gives its blocks, and the prefix hash that the index is keyed by.

use std::fmt;

use bytes::Bytes;
use zerocopy::IntoBytes as _;

/// The hash an engine gives a block, as 64 bits.
///
/// Engines publish it as an unsigned or signed integer or as bytes; the integer form is the last 8 bytes of the byte
/// form, and a negative integer is its two's complement. It is an engine's private name: it never reaches the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EngineHash(u64);

impl EngineHash {
    /// From an unsigned integer.
    pub fn from_unsigned(value: u64) -> Self {
        Self(value)
    }

    /// From a signed integer, by two's complement.
    pub fn from_signed(value: i64) -> Self {
        Self(value as u64)
    }

    /// From the byte form: its last 8 bytes, big-endian. `None` where there are fewer than 8.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let tail = bytes.last_chunk::<8>()?;
        Some(Self(u64::from_be_bytes(*tail)))
    }

    /// The 64 bits.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Content fingerprint of a prefix up to and including one block, in its 8-byte big-endian wire form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, zerocopy::IntoBytes, zerocopy::Immutable)]
#[repr(transparent)]
pub struct PrefixHash([u8; 8]);

impl PrefixHash {
    /// From the 64-bit fingerprint.
    pub fn new(fingerprint: u64) -> Self {
        Self(fingerprint.to_be_bytes())
    }

    /// The 64-bit fingerprint.
    pub fn value(self) -> u64 {
        u64::from_be_bytes(self.0)
    }

    /// The wire forms of `list`, one behind the other, as they lie in memory.
    pub(crate) fn bytes_of(list: &[Self]) -> &[u8] {
        list.as_bytes()
    }

    /// The wire form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for PrefixHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.value())
    }
}

/// Block hashes of a chain, borrowed from where they are: the receive buffer, or a fingerprint chain just computed.
#[derive(Clone, Copy, Debug)]
pub enum HashList<'a> {
    /// As received; any length each.
    Wire(&'a [Bytes]),
    /// Computed here.
    Fingerprints(&'a [PrefixHash]),
    /// One behind the other, each of `width` bytes; the last is shorter where they do not come out even. A width of 0
    /// makes one empty hash of any bytes.
    Flat {
        /// All of them.
        bytes: &'a [u8],
        /// Bytes of each.
        width: usize,
    },
}

impl<'a> HashList<'a> {
    /// No hashes.
    pub const EMPTY: HashList<'static> = HashList::Wire(&[]);

    /// Number of hashes.
    pub fn len(&self) -> usize {
        match self {
            Self::Wire(list) => list.len(),
            Self::Fingerprints(list) => list.len(),
            Self::Flat { bytes, width: 0 } => usize::from(!bytes.is_empty()),
            Self::Flat { bytes, width } => bytes.len().div_ceil(*width),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of hash `at`; panics beyond the end, as a slice does.
    pub fn get(&self, at: usize) -> &'a [u8] {
        match self {
            Self::Wire(list) => &list[at],
            Self::Fingerprints(list) => list[at].as_bytes(),
            Self::Flat { width: 0, .. } => &[],
            Self::Flat { bytes, width } => {
                let start = at * width;
                &bytes[start..bytes.len().min(start.saturating_add(*width))]
            }
        }
    }

    /// Bytes of the shortest and of the longest hash; of no hashes, more than any and none.
    pub fn lengths(&self) -> (usize, usize) {
        match self {
            Self::Wire(list) => list.iter().fold((usize::MAX, 0), |(shortest, longest), hash| {
                (shortest.min(hash.len()), longest.max(hash.len()))
            }),
            _ if self.is_empty() => (usize::MAX, 0),
            Self::Fingerprints(_) => (size_of::<PrefixHash>(), size_of::<PrefixHash>()),
            // All but the last are as long as the first.
            Self::Flat { .. } => (self.get(self.len() - 1).len(), self.get(0).len()),
        }
    }

    /// The hashes in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}
