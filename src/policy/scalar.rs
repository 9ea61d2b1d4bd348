//! What plain text in YAML is by the core schema of YAML 1.2.

use std::sync::Arc;

use super::document::Value;

/// The value of a scalar without quotes: `yes` and `1:30` are text, `010` is ten, `true`, `True` and `TRUE` are true.
pub(super) fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_int(text) => Value::Int(int(text), Arc::from(text)),
        _ if is_float(text) => Value::Float(Arc::from(text)),
        _ => Value::Text(Arc::from(text)),
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn all(digits: &str, is_digit: impl Fn(u8) -> bool) -> bool {
    !digits.is_empty() && digits.bytes().all(is_digit)
}

fn is_int(text: &str) -> bool {
    all(unsigned(text), |byte| byte.is_ascii_digit())
        || text.strip_prefix("0o").is_some_and(|digits| all(digits, |byte| (b'0'..=b'7').contains(&byte)))
        || text.strip_prefix("0x").is_some_and(|digits| all(digits, |byte| byte.is_ascii_hexdigit()))
}

fn int(text: &str) -> i128 {
    let parsed = if let Some(digits) = text.strip_prefix("0o") {
        i128::from_str_radix(digits, 8)
    } else if let Some(digits) = text.strip_prefix("0x") {
        i128::from_str_radix(digits, 16)
    } else {
        text.parse()
    };
    let border = if text.starts_with('-') { i128::MIN } else { i128::MAX };
    parsed.unwrap_or(border)
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, an infinity, or not a number.
fn is_float(text: &str) -> bool {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let text = unsigned(text);
    if matches!(text, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    if exponent.is_some_and(|exponent| !all(unsigned(exponent), is_digit)) {
        return false;
    }
    match number.split_once('.') {
        Some(("", decimals)) => all(decimals, is_digit),
        Some((whole, decimals)) => all(whole, is_digit) && decimals.bytes().all(is_digit),
        None => all(number, is_digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, shown) in [
            ("", "empty"),
            ("~", "empty"),
            ("null", "empty"),
            ("True", "the boolean `true`"),
            ("yes", "the text `yes`"),
            ("tRUE", "the text `tRUE`"),
            ("-12", "the number `-12`"),
            ("0x1F", "the number `0x1F`"),
            ("0o8", "the text `0o8`"),
            ("1_000", "the text `1_000`"),
            ("1:30", "the text `1:30`"),
            ("1.", "the number `1.`"),
            (".5e+3", "the number `.5e+3`"),
            ("1e", "the text `1e`"),
            (".", "the text `.`"),
            ("+", "the text `+`"),
            ("-.inf", "the number `-.inf`"),
            ("5 ms", "the text `5 ms`"),
        ] {
            assert_eq!(plain_value(text).describe(), shown, "{text}");
        }
    }

    #[test]
    fn whole_numbers_end_at_the_border() {
        for (text, number) in
            [("010", 10), ("+7", 7), ("0x10", 16), ("0o17", 15), ("-0", 0), (&"9".repeat(60), i128::MAX)]
        {
            assert!(matches!(plain_value(text), Value::Int(value, _) if value == number), "{text}");
        }
        assert!(matches!(plain_value(&format!("-{}", "9".repeat(60))), Value::Int(i128::MIN, _)));
    }
}
