//! Reads msgpack from a slice: one head at a time, no tree, no allocation, every length checked against what is left.

use rmp::Marker;

use super::error::DecodeError;

/// Deepest nesting of values that are passed over.
pub const MAX_DEPTH: usize = 32;

/// A scalar in full, or the head of a container whose elements come next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Head<'a> {
    Nil,
    Bool,
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Str(&'a [u8]),
    Bin(&'a [u8]),
    Ext,
    Array(usize),
    Map(usize),
}

impl Head<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool => "a boolean",
            Self::Unsigned(_) => "an integer",
            Self::Signed(value) if *value < 0 => "a negative integer",
            Self::Signed(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::Bin(_) => "bytes",
            Self::Ext => "an extension",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
        }
    }
}

/// A place in a payload. Copying it is how to look ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// Next head. A container's length never exceeds what is left, so it may size an allocation.
    pub(super) fn head(&mut self, what: &'static str) -> Result<Head<'a>, DecodeError> {
        let at = self.at;
        let [marker] = self.take::<1>(what, at)?;
        let head = match Marker::from_u8(marker) {
            Marker::FixPos(value) => Head::Unsigned(u64::from(value)),
            Marker::FixNeg(value) => Head::Signed(i64::from(value)),
            Marker::Null => Head::Nil,
            Marker::True | Marker::False | Marker::Reserved => Head::Bool,
            Marker::U8 => Head::Unsigned(u64::from(u8::from_be_bytes(self.take(what, at)?))),
            Marker::U16 => Head::Unsigned(u64::from(u16::from_be_bytes(self.take(what, at)?))),
            Marker::U32 => Head::Unsigned(u64::from(u32::from_be_bytes(self.take(what, at)?))),
            Marker::U64 => Head::Unsigned(u64::from_be_bytes(self.take(what, at)?)),
            Marker::I8 => Head::Signed(i64::from(i8::from_be_bytes(self.take(what, at)?))),
            Marker::I16 => Head::Signed(i64::from(i16::from_be_bytes(self.take(what, at)?))),
            Marker::I32 => Head::Signed(i64::from(i32::from_be_bytes(self.take(what, at)?))),
            Marker::I64 => Head::Signed(i64::from_be_bytes(self.take(what, at)?)),
            Marker::F32 => Head::Float(f64::from(f32::from_be_bytes(self.take(what, at)?))),
            Marker::F64 => Head::Float(f64::from_be_bytes(self.take(what, at)?)),
            Marker::FixStr(len) => Head::Str(self.slice(usize::from(len), what, at)?),
            Marker::Str8 => Head::Str(self.sized::<1>(0, what, at)?),
            Marker::Str16 => Head::Str(self.sized::<2>(0, what, at)?),
            Marker::Str32 => Head::Str(self.sized::<4>(0, what, at)?),
            Marker::Bin8 => Head::Bin(self.sized::<1>(0, what, at)?),
            Marker::Bin16 => Head::Bin(self.sized::<2>(0, what, at)?),
            Marker::Bin32 => Head::Bin(self.sized::<4>(0, what, at)?),
            Marker::FixArray(len) => Head::Array(usize::from(len)),
            Marker::Array16 => Head::Array(self.length::<2>(what, at)?),
            Marker::Array32 => Head::Array(self.length::<4>(what, at)?),
            Marker::FixMap(len) => Head::Map(usize::from(len)),
            Marker::Map16 => Head::Map(self.length::<2>(what, at)?),
            Marker::Map32 => Head::Map(self.length::<4>(what, at)?),
            extension => {
                self.extension(extension, what, at)?;
                Head::Ext
            }
        };
        // The shortest element takes one byte.
        let promised = match head {
            Head::Array(len) => len,
            Head::Map(len) => len.saturating_mul(2),
            _ => 0,
        };
        if promised > self.remaining() {
            return Err(DecodeError::Truncated { what, at });
        }
        Ok(head)
    }

    fn extension(&mut self, marker: Marker, what: &'static str, at: usize) -> Result<(), DecodeError> {
        // An extension has one byte of type before its data.
        match marker {
            Marker::FixExt1 => self.slice(2, what, at)?,
            Marker::FixExt2 => self.slice(3, what, at)?,
            Marker::FixExt4 => self.slice(5, what, at)?,
            Marker::FixExt8 => self.slice(9, what, at)?,
            Marker::FixExt16 => self.slice(17, what, at)?,
            Marker::Ext8 => self.sized::<1>(1, what, at)?,
            Marker::Ext16 => self.sized::<2>(1, what, at)?,
            _ => self.sized::<4>(1, what, at)?,
        };
        Ok(())
    }

    fn take<const N: usize>(&mut self, what: &'static str, at: usize) -> Result<[u8; N], DecodeError> {
        let Some(bytes) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(DecodeError::Truncated { what, at });
        };
        self.at += N;
        Ok(*bytes)
    }

    fn slice(&mut self, len: usize, what: &'static str, at: usize) -> Result<&'a [u8], DecodeError> {
        let Some(bytes) = self.bytes[self.at..].get(..len) else {
            return Err(DecodeError::Truncated { what, at });
        };
        self.at += len;
        Ok(bytes)
    }

    fn length<const N: usize>(&mut self, what: &'static str, at: usize) -> Result<usize, DecodeError> {
        let bytes = self.take::<N>(what, at)?;
        Ok(bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)))
    }

    fn sized<const N: usize>(
        &mut self,
        more: usize,
        what: &'static str,
        at: usize,
    ) -> Result<&'a [u8], DecodeError> {
        let len = self.length::<N>(what, at)?;
        self.slice(len.saturating_add(more), what, at)
    }

    /// Passes over one value and all that it holds.
    pub(super) fn skip(&mut self, what: &'static str) -> Result<(), DecodeError> {
        let start = self.at;
        let mut open = [0_usize; MAX_DEPTH];
        let mut depth = 0;
        loop {
            let elements = match self.head(what)? {
                Head::Array(len) => len,
                Head::Map(len) => len * 2,
                _ => 0,
            };
            if elements > 0 {
                bounded("nesting", start, depth as u64 + 1, 0, MAX_DEPTH as u64)?;
                open[depth] = elements;
                depth += 1;
            }
            while depth > 0 && open[depth - 1] == 0 {
                depth -= 1;
            }
            if depth == 0 {
                return Ok(());
            }
            open[depth - 1] -= 1;
        }
    }

    /// An integer from `min` to `max`, or nil.
    pub(super) fn optional_uint(
        &mut self,
        what: &'static str,
        min: u64,
        max: u64,
    ) -> Result<Option<u64>, DecodeError> {
        let at = self.at;
        let value = match self.head(what)? {
            Head::Nil => return Ok(None),
            Head::Unsigned(value) => value,
            // Some encoders send small numbers in the signed form.
            Head::Signed(value) if value >= 0 => value.unsigned_abs(),
            head => return Err(wrong(what, at, head, "a non-negative integer or nil")),
        };
        bounded(what, at, value, min, max)?;
        Ok(Some(value))
    }

    /// A string, or nil.
    pub(super) fn optional_str(&mut self, what: &'static str) -> Result<Option<&'a str>, DecodeError> {
        let at = self.at;
        match self.head(what)? {
            Head::Nil => Ok(None),
            Head::Str(bytes) => text(what, at, bytes).map(Some),
            head => Err(wrong(what, at, head, "a string or nil")),
        }
    }

    /// A string.
    pub(super) fn str(&mut self, what: &'static str) -> Result<&'a str, DecodeError> {
        let at = self.at;
        match self.head(what)? {
            Head::Str(bytes) => text(what, at, bytes),
            head => Err(wrong(what, at, head, "a string")),
        }
    }

    /// Elements of an array.
    pub(super) fn array(&mut self, what: &'static str) -> Result<usize, DecodeError> {
        let at = self.at;
        match self.head(what)? {
            Head::Array(len) => Ok(len),
            head => Err(wrong(what, at, head, "an array")),
        }
    }
}

pub(super) fn bounded(
    what: &'static str,
    at: usize,
    value: u64,
    min: u64,
    max: u64,
) -> Result<(), DecodeError> {
    if value < min || value > max {
        return Err(DecodeError::OutOfBounds { what, at, value, min, max });
    }
    Ok(())
}

pub(super) fn text<'a>(what: &'static str, at: usize, bytes: &'a [u8]) -> Result<&'a str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::WrongType {
        what,
        at,
        found: "not UTF-8",
        expected: "a string",
    })
}

