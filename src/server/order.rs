//! The one order of everything that changes or reads the index, kept while somebody observes it.
//!
//! Nobody observes: a change or a lookup takes its turn beside all others, for one load and an uncontended lock of its
//! own thread's. Somebody observes: turns come one after the other, and each has its record queued before the next
//! begins, at a time that never goes back, in whole microseconds, the unit of captures. A replay that applies the
//! records in their order and at their times then sees what the index saw.
//!
//! An observer begins with the state. While it is read nothing may change it: changes wait, up to a second for a
//! million entries, and lookups are answered and recorded meanwhile; the credits that they owe are given at the end, in
//! their order, which is the same, since no answer hangs on a credit.

use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};
use prost::Message as _;

use super::queue::{Bounds, Queue};
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::contract::wire::inferencecache::v1alpha1::LookupRouteRequest;
use crate::model::Timestamp;

/// Observers at a time: each may hold a queue and, while it begins, a state.
pub(super) const MAX_OBSERVERS: usize = 8;

/// Records that wait for one observer at most, and their bytes.
pub(super) const QUEUE: Bounds = Bounds { items: 262_144, bytes: 256 << 20, ends_at_gap: true };

/// Lookups whose credits may wait while a state is read.
const MAX_OWED: usize = 65_536;

/// Bytes of those lookups.
const MAX_OWED_BYTES: usize = 64 << 20;

/// Credits that are given before others get a turn.
const CREDITS_PER_TURN: usize = 64;

/// Threads that do not meet when nobody observes.
const GATES: usize = 64;

/// A lock of its own cache line.
#[repr(align(128))]
#[derive(Default)]
struct Gate(RwLock<()>);

/// Whoever wants a turn.
pub(super) struct Order {
    is_observed: AtomicBool,
    gates: Vec<Gate>,
    line: Mutex<Line>,
    /// Told whenever a state has been read.
    read: Condvar,
    /// Held while an observer begins, so that one does after the other.
    beginning: Mutex<()>,
}

/// What is behind the lock.
struct Line {
    last: Timestamp,
    sequence: u64,
    observers: Vec<Arc<Observer>>,
    /// A state is being read.
    reading: Option<Owed>,
    /// Somebody is about to observe.
    is_beginning: bool,
}

/// Credits that wait until the state has been read.
#[derive(Default)]
struct Owed {
    lookups: VecDeque<(LookupRouteRequest, Timestamp)>,
    bytes: usize,
    /// There were too many, and some were given at once: the state is not of one instant.
    is_spoilt: bool,
}

/// One who observes.
pub(super) struct Observer {
    pub(super) queue: Queue<Arc<wire::Record>>,
    /// Share of lookups, of 2^64.
    lookups: u64,
    takes_all: bool,
}

/// One's turn; over when it is dropped.
pub(super) struct Turn<'a> {
    now: Timestamp,
    line: Option<MutexGuard<'a, Line>>,
    _beside: Option<RwLockReadGuard<'a, ()>>,
}

/// The instant that an observer's state is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) at: Timestamp,
    pub(super) sequence: u64,
}

/// Why an observer cannot begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// There are as many as there may be.
    TooMany,
    /// Too many lookups came while the state was read.
    TooBusy,
}

impl Order {
    pub(super) fn new() -> Self {
        let line = Line {
            last: Timestamp::MIN,
            sequence: 0,
            observers: Vec::new(),
            reading: None,
            is_beginning: false,
        };
        Self {
            is_observed: AtomicBool::new(false),
            gates: std::iter::repeat_with(Gate::default).take(GATES).collect(),
            line: Mutex::new(line),
            read: Condvar::new(),
            beginning: Mutex::new(()),
        }
    }

