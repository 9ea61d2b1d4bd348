//! Texts that policies are read from, and places in them.

use std::ops::Range;

/// Bytes of one file of policies at most.
pub const MAX_POLICY_BYTES: usize = 4 << 20;

/// Bytes of a text, from the first to one past the last.
pub type Span = Range<usize>;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A position for people: both from 1, columns in characters, a byte order mark not counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// Line; a line ends with a line feed, a carriage return, or both.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// A text, and what it is called.
#[derive(Clone, Debug)]
pub struct SourceText {
    name: String,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
    defect: Option<Defect>,
}

/// Why bytes are no text of policies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Defect {
    /// Where in what could be read of the text.
    pub(super) at: usize,
    pub(super) what: String,
    pub(super) help: &'static str,
}

impl SourceText {
    /// A text; one over [`MAX_POLICY_BYTES`] is kept by name only, and reported when it is read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        if text.len() > MAX_POLICY_BYTES {
            return Self::too_large(name);
        }
        Self::with(name.into(), text, None)
    }

    /// A file's bytes. What is no UTF-8 text is kept up to where it ends to be one, and reported when it is read.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let name = name.into();
        if bytes.len() > MAX_POLICY_BYTES {
            return Self::too_large(name);
        }
        let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        match String::from_utf8(bytes) {
            Ok(text) => Self::with(name, text, None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                let byte = bytes.get(at).copied().unwrap_or_default();
                let what = if is_utf16 {
                    "the file is UTF-16 text".to_owned()
                } else {
                    format!("the file is no UTF-8 text: byte {at} is 0x{byte:02x}")
                };
                bytes.truncate(at);
                let text = String::from_utf8(bytes).unwrap_or_default();
                Self::with(name, text, Some(Defect { at, what, help: "save it as UTF-8 text" }))
            }
        }
    }

    /// A file that has more than [`MAX_POLICY_BYTES`].
    pub fn too_large(name: impl Into<String>) -> Self {
        let what = format!("the text has more than {} MiB", MAX_POLICY_BYTES >> 20);
        let help = "keep policies in smaller files, and other data elsewhere";
        Self::with(name.into(), String::new(), Some(Defect { at: 0, what, help }))
    }

    fn with(name: String, text: String, defect: Option<Defect>) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let lines = std::iter::once(0).chain((0..bytes.len()).filter(ends_line).map(|at| at + 1)).collect();
        Self { name, text, lines, defect }
    }

    /// What it is called: a path, or a name for standard input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, or what could be read of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn defect(&self) -> Option<&Defect> {
        self.defect.as_ref()
    }

    /// The line of the byte `at`, from 1.
    pub fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1)
    }

    /// Line and column of the byte `at`.
    pub fn place(&self, at: usize) -> Place {
        let line = self.line_at(at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text.get(start..at.min(self.text.len())).unwrap_or_default();
        let before = before.strip_prefix(BYTE_ORDER_MARK).filter(|_| start == 0).unwrap_or(before);
        Place { line, column: before.chars().count() + 1 }
    }

    /// The bytes of a line, from 1, without its end.
    pub fn line(&self, line: usize) -> Span {
        let start = line.checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end).unwrap_or_default();
        start..start + text.trim_end_matches(['\r', '\n']).len()
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The text of `span`; empty where it has none.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_every_kind_of_line_end() {
        let source = SourceText::new("f", "\u{feff}a: é b\r\nc\rd\n\ne");
        let of = |needle: &str| {
            let place = source.place(source.text().find(needle).unwrap());
            (place.line, place.column)
        };
        assert_eq!((of("a"), of("b"), of("c"), of("d"), of("e")), ((1, 1), (1, 6), (2, 1), (3, 1), (5, 1)));
        assert_eq!(source.slice(&source.line(1)), "\u{feff}a: é b");
        assert_eq!(source.slice(&source.line(4)), "");
        let end = source.place(source.text().len());
        assert_eq!((end.line, end.column, source.line_count()), (5, 2, 5));
    }

    #[test]
    fn what_is_no_text_says_so() {
        for (bytes, what) in [
            (b"a: \xff".to_vec(), "the file is no UTF-8 text: byte 3 is 0xff"),
            (b"\xff\xfea\0".to_vec(), "the file is UTF-16 text"),
            (vec![b' '; MAX_POLICY_BYTES + 1], "the text has more than 4 MiB"),
        ] {
            assert_eq!(SourceText::from_bytes("f", bytes).defect().unwrap().what, what);
        }
        assert!(SourceText::new("f", " ".repeat(MAX_POLICY_BYTES)).defect().is_none());
    }
}
