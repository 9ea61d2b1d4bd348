//! Messages as proto3 JSON, and what is wrong with a text that is none, in the words of the text.

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};
use serde_path_to_error::{Path, Segment};
use strsim::damerau_levenshtein;
use thiserror::Error;

/// Why a text is no message, or a message has no JSON form.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The text is not JSON, or not of this message: what is wrong, and in which field.
    #[error("not a proto3 JSON message: {0}")]
    Read(String),
    /// An enum field holds a number without a name.
    #[error("the message has no proto3 JSON form: {0}")]
    Write(#[source] serde_json::Error),
}

/// Reads a message. Field names may be written in either proto3 form (`modelId`, `model_id`); an unknown one is an error.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    read_json(text).map_err(JsonError::Read)
}

/// Writes a message on one line, fields at their default left out.
pub fn to_json<T: Serialize>(message: &T) -> Result<String, JsonError> {
    serde_json::to_string(message).map_err(JsonError::Write)
}

/// Reads any value; the error says what is wrong and in which field, in the words of the text.
pub fn read_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| explain::<T>(text, &error))
}

/// Names the field of an error. The text is read a second time for that, since keeping track of fields costs.
fn explain<'a, T: Deserialize<'a>>(text: &'a str, error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("it is no JSON: {}", json_fault(error));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let Err(tracked) = serde_path_to_error::deserialize::<_, T>(&mut deserializer) else {
        return plain(&error.to_string());
    };
    let what = plain_value(&error.to_string(), value_at(text, tracked.path()).as_deref());
    match tracked.path().to_string().as_str() {
        "." => what,
        path => format!("field `{path}`: {what}"),
    }
}

/// The parser's sentence on a text that is no JSON.
pub fn json_fault(error: &serde_json::Error) -> String {
    plain(&error.to_string())
}

/// Characters of a value that an error shows.
const SHOWN: usize = 40;

/// The value that a path leads to, as it is written, or its head where it is long.
fn value_at(text: &str, path: &Path) -> Option<String> {
    let mut value: &serde_json::Value = &serde_json::from_str(text).ok()?;
    for segment in path {
        value = match segment {
            Segment::Seq { index } => value.get(index)?,
            Segment::Map { key } => value.get(key)?,
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    let shown = value.to_string();
    Some(match shown.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    })
}

/// What the parser says of a value that its types alone do not explain; else its sentence in plain words.
fn plain_value(message: &str, value: Option<&str>) -> String {
    let is_base64 =
        ["Invalid symbol", "Invalid byte", "Invalid input length", "Invalid last symbol", "Invalid padding"]
            .iter()
            .any(|start| message.starts_with(start));
    let kind = if is_base64
        || ["untagged enum BytesOrString", "a base64 string"].iter().any(|sign| message.contains(sign))
    {
        "base64"
    } else if message.contains("untagged enum Content") || is_number_expected(message) {
        "number that fits this field"
    } else {
        return plain(message);
    };
    match value {
        Some(value) => format!("`{value}` is no {kind}"),
        None => format!("expected a {kind}"),
    }
}

/// Names of this program's number types, which mean nothing to a writer of JSON.
const NUMBERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i16", "i32", "i64", "f32", "f64"];

fn is_number_expected(message: &str) -> bool {
    let expected = message.split_once("expected ").map(|(_, rest)| rest.split(' ').next().unwrap_or(rest));
    expected.is_some_and(|word| NUMBERS.contains(&word))
        || message.starts_with("invalid digit found")
        || message.starts_with("number too ")
}

/// What the parser says of a field that nothing has: the one that is meant, or all that there are, in JSON's own spelling.
fn unknown_field(message: &str) -> Option<String> {
    let (head, known) =
        message.split_once(", expected ").filter(|_| message.starts_with("unknown field `"))?;
    let name = head.split('`').nth(1)?;
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).filter(|known| !known.contains('_')).collect();
    let distance =
        |known: &&str| damerau_levenshtein(&known.to_lowercase(), &name.replace('_', "").to_lowercase());
    let near = known.iter().copied().min_by_key(distance).filter(|known| distance(known) <= known.len() / 3);
    Some(match near {
        Some(near) => format!("{head}; did you mean `{near}`?"),
        None if known.is_empty() => head.to_owned(),
        None => format!("{head}; there are `{}`", known.join("`, `")),
    })
}

