//! Operations on the index.

use std::fmt;
use std::sync::LazyLock;

use bytes::Bytes;
use icache::model::{EventKind, Eviction, PrefixHash, Tier};

/// A name of one of the pools.
pub type Name = &'static str;

/// Bytes that an id may have in these tests.
pub const ID_BYTES: usize = 30;
/// Blocks that an entry may have in these tests.
pub const ENTRY_BLOCKS: usize = 6;
/// Blocks of one update that are taken.
pub const UPDATE_BLOCKS: usize = 10;
/// A second.
pub const SECOND: i64 = 1_000_000_000;

/// One byte over [`ID_BYTES`].
pub const LONG_NAME: Name = "a-name-that-is-one-byte-too-lng";

static HASHES: LazyLock<Vec<Bytes>> = LazyLock::new(|| {
    let word = |value: u64| Bytes::copy_from_slice(PrefixHash::new(value).as_bytes());
    let bytes = |byte: u8, length: usize| Bytes::from(vec![byte; length]);
    vec![word(0), word(1), word(2), bytes(0, 1), bytes(0, 9), bytes(7, 64), Bytes::new(), bytes(7, 65)]
});

/// A hash of the pool; the first three are fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct H(pub u8);

impl H {
    pub const EMPTY: H = H(6);
    pub const LONG: H = H(7);

    pub fn bytes(self) -> &'static Bytes {
        &HASHES[self.0 as usize]
    }

    /// The hash as a fingerprint, where it is one.
    pub fn fingerprint(self) -> Option<PrefixHash> {
        (self.0 < 3).then(|| PrefixHash::new(u64::from(self.0)))
    }
}

impl fmt::Debug for H {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            H::EMPTY => out.write_str("h-empty"),
            H::LONG => out.write_str("h-65-bytes"),
            H(at) => write!(out, "h{at}"),
        }
    }
}

/// A producer's timestamp.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Unset,
    /// Relative to the clock, in nanoseconds.
    FromNow(i64),
    /// That of the report before.
    Again,
    Absolute(i64),
}

#[derive(Clone, Debug)]
pub struct Prefix {
    pub hash: H,
    pub tokens: i32,
    pub blocks: Vec<H>,
    pub counts: Vec<i32>,
    pub tier: Tier,
    pub adapter: Name,
}

#[derive(Clone, Copy, Debug)]
pub struct Stats {
    pub memory: i64,
    pub hit_rate: f32,
    pub pressure: f32,
    pub version: Name,
    pub t2_hit: i64,
    pub t2_query: i64,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub replica: Name,
    pub tenant: Name,
    pub model: Name,
    pub scheme: Name,
    pub adapter: Name,
    pub at: At,
    pub prefixes: Vec<Prefix>,
    pub stats: Option<Stats>,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub kind: EventKind,
    pub replica: Name,
    pub tenant: Name,
    pub model: Name,
    pub adapter: Name,
    pub hash: H,
}

/// How time moves.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    By(i64),
    /// To this many nanoseconds before an entry reaches its time to live; the entry is the one at `at`, modulo all.
    ToExpiry {
        at: usize,
        before: i64,
    },
}

#[derive(Clone, Debug)]
pub enum Input {
    Chain { hashes: Vec<H>, counts: Vec<i32>, is_derived: bool },
    Exact { hash: H, is_derived: bool },
    Nothing,
}

#[derive(Clone, Debug)]
pub struct Lookup {
    pub tenant: Name,
    pub model: Name,
    pub scheme: Name,
    pub adapter: Name,
    pub input: Input,
    pub wants_warm: bool,
    pub wants_heard: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub ttl: i64,
    pub eviction: Eviction,
    pub quota: u64,
}

#[derive(Clone, Debug)]
pub enum Op {
    Report(Report),
    Event(Event),
    Sweep,
    Step(Step),
    Policies {
        default: Settings,
        of: Vec<(Name, Settings)>,
    },
    Lookup(Lookup),
    /// Delivers what the last lookup found, so many times: the replicas at the set bits.
    Deliver {
        bits: u8,
        times: u8,
    },
    State {
        tenant: Name,
        model: Name,
    },
}

/// What an index is made with.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub max_entries: u64,
    pub replicas_per_scope: usize,
    pub replica_records: usize,
    pub forget_after: i64,
    pub default: Settings,
}
