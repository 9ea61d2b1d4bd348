//! Who asks when: the tickets of one slice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tonic::{Code, Status};

use super::run::Until;
use crate::bench::{Loop, Tally};
use crate::contract::code_name;

/// The longest that a thread sleeps before it looks whether it should end.
const NAP: Duration = Duration::from_millis(20);
/// More callers than there ever are.
const ALL_CALLERS: usize = 1 << 16;

/// One slice, shared by all who ask in it.
pub(super) struct Slice {
    started: Instant,
    ends: Option<Instant>,
    most: u64,
    /// Number of the first lookup: slices ask different questions.
    first: u64,
    asked: AtomicU64,
    answered: AtomicU64,
    open: Option<Open>,
    is_stopped: AtomicBool,
    lost: Mutex<Option<Status>>,
}

struct Open {
    rate: f64,
    due: Semaphore,
}

/// A lookup to ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) number: u64,
    /// When it was due.
    pub(super) due: Instant,
}

impl Slice {
    /// Starts now.
    pub(super) fn start(pace: Loop, until: Until, first: u64) -> Arc<Self> {
        let started = Instant::now();
        let (ends, most) = match until {
            Until::Elapsed(length) => (started.checked_add(length), u64::MAX),
            Until::Requests(most) => (None, most),
        };
        let open = match pace {
            Loop::Closed(_) => None,
            Loop::Open(rate) => Some(Open { rate, due: Semaphore::new(0) }),
        };
        let slice = Arc::new(Self {
            started,
            ends,
            most,
            first,
            asked: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            open,
            is_stopped: AtomicBool::new(false),
            lost: Mutex::new(None),
        });
        if slice.open.is_some() {
            let pacer = Arc::clone(&slice);
            // The runtime's timers are right to a millisecond, which is more than some lookups take.
            thread::spawn(move || pacer.give_out());
        }
        slice
    }

    /// The next lookup, once it is due; none when the slice is over.
    pub(super) async fn ticket(&self) -> Option<Ticket> {
        if let Some(open) = &self.open {
            open.due.acquire().await.ok()?.forget();
        }
        if self.is_over() {
            return None;
        }
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let due = match &self.open {
            Some(open) => self.due(open.rate, number),
            None => Instant::now(),
        };
        if number >= self.most {
            return None;
        }
        Some(Ticket { number: self.first.wrapping_add(number), due })
    }

    /// Lets lookups become due, and at the end wakes whoever waits for one.
    fn give_out(&self) {
        let Some(open) = &self.open else { return };
        let mut given = 0;
        while !self.is_over() && given < self.most {
            let now = (self.started.elapsed().as_secs_f64() * open.rate) as u64;
            let due = now.saturating_add(1).min(self.most);
            open.due.add_permits(usize::try_from(due.saturating_sub(given)).unwrap_or(0));
            given = due.max(given);
            let wait = self.due(open.rate, given).saturating_duration_since(Instant::now());
            thread::park_timeout(wait.min(NAP));
        }
        open.due.add_permits(ALL_CALLERS);
    }

    fn due(&self, rate: f64, number: u64) -> Instant {
        let span = Duration::try_from_secs_f64(number as f64 / rate).unwrap_or(Duration::MAX);
        self.started.checked_add(span).unwrap_or(self.started)
    }

    fn is_over(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) || self.ends.is_some_and(|ends| Instant::now() >= ends)
    }

    /// Asks nothing more.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// An answer has come.
    pub(super) fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// A lookup has failed. Where the server is gone there is no point in going on.
    pub(super) fn failed(&self, status: Status, tally: &Mutex<Tally>) {
        tally.lock().error(code_name(status.code()));
        let is_cut = status.code() == Code::Unavailable
            || (status.code() == Code::Unknown && std::error::Error::source(&status).is_some());
        let mut lost = self.lost.lock();
        if lost.as_ref().is_none_or(|known| is_cut && known.code() != Code::Unavailable) {
            *lost = Some(status);
        }
        if is_cut {
            self.stop();
        }
    }

    /// Time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Answers so far.
    pub(super) fn answers(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// What the first failure was, or the one that ended the slice; and whether one ended it.
    pub(super) fn fault(&self) -> Option<Status> {
        self.lost.lock().clone()
    }

    /// Whether it was ended from outside or by a failure.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Lookups that were due and not asked.
    pub(super) fn unsent(&self) -> u64 {
        let Some(open) = &self.open else { return 0 };
        let until = self.ends.map_or(self.elapsed(), |ends| (ends - self.started).min(self.elapsed()));
        // The first is due at once.
        let due = ((until.as_secs_f64() * open.rate).ceil() as u64).min(self.most);
        due.saturating_sub(self.asked.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_loop_gives_each_number_once() {
        let slice = Slice::start(Loop::Closed(3), Until::Requests(5), 100);
        let mut numbers = Vec::new();
        while let Some(ticket) = slice.ticket().await {
            numbers.push(ticket.number);
        }
        assert_eq!(numbers, [100, 101, 102, 103, 104]);
        assert_eq!(slice.unsent(), 0);
    }

    #[tokio::test]
    async fn lookups_of_an_open_loop_are_due_when_the_rate_says() {
        let slice = Slice::start(Loop::Open(1_000.0), Until::Requests(20), 0);
        let mut due = Vec::new();
        while let Some(ticket) = slice.ticket().await {
            assert!(Instant::now() >= ticket.due, "none is asked before its time");
            due.push(ticket.due - slice.started);
        }
        assert_eq!(due, (0..20).map(Duration::from_millis).collect::<Vec<_>>());
        assert!(slice.elapsed() >= Duration::from_millis(19));
    }

    #[tokio::test]
    async fn what_was_due_and_not_asked_is_counted() {
        let slice = Slice::start(Loop::Open(1_000.0), Until::Elapsed(Duration::from_millis(50)), 0);
        let first = slice.ticket().await.unwrap();
        while !slice.is_over() {
            tokio::task::yield_now().await;
        }
        assert!(slice.ticket().await.is_none());
        assert_eq!((first.number, slice.unsent()), (0, 49));
    }

    #[tokio::test]
    async fn a_server_that_is_gone_ends_the_slice() {
        let slice = Slice::start(Loop::Closed(1), Until::Requests(5), 0);
        let tally = Mutex::new(Tally::default());
        slice.failed(Status::deadline_exceeded("late"), &tally);
        assert!(slice.ticket().await.is_some(), "one that is late is one that is late");
        slice.failed(Status::unavailable("gone"), &tally);
        slice.failed(Status::internal("later"), &tally);
        assert!(slice.ticket().await.is_none());
        assert_eq!(slice.fault().unwrap().code(), Code::Unavailable);
        assert_eq!(tally.lock().failed(), 3);
    }
}
