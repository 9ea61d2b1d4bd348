//! The registry of what is passed over between an engine and the index, and why.

macro_rules! drops {
    ($($(#[doc = $doc:literal])+ $name:ident = $label:literal,)+) => {
        /// Why something an engine published did not reach the index.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EngineDrop {
            $($(#[doc = $doc])+ $name,)+
        }

        impl EngineDrop {
            /// Every cause, in the order of the pipeline.
            pub const ALL: &'static [EngineDrop] = &[$(Self::$name,)+];

            /// Label in metrics and tables.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)+
                }
            }

            /// What it means, as a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc,)+).trim_ascii(),)+
                }
            }
        }
    };
}

drops! {
    /// Messages with a missing frame, or a sequence frame that is not 8 bytes.
    BadFrame = "bad-frame",
    /// Batches lost between engine and subscriber that a replay could not give.
    Lost = "lost",
    /// Batches that are not one whole batch within the limits.
    BadBatch = "bad-batch",
    /// Batches of a data-parallel rank beyond those that are followed.
    TooManyRanks = "too-many-ranks",
    /// Events with an unknown tag, or with none.
    UnknownTag = "unknown-tag",
    /// Map keys that this version does not know; the rest of their event is used.
    UnknownKey = "unknown-key",
    /// Array positions beyond the known ones; the rest of their event is used.
    SurplusPosition = "surplus-position",
    /// Blocks whose tokens come as pairs (EAGLE): pairs have no fingerprint.
    TokenPairs = "token-pairs",
    /// Blocks of events with a token id that is not a 32-bit unsigned integer.
    TokenRange = "token-range",
    /// Blocks of events whose number of tokens is not blocks times block size: positions cannot be known.
    TokenCount = "token-count",
    /// Blocks said to be on another medium, without tokens, that are not held.
    UnknownBlock = "unknown-block",
    /// Blocks of an adapter that is given by a number without a configured name.
    UnnamedAdapter = "unnamed-adapter",
    /// Blocks of an adapter whose name is longer than the index takes.
    AdapterTooLong = "adapter-too-long",
    /// Blocks with content that is not in their tokens (images), and the blocks after them in their event.
    ExtraKeys = "extra-keys",
    /// Blocks whose hash is salted.
    CacheSalt = "cache-salt",
    /// Blocks that follow blocks left out for their extra keys or salt.
    ParentRefused = "parent-refused",
    /// Blocks held back for an unknown parent that did not come in time.
    HeldBackExpired = "held-back-expired",
    /// Blocks held back for an unknown parent that had to make room.
    HeldBackFull = "held-back-full",
    /// Blocks whose engine hash stood for other content before: the newer content takes its place.
    HashReused = "hash-reused",
    /// Blocks, or places of a block, over the bound on what is held.
    HeldFull = "held-full",
    /// Removals of a block that is not held there.
    UnknownRemoval = "unknown-removal",
}

/// How often each [`EngineDrop`] happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DropCounts([u64; EngineDrop::ALL.len()]);

impl Default for DropCounts {
    fn default() -> Self {
        Self([0; EngineDrop::ALL.len()])
    }
}

impl DropCounts {
    /// Counts `times` more.
    pub fn add(&mut self, cause: EngineDrop, times: u64) {
        let count = &mut self.0[cause as usize];
        *count = count.saturating_add(times);
    }

    /// Count of one cause.
    pub fn get(&self, cause: EngineDrop) -> u64 {
        self.0[cause as usize]
    }

    /// Every cause with its count, also where it is 0.
    pub fn iter(&self) -> impl Iterator<Item = (EngineDrop, u64)> + '_ {
        EngineDrop::ALL.iter().map(|cause| (*cause, self.get(*cause)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_kebab_case_and_unique_and_meanings_are_sentences() {
        let mut seen = std::collections::BTreeSet::new();
        for cause in EngineDrop::ALL {
            let label = cause.label();
            assert!(seen.insert(label), "{label} twice");
            assert!(label.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{label}");
            let meaning = cause.meaning();
            assert!(meaning.ends_with('.') && meaning.starts_with(char::is_uppercase), "{meaning}");
        }
    }
}