/// The parser's sentence: the place in few words, no types of this program.
fn plain(message: &str) -> String {
    if let Some(unknown) = unknown_field(message) {
        return unknown;
    }
    let mut out = match message.rsplit_once(" at line ") {
        Some((head, place)) => match place.split_once(" column ") {
            Some(("1", column)) => format!("{head} (column {column})"),
            Some((line, column)) => format!("{head} (line {line}, column {column})"),
            None => head.to_owned(),
        },
        None => message.to_owned(),
    };
    for (from, to) in [
        ("EOF while parsing", "it ends within"),
        ("unknown variant", "unknown value"),
        ("expected a borrowed string", "expected a string"),
        ("expected a string or bytes", "expected a string"),
        ("expected expected", "expected"),
        ("expected a sequence", "expected a list"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: object"),
        (". (column", " (column"),
        (". (line", " (line"),
    ] {
        out = out.replace(from, to);
    }
    match out.find("expected struct ") {
        Some(at) => {
            let rest = &out[at + "expected struct ".len()..];
            let end = rest.find(' ').unwrap_or(rest.len());
            format!("{}expected an object{}", &out[..at], &rest[end..])
        }
        None => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{CacheEvent, CacheStateUpdate, LookupRouteRequest};

    fn fault<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        read_json::<T>(text).unwrap_err()
    }

    #[test]
    fn faults_name_the_field_and_the_value_and_no_type() {
        for (text, said) in [
            (r#"{"tokenIds":[-1]}"#, "field `tokenIds[0]`: `-1` is no number that fits this field"),
            (
                r#"{"tokenIds":[1,4294967296]}"#,
                "field `tokenIds[1]`: `4294967296` is no number that fits this field",
            ),
            (
                r#"{"blockTokenCounts":[1.5]}"#,
                "field `blockTokenCounts[0]`: `1.5` is no number that fits this field",
            ),
            (
                r#"{"prefixTokenCount":"x"}"#,
                "field `prefixTokenCount`: `\"x\"` is no number that fits this field",
            ),
            (r#"{"blockHashes":["!!"]}"#, "field `blockHashes[0]`: `\"!!\"` is no base64"),
            (r#"{"prefixHash":7}"#, "field `prefixHash`: `7` is no base64"),
            (
                r#"{"slo":{"ttftMs":1e12}}"#,
                "field `slo.ttftMs`: `1000000000000.0` is no number that fits this field",
            ),
            ("[]", "invalid type: list, expected an object (column 2)"),
            ("7", "invalid type: integer `7`, expected an object (column 1)"),
            (r#"{"modelId":7}"#, "field `modelId`: invalid type: integer `7`, expected a string (column 12)"),
            (r#"{"slo":[]}"#, "field `slo`: invalid type: list, expected an object (column 9)"),
            ("{\n\"modelId\"", "it is no JSON: it ends within an object (line 2, column 9)"),
            ("", "it is no JSON: it ends within a value (column 0)"),
        ] {
            assert_eq!(fault::<LookupRouteRequest>(text), said, "{text}");
        }
        let near = fault::<LookupRouteRequest>(r#"{"tenantid":"t"}"#);
        assert_eq!(near, "field `tenantid`: unknown field `tenantid`; did you mean `tenantId`?");
        let far = fault::<LookupRouteRequest>(r#"{"slo":{"zzzzzzzzz":1}}"#);
        assert_eq!(far, "field `slo.zzzzzzzzz`: unknown field `zzzzzzzzz`; there are `ttftMs`, `tbtMs`");
        assert!(fault::<CacheEvent>(r#"{"type":"GONE"}"#).contains("unknown value `GONE`"));
        let update = fault::<CacheStateUpdate>(r#"{"prefixes":[{"tokenCount":true}]}"#);
        assert_eq!(update, "field `prefixes[0].tokenCount`: `true` is no number that fits this field");
    }
}
