//! Fields of one object: taken by name, checked, and nothing left over.

use super::document::{Key, Node, Value};
use super::schema::PolicyError;
use crate::model::parse_duration;

/// The fields of an object that have not been taken yet.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    name: &'a str,
    /// Path from the document, as in `spec.strategy`; empty at the top.
    path: String,
    /// Where the object begins.
    pub(super) line: u64,
    rest: Vec<(Key, Node)>,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of `node`, which errors call `path` in the file `name`.
    pub(super) fn of(name: &'a str, path: &str, node: Node) -> Result<Self, PolicyError> {
        match node.value {
            Value::Map(rest) => {
                Ok(Self { name, path: path.to_owned(), line: node.line, rest, taken: Vec::new() })
            }
            other => {
                let subject = if path.is_empty() { "a document".to_owned() } else { format!("`{path}`") };
                let what = format!("{subject} is {}; write an object with fields", other.describe());
                Err(PolicyError::new(name, node.line, what))
            }
        }
    }

    /// Takes a field; an empty one counts as absent, as in the cluster.
    pub(super) fn take(&mut self, field: &'static str) -> Option<Node> {
        self.taken.push(field);
        let at = self.rest.iter().position(|(key, _)| key.text == field)?;
        let (_, node) = self.rest.remove(at);
        (node.value != Value::Null).then_some(node)
    }

    /// Takes a field that is an object; absent is `None`.
    pub(super) fn object(&mut self, field: &'static str) -> Result<Option<Fields<'a>>, PolicyError> {
        let path = self.path_of(field);
        self.take(field).map(|node| Fields::of(self.name, &path, node)).transpose()
    }

    /// Takes a field that is text.
    pub(super) fn text(&mut self, field: &'static str) -> Result<Option<(u64, String)>, PolicyError> {
        let Some(node) = self.take(field) else { return Ok(None) };
        match node.value {
            Value::Text(text) => Ok(Some((node.line, text))),
            other => {
                Err(self.wrong(field, node.line, &format!("is {}; write text, in quotes", other.describe())))
            }
        }
    }

    /// Takes a field that is a boolean.
    pub(super) fn boolean(&mut self, field: &'static str) -> Result<Option<bool>, PolicyError> {
        let Some(node) = self.take(field) else { return Ok(None) };
        match node.value {
            Value::Bool(value) => Ok(Some(value)),
            other => Err(self.wrong(
                field,
                node.line,
                &format!("is {}; write `true` or `false`", other.describe()),
            )),
        }
    }

    /// Takes a field that is a whole number from 0 to `most`.
    pub(super) fn count(&mut self, field: &'static str, most: i64) -> Result<Option<i64>, PolicyError> {
        let Some(node) = self.take(field) else { return Ok(None) };
        match node.value {
            Value::Int(value) => match i64::try_from(value) {
                Ok(value) if (0..=most).contains(&value) => Ok(Some(value)),
                _ => {
                    Err(self.wrong(field, node.line, &format!("is {value}; write a number from 0 to {most}")))
                }
            },
            other => Err(self.wrong(
                field,
                node.line,
                &format!("is {}; write a whole number without quotes", other.describe()),
            )),
        }
    }

    /// Takes a field that is a 32-bit whole number from 0.
    pub(super) fn count32(&mut self, field: &'static str) -> Result<Option<i32>, PolicyError> {
        let count = self.count(field, i64::from(i32::MAX))?;
        Ok(count.and_then(|count| i32::try_from(count).ok()))
    }

    /// Takes a field that is one of `choices`, in exactly that spelling.
    pub(super) fn choice<T: Copy>(
        &mut self,
        field: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, PolicyError> {
        let Some((line, text)) = self.text(field)? else { return Ok(None) };
        match choices.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
                let what = format!("is `{text}`; write {}", words.join(" or "));
                Err(self.wrong(field, line, &what))
            }
        }
    }

    /// Takes a field that is a duration above 0, in nanoseconds.
    pub(super) fn positive_duration(&mut self, field: &'static str) -> Result<Option<i64>, PolicyError> {
        let Some((line, text)) = self.text(field)? else { return Ok(None) };
        match parse_duration(&text) {
            Ok(ns) if ns > 0 => Ok(Some(ns)),
            Ok(_) => {
                Err(self.wrong(field, line, &format!("is `{text}`; write a duration above 0, as in `30m`")))
            }
            Err(error) => Err(self.wrong(field, line, &format!("is no duration: {error}"))),
        }
    }

    /// An error about `field`.
    pub(super) fn wrong(&self, field: &str, line: u64, what: &str) -> PolicyError {
        PolicyError::new(self.name, line, format!("`{}` {what}", self.path_of(field)))
    }

    /// An error where a field was not taken.
    pub(super) fn finish(self) -> Result<(), PolicyError> {
        let Some((key, _)) = self.rest.first() else { return Ok(()) };
        let nearest = self
            .taken
            .iter()
            .map(|known| {
                (strsim::damerau_levenshtein(&key.text.to_lowercase(), &known.to_lowercase()), *known)
            })
            .min()
            .filter(|(distance, known)| *distance <= known.len() / 3);
        let advice = match nearest {
            Some((_, known)) => format!("did you mean `{}`?", self.path_of(known)),
            None if self.taken.is_empty() => "nothing may stand here".to_owned(),
            None => format!("known here: {}", self.taken.join(", ")),
        };
        let what = format!("unknown field `{}`; {advice}", self.path_of(&key.text));
        Err(PolicyError::new(self.name, key.line, what))
    }

    /// Lets what was not taken be: an object of a kind that is none of ours.
    pub(super) fn ignore_rest(self) {}

    fn path_of(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }
}
