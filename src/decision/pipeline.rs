//! The three moves of a lookup through the pipeline: [`plan`] the read, conclude on the evidence, deliver in time.

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::evidence::{Balance, Evidence, Input, Query};
use super::places::{PipelineStep, REQUEST_STEPS, pipeline_of};
use super::trace::{Candidate, Candidates, Decision, Number, Outcome, Steps, Value};
use super::{Cause, GateId, Reason};
use crate::model::{Limits, LookupRequest, PrefixHash, RankerKnobs, ResolvedPolicy, Sourced, Timestamp};

/// What holds for a lookup besides the request: read once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tenant's policy.
    pub policy: Arc<ResolvedPolicy>,
    /// The server's ranking settings.
    pub ranker: Arc<RankerKnobs>,
    /// The server's limits.
    pub limits: Limits,
    /// Lookups in flight above which further ones are shed; 0 is no limit.
    pub max_in_flight: Sourced<u64>,
}

/// How a lookup arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The instant that ages are taken at.
    pub now: Timestamp,
    /// Nanoseconds between arrival and the start of the run.
    pub elapsed_ns: i64,
    /// Nanoseconds from arrival to the caller's deadline.
    pub deadline_ns: Option<i64>,
    /// Lookups in flight, this one included.
    pub in_flight: u64,
}

/// Turns tokens and text into a chain.
pub trait InputResolver {
    /// Prefix hashes of all full blocks.
    fn chain(&self, tokens: &[u32], block_size: u32) -> Vec<PrefixHash>;

    /// Tokens of the text as one user message; `None` where no tokenizer is loaded for the model.
    fn tokenize(&self, model: &str, text: &str) -> Option<Vec<u32>>;
}

/// The kind of result a run has at some point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Nothing,
    Match,
    Warm,
}

/// The state of one run; gates read and move it.
pub(super) struct Run<'a> {
    pipeline: &'static [PipelineStep],
    pub(super) request: &'a LookupRequest<'a>,
    pub(super) settings: &'a Settings,
    pub(super) resolver: &'a dyn InputResolver,
    pub(super) arrival: Arrival,
    pub(super) input: Input<'a>,
    /// Length of the prompt in tokens, as far as the request says.
    pub(super) prefix_tokens: i32,
    /// Tokens made here from text.
    pub(super) tokens: Vec<u32>,
    pub(super) evidence: Evidence,
    pub(super) balance: Balance,
    pub(super) found: Found,
    pub(super) candidates: Candidates,
    pub(super) affinity: Option<u32>,
    because: GateId,
    answer: Option<(Reason, GateId)>,
    steps: Steps,
}

/// Values that a gate tells at most; further ones are left out.
const MOST_VALUES: usize = 4;

/// What a gate says of a run.
pub(super) struct Verdict {
    outcome: Outcome,
    cause: Option<Cause>,
    values: ArrayVec<Value, MOST_VALUES>,
}

impl Verdict {
    fn new(outcome: Outcome, cause: Option<Cause>) -> Self {
        Self { outcome, cause, values: ArrayVec::new_const() }
    }

    pub(super) fn passed() -> Self {
        Self::new(Outcome::Passed, None)
    }

    pub(super) fn passed_because(cause: Cause) -> Self {
        Self::new(Outcome::Passed, Some(cause))
    }

    pub(super) fn skipped(cause: Cause) -> Self {
        Self::new(Outcome::Skipped, Some(cause))
    }

    pub(super) fn filtered(cause: Cause) -> Self {
        Self::new(Outcome::Filtered, Some(cause))
    }

    pub(super) fn downgraded(cause: Cause) -> Self {
        Self::new(Outcome::Downgraded, Some(cause))
    }

    pub(super) fn decided(reason: Reason, cause: Option<Cause>) -> Self {
        Self::new(Outcome::Decided(reason), cause)
    }

    pub(super) fn count(self, name: &'static str, value: impl TryInto<i64>) -> Self {
        self.value(name, Number::Count(value.try_into().unwrap_or(i64::MAX)))
    }

    pub(super) fn real(self, name: &'static str, value: f32) -> Self {
        self.value(name, Number::Real(value))
    }

