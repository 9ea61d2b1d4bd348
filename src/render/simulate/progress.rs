//! The bar while a simulation runs.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error, where that is a terminal; all
/// copies show one bar, so that who waits can clear what a worker draws.
#[derive(Clone)]
pub struct SimulationProgress {
    bar: ProgressBar,
}

impl SimulationProgress {
    /// A bar for a number of requests that is not known yet.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {human_pos} of {human_len} requests, {eta} left");
        let bar = ProgressBar::new(0);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar }
    }

    /// There are so many requests to route.
    pub fn expect(&self, requests: u64) {
        self.bar.set_length(requests);
    }

    /// So many are routed.
    pub fn at(&self, requests: u64) {
        self.bar.set_position(requests);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for SimulationProgress {
    fn default() -> Self {
        Self::new()
    }
}
