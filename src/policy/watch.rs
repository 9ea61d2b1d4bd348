//! Watches policy files, and hands over what they come to whenever that changes.
//!
//! The system's notices make it quick. What they miss (links of a mounted ConfigMap that are swapped, folders that are
//! deleted and made again, network mounts) is found by reading the files again every second. Either way only what was
//! read decides: nothing happens where the texts are the same.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::files::{FileProblem, PolicyFiles, PolicyTexts, read_paths};
use super::load::LoadedPolicies;

/// Time between two readings without a notice.
const POLL: Duration = Duration::from_secs(1);
/// Texts are taken once two readings this far apart agree: a file that is being written is not read half.
const SETTLE: Duration = Duration::from_millis(50);
/// Texts that keep changing are taken as they are after this time.
const SETTLE_MAX: Duration = Duration::from_millis(500);

/// What the files come to, or what is wrong with them.
pub type Reloaded = Result<LoadedPolicies, Vec<FileProblem>>;

/// What is at the paths at one instant.
type Found = Result<PolicyTexts, Vec<FileProblem>>;

/// A watch on policy files; it ends when dropped.
#[derive(Debug)]
pub struct PolicyWatch {
    is_over: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

impl Drop for PolicyWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Where a wake waits already, it is as good as this one.
        let _ = self.wake.try_send(());
    }
}

/// Watches `files`, of which `seen` has been loaded, and calls `apply` on a thread of its own with what each change
/// comes to. What is wrong with the same texts is told once.
pub fn watch_policies(
    files: PolicyFiles,
    seen: PolicyTexts,
    mut apply: impl FnMut(Reloaded) + Send + 'static,
) -> std::io::Result<PolicyWatch> {
    // A wake that waits stands for all that follow.
    let (wake, woken) = sync_channel(1);
    let notices = wake.clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&is_over);
    std::thread::Builder::new().name("policy-watch".to_owned()).spawn(move || {
        let mut watches = Watches::new(&files.paths, notices);
        let mut last: Found = Ok(seen);
        while !until.load(Ordering::Relaxed) {
            watches.refresh();
            let found = settled(&files.paths, &last, &woken);
            if found != last {
                apply(found.clone().and_then(|texts| files.load(&texts)));
                last = found;
            }
            // A notice or the time: what follows is the same.
            let _ = woken.recv_timeout(POLL);
        }
    })?;
    Ok(PolicyWatch { is_over, wake })
}

/// What is at the paths: `last`, or what it has become once two readings in a row agree.
fn settled(paths: &[PathBuf], last: &Found, woken: &Receiver<()>) -> Found {
    let mut found = read_paths(paths);
    if found == *last {
        return found;
    }
    let until = Instant::now() + SETTLE_MAX;
    loop {
        pause(woken, SETTLE);
        let again = read_paths(paths);
        if again == found || Instant::now() >= until {
            return again;
        }
        found = again;
    }
}

/// Lets `span` pass, whatever wakes meanwhile: the reading that follows sees it.
fn pause(woken: &Receiver<()>, span: Duration) {
    let until = Instant::now() + span;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        // Without a sender left nothing would wait here; the watch keeps one.
        if woken.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// What the system is asked to tell of.
struct Watches {
    paths: Vec<PathBuf>,
    system: Option<RecommendedWatcher>,
    /// Folders, each with the identity that it had when it was added: one that is made again needs a new watch.
    added: BTreeMap<PathBuf, Identity>,
}

/// Device and number.
type Identity = (u64, u64);

impl Watches {
    fn new(paths: &[PathBuf], wake: SyncSender<()>) -> Self {
        let paths: Vec<PathBuf> =
            paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect();
        let ours = paths.clone();
        let system = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !concerns(&event, &ours)) {
                return;
            }
            // Where a wake waits already, the reading that it brings about sees this change too.
            let _ = wake.try_send(());
        });
        let system = system
            .inspect_err(|error| {
                tracing::warn!(%error, "the system does not tell of changes; policy files are read every second");
            })
            .ok();
        Self { paths, system, added: BTreeMap::new() }
    }

    /// Adds what is new, and anew what was made again.
    fn refresh(&mut self) {
        let Some(system) = &mut self.system else { return };
        for (folder, mode) in wanted(&self.paths) {
            let identity = identity(&folder);
            if self.added.get(&folder) == identity.as_ref() {
                continue;
            }
            if self.added.remove(&folder).is_some() {
                // A folder that is gone took its watch along.
                let _ = system.unwatch(&folder);
            }
            let Some(identity) = identity else { continue };
            match system.watch(&folder, mode) {
                Ok(()) => drop(self.added.insert(folder, identity)),
                Err(error) => {
                    tracing::debug!(%error, folder = %folder.display(), "no notices; it is read every second");
                }
            }
        }
    }
}

/// The folders that changes show in: those named with all below, and those that hold what is named.
fn wanted(paths: &[PathBuf]) -> BTreeMap<PathBuf, RecursiveMode> {
    let mut wanted = BTreeMap::new();
    for path in paths {
        if path.is_dir() {
            wanted.insert(path.clone(), RecursiveMode::Recursive);
        }
        for holder in
            path.parent().into_iter().chain(fs::canonicalize(path).ok().as_deref().and_then(Path::parent))
        {
            wanted.entry(holder.to_owned()).or_insert(RecursiveMode::NonRecursive);
        }
    }
    wanted
}

fn identity(folder: &Path) -> Option<Identity> {
    fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()))
}

/// Whether something changed that may be ours. Reading is no change, or each reading would bring about the next.
fn concerns(event: &Event, ours: &[PathBuf]) -> bool {
    if let EventKind::Access(kind) = event.kind
        && kind != AccessKind::Close(AccessMode::Write)
    {
        return false;
    }
    let is_ours = |path: &PathBuf| {
        let is_link = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".."));
        is_link || ours.iter().any(|own| path.starts_with(own) || own.starts_with(path))
    };
    event.paths.is_empty() || event.paths.iter().any(is_ours)
}