    pub(super) fn span(self, name: &'static str, ns: i64) -> Self {
        self.value(name, Number::Span(ns))
    }

    pub(super) fn field(self, name: &'static str, field: &'static str) -> Self {
        self.value(name, Number::Field(field))
    }

    fn value(mut self, name: &'static str, number: Number) -> Self {
        let told = self.values.try_push(Value { name, number });
        debug_assert!(told.is_ok(), "`{name}` is one value too many");
        self
    }
}

/// A lookup after the gates on the request: decided, or in need of one index read.
pub struct Plan<'a> {
    /// It is large, and stays where it is from move to move.
    run: Box<Run<'a>>,
}

/// Runs the gates on the request.
pub fn plan<'a>(
    request: &'a LookupRequest<'a>,
    settings: &'a Settings,
    resolver: &'a dyn InputResolver,
    arrival: Arrival,
) -> Plan<'a> {
    let pipeline = pipeline_of(settings.ranker.ranker.value);
    let mut run = Box::new(Run {
        pipeline,
        request,
        settings,
        resolver,
        arrival,
        input: Input::Nothing,
        prefix_tokens: request.prefix_token_count,
        tokens: Vec::new(),
        evidence: Evidence::default(),
        balance: Balance::default(),
        found: Found::Nothing,
        candidates: Candidates::default(),
        affinity: None,
        because: GateId::Answer,
        answer: None,
        steps: Steps::new(settings.ranker.ranker.value),
    });
    run.walk(&pipeline[..REQUEST_STEPS]);
    Plan { run }
}

impl<'a> Plan<'a> {
    /// The index read that the lookup needs; `None` where it is decided already.
    pub fn query(&self) -> Option<Query<'_>> {
        let run = &self.run;
        if run.answer.is_some() {
            return None;
        }
        Some(Query::new(run.request, run.settings, &run.input, run.arrival.now))
    }

    /// The same with what the balanced ranker looks at beside the evidence.
    pub fn conclude_balanced(mut self, read: Option<(Evidence, Balance)>) -> Concluded<'a> {
        let (evidence, balance) = read.unzip();
        self.run.balance = balance.unwrap_or_default();
        self.conclude(evidence)
    }

    /// Runs the gates on what the index knew; `None` where it was not read.
    pub fn conclude(mut self, evidence: Option<Evidence>) -> Concluded<'a> {
        let index_was_read = evidence.is_some();
        if let Some(evidence) = evidence {
            self.run.evidence = evidence;
        }
        let pipeline = self.run.pipeline;
        self.run.walk(&pipeline[REQUEST_STEPS..pipeline.len() - 1]);
        Concluded { run: self.run, index_was_read }
    }
}

/// A lookup with its answer, not yet delivered.
pub struct Concluded<'a> {
    run: Box<Run<'a>>,
    index_was_read: bool,
}

impl<'a> Concluded<'a> {
    /// The decision, where `elapsed_ns` since arrival leaves time to deliver it, else `TIMEOUT`; and the input that was
    /// looked up, for the credit.
    pub fn deliver(mut self, elapsed_ns: i64) -> (Decision, Input<'a>) {
        self.run.arrival.elapsed_ns = elapsed_ns;
        self.run.expire();
        let Run { answer, because, steps, candidates, affinity, evidence, tokens, input, .. } = *self.run;
        let (reason, decided_by) = answer.unwrap_or((Reason::NoHint, GateId::Answer));
        let (roster, index_was_read) = (evidence.roster, self.index_was_read);
        let decision = Decision {
            reason,
            decided_by,
            because,
            steps,
            candidates,
            affinity,
            roster,
            index_was_read,
            tokens,
        };
        (decision, input)
    }
}

