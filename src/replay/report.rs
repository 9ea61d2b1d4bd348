//! What a replay came to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::check::{Difference, Mismatch};
use super::timeline::Timeline;
use super::timings::Timings;
use crate::capture::{Body, Notes, Record};
use crate::decision::{Decision, GateId, Reason};
use crate::model::{LookupRequest, Timestamp};

/// Warnings kept; further ones are only counted.
pub const MAX_WARNINGS: usize = 50;

/// What comparing one answer came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Checked {
    /// There is nothing to compare with.
    Nothing,
    /// The recorded answer hangs on something that a replay does not have.
    NotComparable,
    /// They agree.
    Agrees,
    /// They differ.
    Differs(Difference),
}

/// The policies that were given in place of the captured ones, and whether they held for anybody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenPolicy {
    /// The file.
    pub name: String,
    /// Tenants that it has objects for.
    pub tenants: BTreeSet<String>,
    /// Whether a record names one of them.
    pub is_met: bool,
}

impl GivenPolicy {
    /// What a person should know of policies that hold for nobody in the captures.
    pub fn idle(&self) -> Option<String> {
        (!self.is_met).then(|| self.without_effect("a tenant of the capture"))
    }

    /// The same of policies that do not hold for `tenant`.
    pub fn idle_for_tenant(&self, tenant: &str) -> Option<String> {
        (!self.tenants.contains(tenant))
            .then(|| self.without_effect(&format!("the request's tenant `{tenant}`")))
    }

    fn without_effect(&self, whom: &str) -> String {
        let name = &self.name;
        if self.tenants.is_empty() {
            return format!(
                "`{name}` holds no CachePolicy or CacheTenant, so the defaults hold for everybody"
            );
        }
        let listed: Vec<String> =
            self.tenants.iter().take(TENANTS).map(|tenant| format!("`{tenant}`")).collect();
        let more = self.tenants.len().saturating_sub(TENANTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "no object of `{name}` applies to {whom}: they apply to {}{more}; an object's tenant is its \
             metadata.namespace, and `default` where it has none",
            listed.join(", ")
        )
    }
}

/// Tenants that a sentence lists.
const TENANTS: usize = 5;

/// Counts of one replay, or the sum of several.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReplayReport {
    /// Captures replayed.
    pub files: u64,
    /// Records by kind.
    pub records: BTreeMap<&'static str, u64>,
    /// Records of kinds that this version does not know, by kind as far as they are kept.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Records of kinds that this version does not know, all told.
    pub unknown_records: u64,
    /// Lines that could not be used.
    pub bad_lines: u64,
    /// Captures whose last line was not finished.
    pub torn: u64,
    /// What a person should know, each as a sentence.
    pub warnings: Vec<String>,
    /// Warnings beyond those kept.
    pub more_warnings: u64,
    /// Times of the first and last record; of several captures, the outermost.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Blocks stored or refreshed.
    pub blocks: u64,
    /// What was dropped, by where it was dropped (`ingest` or `engine`) and cause.
    pub dropped: BTreeMap<(&'static str, &'static str), u64>,
    /// Engines that were found to have restarted.
    pub engine_restarts: u64,
    /// Batches that came a second time.
    pub engine_duplicates: u64,
    /// Events by type, those that engine batches came to included.
    pub events: BTreeMap<&'static str, u64>,
    /// Entries that events removed.
    pub removed: u64,
    /// Sweeps.
    pub sweeps: u64,
    /// Entries that reached their time to live.
    pub expired: u64,
    /// Entries evicted over the cap of the index.
    pub evicted_cap: u64,
    /// Keys evicted over a tenant's quota.
    pub evicted_quota_keys: u64,
    /// Entries in the index at the end.
    pub entries_at_end: u64,
    /// Policy records that `--policy` took the place of.
    pub policies_overridden: u64,
    /// The policies of `--policy`.
    pub policy: Option<GivenPolicy>,
    /// Lookups.
    pub lookups: u64,
    /// Lookups by reason code.
    pub reasons: BTreeMap<Reason, u64>,
    /// Lookups by the gate that decided them.
    pub gates: BTreeMap<GateId, u64>,
    /// Lookups whose answer names a replica.
    pub hints: u64,
    /// Tokens that the lookups' prompts have, as the requests say.
    pub asked_tokens: u64,
    /// Of those, tokens that the first replica of the answer holds.
    pub matched_tokens: u64,
    /// Lookups compared.
    pub checked: u64,
    /// Lookups whose recorded answer a replay cannot give again.
    pub not_comparable: u64,
    /// Of those compared, lookups answered otherwise.
    pub mismatched: u64,
    /// The first of them.
    pub mismatches: Vec<Mismatch>,
    /// What happened when.
    pub timeline: Timeline,
    /// Time that lookups took on this machine, or that a server took to answer them, where it was measured.
    pub timings: Option<Timings>,
    /// How a replay against a server kept to its times.
    pub pace: Option<Pace>,
}

