//! The container of saved state: a magic number and a version, then sections, each with its kind, length and checksum.
//!
//! ```text
//! file     "ICACHEst"  version: u32  section...
//! section  kind: u8  length: u32  message  xxh3-64 of kind, length and message, seeded with the section's place
//! ```
//!
//! Numbers are little endian. The seed makes a section that is missing, repeated or out of place as bad as a flipped bit.
//! A section is held in memory by itself, so reading takes as much as the largest.

use std::io::{self, Read, Write};

use bytes::Bytes;
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"ICACHEst";

/// Version of the file that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

/// Bytes of one section at most; the writer keeps far below it.
const MAX_SECTION: u32 = 16 << 20;

/// What a section holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Head,
    Names,
    Entries,
    Keys,
    Drains,
    Tail,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Head, Self::Names, Self::Entries, Self::Keys, Self::Drains, Self::Tail];

    fn number(self) -> u8 {
        match self {
            Self::Head => 1,
            Self::Names => 2,
            Self::Entries => 3,
            Self::Keys => 4,
            Self::Drains => 5,
            Self::Tail => 6,
        }
    }
}

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub(super) enum Fault {
    /// Somebody else's file.
    #[error("it is no saved state of icache")]
    Foreign,
    /// Written by another version.
    #[error("its version is {0}, and this icache reads version {VERSION}")]
    Version(u32),
    /// It ends where it should go on.
    #[error("it ends early, after byte {0}")]
    Cut(u64),
    /// A checksum does not hold, or what is under it makes no sense.
    #[error("it is damaged at byte {at}: {why}")]
    Damaged {
        /// Where the section begins.
        at: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It cannot be read at all.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
}

/// Writes sections.
pub(super) struct SectionWriter<W> {
    out: W,
    place: u64,
}

impl<W: Write> SectionWriter<W> {
    pub(super) fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        Ok(Self { out, place: 0 })
    }

    pub(super) fn section(&mut self, kind: Kind, message: &impl prost::Message) -> io::Result<()> {
        let message = message.encode_to_vec();
        let length = u32::try_from(message.len()).ok().filter(|length| *length <= MAX_SECTION);
        let length = length.ok_or_else(|| io::Error::other("a section is larger than one may be"))?;
        let head = head(kind.number(), length);
        self.out.write_all(&head)?;
        self.out.write_all(&message)?;
        self.out.write_all(&checksum(self.place, &head, &message).to_le_bytes())?;
        self.place += 1;
        Ok(())
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }
}

fn head(kind: u8, length: u32) -> [u8; 5] {
    let [a, b, c, d] = length.to_le_bytes();
    [kind, a, b, c, d]
}

fn checksum(place: u64, head: &[u8], message: &[u8]) -> u64 {
    let mut hasher = Xxh3::with_seed(place);
    hasher.update(head);
    hasher.update(message);
    hasher.digest()
}

/// Reads sections, each checked before it is given.
pub(super) struct SectionReader<R> {
    source: R,
    place: u64,
    /// Bytes read.
    at: u64,
    /// Where the section that was read last begins.
    begin: u64,
}

impl<R: Read> SectionReader<R> {
    pub(super) fn begin(source: R) -> Result<Self, Fault> {
        let mut reader = Self { source, place: 0, at: 0, begin: 0 };
        let mut magic = [0; MAGIC.len()];
        // What is shorter than the magic number may be anybody's; so may what begins otherwise.
        match reader.fill(&mut magic) {
            Err(Fault::Cut(_)) => return Err(Fault::Foreign),
            read => read?,
        }
        if magic != *MAGIC {
            return Err(Fault::Foreign);
        }
        let mut version = [0; 4];
        reader.fill(&mut version)?;
        match u32::from_le_bytes(version) {
            VERSION => Ok(reader),
            other => Err(Fault::Version(other)),
        }
    }

    pub(super) fn next(&mut self) -> Result<(Kind, Bytes), Fault> {
        self.begin = self.at;
        let mut head = [0; 5];
        self.fill(&mut head)?;
        let [number, length @ ..] = head;
        let length = u32::from_le_bytes(length);
        if length > MAX_SECTION {
            return Err(self.damaged("a length is larger than a section may be"));
        }
        let mut message = vec![0; length as usize];
        self.fill(&mut message)?;
        let mut sum = [0; 8];
        self.fill(&mut sum)?;
        if u64::from_le_bytes(sum) != checksum(self.place, &head, &message) {
            return Err(self.damaged("its checksum does not hold"));
        }
        self.place += 1;
        let kind = Kind::ALL.into_iter().find(|kind| kind.number() == number);
        let kind = kind.ok_or_else(|| self.damaged("a section of this version has no such kind"))?;
        Ok((kind, message.into()))
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Fault> {
        let mut byte = [0; 1];
        loop {
            match self.source.read(&mut byte) {
                Ok(read) => return Ok(read == 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Unreadable(error)),
            }
        }
    }

    /// A fault of the section that was read last.
    pub(super) fn damaged(&self, why: &'static str) -> Fault {
        Fault::Damaged { at: self.begin, why }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        match self.source.read_exact(bytes) {
            Ok(()) => {
                self.at += bytes.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Fault::Cut(self.at)),
            Err(error) => Err(Fault::Unreadable(error)),
        }
    }
}
