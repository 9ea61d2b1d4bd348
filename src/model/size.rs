//! Sizes in bytes as people write them: `4096`, `512MiB`, `1GB`.

use thiserror::Error;

const UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Why a text is no size.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SizeError {
    /// Not a whole number, or one beyond 64 bits.
    #[error("`{0}` is not a size; write a whole number and a unit, as in `512MiB`")]
    Number(String),
    /// A unit that is not known.
    #[error("`{0}` has an unknown unit; units are `B`, `KiB`, `MiB`, `GiB`, `TiB`, `kB`, `MB`, `GB`, `TB`")]
    Unit(String),
}

/// Bytes of a size: a whole number, then a unit of 1,024 or 1,000; no unit means bytes. Case does not matter.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().map_err(|_| SizeError::Number(text.to_owned()))?;
    let unit = unit.trim_start();
    let (_, bytes) = UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .ok_or_else(|| SizeError::Unit(text.to_owned()))?;
    number.checked_mul(*bytes).ok_or_else(|| SizeError::Number(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read() {
        for (text, bytes) in
            [("0", 0), ("4096", 4096), ("16B", 16), ("512MiB", 512 << 20), ("2 GiB", 2 << 30), ("3kb", 3000)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for bad in ["", "MiB", "-1", "1.5GiB", "99999999999999999999", "16777216TiB"] {
            assert!(matches!(parse_size(bad), Err(SizeError::Number(_) | SizeError::Unit(_))), "{bad}");
        }
        assert_eq!(parse_size("1XB"), Err(SizeError::Unit("1XB".to_owned())));
        assert_eq!(parse_size("99999999TiB"), Err(SizeError::Number("99999999TiB".to_owned())));
    }
}
