//! The bar while a load runs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error, where that is a terminal; it takes itself away when it is dropped.
pub struct BenchProgress {
    bar: ProgressBar,
    /// Whether it is over lookups, and not over time.
    counts_lookups: bool,
    /// Time and answers of the slices that are done.
    done: (Duration, u64),
}

impl BenchProgress {
    /// A bar over so many lookups, or milliseconds.
    pub fn over(work: u64, counts_lookups: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {percent} %, {wide_msg}");
        let bar = ProgressBar::new(work);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, counts_lookups, done: (Duration::ZERO, 0) }
    }

    /// The slice at hand has taken so long, and has so many answers.
    pub fn at(&self, elapsed: Duration, answers: u64) {
        let (elapsed, answers) = (self.done.0 + elapsed, self.done.1 + answers);
        let rate = answers as f64 / elapsed.as_secs_f64().max(0.001);
        self.bar.set_message(format!("{rate:.0} answers a second"));
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.bar.set_position(if self.counts_lookups { answers } else { elapsed_ms });
    }

    /// It is done.
    pub fn end(&mut self, elapsed: Duration, answers: u64) {
        self.done = (self.done.0 + elapsed, self.done.1 + answers);
    }
}

impl Drop for BenchProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
