//! The JSON Schema of both kinds, for editors and other tools that check YAML while it is written.

use serde_json::{Map, Value, json};

use super::fields::{API_VERSION, CLUSTER_METADATA, DECIMAL_PATTERN, Field, FieldKind, ObjectKind};
use super::object_schema::{GO_DURATION_PATTERN, default_of, described, object};

/// A DNS-1123 subdomain: what an object may be called.
const NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// A DNS-1123 label: what a namespace may be called.
const NAMESPACE_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// The schema of one object, a CachePolicy or a CacheTenant; JSON Schema 2020-12.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    for kind in ObjectKind::ALL {
        definitions.insert(kind.label().to_owned(), of(kind));
    }
    let references: Vec<Value> =
        ObjectKind::ALL.iter().map(|kind| json!({"$ref": format!("#/$defs/{}", kind.label())})).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("CachePolicy and CacheTenant, {API_VERSION}"),
        "oneOf": references,
        "$defs": definitions,
    })
}

fn of(kind: ObjectKind) -> Value {
    let mut metadata = json!({
        "name": {"type": "string", "pattern": NAME_PATTERN, "maxLength": 253},
        "namespace": {"type": "string", "pattern": NAMESPACE_PATTERN, "maxLength": 63},
    });
    for field in CLUSTER_METADATA {
        metadata[field] = json!({});
    }
    let mut required = vec!["apiVersion", "kind", "metadata"];
    let mut properties = json!({
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": kind.label()},
        "metadata": {
            "type": "object",
            "properties": metadata,
            "required": ["name"],
            "additionalProperties": false,
        },
        "status": {"description": "What controllers write; not read."},
    });
    for field in kind.fields().iter().filter(|field| field.parent().is_empty()) {
        properties[field.name()] = property(kind, field);
        if field.required {
            required.push(field.name());
        }
    }
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    })
}

fn property(kind: ObjectKind, field: &Field) -> Value {
    let mut schema = Map::new();
    schema.insert("description".to_owned(), described(field).into());
    if let Some(default) = default_of(field) {
        schema.insert("default".to_owned(), default);
    }
    let shape = match field.kind {
        FieldKind::Int32 => json!({"type": "integer", "minimum": 0, "maximum": i32::MAX}),
        FieldKind::Int64 => json!({"type": "integer", "minimum": 0, "maximum": i64::MAX}),
        FieldKind::Bool => json!({"type": "boolean"}),
        // The second pattern refuses 0 in every spelling.
        FieldKind::Duration => {
            json!({"type": "string", "pattern": GO_DURATION_PATTERN, "allOf": [{"pattern": "[1-9]"}]})
        }
        FieldKind::Decimal => json!({"type": "string", "pattern": DECIMAL_PATTERN}),
        FieldKind::Enum(words) => json!({"type": "string", "enum": words}),
        FieldKind::Text { reserved: [] } => json!({"type": "string", "minLength": 1}),
        FieldKind::Text { reserved } => {
            json!({"type": "string", "minLength": 1, "not": {"enum": reserved}})
        }
        FieldKind::Object => {
            let mut shape = object(kind, field, &|child| property(kind, child))
                .unwrap_or_else(|| json!({"type": "object", "maxProperties": 0}));
            shape["additionalProperties"] = Value::Bool(false);
            if (kind, field.path) == (ObjectKind::CachePolicy, "spec.strategy") {
                shape["not"] = json!({
                    "properties": {"requireChain": {"const": true}, "enableChainMatching": {"const": false}},
                    "required": ["requireChain", "enableChainMatching"],
                });
            }
            shape
        }
    };
    if let Value::Object(shape) = shape {
        schema.extend(shape);
    }
    Value::Object(schema)
}
