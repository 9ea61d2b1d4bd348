//! A state on its way to the disk.
//!
//! Changes wait while the index is read, and must not wait for a disk. So what is read is encoded at once, into pieces that a
//! thread of its own writes behind: beside the index there is never more than the file, and mostly a few pieces of it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::write::StateWriter;
use crate::index::Index;
use crate::lookup::Drained;
use crate::model::Timestamp;

/// Bytes that are written at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Takes the state that is saved.
pub struct StateSink {
    pieces: Option<Sender<Vec<u8>>>,
    writing: JoinHandle<io::Result<()>>,
    /// None until the state is read; an error ends the saving.
    writer: Option<io::Result<StateWriter<Pieces>>>,
    entries: u64,
}

impl StateSink {
    /// Writes to a file at `path`, made anew.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let (pieces, behind) = channel();
        let writing = std::thread::Builder::new().name("state".to_owned()).spawn(|| write(file, behind))?;
        Ok(Self { pieces: Some(pieces), writing, writer: None, entries: 0 })
    }

    /// Reads what the index holds, as of `saved_at`; the caller sees to it that nothing changes meanwhile.
    pub fn read(&mut self, index: &Index, saved_at: Timestamp) {
        let Some(pieces) = self.pieces.take() else { return };
        let mut writer = StateWriter::begin(Pieces { piece: Vec::new(), pieces }, saved_at);
        index.export_in_pieces(|piece| {
            if let Ok(open) = &mut writer
                && let Err(error) = open.piece(piece)
            {
                writer = Err(error);
            }
        });
        self.entries = writer.as_ref().map_or(0, StateWriter::count);
        self.writer = Some(writer);
    }

    /// Brings what was read to the disk; how many entries that are.
    pub(super) fn end(self, drained: &[Drained]) -> io::Result<u64> {
        let Self { pieces, writing, writer, entries } = self;
        drop(pieces);
        let unread = || Err(io::Error::other("nothing was read"));
        let ended = writer.unwrap_or_else(unread).and_then(|writer| writer.end(drained)?.flush());
        let broken = |_| Err(io::Error::other("the thread that writes it ended early"));
        // Why the file could not be written says more than that its pieces were not taken.
        writing.join().unwrap_or_else(broken).and(ended).map(|()| entries)
    }
}

/// Takes bytes, and gives them on in pieces.
pub(super) struct Pieces {
    piece: Vec<u8>,
    pieces: Sender<Vec<u8>>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        self.pieces.send(piece).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn write(mut file: File, behind: Receiver<Vec<u8>>) -> io::Result<()> {
    for piece in behind {
        file.write_all(&piece)?;
    }
    file.sync_all()
}
