//! One publisher's numbered batches, brought into order: gaps, replays of what is missing, repetitions and restarts.
//!
//! Pure: it is told what arrives, and says step by step what that means. Whoever owns the connection carries the steps
//! out. A batch is known by its number and a fingerprint of its bytes, which tells a repetition from another process
//! that counts from 0 again.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

/// Batches whose fingerprints are kept, the latest: more than engines keep for a replay by default.
pub const MAX_FINGERPRINTS: usize = 16_384;
/// Live batches that wait for the end of a replay at most; at the bound the replay is given up.
pub const MAX_PARKED: usize = 8_192;
/// Bytes of those batches at most.
pub const MAX_PARKED_BYTES: usize = 64 << 20;

/// A number that no batch has: it ends a replay.
pub const END_OF_REPLAY: u64 = u64::MAX;

/// One batch as it arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numbered<P> {
    /// Its number in the stream.
    pub seq: u64,
    /// Of its bytes, by [`Numbered::new`].
    pub fingerprint: u64,
    /// Size, counted against [`MAX_PARKED_BYTES`].
    pub bytes: usize,
    /// What is handed on.
    pub payload: P,
}

impl<P: AsRef<[u8]>> Numbered<P> {
    /// A batch that is handed on with its bytes.
    pub fn new(seq: u64, payload: P) -> Self {
        let bytes = payload.as_ref();
        Self { seq, fingerprint: xxh3_64(bytes), bytes: bytes.len(), payload }
    }
}

impl Numbered<()> {
    /// A batch whose bytes stay with the caller.
    pub fn of(seq: u64, bytes: &[u8]) -> Self {
        Self { seq, fingerprint: xxh3_64(bytes), bytes: bytes.len(), payload: () }
    }
}

/// What the owner of the connection must do, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step<P> {
    /// The next batch of the stream.
    Apply {
        /// Its number.
        seq: u64,
        /// The batch.
        payload: P,
    },
    /// So many batches before the next one are gone for good.
    Lost(u64),
    /// A batch that was applied before came again, and is passed over.
    Again,
    /// The publisher began anew, with an empty cache: forget what its batches said.
    Restarted,
    /// Ask for a replay from this number on, in place of any that is under way. Its batches go to [`Stream::replayed`],
    /// its end to [`Stream::replay_over`].
    Replay(u64),
}

/// How a replay ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayEnd {
    /// The publisher said that this was all.
    Complete,
    /// It was not asked, did not answer, or stopped amid the answer.
    Broken,
}

/// The state of one stream. Memory is bounded by [`MAX_FINGERPRINTS`], [`MAX_PARKED`] and [`MAX_PARKED_BYTES`].
#[derive(Debug)]
pub struct Stream<P> {
    /// Number of the batch that comes next; 0 also while nothing is known.
    next: u64,
    /// Whether the first batch may have any number.
    joins_anywhere: bool,
    can_replay: bool,
    /// Highest number that came live from the process that publishes now.
    last_live: Option<u64>,
    /// Fingerprints of the batches before `next`, the latest last.
    applied: VecDeque<u64>,
    asked: Option<Asked>,
    /// The gap that a replay could not close begins at this number: it is not asked for again.
    exhausted: Option<u64>,
    /// Number and fingerprint of the live batch that the last restart was told from. Where the replay after it has another
    /// one in its place, the publisher contradicts itself, and beginning anew once more would bring the same.
    contested: Option<(u64, u64)>,
    parked: VecDeque<Numbered<P>>,
    parked_bytes: usize,
}

/// A replay under way.
#[derive(Clone, Copy, Debug)]
struct Asked {
    why: Why,
    has_answer: bool,
}

/// Why a replay was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// Something is missing.
    Gap,
    /// The connection is new: the batch that was applied last is asked for too, since the publisher may be another one.
    Connected,
    /// Nothing has come for a while: the same, of the publisher that was there all the while.
    Quiet,
}

impl<P> Stream<P> {
    /// A stream that is followed from its first batch on, with replays.
    pub fn live() -> Self {
        Self::new(false, true)
    }