pub(super) fn wrong(what: &'static str, at: usize, found: Head<'_>, expected: &'static str) -> DecodeError {
    DecodeError::WrongType { what, at, found: found.kind(), expected }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn nested(levels: usize) -> Vec<u8> {
        let mut bytes = vec![0x91; levels];
        bytes.push(0xc0);
        bytes
    }

    #[test]
    fn passes_over_nesting_up_to_the_limit() {
        let bytes = nested(MAX_DEPTH);
        let mut reader = Reader::new(&bytes);
        reader.skip("value").unwrap();
        assert_eq!(reader.remaining(), 0);
        let bytes = nested(MAX_DEPTH + 1);
        assert!(matches!(Reader::new(&bytes).skip("value"), Err(DecodeError::OutOfBounds { .. })));
    }

    /// Every kind of marker, each followed by a nil that must be what comes next.
    #[test]
    fn passes_over_every_kind() {
        let mut writer = Vec::new();
        for len in [0_u32, 31, 32, 255, 256, 65_536] {
            rmp::encode::write_str(&mut writer, &"x".repeat(len as usize)).unwrap();
            rmp::encode::write_bin(&mut writer, &vec![0; len as usize]).unwrap();
            rmp::encode::write_array_len(&mut writer, len).unwrap();
            writer.extend((0..len).map(|_| 0xc0));
            rmp::encode::write_map_len(&mut writer, len).unwrap();
            writer.extend((0..2 * len).map(|_| 0x2a));
            rmp::encode::write_ext_meta(&mut writer, len, 7).unwrap();
            writer.extend((0..len).map(|_| 0));
        }
        for value in [0_i64, -1, -33, i64::from(i16::MIN), i64::from(i32::MIN), i64::MIN, 128, 65_536] {
            rmp::encode::write_sint(&mut writer, value).unwrap();
        }
        for len in [1, 2, 4, 8, 16] {
            rmp::encode::write_ext_meta(&mut writer, len, 7).unwrap();
            writer.extend((0..len).map(|_| 0));
        }
        rmp::encode::write_uint(&mut writer, u64::MAX).unwrap();
        rmp::encode::write_f32(&mut writer, 1.0).unwrap();
        rmp::encode::write_f64(&mut writer, 1.0).unwrap();
        rmp::encode::write_bool(&mut writer, true).unwrap();
        writer.push(0xc0);
        let mut reader = Reader::new(&writer);
        while reader.remaining() > 1 {
            reader.skip("value").unwrap();
        }
        assert_eq!(reader.head("value"), Ok(Head::Nil));
    }

    #[test]
    fn a_length_beyond_the_payload_is_an_error_at_once() {
        for bytes in [
            &[0xdd, 0xff, 0xff, 0xff, 0xff][..],
            &[0xdf, 0xff, 0xff, 0xff, 0xff],
            &[0xdb, 0xff, 0xff, 0xff, 0xff],
            &[0xc6, 0xff, 0xff, 0xff, 0xff],
            &[0xc9, 0xff, 0xff, 0xff, 0xff],
            &[0x92, 0xc0],
            &[0xcf, 0],
        ] {
            assert_eq!(
                Reader::new(bytes).head("value"),
                Err(DecodeError::Truncated { what: "value", at: 0 })
            );
        }
    }
}
