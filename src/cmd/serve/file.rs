//! The configuration file: TOML whose keys are the flags of `icache serve`.

use std::io::Read as _;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::super::UsageError;
use super::super::error::sentence;

/// Bytes of a configuration file: a key a flag takes a few thousand.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// One key of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FileKey {
    /// As written.
    pub(super) name: String,
    /// What the flag of that name would be given; a list has several.
    pub(super) values: Vec<String>,
    /// File and line, as errors name them.
    pub(super) place: String,
}

/// The keys of the file at `path`, from top to bottom.
pub(super) fn read(path: &Path) -> Result<Vec<FileKey>, UsageError> {
    let shown = path.display();
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| UsageError::unreadable(&shown.to_string(), &error))?;
    if read as u64 > MAX_FILE_BYTES {
        return Err(UsageError::new(
            format!("`{shown}` is larger than {MAX_FILE_BYTES} bytes"),
            "give `--config` a file of settings",
        ));
    }
    parse(&text, &shown.to_string())
}

/// The keys of `text`, which errors call `file`.
pub(super) fn parse(text: &str, file: &str) -> Result<Vec<FileKey>, UsageError> {
    let place = |at: usize| format!("{file}:{}", line_of(text, at));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        UsageError::new(
            format!("`{}`: {}", place(at), sentence(&error.message())),
            "write one `key = value` a line; `icache serve --print-config` shows how",
        )
    })?;
    let mut keys = Vec::new();
    for (name, value) in table.get_ref() {
        let at = name.span().start;
        let place = place(at);
        let values = values_of(value.get_ref()).ok_or_else(|| {
            UsageError::new(
                format!(
                    "`{place}`: `{}` is a {}, and no setting is one",
                    name.get_ref(),
                    value.get_ref().type_str()
                ),
                "write a text, a number, `true`, `false` or a list of texts; keys stand in no section",
            )
        })?;
        keys.push((at, FileKey { name: name.get_ref().to_string(), values, place }));
    }
    keys.sort_by_key(|(at, _)| *at);
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// What a flag would be given for it; none where nothing could be.
fn values_of(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(items) => items.iter().map(|item| scalar(item.get_ref())).collect(),
        value => scalar(value).map(|value| vec![value]),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(is_so) => Some(is_so.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_a_flag_is_given() {
        let text = "# first\nmax-entries = 1_000\nblock-size = 0x10\npressure-weight = 0.5\n\ninsecure-plaintext = true\npolicy = [\"a\", 'b']\nlog-level = \"warn\"\n";
        let keys = parse(text, "icache.toml").unwrap();
        let shown: Vec<_> =
            keys.iter().map(|key| (key.name.as_str(), key.values.join("|"), key.place.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("max-entries", "1000".to_owned(), "icache.toml:2"),
                ("block-size", "16".to_owned(), "icache.toml:3"),
                ("pressure-weight", "0.5".to_owned(), "icache.toml:4"),
                ("insecure-plaintext", "true".to_owned(), "icache.toml:6"),
                ("policy", "a|b".to_owned(), "icache.toml:7"),
                ("log-level", "warn".to_owned(), "icache.toml:8"),
            ]
        );
    }

    #[test]
    fn what_is_no_setting_is_told_with_its_line() {
        for (text, place) in [
            ("a = 1\n[index]\nb = 2\n", "f.toml:2"),
            ("\na = 1979-05-27\n", "f.toml:2"),
            ("a = [[1]]", "f.toml:1"),
            ("a = 1\na = 2\n", "f.toml:2"),
            ("a = 1\n\nb = \n", "f.toml:3"),
            ("= 1", "f.toml:1"),
            ("a = 999999999999999999999999999999999999999999", "f.toml:1"),
        ] {
            let error = parse(text, "f.toml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{place}`: ")), "{text:?}: {error}");
        }
        assert_eq!(parse("", "f.toml").unwrap(), []);
    }
}