    /// A stream as it was recorded: it may begin anywhere, and what is missing stays missing.
    pub fn recorded() -> Self {
        Self::new(true, false)
    }

    fn new(joins_anywhere: bool, can_replay: bool) -> Self {
        Self {
            next: 0,
            joins_anywhere,
            can_replay,
            last_live: None,
            applied: VecDeque::new(),
            asked: None,
            exhausted: None,
            contested: None,
            parked: VecDeque::new(),
            parked_bytes: 0,
        }
    }

    /// Number of the batch that comes next.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// The connection is there, for the first time or again: what was published meanwhile is asked for, without waiting
    /// for the next batch.
    pub fn connected(&mut self, out: &mut Vec<Step<P>>) {
        if !self.can_replay {
            return;
        }
        self.exhausted = None;
        match self.next.checked_sub(1) {
            None => self.ask(0, Why::Gap, out),
            Some(last) => self.ask(last, Why::Connected, out),
        }
    }

    /// Nothing has come for a while: the last batches may be missing, which no later one has told.
    pub fn quiet(&mut self, out: &mut Vec<Step<P>>) {
        if self.can_replay && self.asked.is_none() {
            match self.next.checked_sub(1) {
                None => self.ask(0, Why::Gap, out),
                Some(last) => self.ask(last, Why::Quiet, out),
            }
        }
    }

    /// A batch came live.
    pub fn live_batch(&mut self, batch: Numbered<P>, out: &mut Vec<Step<P>>) {
        if self.asked.is_some() {
            let is_full =
                self.parked.len() >= MAX_PARKED || self.parked_bytes + batch.bytes > MAX_PARKED_BYTES;
            self.park(batch);
            if is_full {
                self.replay_over(ReplayEnd::Broken, out);
            }
            return;
        }
        if let Some(waits) = self.take(batch, out) {
            self.park(waits);
        }
    }

    /// A batch came as part of the replay that was asked for last.
    pub fn replayed(&mut self, batch: Numbered<P>, out: &mut Vec<Step<P>>) {
        let Some(asked) = &mut self.asked else { return };
        let is_first = !asked.has_answer;
        asked.has_answer = true;
        let has_last = asked.why != Why::Gap;
        if has_last && is_first && self.next.checked_sub(1) == Some(batch.seq) {
            if self.applied.back() != Some(&batch.fingerprint) {
                self.restart(out);
                self.ask(0, Why::Gap, out);
            }
            return;
        }
        if batch.seq < self.next {
            out.push(Step::Again);
            return;
        }
        self.fill(batch.seq, out);
        self.lose_amid_replay(batch.seq, out);
        self.apply(batch, out);
    }

    /// What a replay leaves out before `until`, as far as it came live meanwhile.
    fn fill(&mut self, until: u64, out: &mut Vec<Step<P>>) {
        while self.next < until {
            let missing = |batch: &Numbered<P>| (self.next..until).contains(&batch.seq);
            let at = (0..self.parked.len())
                .filter(|at| missing(&self.parked[*at]))
                .min_by_key(|at| self.parked[*at].seq);
            let Some(batch) = at.and_then(|at| self.parked.remove(at)) else { return };
            self.parked_bytes -= batch.bytes;
            self.lose_amid_replay(batch.seq, out);
            self.apply(batch, out);
        }
    }

    /// Passes over what waits and was replayed, as long as its fingerprint can tell that, before a loss forgets it.
    fn lose_amid_replay(&mut self, seq: u64, out: &mut Vec<Step<P>>) {
        if seq > self.next {
            let waiting = std::mem::take(&mut self.parked);
            let is_repeated = |batch: &Numbered<P>| self.fingerprint_of(batch.seq) == Some(batch.fingerprint);
            let (repeated, waiting): (VecDeque<_>, VecDeque<_>) = waiting.into_iter().partition(is_repeated);
            self.parked_bytes -= repeated.iter().map(|batch| batch.bytes).sum::<usize>();
            self.parked = waiting;
            out.extend(repeated.iter().map(|_| Step::Again));
            self.lose_until(seq, out);
        }
    }

