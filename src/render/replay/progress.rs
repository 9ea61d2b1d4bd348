//! The bar while a replay runs.

use indicatif::{ProgressBar, ProgressStyle};

use crate::render::text::clean;

/// A bar on standard error, where that is a terminal; it takes itself away when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Bytes of the captures that are done.
    done: u64,
}

impl Progress {
    /// A bar over `bytes` of captures.
    pub fn over(bytes: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left {wide_msg}");
        let bar = ProgressBar::new(bytes);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, done: 0 }
    }

    /// A new capture begins.
    pub fn begin(&mut self, name: &str) {
        self.bar.set_message(clean(name).into_owned());
    }

    /// So many bytes of it are read.
    pub fn at(&self, bytes: u64) {
        self.bar.set_position(self.done + bytes);
    }

    /// It is done, and had so many bytes.
    pub fn end(&mut self, bytes: u64) {
        self.done += bytes;
        self.bar.set_position(self.done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
