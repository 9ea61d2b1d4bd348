//! Spans of time as Go writes them, the form of Kubernetes objects: `30m`, `1h30m`, `1.5s`.

use thiserror::Error;

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000), // U+00B5
    ("μs", 1_000), // U+03BC
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Why a text is no duration.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DurationError {
    /// Nothing there.
    #[error("a duration is empty; write a number and a unit, as in `30m`")]
    Empty,
    /// A number is missing or malformed.
    #[error("`{0}` is not a duration; write numbers with units, as in `30m` or `1h30m`")]
    Number(String),
    /// A unit is missing or unknown.
    #[error("`{0}` has a number without a known unit; units are `ns`, `us`, `ms`, `s`, `m`, `h`")]
    Unit(String),
    /// Beyond 292 years.
    #[error("`{0}` is longer than a duration can be")]
    Range(String),
}

/// Nanoseconds of a Go duration: an optional sign, then one or more of number and unit, decimals allowed; or `0`.
///
/// The grammar is that of Go's `time.ParseDuration`, the parser behind Kubernetes `metav1.Duration`.
pub fn parse_duration(text: &str) -> Result<i64, DurationError> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.is_empty() {
        return Err(if text.is_empty() {
            DurationError::Empty
        } else {
            DurationError::Number(text.to_owned())
        });
    }
    if rest == "0" {
        return Ok(0);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (whole, fraction, after) = number(rest).ok_or_else(|| DurationError::Number(text.to_owned()))?;
        let (unit, after) = unit(after).ok_or_else(|| DurationError::Unit(text.to_owned()))?;
        let whole: i128 = if whole.is_empty() { Ok(0) } else { whole.parse() }
            .map_err(|_| DurationError::Range(text.to_owned()))?;
        let part =
            whole.checked_mul(i128::from(unit)).ok_or_else(|| DurationError::Range(text.to_owned()))?;
        total = total.saturating_add(part).saturating_add(fraction_ns(fraction, unit));
        if total > i128::from(i64::MAX) {
            return Err(DurationError::Range(text.to_owned()));
        }
        rest = after;
    }
    let total = if negative { -total } else { total };
    i64::try_from(total).map_err(|_| DurationError::Range(text.to_owned()))
}

/// Splits `rest` after its leading decimal number: whole digits, fraction digits, remainder.
fn number(rest: &str) -> Option<(&str, &str, &str)> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, after) = rest.split_at(end);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(tail) => tail.split_at(tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())),
        None => ("", after),
    };
    (!whole.is_empty() || !fraction.is_empty()).then_some((whole, fraction, after))
}

/// The unit at the head of `rest`: the letters up to the next digit or point, as a whole.
fn unit(rest: &str) -> Option<(i64, &str)> {
    let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let (_, ns) = UNITS.iter().find(|(unit, _)| *unit == name)?;
    Some((*ns, after))
}

fn fraction_ns(digits: &str, unit: i64) -> i128 {
    let mut scale = i128::from(unit) * 1_000_000_000_000_000_000;
    let mut sum = 0_i128;
    for digit in digits.bytes().take(18) {
        scale /= 10;
        sum += scale * i128::from(digit - b'0');
    }
    sum / 1_000_000_000_000_000_000
}

/// The shortest exact form in the same notation: `30m`, `1h30m`, `1.5s`, `250ms`, `0s`.
pub fn format_duration(ns: i64) -> String {
    if ns == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    let mut rest = ns.unsigned_abs();
    if ns < 0 {
        out.push('-');
    }
    for (unit, size) in [("h", 3_600_000_000_000_u64), ("m", 60_000_000_000)] {
        if rest >= size {
            out.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if rest == 0 {
        return out;
    }
    let (unit, size) = [("s", 1_000_000_000_u64), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)]
        .into_iter()
        .find(|(_, size)| rest >= *size)
        .unwrap_or(("ns", 1));
    let fraction = format!("{:0width$}", rest % size, width = size.ilog10() as usize);
    let fraction = if size == 1 { "" } else { fraction.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    out.push_str(&format!("{}{point}{fraction}{unit}", rest / size));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn durations_read_as_go_reads_them() {
        for (text, ns) in [
            ("30m", 1_800 * SECOND),
            ("1h30m", 5_400 * SECOND),
            ("90s", 90 * SECOND),
            ("1.5s", 1_500_000_000),
            (".5ms", 500_000),
            ("1.s", SECOND),
            ("-2us", -2_000),
            ("+3µs", 3_000),
            ("0", 0),
            ("0s", 0),
            ("100ns", 100),
            ("0.3333333333333333333h", 1_200 * SECOND - 1),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        let text = |text: &str| text.to_owned();
        for (bad, error) in [
            ("", DurationError::Empty),
            ("-", DurationError::Number(text("-"))),
            ("m", DurationError::Number(text("m"))),
            (".s", DurationError::Number(text(".s"))),
            ("30", DurationError::Unit(text("30"))),
            ("30 m", DurationError::Unit(text("30 m"))),
            ("1d", DurationError::Unit(text("1d"))),
            ("1m30", DurationError::Unit(text("1m30"))),
            ("9223372036854775808ns", DurationError::Range(text("9223372036854775808ns"))),
            (
                "99999999999999999999999999999999999999999h",
                DurationError::Range(text("99999999999999999999999999999999999999999h")),
            ),
        ] {
            assert_eq!(parse_duration(bad), Err(error), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for (ns, shown) in [
            (0, "0s"),
            (1_800 * SECOND, "30m"),
            (5_400 * SECOND, "1h30m"),
            (3_601 * SECOND, "1h1s"),
            (1_500_000_000, "1.5s"),
            (250_000_000, "250ms"),
            (1_001, "1.001us"),
            (7, "7ns"),
            (-61 * SECOND, "-1m1s"),
            (60 * SECOND + 1, "1m1ns"),
        ] {
            assert_eq!(format_duration(ns), shown);
            assert_eq!(parse_duration(shown), Ok(ns), "{shown}");
        }
    }
}