    /// The replay that was asked for last is over; a live stream goes on with what came meanwhile.
    pub fn replay_over(&mut self, end: ReplayEnd, out: &mut Vec<Step<P>>) {
        let Some(asked) = self.asked.take() else { return };
        if asked.why == Why::Connected && !asked.has_answer && end == ReplayEnd::Complete {
            // It does not know the batch that was applied last, so it is another process.
            self.restart(out);
            self.ask(0, Why::Gap, out);
            return;
        }
        // What waits arrived before the end, so the replay had its chance to close the gap before it.
        self.exhausted = (!self.parked.is_empty()).then_some(self.next);
        while self.asked.is_none()
            && let Some(batch) = self.parked.pop_front()
        {
            self.parked_bytes -= batch.bytes;
            if let Some(waits) = self.take(batch, out) {
                self.parked_bytes += waits.bytes;
                self.parked.push_front(waits);
            }
        }
        self.exhausted = None;
    }

    /// Applies a live batch, or gives it back where what is before it was asked for.
    fn take(&mut self, batch: Numbered<P>, out: &mut Vec<Step<P>>) -> Option<Numbered<P>> {
        let seq = batch.seq;
        if seq < self.next {
            let is_repetition = self.last_live.is_none_or(|last| seq >= last)
                && self.fingerprint_of(seq) == Some(batch.fingerprint);
            if is_repetition {
                self.last_live = Some(seq);
                out.push(Step::Again);
                return None;
            }
            let told_by = Some((seq, batch.fingerprint));
            if self.contested == told_by {
                out.push(Step::Again);
                return None;
            }
            self.restart(out);
            self.contested = told_by;
        }
        if self.joins_anywhere && self.applied.is_empty() && self.last_live.is_none() {
            self.next = seq;
        }
        if seq > self.next {
            if self.can_replay && self.exhausted != Some(self.next) {
                self.ask(self.next, Why::Gap, out);
                return Some(batch);
            }
            self.lose_until(seq, out);
        }
        self.last_live = Some(seq);
        self.contested = None;
        self.apply(batch, out);
        None
    }

    fn apply(&mut self, batch: Numbered<P>, out: &mut Vec<Step<P>>) {
        if self.applied.len() == MAX_FINGERPRINTS {
            self.applied.pop_front();
        }
        self.applied.push_back(batch.fingerprint);
        self.next = batch.seq.saturating_add(1);
        out.push(Step::Apply { seq: batch.seq, payload: batch.payload });
    }

    /// Fingerprint of a batch that was applied, where it is still kept.
    fn fingerprint_of(&self, seq: u64) -> Option<u64> {
        let back = usize::try_from(self.next.checked_sub(seq)?).ok()?;
        let at = self.applied.len().checked_sub(back)?;
        self.applied.get(at).copied()
    }

    fn lose_until(&mut self, seq: u64, out: &mut Vec<Step<P>>) {
        if seq > self.next {
            out.push(Step::Lost(seq - self.next));
            // The fingerprints kept are those of consecutive batches.
            self.applied.clear();
            self.next = seq;
        }
    }

    /// What is parked came from the process that publishes now, and stays.
    fn restart(&mut self, out: &mut Vec<Step<P>>) {
        self.next = 0;
        self.last_live = None;
        self.applied.clear();
        self.exhausted = None;
        // The new process began at 0, so its first batches may be missing even where the recording began anywhere.
        self.joins_anywhere &= !self.can_replay;
        out.push(Step::Restarted);
    }

    fn ask(&mut self, from: u64, why: Why, out: &mut Vec<Step<P>>) {
        self.asked = Some(Asked { why, has_answer: false });
        out.push(Step::Replay(from));
    }

    fn park(&mut self, batch: Numbered<P>) {
        self.parked_bytes += batch.bytes;
        self.parked.push_back(batch);
    }
}