impl Run<'_> {
    /// Replicas that have entries in the domain.
    pub(super) fn serving(&self) -> usize {
        self.evidence.roster.len().saturating_sub(self.balance.idle)
    }

    /// Replicas that may be chosen.
    pub(super) fn members(&self) -> usize {
        self.evidence.roster.len().saturating_sub(self.balance.absent.len())
    }

    fn walk(&mut self, steps: &'static [PipelineStep]) {
        for step in steps {
            let verdict = match self.answer {
                Some(_) => Verdict::skipped(Cause::AlreadyDecided),
                None => (step.check)(self),
            };
            self.take(step, verdict);
        }
    }

    /// The last step: a deadline that ran out stands above whatever was decided.
    fn expire(&mut self) {
        let last = &self.pipeline[self.pipeline.len() - 1];
        if self.answer.is_some_and(|(reason, _)| reason == Reason::Timeout) {
            return self.take(last, Verdict::skipped(Cause::AlreadyDecided));
        }
        let verdict = (last.check)(self);
        if matches!(verdict.outcome, Outcome::Decided(_)) {
            self.steps.overrule(Outcome::Downgraded, Cause::TimedOut);
            self.drop_result(last.gate);
            self.affinity = None;
        }
        self.take(last, verdict);
    }

    /// Records a verdict and moves the run by it.
    #[inline]
    fn take(&mut self, step: &PipelineStep, verdict: Verdict) {
        match verdict.outcome {
            Outcome::Decided(reason) => self.settle(step.gate, reason),
            Outcome::Downgraded => self.drop_result(step.gate),
            Outcome::Passed | Outcome::Filtered | Outcome::Skipped => {}
        }
        self.steps.push(verdict.outcome, verdict.cause, &verdict.values);
    }

    /// Few gates of a run do more than to let it pass, so that this stands apart from what all of them do.
    #[inline(never)]
    fn settle(&mut self, gate: GateId, reason: Reason) {
        if !matches!(gate, GateId::LoadHint | GateId::Affinity | GateId::Answer) {
            self.because = gate;
        }
        self.answer = Some((reason, gate));
    }

    /// A gate found a result.
    pub(super) fn find(&mut self, gate: GateId, found: Found, candidates: Candidates) {
        self.found = found;
        self.candidates = candidates;
        self.because = gate;
    }

    #[inline(never)]
    fn drop_result(&mut self, gate: GateId) {
        self.found = Found::Nothing;
        self.because = gate;
        let commons = self.candidates.commons_mut();
        commons
            .filter(|common| common.filtered_by.is_none())
            .for_each(|common| common.filtered_by = Some(gate));
    }

    /// Candidates that no gate removed: what they share, and the replicas that share it.
    pub(super) fn remaining(&self) -> impl Iterator<Item = (Candidate, &[u32])> {
        self.candidates.groups().filter(|(common, _)| common.filtered_by.is_none())
    }

    /// What the groups of those share.
    pub(super) fn commons_remaining(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.commons().filter(|common| common.filtered_by.is_none())
    }

    /// Removes the candidates that `keep` refuses; how many were removed and how many are left.
    pub(super) fn retain(
        &mut self,
        gate: GateId,
        mut keep: impl FnMut(&Candidate) -> bool,
    ) -> (usize, usize) {
        let (mut removed, mut left) = (0, 0);
        let judged = self.candidates.iter().map(|mut candidate| {
            if candidate.filtered_by.is_some() {
            } else if keep(&candidate) {
                left += 1;
            } else {
                candidate.filtered_by = Some(gate);
                removed += 1;
            }
            candidate
        });
        let judged: Candidates = judged.collect();
        self.candidates = judged;
        (removed, left)
    }

    /// The same, where `keep` looks at nothing that differs between replicas that are alike.
    pub(super) fn retain_alike(&mut self, gate: GateId, keep: impl Fn(&Candidate) -> bool) -> (usize, usize) {
        let is_refused = |common: &Candidate| common.filtered_by.is_none() && !keep(common);
        let (mut removed, mut left) = (0, 0);
        for (common, members) in self.candidates.commons().zip(self.candidates.all_members()) {
            match is_refused(common) {
                true => removed += members.len(),
                false if common.filtered_by.is_none() => left += members.len(),
                false => {}
            }
        }
        if removed > 0 {
            let commons = self.candidates.commons_mut();
            commons.filter(|common| is_refused(common)).for_each(|common| common.filtered_by = Some(gate));
        }
        (removed, left)
    }
}
