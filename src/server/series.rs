//! A bound on label values that come from callers.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

/// The label of names beyond the bound, and of those that were never admitted.
pub(super) const OTHER: &str = "other";

/// Names that label metrics. An admitted name stays, since its counters do.
pub(super) struct Series {
    max: usize,
    names: ArcSwap<HashSet<Arc<str>>>,
    writer: Mutex<()>,
}

impl Series {
    /// Takes at most `max` names.
    pub(super) fn new(max: usize) -> Self {
        Self { max, names: ArcSwap::default(), writer: Mutex::new(()) }
    }

    /// Takes `name`, where there is room.
    pub(super) fn admit(&self, name: &str) {
        let is_settled = |names: &HashSet<Arc<str>>| names.contains(name) || names.len() >= self.max;
        if is_settled(&self.names.load()) {
            return;
        }
        let _writing = self.writer.lock();
        let mut names = HashSet::clone(&self.names.load());
        if !is_settled(&names) {
            names.insert(Arc::from(name));
            self.names.store(Arc::new(names));
        }
    }

    /// The label for `name`.
    pub(super) fn label<'a>(&self, name: &'a str) -> &'a str {
        if self.names.load().contains(name) { name } else { OTHER }
    }

    /// The names taken.
    pub(super) fn names(&self) -> Arc<HashSet<Arc<str>>> {
        self.names.load_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_are_other() {
        let series = Series::new(2);
        assert_eq!(series.label("a"), OTHER);
        for name in ["a", "b", "a", "c"] {
            series.admit(name);
        }
        assert_eq!(["a", "b", "c"].map(|name| series.label(name)), ["a", "b", OTHER]);
        assert_eq!(series.names().len(), 2);
        let none = Series::new(0);
        none.admit("a");
        assert_eq!(none.label("a"), OTHER);
    }
}
