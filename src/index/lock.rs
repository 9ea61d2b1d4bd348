//! The read-write lock of the index: lookups first, and none is put to sleep for a section that lasts microseconds.
//!
//! A lookup that finds a section running says so and spins; the section ends at its next step, and the writer lets the
//! lookup in before it goes on. Only where that takes as long as a writer that lost its processor would, does the lookup
//! wait in the kernel.
//!
//! What it is made of is named by [`Parts`], so that a test can run it on parts whose every interleaving is tried.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A lock, a counter, and what a thread does that waits.
pub(super) trait Parts {
    /// The lock that excludes.
    type Lock<T>;
    type Reader<'a, T: 'a>;
    type Writer<'a, T: 'a>;
    type Count: Default;

    /// Tries of a lookup before it waits in the kernel.
    const TRIES: u32;
    /// Tries of a writer to let waiting lookups in: one that lost its processor must not hold it up for long.
    const WAITS: u32;
    /// Tries of a writer for a moment in which nobody has the lock or wants it. A writer that queues keeps new lookups out
    /// until its section is over, and one that is put to sleep is woken by a lookup, which takes longer than the lookup.
    const LOOKS: u32;
    /// Sections after a lookup waited that are to be short ones.
    const SHORT_SECTIONS: u32;

    fn lock<T>(value: T) -> Self::Lock<T>;
    fn try_read<T>(lock: &Self::Lock<T>) -> Option<Self::Reader<'_, T>>;
    fn read<T>(lock: &Self::Lock<T>) -> Self::Reader<'_, T>;
    fn try_write<T>(lock: &Self::Lock<T>) -> Option<Self::Writer<'_, T>>;
    fn write<T>(lock: &Self::Lock<T>) -> Self::Writer<'_, T>;
    fn add(count: &Self::Count);
    fn subtract(count: &Self::Count);
    fn is_zero(count: &Self::Count) -> bool;
    fn pause();
}

/// The parts in use.
#[derive(Debug)]
pub(super) struct Native;

impl Parts for Native {
    type Lock<T> = RwLock<T>;
    type Reader<'a, T: 'a> = RwLockReadGuard<'a, T>;
    type Writer<'a, T: 'a> = RwLockWriteGuard<'a, T>;
    type Count = AtomicU32;

    /// Some tens of microseconds.
    const TRIES: u32 = 4_000;
    const WAITS: u32 = 64;
    const LOOKS: u32 = 512;
    const SHORT_SECTIONS: u32 = 1_024;

    fn lock<T>(value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    fn try_read<T>(lock: &RwLock<T>) -> Option<RwLockReadGuard<'_, T>> {
        lock.try_read()
    }

    fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
        lock.read()
    }

    fn try_write<T>(lock: &RwLock<T>) -> Option<RwLockWriteGuard<'_, T>> {
        // Only read where it would fail, so that the line stays with the lookup that has the lock.
        if lock.is_locked() { None } else { lock.try_write() }
    }

    fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        lock.write()
    }

    fn add(count: &AtomicU32) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn subtract(count: &AtomicU32) {
        count.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_zero(count: &AtomicU32) -> bool {
        count.load(Ordering::Relaxed) == 0
    }

    fn pause() {
        std::hint::spin_loop();
    }
}

#[derive(Debug)]
pub(super) struct Lock<T, P: Parts = Native> {
    inner: P::Lock<T>,
    /// Lookups that wait.
    waiting: P::Count,
    /// Sections to come that are to be short ones. It only hints, whoever changes it at the same time.
    short_sections: AtomicU32,
}

impl<T, P: Parts> Lock<T, P> {
    pub(super) fn new(value: T) -> Self {
        Self { inner: P::lock(value), waiting: P::Count::default(), short_sections: AtomicU32::new(0) }
    }

    pub(super) fn read(&self) -> P::Reader<'_, T> {
        match P::try_read(&self.inner) {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> P::Reader<'_, T> {
        P::add(&self.waiting);
        self.short_sections.store(P::SHORT_SECTIONS, Ordering::Relaxed);
        let spun = (0..P::TRIES).find_map(|_| {
            P::pause();
            P::try_read(&self.inner)
        });
        let guard = spun.unwrap_or_else(|| P::read(&self.inner));
        P::subtract(&self.waiting);
        guard
    }

    /// Whether a lookup waits.
    pub(super) fn is_wanted(&self) -> bool {
        !P::is_zero(&self.waiting)
    }

    /// Whether lookups waited of late, so that a section had better be short.
    pub(super) fn is_contended(&self) -> bool {
        self.short_sections.load(Ordering::Relaxed) > 0
    }

