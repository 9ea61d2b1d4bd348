//! The read-write lock of the index: lookups first, and none is put to sleep for a section that lasts microseconds.
//!
//! A lookup that finds a section running says so and spins; the section ends at its next step, and the writer lets the
//! lookup in before it goes on. Only where that takes as long as a writer that lost its processor would, does the lookup
//! wait in the kernel.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Tries of a lookup before it waits in the kernel: some tens of microseconds.
const TRIES: u32 = 4_000;
/// Tries of a writer to let waiting lookups in: one that lost its processor must not hold it up for long.
const WAITS: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct Lock<T> {
    inner: RwLock<T>,
    /// Lookups that wait.
    waiting: AtomicU32,
}

impl<T> Lock<T> {
    pub(super) fn new(value: T) -> Self {
        Self { inner: RwLock::new(value), waiting: AtomicU32::new(0) }
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, T> {
        match self.inner.try_read() {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> RwLockReadGuard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let spun = (0..TRIES).find_map(|_| {
            spin_loop();
            self.inner.try_read()
        });
        let guard = spun.unwrap_or_else(|| self.inner.read());
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Whether a lookup waits.
    pub(super) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Lets waiting lookups in. To be called without the lock.
    pub(super) fn give_way(&self) {
        for _ in 0..WAITS {
            if !self.is_wanted() {
                return;
            }
            spin_loop();
        }
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.give_way();
        self.inner.write()
    }
}
