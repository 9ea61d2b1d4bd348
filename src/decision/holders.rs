//! Who holds a prefix, as the index tells it.

use super::alike::{Alike, OfMember};
use super::evidence::StatsSeen;
use crate::model::{Tier, Timestamp};

/// A replica that holds the prefix, or a leading part of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Holder {
    /// Position in the roster.
    pub member: u32,
    /// Blocks of the leading run; 0 for an exact match.
    pub blocks: u32,
    /// Tokens of the run by the request's counts, or of the exact entry by its own. Above 0.
    pub matched_tokens: i32,
    /// Oldest last-seen time in the run.
    pub last_seen: Timestamp,
    /// Coldest tier in the run.
    pub tier: Tier,
    /// The replica's statistics, where it has any.
    pub stats: Option<StatsSeen>,
}

/// The holders of a prefix, in no particular order.
pub type Holders = Alike<Holder>;

impl OfMember for Holder {
    fn member(&self) -> u32 {
        self.member
    }

    fn of(self, member: u32) -> Self {
        Self { member, ..self }
    }

    fn is_alike(&self, other: &Self) -> bool {
        // The times tell most of them apart.
        self.last_seen == other.last_seen && *self == other.of(self.member)
    }
}
