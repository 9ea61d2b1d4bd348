//! What the two schemas of an object have in common: the one for clusters and the one for editors.

use serde_json::{Value, json};

use super::fields::{Field, FieldKind, ObjectKind};

/// Go durations without a sign but `+`; that one is above 0 is beyond a pattern.
pub(super) const GO_DURATION_PATTERN: &str = r"^[+]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$";

/// The registry's line as sentences.
pub(super) fn described(field: &Field) -> String {
    let mut text = sentence(field.summary);
    if field.default.is_none() && !field.unset.is_empty() {
        text.push_str(&format!(" Left out: {}.", field.unset));
    }
    text
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// The default in the field's type.
pub(super) fn default_of(field: &Field) -> Option<Value> {
    let text = field.default?;
    Some(match field.kind {
        FieldKind::Int32 | FieldKind::Int64 => text.parse::<i64>().map_or(Value::Null, Value::from),
        FieldKind::Bool => Value::Bool(text == "true"),
        _ => Value::from(text),
    })
}

/// The shape of an object with its fields; `None` for one that has none.
pub(super) fn object(kind: ObjectKind, field: &Field, property: &dyn Fn(&Field) -> Value) -> Option<Value> {
    let children: Vec<&Field> = kind.fields().iter().filter(|child| child.parent() == field.path).collect();
    if children.is_empty() {
        return None;
    }
    let mut shape = json!({"type": "object", "properties": {}});
    for child in &children {
        shape["properties"][child.name()] = property(child);
    }
    let required: Vec<&str> =
        children.iter().filter(|child| child.required).map(|child| child.name()).collect();
    if !required.is_empty() {
        shape["required"] = json!(required);
    }
    Some(shape)
}
