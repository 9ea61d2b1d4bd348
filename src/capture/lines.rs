//! Lines of bounded length.

use std::io::{self, BufRead};

/// Bytes of one line at most: room for a batch of [`crate::model::Limits::request_blocks`] blocks with their tokens.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Bytes of one line that are passed over at most; a line without an end, out of few compressed bytes, ends the capture.
const MAX_PASSED_OVER: u64 = 1 << 30;

/// One line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// It is in the buffer, without its newline.
    Whole {
        /// Whether there was a newline.
        ended: bool,
    },
    /// It is longer than the bound; what is in the buffer is its head, the rest was passed over.
    TooLong {
        /// Whether there was a newline.
        ended: bool,
    },
    /// There is none.
    End,
}

/// Reads the next line into `buffer`, of which at most `most` bytes are kept.
pub fn next_line(source: &mut impl BufRead, buffer: &mut Vec<u8>, most: usize) -> io::Result<Line> {
    bounded_line(source, buffer, most, MAX_PASSED_OVER)
}

fn bounded_line(
    source: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    most: usize,
    most_passed_over: u64,
) -> io::Result<Line> {
    let mut passed_over = 0;
    buffer.clear();
    let mut seen_any = false;
    let mut is_over = false;
    loop {
        let chunk = match source.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(match (seen_any, is_over) {
                (false, _) => Line::End,
                (true, false) => Line::Whole { ended: false },
                (true, true) => Line::TooLong { ended: false },
            });
        }
        seen_any = true;
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        let room = most - buffer.len();
        is_over |= part.len() > room;
        buffer.extend_from_slice(&part[..part.len().min(room)]);
        passed_over += part.len().saturating_sub(room) as u64;
        if passed_over > most_passed_over {
            let what = format!("a line goes on for more than {most_passed_over} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let used = newline.map_or(chunk.len(), |at| at + 1);
        source.consume(used);
        if newline.is_some() {
            return Ok(if is_over { Line::TooLong { ended: true } } else { Line::Whole { ended: true } });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_bounded_and_the_next_one_is_whole() {
        // A small buffer makes lines span several reads.
        let mut source = BufReader::with_capacity(3, &b"1234\n12345\n\n12"[..]);
        let mut buffer = Vec::new();
        for (line, bytes) in [
            (Line::Whole { ended: true }, &b"1234"[..]),
            (Line::TooLong { ended: true }, b"1234"),
            (Line::Whole { ended: true }, b""),
            (Line::Whole { ended: false }, b"12"),
            (Line::End, b""),
        ] {
            assert_eq!(next_line(&mut source, &mut buffer, 4).unwrap(), line);
            assert_eq!(buffer, bytes);
        }
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut buffer = Vec::new();
        let mut line = |bytes: &[u8]| bounded_line(&mut BufReader::new(bytes), &mut buffer, 4, 3);
        assert_eq!(line(b"1234567\n").unwrap(), Line::TooLong { ended: true });
        let error = line(b"12345678\n").unwrap_err();
        assert_eq!(error.to_string(), "a line goes on for more than 3 bytes");
    }
}
