//! The record of one run: what each gate found, what was considered, and the answer read off it.

use std::sync::Arc;

use super::alike::{Alike, OfMember};
use super::places::{BALANCED_PIPELINE, pipeline_of};
use super::{Cause, GateId, Reason, Roster, Stage};
use crate::model::{Ranker, ReplicaId, Tier};

/// What a gate did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Let the request or the result through.
    Passed,
    /// Removed some candidates; others remain.
    Filtered,
    /// Removed the result; a later gate may still answer.
    Downgraded,
    /// Gave the final answer.
    Decided(Reason),
    /// Had nothing to do.
    Skipped,
}

impl Outcome {
    /// Stable name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Filtered => "filtered",
            Self::Downgraded => "downgraded",
            Self::Decided(_) => "decided",
            Self::Skipped => "skipped",
        }
    }
}

/// One gate's part of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step<'a> {
    /// The gate.
    pub gate: GateId,
    /// Where in the pipeline it ran; `minimum-prefix-tokens` and `deadline` run twice.
    pub stage: Stage,
    /// What it did.
    pub outcome: Outcome,
    /// Why, where that needs saying.
    pub cause: Option<Cause>,
    /// The values it compared.
    pub values: &'a [Value],
}

/// One step for each gate, in pipeline order.
///
/// Recorded in every run, so it is kept small: the gate follows from the place, and most gates compare nothing.
#[derive(Clone, PartialEq)]
pub struct Steps {
    /// Whose pipeline ran.
    ranker: Ranker,
    marks: [Mark; BALANCED_PIPELINE.len()],
    len: u8,
    values: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq)]
struct Mark {
    outcome: Outcome,
    cause: Option<Cause>,
    /// Where its values end in the list of all.
    until: u8,
}

/// Values of all gates of most runs.
const VALUES: usize = 12;

impl Steps {
    /// No step yet of those of the ranker's pipeline.
    pub(super) fn new(ranker: Ranker) -> Self {
        let skipped = Mark { outcome: Outcome::Skipped, cause: None, until: 0 };
        let marks = [skipped; BALANCED_PIPELINE.len()];
        Self { ranker, marks, len: 0, values: Vec::with_capacity(VALUES) }
    }

    /// Records the next gate; beyond the last one nothing.
    #[inline]
    pub(super) fn push(&mut self, outcome: Outcome, cause: Option<Cause>, values: &[Value]) {
        if !values.is_empty() {
            self.values.extend_from_slice(values);
        }
        let until = u8::try_from(self.values.len()).unwrap_or(u8::MAX);
        if let Some(mark) = self.marks.get_mut(usize::from(self.len)) {
            *mark = Mark { outcome, cause, until };
            self.len += 1;
        }
    }

    /// Tells anew what the gate did that decided.
    pub(super) fn overrule(&mut self, outcome: Outcome, cause: Cause) {
        let decided = |mark: &&mut Mark| matches!(mark.outcome, Outcome::Decided(_));
        if let Some(mark) = self.marks[..usize::from(self.len)].iter_mut().find(decided) {
            (mark.outcome, mark.cause) = (outcome, Some(cause));
        }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether no gate ran.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The steps in order.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let mut from = 0;
        self.marks[..self.len()].iter().zip(pipeline_of(self.ranker)).map(move |(mark, place)| {
            let until = usize::from(mark.until).min(self.values.len());
            let values = &self.values[from..until];
            from = until;
            Step { gate: place.gate, stage: place.stage, outcome: mark.outcome, cause: mark.cause, values }
        })
    }

    /// The first step of `gate`.
    pub fn of(&self, gate: GateId) -> Option<Step<'_>> {
        self.iter().find(|step| step.gate == gate)
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

/// A value that a gate compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// What it is; the number says its unit.
    pub name: &'static str,
    /// How much.
    pub number: Number,
}

/// A compared value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// A count of something.
    Count(i64),
    /// A score or a rate.
    Real(f32),
    /// A span of time, in nanoseconds.
    Span(i64),
    /// A part of the request, by name.
    Field(&'static str),
}

/// A replica that was considered, with every factor of its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate {
    /// Position in the roster.
    pub member: u32,
    /// Blocks of the leading run; 0 for an exact match or a warm replica.
    pub blocks: u32,
    /// Tokens matched; 0 for a warm replica.
    pub matched_tokens: i32,
    /// Freshness of a match, hit rate of a warm replica: 0..1.
    pub probability: f32,
    /// Freshness of a match, recency of a warm replica's statistics: 0..1.
    pub decay: f32,
    /// 0..1.
    pub pressure_factor: f32,
    /// 1 or more.
    pub slo_bias: f32,
    /// 0..1; 1 for a warm replica.
    pub distinguishing_power: f32,
    /// The product that ranks.
    pub score: f32,
    /// Coldest tier of the run; `Unknown` for a warm replica.
    pub tier: Tier,
    /// The gate that removed it.
    pub filtered_by: Option<GateId>,
    /// What the score is made of under the balanced ranker, which leaves the factors at 1.
    pub wait: Option<Wait>,
}

