//! Files of credentials that hold while the server runs: read again every second, put in force once two readings agree,
//! and only where they are valid. What was in force before stays otherwise.
//!
//! They are read, not watched: a few small files cost nothing, and a certificate that is swapped by a symbolic link or
//! lies on a network file system is noticed all the same.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::metrics::{Credentials, Metrics};
use super::{Phase, draining};

/// Time between two readings.
const EVERY: Duration = Duration::from_secs(1);

/// Bytes of one file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Why files cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{}`: {why}", path.display())]
pub(super) struct FileFault {
    /// Which of them.
    pub(super) path: PathBuf,
    /// What is wrong.
    pub(super) why: String,
}

/// A file and what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FileText {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl FileText {
    /// What is wrong with it.
    pub(super) fn fault(&self, why: impl Into<String>) -> FileFault {
        FileFault { path: self.path.clone(), why: why.into() }
    }
}

/// Makes what is in force of the files, in the order in which they are named.
type Load<T> = fn(&[FileText]) -> Result<T, FileFault>;

/// What is in force.
pub(super) struct Watched<T> {
    kind: Credentials,
    paths: Vec<PathBuf>,
    load: Load<T>,
    current: ArcSwap<T>,
}

impl<T: Send + Sync + 'static> Watched<T> {
    /// Reads the files for the first time.
    pub(super) fn open(
        kind: Credentials,
        paths: Vec<PathBuf>,
        load: Load<T>,
    ) -> Result<Arc<Self>, FileFault> {
        let current = ArcSwap::from_pointee(load(&read_all(&paths)?)?);
        Ok(Arc::new(Self { kind, paths, load, current }))
    }

    /// What is in force now.
    pub(super) fn current(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// Follows the files until the server drains. `put` is told of each change that is put in force.
    pub(super) async fn follow(
        self: Arc<Self>,
        metrics: Arc<Metrics>,
        phase: watch::Receiver<Phase>,
        put: impl Fn(&T) + Send + 'static,
    ) {
        put(&self.current());
        metrics.observe_credentials(self.kind, true);
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut judged = None;
        let mut before = None;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = draining(phase.clone()) => return,
            }
            let this = Arc::clone(&self);
            let Ok(found) = tokio::task::spawn_blocking(move || read_all(&this.paths)).await else {
                continue;
            };
            let is_settled = before.as_ref() == Some(&found);
            let is_judged = judged.as_ref() == Some(&found);
            // What was there at the first reading is in force, unless it changed since the start: judging it is cheap.
            if is_settled && !is_judged {
                self.judge(&found, &metrics, judged.is_some(), &put);
                judged = Some(found.clone());
            }
            before = Some(found);
        }
    }

    fn judge(
        &self,
        found: &Result<Vec<FileText>, FileFault>,
        metrics: &Metrics,
        is_change: bool,
        put: &(impl Fn(&T) + Send),
    ) {
        let kind = self.kind.label();
        match found.clone().and_then(|texts| (self.load)(&texts)) {
            Ok(loaded) => {
                put(&loaded);
                self.current.store(Arc::new(loaded));
                metrics.observe_credentials(self.kind, true);
                if is_change {
                    tracing::info!(kind, "credentials reloaded");
                }
            }
            Err(fault) => {
                metrics.observe_credentials(self.kind, false);
                tracing::error!(kind, "{fault}; what was in force before is kept");
            }
        }
    }
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<FileText>, FileFault> {
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<FileText, FileFault> {
    let fault = |why: String| FileFault { path: path.to_owned(), why };
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| fault(format!("it cannot be read: {}", plain(&error))))?;
    if read as u64 > MAX_FILE_BYTES {
        return Err(fault(format!("it is larger than {MAX_FILE_BYTES} bytes")));
    }
    Ok(FileText { path: path.to_owned(), bytes })
}

/// What the system says, without its number and capitals.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
