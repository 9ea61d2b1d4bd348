//! What one replica has before it: the hints delivered to it, in order, until its reports or time take them away.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::decision::Load;
use crate::model::Timestamp;

/// Hints of one replica that are kept at most; the oldest is forgotten for a further one.
pub const MAX_HINTS_PER_REPLICA: usize = 1_024;

/// Nanoseconds after the end of its claims for which a hint may still be confirmed: others' requests may be before it.
const LATEST_NS: i64 = 60_000_000_000;
/// Seconds in which what hints brought counts for e times less.
const RECENT_S: f32 = 300.0;
/// Seconds of work that the configured rate counts as, beside what is observed.
const PRIOR_S: f64 = 1.0;
/// Seconds of observed work beyond which the older half is forgotten.
const MEMORY_S: f64 = 30.0;
/// How far the observed rate may be from the configured one, up and down.
const RATE_SPAN: f64 = 64.0;

/// Keys of a chain that a hint claims.
pub(super) type ClaimKeys = SmallVec<[u64; 16]>;

/// One replica. What lookups read is kept apart from the queue, each part on its own: a mix of two moments is an estimate
/// as good as either.
#[derive(Debug)]
pub(super) struct Backlog {
    number: u32,
    configured_rate: f32,
    /// Tokens to prefill as of `since_ns`, as bits.
    tokens: AtomicU32,
    since_ns: AtomicI64,
    /// Tokens a second, as bits.
    rate: AtomicU32,
    hinted_ns: AtomicI64,
    /// Tokens that hints brought of late as of `hinted_ns`, as bits.
    recent: AtomicU32,
    waiting: AtomicUsize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    hints: VecDeque<Hint>,
    /// The first hint that ends with a key.
    by_last: HashMap<u64, u64>,
    next_sequence: u64,
    /// Tokens of all hints.
    tokens: f64,
    done_ns: i64,
    observed_tokens: f64,
    observed_s: f64,
}

#[derive(Debug)]
struct Hint {
    sequence: u64,
    tokens: f32,
    delivered_ns: i64,
    forget_ns: i64,
    keys: ClaimKeys,
}

impl Backlog {
    pub(super) fn new(number: u32, rate: f32, now: Timestamp) -> Self {
        Self {
            number,
            configured_rate: rate,
            tokens: AtomicU32::new(0),
            since_ns: AtomicI64::new(now.as_ns()),
            rate: AtomicU32::new(rate.to_bits()),
            hinted_ns: AtomicI64::new(now.as_ns()),
            recent: AtomicU32::new(0),
            waiting: AtomicUsize::new(0),
            queue: Mutex::default(),
        }
    }

    /// What it is known by in claims.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// When it got its last hint, or came to be known.
    pub(super) fn hinted_at(&self) -> Timestamp {
        Timestamp::from_ns(self.hinted_ns.load(Ordering::Relaxed))
    }

