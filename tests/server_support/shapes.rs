//! JSON that commands print, against the document that lists its fields.

use serde_json::Value;

/// The fields of `value` are those that `docs/json-output.md` lists for `shape`.
pub fn is_documented(shape: &str, value: &Value) {
    let shape = icache::render::SHAPES.iter().find(|known| known.name == shape).expect("the shape is listed");
    let mut wished: Vec<&str> = shape.fields.iter().map(|(field, _)| *field).collect();
    wished.sort_unstable();
    let mut found: Vec<&str> =
        value.as_object().expect("it is an object").keys().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, wished, "{}", shape.name);
}
