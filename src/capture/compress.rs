//! Compressed captures and traces: told by their first bytes when read, by their names when written.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// How a capture is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

impl Compression {
    /// What the name of a file asks for: `.zst`, `.gz`, or nothing.
    pub fn of_name(path: &Path) -> Self {
        match path.extension().and_then(OsStr::to_str) {
            Some("zst" | "zstd") => Self::Zstd,
            Some("gz") => Self::Gzip,
            _ => Self::None,
        }
    }

    /// What the first bytes of a file say.
    pub fn of_content(head: &[u8]) -> Self {
        // A zstd file may begin with a frame that is to be skipped.
        let is_skippable = head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18];
        if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skippable {
            Self::Zstd
        } else if head.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else {
            Self::None
        }
    }
}

/// Bytes of what was decompressed that wait to be read.
const BUFFER: usize = 1 << 16;

/// Largest window of a zstd frame, as a power of two: what a frame may make its reader hold.
const MAX_WINDOW_LOG: u32 = 27;

type Zstd<R> = zstd::stream::read::Decoder<'static, Counted<R>>;

/// The bytes of a capture, decompressed where they are compressed.
pub(super) enum Source<R: BufRead> {
    Plain(R),
    Gzip { inner: BufReader<MultiGzDecoder<Counted<R>>>, is_torn: bool },
    Zstd { inner: BufReader<Zstd<R>>, is_torn: bool },
}

impl<R: BufRead> Source<R> {
    /// Looks at the first bytes of `raw`.
    pub(super) fn new(mut raw: R) -> io::Result<Self> {
        let head = loop {
            match raw.fill_buf() {
                Ok(head) => break head,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let counted = |raw| Counted { raw, bytes: 0 };
        Ok(match Compression::of_content(head) {
            Compression::None => Self::Plain(raw),
            Compression::Gzip => {
                let inner = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(counted(raw)));
                Self::Gzip { inner, is_torn: false }
            }
            Compression::Zstd => {
                let mut decoder = Zstd::with_buffer(counted(raw))?;
                decoder.window_log_max(MAX_WINDOW_LOG)?;
                Self::Zstd { inner: BufReader::with_capacity(BUFFER, decoder), is_torn: false }
            }
        })
    }

    /// Whether compressed data ended before it should have.
    pub(super) fn is_torn(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Gzip { is_torn, .. } | Self::Zstd { is_torn, .. } => *is_torn,
        }
    }

    /// Compressed bytes taken so far; `None` where nothing is compressed.
    pub(super) fn compressed_bytes(&self) -> Option<u64> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip { inner, .. } => Some(inner.get_ref().get_ref().bytes),
            Self::Zstd { inner, .. } => Some(inner.get_ref().get_ref().bytes),
        }
    }
}

/// The bytes of a file that may be compressed, which its first bytes say.
pub struct Decompressed<R: BufRead>(Source<R>);

impl<R: BufRead> Decompressed<R> {
    /// Looks at the first bytes of `raw`.
    pub fn new(raw: R) -> io::Result<Self> {
        Source::new(raw).map(Self)
    }

    /// Whether compressed data ended before it should have; what came before was given.
    pub fn is_torn(&self) -> bool {
        self.0.is_torn()
    }
}

impl<R: BufRead> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: BufRead> BufRead for Decompressed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = self.fill_buf()?;
        let count = held.len().min(buffer.len());
        buffer[..count].copy_from_slice(&held[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    /// Data that ends too early ends here: its writer was killed, and what came before is good.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(raw) => raw.fill_buf(),
            Self::Gzip { inner, is_torn } => until_torn(inner, is_torn),
            Self::Zstd { inner, is_torn } => until_torn(inner, is_torn),
        }
    }

    fn consume(&mut self, count: usize) {
        match self {
            Self::Plain(raw) => raw.consume(count),
            Self::Gzip { inner, .. } => inner.consume(count),
            Self::Zstd { inner, .. } => inner.consume(count),
        }
    }
}

fn until_torn<'a>(inner: &'a mut impl BufRead, is_torn: &mut bool) -> io::Result<&'a [u8]> {
    if *is_torn {
        return Ok(&[]);
    }
    match inner.fill_buf() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            *is_torn = true;
            Ok(&[])
        }
        filled => filled,
    }
}

/// Counts what is taken.
pub(super) struct Counted<R> {
    raw: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.raw.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        self.raw.consume(count);
    }
}

/// A file that is written, and compressed where that is asked for.
pub(super) enum Sink {
    Plain(CountedFile),
    Gzip(GzEncoder<CountedFile>),
    Zstd(zstd::stream::write::Encoder<'static, CountedFile>),
}

/// A file and the bytes that went there.
pub(super) struct CountedFile {
    file: BufWriter<File>,
    bytes: u64,
}

impl Sink {
    pub(super) fn new(file: File, compression: Compression) -> io::Result<Self> {
        let file = CountedFile { file: BufWriter::with_capacity(BUFFER, file), bytes: 0 };
        Ok(match compression {
            Compression::None => Self::Plain(file),
            Compression::Gzip => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                Self::Zstd(zstd::stream::write::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        })
    }

    /// Bytes that went into the file so far.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Plain(file) => file.bytes,
            Self::Gzip(encoder) => encoder.get_ref().bytes,
            Self::Zstd(encoder) => encoder.get_ref().bytes,
        }
    }

    /// Writes what is left, and the end of the compressed data; the bytes of the file.
    pub(super) fn finish(self) -> io::Result<u64> {
        let mut file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        file.flush()?;
        Ok(file.bytes)
    }
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// What was written so far can be read from the file afterwards.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}
