//! Which kinds of question are asked, and how often.

use thiserror::Error;

/// How much of a question's chain is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// All of it, by some replicas.
    Full,
    /// More than the shared head, and not all.
    Diverge,
    /// The shared head only, by every replica.
    Head,
    /// Nothing, by nobody.
    Miss,
}

impl Kind {
    /// Every kind, in the order of their weights.
    pub const ALL: [Self; 4] = [Self::Full, Self::Diverge, Self::Head, Self::Miss];

    /// As `--mix` names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Diverge => "diverge",
            Self::Head => "head",
            Self::Miss => "miss",
        }
    }
}

/// Weights of the kinds; they need not sum to anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mix([u32; 4]);

/// Why a text is no mix.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MixError {
    /// A part is no `KIND=WEIGHT`.
    #[error(
        "`{0}` is not of the form `KIND=WEIGHT`, with a kind of full, diverge, head or miss and a whole weight up to 1000000"
    )]
    Part(String),
    /// A kind has two weights.
    #[error("`{0}` has two weights")]
    Twice(&'static str),
    /// All weights are 0.
    #[error("every weight is 0")]
    Nothing,
}

/// Weight of one kind at most.
const MAX_WEIGHT: u32 = 1_000_000;

impl Default for Mix {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Mix {
    /// Mostly hits, in full or in part.
    pub const USUAL: Self = Self([30, 40, 20, 10]);

    /// From `full=30,diverge=40`; a kind that is not named is not asked.
    pub fn parse(text: &str) -> Result<Self, MixError> {
        let mut weights = [None; 4];
        for part in text.split(',') {
            let wrong = || MixError::Part(part.to_owned());
            let (name, weight) = part.split_once('=').ok_or_else(wrong)?;
            let at = Kind::ALL.iter().position(|kind| kind.name() == name.trim()).ok_or_else(wrong)?;
            let weight: u32 = weight.trim().parse().map_err(|_| wrong())?;
            if weight > MAX_WEIGHT {
                return Err(wrong());
            }
            if weights[at].replace(weight).is_some() {
                return Err(MixError::Twice(Kind::ALL[at].name()));
            }
        }
        let weights = weights.map(Option::unwrap_or_default);
        if weights.iter().all(|weight| *weight == 0) {
            return Err(MixError::Nothing);
        }
        Ok(Self(weights))
    }

    /// The kind of draw `at` of `of`: over all draws, each kind comes as often as its weight says.
    pub fn kind(&self, at: u64, of: u64) -> Kind {
        let total: u64 = self.0.iter().map(|weight| u64::from(*weight)).sum();
        let mut place = at % of.max(1) * total / of.max(1);
        for (kind, weight) in Kind::ALL.into_iter().zip(self.0) {
            match place.checked_sub(u64::from(weight)) {
                None => return kind,
                Some(left) => place = left,
            }
        }
        Kind::Miss
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let parts = Kind::ALL.into_iter().zip(self.0).filter(|(_, weight)| *weight > 0);
        parts.map(|(kind, weight)| format!("{}={weight}", kind.name())).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_read_as_they_are_written() {
        assert_eq!(Mix::default().text(), "full=30,diverge=40,head=20,miss=10");
        assert_eq!(Mix::parse(&Mix::default().text()), Ok(Mix::default()));
        assert_eq!(Mix::parse("miss=1, full=0").map(|mix| mix.text()), Ok("miss=1".to_owned()));
        for (text, error) in [
            ("", MixError::Part(String::new())),
            ("full", MixError::Part("full".to_owned())),
            ("full=-1", MixError::Part("full=-1".to_owned())),
            ("full=1.5", MixError::Part("full=1.5".to_owned())),
            ("full=1000001", MixError::Part("full=1000001".to_owned())),
            ("half=1", MixError::Part("half=1".to_owned())),
            ("full=1,full=2", MixError::Twice("full")),
            ("full=0", MixError::Nothing),
        ] {
            assert_eq!(Mix::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn kinds_come_as_often_as_their_weights_say() {
        let count = |mix: Mix, kind| (0..1_000).filter(|at| mix.kind(*at, 1_000) == kind).count();
        assert_eq!(Kind::ALL.map(|kind| count(Mix::default(), kind)), [300, 400, 200, 100]);
        let misses = Mix::parse("miss=7").unwrap();
        assert_eq!(Kind::ALL.map(|kind| count(misses, kind)), [0, 0, 0, 1_000]);
        assert_eq!(misses.kind(3, 0), Kind::Miss);
    }
}
