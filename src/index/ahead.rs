//! Memory that is wanted soon is asked for early: a large report touches places that lie far apart, and each would be waited
//! for by itself.

/// Asks for the memory of `item`. A hint: it changes nothing but when the memory is there.
#[inline]
#[allow(unsafe_code, reason = "the processor's prefetch is an unsafe function; a load would be waited for")]
pub(super) fn ask_for<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees and faults on no address; this one is that of a live
        // reference besides. SSE, which it needs, is part of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