    /// A turn for a change; waits while a state is being read, so it is for threads that may block.
    pub(super) fn change(&self) -> Turn<'_> {
        if let Some(turn) = self.beside() {
            return turn;
        }
        let mut line = self.line.lock();
        while line.reading.is_some() {
            self.read.wait(&mut line);
        }
        Turn::new(line)
    }

    /// The same; `None` where it would have to wait for a state to be read.
    pub(super) fn change_now(&self) -> Option<Turn<'_>> {
        if let Some(turn) = self.beside() {
            return Some(turn);
        }
        let line = self.line.lock();
        line.reading.is_none().then(|| Turn::new(line))
    }

    /// A turn for a lookup; never waits for a state to be read.
    pub(super) fn look_up(&self) -> Turn<'_> {
        self.beside().unwrap_or_else(|| Turn::new(self.line.lock()))
    }

    /// A turn beside all others, where nobody observes.
    fn beside(&self) -> Option<Turn<'_>> {
        if self.is_observed.load(Ordering::Acquire) {
            return None;
        }
        let gate = self.gates[own_gate()].0.read();
        // Whoever begins to observe says so first, and then waits for those that are past here.
        if self.is_observed.load(Ordering::Acquire) {
            return None;
        }
        Some(Turn { now: in_micros(Timestamp::now()), line: None, _beside: Some(gate) })
    }

    /// Begins to observe: from the cut on, records are queued for the observer; `read` reads the state of that instant.
    /// `credit` gives a lookup the credits that it is owed. Blocks until all of it is done.
    pub(super) fn observe<T>(
        &self,
        lookups: f64,
        read: impl FnOnce() -> T,
        credit: impl Fn(&LookupRouteRequest, Timestamp),
    ) -> Result<(Arc<Observer>, Cut, T), Refused> {
        let _beginning = self.beginning.lock();
        {
            let mut line = self.line.lock();
            if line.observers.len() >= MAX_OBSERVERS {
                return Err(Refused::TooMany);
            }
            line.is_beginning = true;
            self.is_observed.store(true, Ordering::SeqCst);
        }
        self.wait_for_those_beside();
        let observer = Arc::new(Observer::new(lookups));
        let mut reading = Reading { order: self, observer: Some(&observer), credit, is_kept: false };
        let cut = {
            let mut line = self.line.lock();
            line.reading = Some(Owed::default());
            let at = line.tick();
            line.record(at, || Some(Body::Cut(wire::Cut {})));
            line.observers.push(Arc::clone(&observer));
            Cut { at, sequence: line.sequence }
        };
        let state = read();
        let is_sound = reading.end();
        drop(reading);
        if is_sound { Ok((observer, cut, state)) } else { Err(Refused::TooBusy) }
    }

    /// Reads a state that nothing changes meanwhile, and observes nothing. `credit` gives a lookup the credits that it is
    /// owed. Where too many lookups come meanwhile, credits are given while the state is read, which may then lack what
    /// they moved. Blocks until all of it is done.
    pub(super) fn read_still<T>(
        &self,
        read: impl FnOnce() -> T,
        credit: impl Fn(&LookupRouteRequest, Timestamp),
    ) -> T {
        let _beginning = self.beginning.lock();
        {
            let mut line = self.line.lock();
            line.is_beginning = true;
            self.is_observed.store(true, Ordering::SeqCst);
        }
        self.wait_for_those_beside();
        let mut reading = Reading { order: self, observer: None, credit, is_kept: true };
        self.line.lock().reading = Some(Owed::default());
        let state = read();
        reading.end();
        state
    }

    /// Whoever went in before is out once this returns.
    fn wait_for_those_beside(&self) {
        for gate in &self.gates {
            drop(gate.0.write());
        }
    }

    /// Observes no longer.
    pub(super) fn leave(&self, observer: &Arc<Observer>) {
        let mut line = self.line.lock();
        line.observers.retain(|other| !Arc::ptr_eq(other, observer));
        self.rest(&line);
    }

    /// Lets turns be beside each other again where nobody observes.
    fn rest(&self, line: &Line) {
        if line.observers.is_empty() && !line.is_beginning {
            self.is_observed.store(false, Ordering::SeqCst);
        }
    }
}

/// A state that is being read. Changes go on when it ends, also by a panic, with which the observer goes.
struct Reading<'a, F: Fn(&LookupRouteRequest, Timestamp)> {
    order: &'a Order,
    /// Whom it is for, where it is for an observer.
    observer: Option<&'a Arc<Observer>>,
    credit: F,
    is_kept: bool,
}