    /// Hints kept.
    pub(super) fn hints(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether no hint waits for a report.
    pub(super) fn is_idle(&self) -> bool {
        self.hints() == 0
    }

    fn rate(&self) -> f32 {
        f32::from_bits(self.rate.load(Ordering::Relaxed))
    }

    /// Tokens that are left at `now`, by the rate observed.
    fn pending(&self, now: Timestamp) -> f32 {
        let since = Timestamp::from_ns(self.since_ns.load(Ordering::Relaxed));
        let done = since.age_ns(now).max(0) as f32 / 1e9 * self.rate();
        (f32::from_bits(self.tokens.load(Ordering::Relaxed)) - done).max(0.0)
    }

    fn set_pending(&self, tokens: f32, since_ns: i64) {
        self.tokens.store(tokens.max(0.0).to_bits(), Ordering::Relaxed);
        self.since_ns.store(since_ns, Ordering::Relaxed);
    }

    pub(super) fn load(&self, now: Timestamp) -> Load {
        Load {
            pending_tokens: self.pending(now),
            recent_tokens: self.recent(now),
            rate: self.rate(),
            provisional_tokens: 0,
        }
    }

    /// What hints brought, each weighed less by a factor of e for every [`RECENT_S`] of its age.
    fn recent(&self, now: Timestamp) -> f32 {
        let recent = f32::from_bits(self.recent.load(Ordering::Relaxed));
        if recent == 0.0 {
            return 0.0;
        }
        let age_s = self.hinted_at().age_ns(now).max(0) as f32 / 1e9;
        recent * (-age_s / RECENT_S).exp()
    }

    /// A hint that brings `tokens`; its sequence, and when its claims end. `None` where it brings nothing.
    pub(super) fn add(
        &self,
        keys: ClaimKeys,
        tokens: f32,
        ttl_ns: i64,
        now: Timestamp,
    ) -> Option<(u64, Timestamp)> {
        let recent = self.recent(now) + tokens;
        self.recent.store(recent.to_bits(), Ordering::Relaxed);
        self.hinted_ns.store(now.as_ns(), Ordering::Relaxed);
        if tokens <= 0.0 {
            return None;
        }
        let mut queue = self.queue.lock();
        queue.forget_expired(now.as_ns());
        let pending = self.pending(now) + tokens;
        self.set_pending(pending, now.as_ns());
        let span_ns = (f64::from(pending) / f64::from(self.rate().max(1.0)) * 1e9) as i64;
        let expires = now.plus_ns(span_ns).plus_ns(ttl_ns);
        let sequence = queue.push(Hint {
            sequence: 0,
            tokens,
            delivered_ns: now.as_ns(),
            forget_ns: expires.plus_ns(LATEST_NS).as_ns(),
            keys,
        });
        self.waiting.store(queue.hints.len(), Ordering::Relaxed);
        Some((sequence, expires))
    }

    /// Hands the keys of a hint to `with`, where it is still kept.
    pub(super) fn with_keys(&self, sequence: u64, with: impl FnOnce(&[u64])) {
        let queue = self.queue.lock();
        if let Some(hint) = queue.hints.iter().rev().find(|hint| hint.sequence == sequence) {
            with(&hint.keys);
        }
    }

    /// Blocks that were stored at `at`: the hints that end with one of them are done, and so are those before, since
    /// engines prefill in the order of arrival. The keys that those claimed.
    pub(super) fn confirm(&self, stored: impl Iterator<Item = u64>, at: Timestamp) -> Vec<u64> {
        let mut queue = self.queue.lock();
        let Some(last) = stored.filter_map(|key| queue.by_last.get(&key).copied()).max() else {
            return Vec::new();
        };
        let (mut done, mut tokens, mut begun_ns) = (Vec::new(), 0.0, None);
        while let Some(hint) = queue.hints.front()
            && hint.sequence <= last
            && let Some(hint) = queue.pop()
        {
            begun_ns.get_or_insert(hint.delivered_ns);
            tokens += f64::from(hint.tokens);
            done.extend(hint.keys);
        }
        let at_ns = at.as_ns();
        let begun_ns = begun_ns.unwrap_or(at_ns).max(queue.done_ns);
        queue.observe(tokens, at_ns.saturating_sub(begun_ns) as f64 / 1e9);
        queue.done_ns = queue.done_ns.max(at_ns);
        self.rate.store((queue.rate(f64::from(self.configured_rate)) as f32).to_bits(), Ordering::Relaxed);
        // What is left begins now, or when it was delivered.
        let since_ns = queue.hints.front().map_or(at_ns, |hint| hint.delivered_ns.max(at_ns));
        self.set_pending(queue.tokens as f32, since_ns);
        self.waiting.store(queue.hints.len(), Ordering::Relaxed);
        done
    }

    /// Drops all hints; the keys that they claimed.
    pub(super) fn clear(&self, now: Timestamp) -> Vec<u64> {
        let mut queue = self.queue.lock();
        let mut keys = Vec::new();
        while let Some(hint) = queue.pop() {
            keys.extend(hint.keys);
        }
        self.set_pending(0.0, now.as_ns());
        self.waiting.store(0, Ordering::Relaxed);
        keys
    }
}

impl Queue {
    fn push(&mut self, hint: Hint) -> u64 {
        while self.hints.len() >= MAX_HINTS_PER_REPLICA {
            self.pop();
        }
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        if let Some(last) = hint.keys.last() {
            self.by_last.entry(*last).or_insert(sequence);
        }
        self.tokens += f64::from(hint.tokens);
        self.hints.push_back(Hint { sequence, ..hint });
        sequence
    }

    fn pop(&mut self) -> Option<Hint> {
        let hint = self.hints.pop_front()?;
        self.tokens = if self.hints.is_empty() { 0.0 } else { self.tokens - f64::from(hint.tokens) };
        if let Some(last) = hint.keys.last()
            && self.by_last.get(last) == Some(&hint.sequence)
        {
            self.by_last.remove(last);
        }
        Some(hint)
    }

    /// Hints that nobody will confirm any more. Their claims have ended by themselves.
    fn forget_expired(&mut self, now_ns: i64) {
        while self.hints.front().is_some_and(|hint| hint.forget_ns <= now_ns) {
            self.pop();
        }
    }

    fn observe(&mut self, tokens: f64, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        self.observed_tokens += tokens;
        self.observed_s += seconds;
        if self.observed_s > MEMORY_S {
            self.observed_tokens /= 2.0;
            self.observed_s /= 2.0;
        }
    }

    fn rate(&self, configured: f64) -> f64 {
        let rate = (self.observed_tokens + configured * PRIOR_S) / (self.observed_s + PRIOR_S);
        rate.clamp(configured / RATE_SPAN, configured * RATE_SPAN)
    }
}
