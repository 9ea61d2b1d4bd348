//! Saved state: what the index holds, kept in a folder over a restart.
//!
//! The file is written aside, brought to the disk and renamed, so there is the old one or the new one at any time. One
//! that cannot be read to its end, checksums included, is set aside and nothing of it is applied. Nothing that goes
//! wrong here ends the server or fails a call: it goes on without, and says so.
//!
//! The entries of a file are those of one instant. Changes wait while they are read off the index; lookups do not, nor
//! does anybody wait for the disk. Entries are known by the hashes that producers reported, so `--block-size`
//! and other settings of lookups need not be those of the server that saved; limits and times to live are those of now.

mod read;
mod sections;
mod sink;
mod task;
mod write;

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

pub use self::sink::StateSink;
pub(super) use self::task::Saver;

use self::read::{Restore, walk};
use self::sections::Fault;
use crate::lookup::{Drained, Router};
use crate::model::Timestamp;

/// The file.
const STATE: &str = "index.state";
/// What is being written.
const ASIDE: &str = "index.state.tmp";
/// Locked by the server whose state it is.
const LOCK: &str = "lock";
/// Files that could not be used and are kept; `index.state.bad-1` is the newest.
pub const MAX_SET_ASIDE: usize = 3;

/// A folder of saved state, of one server at a time: who has locked it keeps it until the last clone of this is gone.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
    lock: Arc<Mutex<Option<File>>>,
}

/// What loading came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Loaded {
    /// There was nothing to load.
    Nothing,
    /// The state of an earlier server.
    State(LoadedState),
    /// The file cannot be used; nothing of it was.
    Refused {
        /// What is wrong with it.
        why: String,
        /// Where it is now, or why it could not be set aside.
        kept: Result<PathBuf, String>,
    },
}

/// What was loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadedState {
    /// When it was saved.
    pub saved_at: Timestamp,
    /// Version of the server that saved it.
    pub server_version: String,
    /// Replica entries in the index afterwards.
    pub entries: u64,
    /// Entries that had outlived their time.
    pub expired: u64,
    /// Entries that are not held any more, since the limits, caps or quotas of now do not admit them.
    pub lost: u64,
    /// Parts of reports that were dropped for a limit: an entry, or all entries of a replica that were told together. What
    /// goes over a cap or a quota is none.
    pub dropped: u64,
}

impl StateFolder {
    /// The folder at `path`; it is made when it is first needed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), lock: Arc::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Loads what was saved into `router`, as of `now`. A file that cannot be used is set aside.
    pub fn load(&self, router: &Router, now: Timestamp) -> Loaded {
        let path = self.path.join(STATE);
        let loaded = match is_file(&path).and_then(|is_there| is_there.then(|| File::open(&path)).transpose())
        {
            Ok(None) => return Loaded::Nothing,
            Ok(Some(file)) => restore(&file, router, now),
            Err(error) => Err(Fault::Unreadable(error)),
        };
        loaded.map_or_else(
            |fault| Loaded::Refused {
                why: fault.to_string(),
                kept: self.set_aside().map_err(|error| error.to_string()),
            },
            Loaded::State,
        )
    }

    /// Makes the folder, and keeps other servers from saving in it; fails where another has it.
    pub fn keep(&self) -> io::Result<()> {
        let mut kept = self.lock.lock();
        fs::create_dir_all(&self.path)?;
        if kept.is_some() {
            return Ok(());
        }
        let lock = self.path.join(LOCK);
        is_file(&lock)?;
        let lock = File::create(lock)?;
        // A file system without locks has one server, one hopes; the rename keeps the file whole either way.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(io::Error::other("another server is saving its state in this folder"));
        }
        *kept = Some(lock);
        Ok(())
    }

    /// Saves the state that `read` gives the sink; how many entries it has. After an error the file that was there before
    /// is there still. Where nothing can be written, `read` is mostly not called.
    pub fn save(&self, drained: &[Drained], read: impl FnOnce(&mut StateSink)) -> io::Result<u64> {
        self.keep()?;
        let aside = self.path.join(ASIDE);
        is_file(&aside)?;
        let mut sink = StateSink::create(&aside)?;
        read(&mut sink);
        let saved = sink.end(drained).and_then(|entries| {
            fs::rename(&aside, self.path.join(STATE))?;
            File::open(&self.path)?.sync_all()?;
            Ok(entries)
        });
        if saved.is_err() {
            // The error is told either way; what was begun is of no use, and may be what fills the disk.
            let _ = fs::remove_file(&aside);
        }
        saved
    }

    /// Keeps the file under another name, and so many of its kind.
    fn set_aside(&self) -> io::Result<PathBuf> {
        let kept = |number: usize| self.path.join(format!("{STATE}.bad-{number}"));
        for number in (1..MAX_SET_ASIDE).rev() {
            match fs::rename(kept(number), kept(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(self.path.join(STATE), kept(1))?;
        Ok(kept(1))
    }
}

/// Whether there is a file. Anything else there is an error: to open a pipe is to wait for whoever opens its other end.
fn is_file(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(io::Error::other(format!("`{}` is no file", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Twice through the file: the first time checks all of it, so that none of a bad one is applied.
fn restore(file: &File, router: &Router, now: Timestamp) -> Result<LoadedState, Fault> {
    let source = || BufReader::with_capacity(256 << 10, file);
    walk(source(), &mut ())?;
    io::Seek::rewind(&mut &*file).map_err(Fault::Unreadable)?;
    let (policies, before) = (router.policies(), router.index().entries());
    let mut restore = Restore::new(router, &policies, now);
    let head = walk(source(), &mut restore)?;
    let Restore { told, expired, dropped, drained, .. } = restore;
    router.drains().restore(drained, now);
    Ok(LoadedState {
        saved_at: Timestamp::from_us(head.saved_us),
        server_version: head.server_version,
        entries: router.index().entries(),
        expired,
        lost: (told - expired).saturating_sub(router.index().entries().saturating_sub(before)),
        dropped,
    })
}
