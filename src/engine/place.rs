//! Media as engines name them, as tiers of the index.

use crate::model::Tier;

/// Distinct media of one replica that are told apart; those beyond share one place.
pub const MAX_MEDIA: usize = 64;
/// Longest name of a medium that is told apart, in bytes; longer ones share one place.
pub const MAX_MEDIUM_BYTES: usize = 64;

const GPU: u8 = 0;
const RETAINED: u8 = 1;
const OTHER: u8 = 2;
const FIRST_NAMED: u8 = 3;

/// One place that holds copies: a medium and a KV cache group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub(super) medium: u8,
    pub(super) tier: Tier,
    pub(super) group: u32,
}

impl Place {
    /// Where an offload pool that says nothing is taken to keep what left the GPU.
    pub(super) const RETAINED: Place = Place { medium: RETAINED, tier: Tier::T2, group: 0 };
}

/// The media a replica has named, at most [`MAX_MEDIA`].
#[derive(Debug, Default)]
pub(super) struct Media {
    names: Vec<String>,
}

impl Media {
    /// The place, and whether its medium is unknown and named for the first time.
    ///
    /// Publishers that name no medium know the GPU only, and those that name no group have one.
    pub(super) fn place(&mut self, medium: Option<&str>, group: Option<u32>) -> (Place, bool) {
        let group = group.unwrap_or(0);
        let name = medium.unwrap_or("GPU");
        let (tier, known) = tier_of(name);
        let (medium, first) = match tier {
            Tier::T1 => (GPU, false),
            _ => self.number(name),
        };
        let place = Place { medium, tier, group };
        (place, first && !known)
    }

    fn number(&mut self, name: &str) -> (u8, bool) {
        let at = self.names.iter().position(|seen| seen.eq_ignore_ascii_case(name));
        if let Some(at) = at {
            return (FIRST_NAMED + at as u8, false);
        }
        if self.names.len() == MAX_MEDIA || name.len() > MAX_MEDIUM_BYTES {
            return (OTHER, false);
        }
        self.names.push(name.to_owned());
        (FIRST_NAMED + (self.names.len() - 1) as u8, true)
    }
}

/// The tier, and whether the medium is one that engines are known to have.
fn tier_of(medium: &str) -> (Tier, bool) {
    const COLD: [&str; 6] = ["STORAGE", "DISK", "FS", "OBJ", "EXTERNAL", "REMOTE"];
    let is = |name: &str| medium.eq_ignore_ascii_case(name);
    if is("GPU") {
        (Tier::T1, true)
    } else if is("CPU") || is("CPU_PINNED") {
        (Tier::T2, true)
    } else {
        (Tier::T3, COLD.into_iter().any(is))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_are_tiers() {
        for (medium, tier, said) in [
            (None, Tier::T1, false),
            (Some("GPU"), Tier::T1, false),
            (Some("gpu"), Tier::T1, false),
            (Some("CPU"), Tier::T2, false),
            (Some("Cpu_Pinned"), Tier::T2, false),
            (Some("STORAGE"), Tier::T3, false),
            (Some("disk"), Tier::T3, false),
            (Some("FS"), Tier::T3, false),
            (Some("OBJ"), Tier::T3, false),
            (Some("EXTERNAL"), Tier::T3, false),
            (Some("REMOTE"), Tier::T3, false),
            (Some("TAPE"), Tier::T3, true),
            (Some(""), Tier::T3, true),
        ] {
            let mut media = Media::default();
            let (place, first) = media.place(medium, None);
            assert_eq!((place.tier, first), (tier, said), "{medium:?}");
            assert_eq!(media.place(medium, Some(0)), (place, false), "{medium:?}");
            assert_ne!(media.place(medium, Some(1)).0, place, "{medium:?}");
        }
    }

    #[test]
    fn media_beyond_the_bound_share_a_place() {
        let mut media = Media::default();
        let places: Vec<_> =
            (0..MAX_MEDIA + 2).map(|at| media.place(Some(&format!("M{at}")), None)).collect();
        assert!(places[..MAX_MEDIA].iter().all(|(_, first)| *first));
        assert_ne!(places[MAX_MEDIA - 1].0, places[MAX_MEDIA].0);
        assert_eq!(places[MAX_MEDIA], places[MAX_MEDIA + 1]);
        assert_eq!(media.place(Some(&"x".repeat(MAX_MEDIUM_BYTES + 1)), None), places[MAX_MEDIA]);
    }
}