impl<F: Fn(&LookupRouteRequest, Timestamp)> Reading<'_, F> {
    /// Gives the credits that are owed, and lets changes go on. Whether the state is of one instant.
    fn end(&mut self) -> bool {
        let mut line = self.order.line.lock();
        let is_spoilt = loop {
            let Some(owed) = &mut line.reading else { break true };
            let rest = owed.lookups.len().min(CREDITS_PER_TURN);
            if rest == 0 {
                break owed.is_spoilt;
            }
            for (request, now) in owed.lookups.drain(..rest) {
                owed.bytes = owed.bytes.saturating_sub(request.encoded_len());
                (self.credit)(&request, now);
            }
            MutexGuard::bump(&mut line);
        };
        line.reading = None;
        drop(line);
        self.order.read.notify_all();
        self.is_kept = !is_spoilt;
        !is_spoilt
    }
}

impl<F: Fn(&LookupRouteRequest, Timestamp)> Drop for Reading<'_, F> {
    fn drop(&mut self) {
        let mut line = self.order.line.lock();
        line.reading = None;
        line.is_beginning = false;
        if let Some(observer) = self.observer.filter(|_| !self.is_kept) {
            line.observers.retain(|other| !Arc::ptr_eq(other, observer));
        }
        self.order.rest(&line);
        drop(line);
        self.order.read.notify_all();
    }
}

impl Observer {
    fn new(lookups: f64) -> Self {
        let share = lookups.clamp(0.0, 1.0);
        // The product saturates where it is beyond what the number holds.
        Self { queue: Queue::new(QUEUE), lookups: (share * u64::MAX as f64) as u64, takes_all: share >= 1.0 }
    }

    /// Samples by the record's place, mixed so that no rhythm of callers meets that of the sample.
    fn takes(&self, record: &wire::Record) -> bool {
        let is_lookup = matches!(record.body, Some(Body::Lookup(_)));
        !is_lookup || self.takes_all || mixed(record.sequence) < self.lookups
    }
}

/// The finalizer of splitmix64.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Line {
    /// The time of the next turn.
    fn tick(&mut self) -> Timestamp {
        self.last = self.last.max(in_micros(Timestamp::now()));
        self.last
    }

    fn record(&mut self, at: Timestamp, body: impl FnOnce() -> Option<Body>) {
        if self.observers.is_empty() {
            return;
        }
        let Some(body) = body() else { return };
        self.sequence += 1;
        let (sequence, timestamp_us) = (self.sequence, at.as_us());
        let record = Arc::new(wire::Record { sequence, timestamp_us, body: Some(body) });
        let bytes = record.encoded_len();
        for observer in self.observers.iter().filter(|observer| observer.takes(&record)) {
            observer.queue.push(Arc::clone(&record), bytes);
        }
    }
}

impl<'a> Turn<'a> {
    fn new(mut line: MutexGuard<'a, Line>) -> Self {
        let now = line.tick();
        Self { now, line: Some(line), _beside: None }
    }

    /// The time of this turn, in whole microseconds.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether a lookup of this turn must leave credits to [`Self::owe`].
    pub(super) fn owes(&self) -> bool {
        let reading = self.line.as_ref().and_then(|line| line.reading.as_ref());
        reading.is_some_and(|owed| !owed.is_spoilt)
    }

    /// Leaves the credits of a lookup for later; `false` where too many wait, and they are to be given now.
    pub(super) fn owe(&mut self, request: &LookupRouteRequest) -> bool {
        let now = self.now;
        let reading = self.line.as_mut().and_then(|line| line.reading.as_mut());
        let Some(owed) = reading else { return false };
        let bytes = request.encoded_len();
        owed.is_spoilt |= owed.lookups.len() >= MAX_OWED || owed.bytes + bytes > MAX_OWED_BYTES;
        if !owed.is_spoilt {
            owed.bytes += bytes;
            owed.lookups.push_back((request.clone(), now));
        }
        !owed.is_spoilt
    }

    /// Records what was done in this turn; `body` is not called where nobody observes.
    pub(super) fn record(&mut self, body: impl FnOnce() -> Option<Body>) {
        if let Some(line) = &mut self.line {
            line.record(self.now, body);
        }
    }
}

/// Cut to the microsecond: the time that a record of a capture can say.
fn in_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_us(at.as_us())
}

fn own_gate() -> usize {
    thread_local! {
        static GATE: usize = {
            let mut hasher = DefaultHasher::new();
            std::thread::current().id().hash(&mut hasher);
            hasher.finish() as usize % GATES
        };
    }
    GATE.with(|gate| *gate)
}
