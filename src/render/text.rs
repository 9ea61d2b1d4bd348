//! Words and numbers: colours, wrapping, significant digits.

use std::borrow::Cow;
use std::fmt::Write as _;

use textwrap::core::display_width;

/// What a piece of text says by its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Headings, names, the answer.
    Strong,
    /// What can be passed over.
    Faint,
    /// As wished.
    Good,
    /// Worth a look.
    Warning,
    /// Not as wished.
    Bad,
}

impl Tone {
    /// `text` in this tone, where there is `color`.
    pub fn paint(self, color: bool, text: &str) -> String {
        if !color || text.is_empty() {
            return text.to_owned();
        }
        let code = match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// `text` with control characters written out: ids come from callers, and must not move the cursor.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            out.extend(char.escape_default());
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

/// A space at which no line ends; [`wrap`] makes it a plain one.
pub const HARD_SPACE: char = '\u{a0}';

/// Wraps `text` to `width` columns; every line after the first is indented by `hanging`.
pub fn wrap(text: &str, width: usize, hanging: usize) -> Vec<String> {
    let indent = " ".repeat(hanging);
    let options = textwrap::Options::new(width)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let text = clean(text);
    // What no line can hold breaks at its hard spaces rather than amid a word.
    let room = width.saturating_sub(hanging);
    let words = text.split(' ').map(|word| match display_width(word) > room {
        true => word.replace(HARD_SPACE, " "),
        false => word.to_owned(),
    });
    let text = words.collect::<Vec<_>>().join(" ");
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(|line| line.replace(HARD_SPACE, " ")).collect()
}

/// A number to 4 significant digits, without trailing zeros: `123.7`, `0.9667`, `1`, `12346`.
pub fn real(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = value.abs().log10().floor();
    if digits < -5.0 {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - digits).clamp(0.0, 9.0) as usize;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(out, "{value:.decimals$}");
    if out.contains('.') {
        out.truncate(out.trim_end_matches('0').trim_end_matches('.').len());
    }
    out
}

/// `values` with a thousands separator.
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0 {
        out.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and what it counts: `1 block`, `2,000 blocks`.
pub fn count_of(number: u64, noun: &str) -> String {
    let shown = grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let plural = if number == 1 {
        noun.to_owned()
    } else if noun.ends_with("ch") {
        format!("{noun}es")
    } else if let Some(stem) = noun.strip_suffix("cy") {
        format!("{stem}cies")
    } else if let Some(stem) = noun.strip_suffix("try") {
        format!("{stem}tries")
    } else if noun.ends_with('x') {
        format!("{noun}es")
    } else {
        format!("{noun}s")
    };
    format!("{shown} {plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, shown) in [
            (123.733_33, "123.7"),
            (0.966_666_7, "0.9667"),
            (1.0, "1"),
            (0.1, "0.1"),
            (0.0, "0"),
            (12_345.6, "12346"),
            (0.000_012_34, "0.00001234"),
            (0.000_000_123_4, "1.234e-7"),
            (99.999_9, "100"),
        ] {
            assert_eq!(real(value), shown, "{value}");
        }
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(clean("r1\u{1b}[2J\n"), "r1\\u{1b}[2J\\n");
        assert_eq!(clean("vllm-0 ✓"), "vllm-0 ✓");
    }

    #[test]
    fn one_of_a_kind_has_no_plural() {
        for (number, noun, shown) in [
            (1, "block", "1 block"),
            (0, "block", "0 blocks"),
            (2_000, "batch", "2,000 batches"),
            (2, "entry", "2 entries"),
            (2, "prefix", "2 prefixes"),
            (2, "policy", "2 policies"),
        ] {
            assert_eq!(count_of(number, noun), shown);
        }
    }

    #[test]
    fn thousands_are_grouped() {
        for (value, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567")] {
            assert_eq!(grouped(value), shown);
        }
    }
}