/// How a replay against a server kept to its times.
#[derive(Clone, PartialEq, Debug)]
pub struct Pace {
    /// How much faster than recorded; `None` is as fast as the server answers.
    pub speed: Option<f64>,
    /// From the first record to the last answer.
    pub elapsed: Duration,
    /// How far the record that was sent latest was behind its time.
    pub greatest_lag: Duration,
}

impl ReplayReport {
    /// Nothing replayed yet of one capture.
    pub(super) fn new() -> Self {
        Self { files: 1, ..Self::default() }
    }

    /// Adds what another replay came to; of its mismatches as many as fit below `mismatches`.
    pub fn add(&mut self, other: Self, mismatches: usize) {
        self.files += other.files;
        add_counts(&mut self.records, other.records);
        add_counts(&mut self.unknown_kinds, other.unknown_kinds);
        self.unknown_records += other.unknown_records;
        self.bad_lines += other.bad_lines;
        self.torn += other.torn;
        self.more_warnings += other.more_warnings;
        other.warnings.into_iter().for_each(|warning| self.warn(warning));
        if let Some((first, last)) = other.span {
            self.cover(first);
            self.cover(last);
        }
        self.blocks += other.blocks;
        add_counts(&mut self.dropped, other.dropped);
        self.engine_restarts += other.engine_restarts;
        self.engine_duplicates += other.engine_duplicates;
        add_counts(&mut self.events, other.events);
        self.removed += other.removed;
        self.sweeps += other.sweeps;
        self.expired += other.expired;
        self.evicted_cap += other.evicted_cap;
        self.evicted_quota_keys += other.evicted_quota_keys;
        self.entries_at_end += other.entries_at_end;
        self.policies_overridden += other.policies_overridden;
        match (&mut self.policy, other.policy) {
            (Some(policy), Some(other)) => policy.is_met |= other.is_met,
            (policy @ None, other) => *policy = other,
            (Some(_), None) => {}
        }
        self.lookups += other.lookups;
        add_counts(&mut self.reasons, other.reasons);
        add_counts(&mut self.gates, other.gates);
        self.hints += other.hints;
        self.asked_tokens += other.asked_tokens;
        self.matched_tokens += other.matched_tokens;
        self.checked += other.checked;
        self.not_comparable += other.not_comparable;
        self.mismatched += other.mismatched;
        let room = mismatches.saturating_sub(self.mismatches.len());
        self.mismatches.extend(other.mismatches.into_iter().take(room));
        self.timeline.add(other.timeline);
        self.pace = self.pace.take().or(other.pace);
        if let Some(timings) = other.timings {
            self.timings.get_or_insert_default().merge(&timings);
        }
    }

