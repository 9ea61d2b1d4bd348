//! Bytes that are allocated and not yet freed, as asked for; the same count for both sides.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use mimalloc::MiMalloc;

/// Counts only while it is told to, so that timings are free of it.
static COUNTS: AtomicBool = AtomicBool::new(false);
static HELD: AtomicI64 = AtomicI64::new(0);

pub struct Counting;

fn add(bytes: i64) {
    if COUNTS.load(Ordering::Relaxed) {
        HELD.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the allocator below it unchanged; counting touches no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        unsafe { MiMalloc.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as i64 - layout.size() as i64);
        unsafe { MiMalloc.realloc(at, layout, size) }
    }
}

/// What `build` makes, and the bytes that stay allocated for it.
pub fn held_by<T>(build: impl FnOnce() -> T) -> (T, i64) {
    COUNTS.store(true, Ordering::Relaxed);
    let before = HELD.load(Ordering::Relaxed);
    let built = build();
    let grown = HELD.load(Ordering::Relaxed) - before;
    COUNTS.store(false, Ordering::Relaxed);
    (built, grown)
}