    /// As if a lookup had waited just now.
    #[cfg(test)]
    pub(super) fn contend(&self) {
        self.short_sections.store(P::SHORT_SECTIONS, Ordering::Relaxed);
    }

    /// Lets waiting lookups in. To be called without the lock.
    pub(super) fn give_way(&self) {
        for _ in 0..P::WAITS {
            if !self.is_wanted() {
                return;
            }
            P::pause();
        }
    }

    pub(super) fn write(&self) -> P::Writer<'_, T> {
        let left = self.short_sections.load(Ordering::Relaxed);
        if left > 0 {
            self.short_sections.store(left - 1, Ordering::Relaxed);
        }
        self.give_way();
        for _ in 0..P::LOOKS {
            if let Some(guard) = P::try_write(&self.inner) {
                return guard;
            }
            P::pause();
        }
        P::write(&self.inner)
    }
}

#[cfg(test)]
mod tests {
    use loom::sync::atomic::AtomicU32;
    use loom::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
    use loom::thread;

    use super::*;

    /// Parts whose every interleaving is tried; few tries each, so that there is an end to them.
    struct Modelled;

    impl Parts for Modelled {
        type Lock<T> = RwLock<T>;
        type Reader<'a, T: 'a> = RwLockReadGuard<'a, T>;
        type Writer<'a, T: 'a> = RwLockWriteGuard<'a, T>;
        type Count = AtomicU32;

        const TRIES: u32 = 1;
        const WAITS: u32 = 1;
        const LOOKS: u32 = 1;
        const SHORT_SECTIONS: u32 = 1;

        fn lock<T>(value: T) -> RwLock<T> {
            RwLock::new(value)
        }

        fn try_read<T>(lock: &RwLock<T>) -> Option<RwLockReadGuard<'_, T>> {
            lock.try_read().ok()
        }

        fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
            lock.read().expect("nobody panics with the lock")
        }

        fn try_write<T>(lock: &RwLock<T>) -> Option<RwLockWriteGuard<'_, T>> {
            lock.try_write().ok()
        }

        fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
            lock.write().expect("nobody panics with the lock")
        }

        fn add(count: &AtomicU32) {
            count.fetch_add(1, Ordering::Relaxed);
        }

        fn subtract(count: &AtomicU32) {
            count.fetch_sub(1, Ordering::Relaxed);
        }

        fn is_zero(count: &AtomicU32) -> bool {
            count.load(Ordering::Relaxed) == 0
        }

        fn pause() {
            thread::yield_now();
        }
    }

    /// A writer of two sections beside lookups: whatever the order, each lookup sees whole sections and later ones never
    /// earlier, everybody comes to an end, and nobody is counted as waiting any more.
    fn sections_beside_lookups(lookups: u32) {
        let lock = Arc::new(Lock::<(u32, u32), Modelled>::new((0, 0)));
        let lookup = |lock: Arc<Lock<(u32, u32), Modelled>>| {
            move || {
                let seen = [(); 2].map(|()| *lock.read());
                assert!(seen.iter().all(|(first, second)| first == second), "half a section: {seen:?}");
                assert!(seen[0] <= seen[1], "back in time: {seen:?}");
            }
        };
        let threads: Vec<_> = (0..lookups).map(|_| thread::spawn(lookup(Arc::clone(&lock)))).collect();
        for section in 1..=2 {
            let mut held = lock.write();
            held.0 = section;
            thread::yield_now();
            held.1 = section;
            drop(held);
            lock.give_way();
        }
        threads.into_iter().for_each(|thread| thread.join().expect("the lookup's assertions hold"));
        assert_eq!(*lock.read(), (2, 2));
        assert!(!lock.is_wanted());
    }

    #[test]
    fn sections_are_short_for_a_while_after_a_lookup_waited() {
        let lock = Lock::<u32>::new(0);
        drop(lock.write());
        drop(lock.read());
        assert!(!lock.is_contended(), "nobody waited");
        std::thread::scope(|scope| {
            let held = lock.write();
            scope.spawn(|| drop(lock.read()));
            while !lock.is_contended() {
                std::thread::yield_now();
            }
            drop(held);
        });
        for section in 0..Native::SHORT_SECTIONS {
            assert!(lock.is_contended(), "section {section}");
            drop(lock.write());
        }
        assert!(!lock.is_contended());
    }

    #[test]
    fn every_interleaving_of_a_writer_and_lookups_is_sound() {
        for (lookups, preemptions) in [(1, 4), (2, 2)] {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = Some(preemptions);
            model.check(move || sections_beside_lookups(lookups));
        }
    }
}
