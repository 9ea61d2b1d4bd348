//! Times of records: decimal Unix seconds, exact to the microsecond.

use crate::model::Timestamp;

/// Digits of a second that count.
const PLACES: i64 = 6;

/// Reads the text of a JSON number as Unix seconds, rounded to the nearest microsecond.
///
/// The digits are read as they stand: in binary floating point the microseconds of a Unix time are at the edge of what
/// survives. `None` where the text is no number or the time is beyond what a [`Timestamp`] holds.
pub(super) fn parse_seconds(text: &str) -> Option<Timestamp> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Position, in `digits`, behind the last digit that counts.
    let end = i64::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(PLACES)?;
    let us = magnitude(&digits, end)?;
    let ns = us.checked_mul(1_000)?;
    Some(Timestamp::from_ns(if negative { -ns } else { ns }))
}

/// The first `end` digits as a number, filled up with zeros and rounded by the digit after them.
fn magnitude(digits: &[u8], end: i64) -> Option<i64> {
    let Ok(end) = usize::try_from(end) else { return Some(0) };
    let mut value = 0_i64;
    for at in 0..end {
        let digit = digits.get(at).copied().unwrap_or(b'0');
        // Zeros are appended to nothing in a number like 0e999999999999.
        if value == 0 && at >= digits.len() {
            return Some(0);
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    let rounds_up = digits.get(end).is_some_and(|digit| *digit >= b'5');
    value.checked_add(i64::from(rounds_up))
}

/// Decimal Unix seconds with six places, rounded towards the past.
pub(super) fn format_seconds(at: Timestamp) -> String {
    let us = at.as_us();
    let sign = if us < 0 { "-" } else { "" };
    let us = us.unsigned_abs();
    format!("{sign}{}.{:06}", us / 1_000_000, us % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_digit_by_digit() {
        for (text, us) in [
            ("1754611200.000001", 1_754_611_200_000_001),
            ("1754611280.71988", 1_754_611_280_719_880),
            ("1754611200", 1_754_611_200_000_000),
            ("0.5", 500_000),
            ("0.0000005", 1),
            ("0.00000049", 0),
            ("1.7546112e9", 1_754_611_200_000_000),
            ("1754611200000001E-6", 1_754_611_200_000_001),
            ("-1.5", -1_500_000),
            ("-0.000001", -1),
            ("0e999999999999", 0),
            ("7e-999", 0),
            ("9000000000.123456", 9_000_000_000_123_456),
        ] {
            assert_eq!(parse_seconds(text), Some(Timestamp::from_us(us)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in
            ["", "-", "1e", "1e99", "99999999999", "1e9223372036854775807", "\"1\"", "null", "1.2.3", "NaN"]
        {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for us in [0, 1, -1, 999_999, 1_754_611_200_000_001, -1_500_000] {
            let at = Timestamp::from_us(us);
            assert_eq!(parse_seconds(&format_seconds(at)), Some(at), "{us}");
        }
    }
}