/// Why a replica is expected to let a request wait: `(pending + 2 x uncached + ahead) x PrefillRate / rate x
/// pressure scale`, in tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wait {
    /// Tokens before the request.
    pub pending_tokens: f32,
    /// Tokens of the request that it neither holds nor is about to hold.
    pub uncached_tokens: i32,
    /// Tokens of the request that it is about to hold.
    pub provisional_tokens: i32,
    /// Half of the tokens that hints of the last minutes brought to it beyond its share, done or not; at most what the request
    /// would cost there anew.
    pub ahead_tokens: f32,
    /// Tokens that it prefills in a second.
    pub rate: f32,
    /// What its pressure makes the wait longer by, 1 or more.
    pub pressure_scale: f32,
    /// The wait, in tokens at the configured prefill rate.
    pub wait_tokens: f32,
}

/// Candidates in the order of their rank.
pub type Candidates = Alike<Candidate>;

impl OfMember for Candidate {
    fn member(&self) -> u32 {
        self.member
    }

    fn of(self, member: u32) -> Self {
        Self { member, ..self }
    }

    fn is_alike(&self, other: &Self) -> bool {
        // What ages tell apart is told apart here; scores may all be 0.
        self.decay == other.decay && *self == other.of(self.member)
    }
}

/// One replica of the delivered answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hint<'a> {
    /// Who.
    pub replica: &'a ReplicaId,
    /// The product that ranks; 0 for an affinity hint.
    pub score: f32,
    /// Tokens matched.
    pub matched_tokens: i32,
    /// 0..1.
    pub probability: f32,
    /// Coldest tier of the match.
    pub tier: Tier,
}

/// The whole record: the answer and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The answer's code.
    pub reason: Reason,
    /// The gate that gave it.
    pub decided_by: GateId,
    /// The gate that is the cause of it: the one that found the result, or the one that took it away.
    pub because: GateId,
    /// One step for each gate, in pipeline order.
    pub steps: Steps,
    /// Every replica that was considered, best first.
    pub candidates: Candidates,
    /// The replica that affinity picked, or a load hint in the shape of affinity.
    pub affinity: Option<u32>,
    /// The replicas that members refer to.
    pub roster: Arc<Roster>,
    /// Whether the index was read.
    pub index_was_read: bool,
    /// Tokens of the prompt, where they were made here from text.
    pub tokens: Vec<u32>,
}

impl Decision {
    /// The replicas of the answer, best first; empty where there is no hint.
    pub fn hints(&self) -> impl Iterator<Item = Hint<'_>> {
        let ranked = self.delivered().filter_map(|candidate| {
            Some(Hint {
                replica: self.roster.get(candidate.member)?,
                score: candidate.score,
                matched_tokens: candidate.matched_tokens,
                // A hint without evidence claims no hit.
                probability: if self.reason == Reason::LoadHint { 0.0 } else { candidate.probability },
                tier: candidate.tier,
            })
        });
        let stable = self.affinity.filter(|_| self.reason == Reason::AffinityHint).and_then(|member| {
            Some(Hint {
                replica: self.roster.get(member)?,
                score: 0.0,
                matched_tokens: 0,
                probability: 0.0,
                tier: Tier::Unknown,
            })
        });
        ranked.chain(stable)
    }

    /// Whether what the index holds around the request's keys helps to see why nothing was found.
    pub fn needs_facts(&self) -> bool {
        matches!(self.reason, Reason::UnknownTenant | Reason::UnknownModel | Reason::UnknownHashScheme)
            || self.is_novel()
    }

    /// Whether the keys are right and nobody holds the prefix.
    pub fn is_novel(&self) -> bool {
        let took_away =
            |step: Step<'_>| step.gate == GateId::NovelPrefix && step.outcome == Outcome::Downgraded;
        self.steps.iter().any(took_away)
    }

    /// The replica that the gateway is told to use, where the balanced ranker chose it, with what it has to compute.
    pub fn chosen(&self) -> Option<Candidate> {
        let chosen = match self.reason {
            Reason::AffinityHint => {
                self.candidates.iter().find(|candidate| Some(candidate.member) == self.affinity)
            }
            _ => self.delivered().next(),
        };
        chosen.filter(|candidate| candidate.wait.is_some())
    }

    /// The candidates of a delivered ranking: prefix match, warm replicas, or the replica of a load hint.
    pub fn delivered(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.delivered_alike()
            .flat_map(|(common, members)| members.iter().map(move |member| common.of(*member)))
    }

    /// The same, in the groups of those that differ by their replica only.
    pub fn delivered_alike(&self) -> impl Iterator<Item = (Candidate, &[u32])> {
        let ranked = matches!(self.reason, Reason::PrefixMatch | Reason::TenantHot | Reason::LoadHint);
        self.candidates.groups().filter(move |(common, _)| ranked && common.filtered_by.is_none())
    }
}
