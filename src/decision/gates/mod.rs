//! The gates, by stage. Each looks at the run and says what it found; only the pipeline acts on it.

pub(super) mod balanced;
pub(super) mod index;
pub(super) mod request;
pub(super) mod result;