    /// Adds what a person should know.
    pub fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.more_warnings += 1;
        }
    }

    pub(super) fn bad_line(&mut self, what: String) {
        self.bad_lines += 1;
        self.warn(what);
    }

    /// Takes over what the reader passed over.
    pub(super) fn note(&mut self, notes: &Notes) {
        self.bad_lines += notes.bad_lines;
        self.unknown_records += notes.unknown;
        add_counts(&mut self.unknown_kinds, notes.unknown_kinds.clone());
        self.torn += u64::from(notes.torn.is_some());
        notes.warnings().into_iter().for_each(|warning| self.warn(warning));
        self.more_warnings += notes.bad_lines - notes.first_bad.len() as u64;
    }

    /// The warnings, and how many more there are where not all are kept.
    pub fn told_warnings(&self) -> Vec<String> {
        let more = (self.more_warnings > 0).then(|| format!("and {} more", self.more_warnings));
        self.warnings.iter().cloned().chain(more).collect()
    }

    pub(super) fn count_record(&mut self, record: &Record) {
        match &record.body {
            Body::KvBatch(batch) => self.meet(&batch.tenant),
            Body::Report(update) => self.meet(&update.tenant_id),
            Body::Event(event) => self.meet(&event.tenant_id),
            Body::Lookup(lookup) => self.meet(&lookup.request.tenant_id),
            Body::State(state) => state.updates.iter().for_each(|update| self.meet(&update.tenant_id)),
            Body::Policy(_) | Body::Config(_) | Body::Sweep => {}
        }
        *self.records.entry(record.body.kind()).or_default() += 1;
        self.timeline.bucket(record.at).records += 1;
        self.cover(record.at);
    }

    /// Notes that the capture has something of `tenant`.
    fn meet(&mut self, tenant: &str) {
        if let Some(policy) = self.policy.as_mut().filter(|policy| !policy.is_met) {
            policy.is_met = policy.tenants.contains(tenant);
        }
    }

    pub(super) fn count_bare(&mut self, at: Timestamp, tenant: &str) {
        self.meet(tenant);
        *self.records.entry("kv-batch").or_default() += 1;
        self.timeline.bucket(at).records += 1;
        self.cover(at);
    }

    pub(super) fn count_lookup(&mut self, at: Timestamp, request: &LookupRequest<'_>, decision: &Decision) {
        *self.gates.entry(decision.because).or_default() += 1;
        let first = decision.hints().next().map(|hint| hint.matched_tokens);
        self.count_answer(at, request, Some(decision.reason), first);
    }

    /// Counts an answer; `matched_tokens` are those of its first replica, `None` where it names none.
    pub(super) fn count_answer(
        &mut self,
        at: Timestamp,
        request: &LookupRequest<'_>,
        reason: Option<Reason>,
        matched_tokens: Option<i32>,
    ) {
        let asked = asked_tokens(request);
        let is_hint = u64::from(matched_tokens.is_some());
        let matched = u64::try_from(matched_tokens.unwrap_or(0)).unwrap_or(0).min(asked);
        self.lookups += 1;
        self.hints += is_hint;
        self.asked_tokens += asked;
        self.matched_tokens += matched;
        let bucket = self.timeline.bucket(at);
        bucket.lookups += 1;
        bucket.hints += is_hint;
        bucket.asked_tokens += asked;
        bucket.matched_tokens += matched;
        if let Some(reason) = reason {
            *bucket.reasons.entry(reason).or_default() += 1;
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// Counts what comparing an answer came to; of differing ones the first `mismatches` are kept whole.
    pub(super) fn count_checked(
        &mut self,
        at: Timestamp,
        checked: Checked,
        mismatches: usize,
        mismatch: impl FnOnce(Difference) -> Mismatch,
    ) {
        let difference = match checked {
            Checked::Nothing => return,
            Checked::NotComparable => return self.not_comparable += 1,
            Checked::Agrees => None,
            Checked::Differs(difference) => Some(difference),
        };
        self.checked += 1;
        let Some(difference) = difference else { return };
        self.mismatched += 1;
        self.timeline.bucket(at).mismatched += 1;
        if self.mismatches.len() < mismatches {
            self.mismatches.push(mismatch(difference));
        }
    }

    fn cover(&mut self, at: Timestamp) {
        self.span = Some(match self.span {
            Some((first, last)) => (first.min(at), last.max(at)),
            None => (at, at),
        });
    }
}

/// Tokens of the prompt as the request says: of its blocks, else of its tokens, else of its prefix.
fn asked_tokens(request: &LookupRequest<'_>) -> u64 {
    let positive = |count: &i32| u64::try_from(*count).unwrap_or(0);
    if !request.block_token_counts.is_empty() {
        request.block_token_counts.iter().map(positive).sum()
    } else if !request.token_ids.is_empty() {
        request.token_ids.len() as u64
    } else {
        positive(&request.prefix_token_count)
    }
}

fn add_counts<K: Ord>(sum: &mut BTreeMap<K, u64>, counts: BTreeMap<K, u64>) {
    for (key, count) in counts {
        *sum.entry(key).or_default() += count;
    }
}
