//! YAML as written: values with the lines they stand in.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Options, Spanned, UserMessageFormatter};

use super::schema::PolicyError;

/// Bytes of one policy file or record at most.
pub const MAX_POLICY_BYTES: usize = 16 << 20;
/// Levels of nesting in one document at most: objects of the cluster nest some ten deep.
const MAX_DEPTH: usize = 64;

/// A value and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Node {
    /// From 1.
    pub(super) line: u64,
    pub(super) value: Value,
}

/// A value by its YAML type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// What it is, for errors.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "empty".to_owned(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(value) => format!("the number `{value}`"),
            Self::Float(value) => format!("the number `{value}`"),
            Self::Text(text) => format!("the text `{text}`"),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "an object".to_owned(),
        }
    }
}

/// A key of an object, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) line: u64,
}

/// Reads every document of `text`; empty ones are left out.
pub(super) fn parse_documents(name: &str, text: &str) -> Result<Vec<Node>, PolicyError> {
    if text.len() > MAX_POLICY_BYTES {
        let what = format!("the text has {} bytes, at most {MAX_POLICY_BYTES} are read", text.len());
        return Err(PolicyError::new(name, 1, what));
    }
    serde_saphyr::from_multiple_with_options::<Node>(text, options()).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line().max(1));
        PolicyError::new(name, line, format!("no valid YAML: {}", sentence(&error)))
    })
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
        with_snippet: false,
        strict_booleans: true,
    }
}

/// The parser's sentence without its own place, since the error begins with the line.
fn sentence(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    let text = text.lines().next().unwrap_or_default();
    let end = [" at line ", ": limits breached"].iter().filter_map(|tail| text.find(tail)).min();
    let text = text[..end.unwrap_or(text.len())].trim_end_matches(['.', ',', ':', ' ']);
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(chars).collect(),
        (Some(_), _) => text.to_owned(),
        (None, _) => "it cannot be read".to_owned(),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(i128::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(i128::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = access.next_element()? {
            list.push(node);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = access.next_entry::<Spanned<String>, Node>()? {
            map.push((Key { text: key.value, line: key.referenced.line() }, node));
        }
        Ok(Value::Map(map))
    }
}
