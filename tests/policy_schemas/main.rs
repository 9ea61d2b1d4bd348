//! The generated schemas agree with the loader: each example is judged the same by the CustomResourceDefinition, by the
//! JSON Schema and by `load_policies`.
//!
//! What the API server does around a structural schema is done here too: fields that the schema does not name are
//! refused (`kubectl` validates strictly), nulls of fields with a default are dropped, defaults are filled in, formats
//! bound integers, and the rules of `x-kubernetes-validations` are evaluated.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod cluster;
mod examples;

use std::sync::LazyLock;

use icache::policy::crd::definitions;
use icache::policy::fields::{API_VERSION, ObjectKind};
use icache::policy::{Defaults, diff, json_schema, load_policies, view};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use cluster::{Cluster, schema_of};
use examples::{EXAMPLES, Verdict};

static POLICIES: LazyLock<Cluster> = LazyLock::new(|| Cluster::new(&definitions()[0]));
static TENANTS: LazyLock<Cluster> = LazyLock::new(|| Cluster::new(&definitions()[1]));
static EDITOR: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).unwrap());

fn cluster(kind: ObjectKind) -> &'static Cluster {
    match kind {
        ObjectKind::CachePolicy => &POLICIES,
        ObjectKind::CacheTenant => &TENANTS,
    }
}

fn object(kind: ObjectKind, spec: Option<Value>) -> Value {
    let mut object = json!({
        "apiVersion": API_VERSION,
        "kind": kind.label(),
        "metadata": {"name": "p", "namespace": "team-a"},
    });
    if let Some(spec) = spec {
        object["spec"] = spec;
    }
    object
}

/// JSON is YAML.
fn loads(object: &Value) -> Result<(), String> {
    let loaded = load_policies("p.json", &object.to_string(), &Defaults::default());
    loaded.map(drop).map_err(|error| error.to_string())
}

use ObjectKind::{CachePolicy, CacheTenant};
use Verdict::{Invalid, Valid};

fn agree(kind: ObjectKind, verdict: Verdict, object: &Value) {
    let loaded = loads(object);
    let is_valid = verdict == Valid;
    assert_eq!(loaded.is_ok(), is_valid, "loader: {object} {loaded:?}");
    assert_eq!(cluster(kind).accepts(object), is_valid, "CustomResourceDefinition: {object}");
    assert_eq!(EDITOR.is_valid(object), is_valid, "JSON Schema: {object}");
}

#[test]
fn all_three_judge_the_same() {
    for (kind, verdict, spec) in EXAMPLES {
        agree(*kind, *verdict, &object(*kind, Some(serde_json::from_str(spec).expect("an example is JSON"))));
    }
    agree(CachePolicy, Valid, &object(CachePolicy, None));
    agree(CacheTenant, Invalid, &object(CacheTenant, None));
}

/// What is filled in changes nothing: the defaults of the cluster are those of the server.
#[test]
fn defaults_of_the_cluster_are_those_of_the_server() {
    for (kind, _, spec) in EXAMPLES.iter().filter(|(_, verdict, _)| *verdict == Valid) {
        let written = object(*kind, Some(serde_json::from_str(spec).unwrap()));
        let filled = cluster(*kind).defaulted(&written);
        let [written, filled] = [written, filled].map(|object| {
            let loaded = load_policies("p.json", &object.to_string(), &Defaults::default()).unwrap();
            view(&loaded.set, &[])
        });
        assert!(diff(&written, &filled).is_empty(), "{spec}");
    }
}

/// Where they differ, and why.
#[test]
fn known_differences() {
    let judged = |kind: ObjectKind, spec: &str| {
        let object = object(kind, Some(serde_json::from_str(spec).unwrap()));
        (loads(&object).is_ok(), cluster(kind).accepts(&object), EDITOR.is_valid(&object))
    };
    // A pattern cannot add up: that a duration is below 1 ns or over 292 years is beyond JSON Schema.
    for spec in [r#"{"evictionTTL": "0.1ns"}"#, r#"{"evictionTTL": "9223372036854775808ns"}"#] {
        assert_eq!(judged(CachePolicy, spec), (false, false, true), "{spec}");
    }
    // An empty field counts as absent. The cluster agrees where it has a default; an editor points at it.
    assert_eq!(judged(CachePolicy, r#"{"eviction": null}"#), (true, true, false));
    assert_eq!(judged(CachePolicy, r#"{"evictionTTL": null}"#), (true, false, false));
    // JSON has no whole numbers of its own: 1.0 is one to schemas, and a float to YAML.
    assert_eq!(judged(CachePolicy, r#"{"lookupTimeoutMs": 1.0}"#), (false, true, true));
}

/// What stands around the spec is the API server's own matter; the editor's schema and the loader check it.
#[test]
fn the_envelope_is_judged_the_same_by_editor_and_loader() {
    let changed = |pointer: &str, value: Option<Value>| {
        let mut object = object(CachePolicy, Some(json!({})));
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => drop(parent.insert(name.to_owned(), value)),
            None => drop(parent.remove(name)),
        }
        object
    };
    for (pointer, value, is_valid) in [
        ("/apiVersion", Some(json!("inferencecache.io/v1")), false),
        ("/apiVersion", None, false),
        ("/kind", None, false),
        ("/metadata", None, false),
        ("/metadata/name", None, false),
        ("/metadata/name", Some(json!("")), false),
        ("/metadata/name", Some(json!("Chat")), false),
        ("/metadata/name", Some(json!("chat.v2")), true),
        ("/metadata/name", Some(json!("a".repeat(254))), false),
        ("/metadata/namespace", None, true),
        ("/metadata/namespace", Some(json!("team.a")), false),
        ("/metadata/namespace", Some(json!("a".repeat(64))), false),
        ("/metadata/labels", Some(json!({"team": "a"})), true),
        ("/metadata/labls", Some(json!({})), false),
        ("/status", Some(json!({"conditions": []})), true),
        ("/specs", Some(json!({})), false),
    ] {
        let object = changed(pointer, value);
        assert_eq!(loads(&object).is_ok(), is_valid, "loader: {object} {:?}", loads(&object));
        assert_eq!(EDITOR.is_valid(&object), is_valid, "JSON Schema: {object}");
    }
}

#[test]
fn the_json_schema_is_one() {
    let schema = json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    // Each kind is judged by its own part alone.
    for kind in ObjectKind::ALL {
        assert_eq!(schema["$defs"][kind.label()]["properties"]["kind"]["const"], kind.label());
    }
}

/// Values that are valid for some fields and not for others.
fn values() -> impl Strategy<Value = Value> {
    proptest::sample::select(vec![
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(i32::MAX),
        json!(i64::from(i32::MAX) + 1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(""),
        json!("0"),
        json!("0.25"),
        json!("7"),
        json!("30m"),
        json!("-30m"),
        json!("LRU"),
        json!("LFU"),
        json!("Enabled"),
        json!("Disabled"),
        json!("Fairness"),
        json!("inferencecache.io/probe"),
        json!("a: b # c"),
        json!({}),
        json!([]),
        json!({"requireChain": true}),
        json!({"enableChainMatching": false}),
        json!({"requireChain": true, "enableChainMatching": false}),
        json!({"maxIndexEntries": 7}),
        json!({"maxIndexEntries": -7}),
        json!({"key": "k"}),
    ])
}

fn specs(kind: ObjectKind) -> impl Strategy<Value = Value> {
    let mut names: Vec<&'static str> =
        kind.fields().iter().filter(|field| field.parent() == "spec").map(|field| field.name()).collect();
    names.push("other");
    proptest::collection::vec((proptest::sample::select(names), values()), 0..4).prop_map(move |fields| {
        let mut spec: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if kind == CacheTenant {
            spec.entry("tenantID").or_insert_with(|| json!("team-a"));
        }
        Value::Object(spec)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_three_judge_generated_objects_the_same(
        (kind, spec) in prop_oneof![
            specs(CachePolicy).prop_map(|spec| (CachePolicy, spec)),
            specs(CacheTenant).prop_map(|spec| (CacheTenant, spec)),
        ],
    ) {
        let object = object(kind, Some(spec));
        let loaded = loads(&object);
        prop_assert_eq!(cluster(kind).accepts(&object), loaded.is_ok(), "{:?}", loaded);
        prop_assert_eq!(EDITOR.is_valid(&object), loaded.is_ok(), "{:?}", loaded);
    }
}

/// The keys of `value` are among `known`.
fn has_only(value: &Value, known: &[&str], place: &str) {
    for key in value.as_object().unwrap_or_else(|| panic!("{place} is an object")).keys() {
        assert!(known.contains(&key.as_str()), "{place} has no key `{key}`");
    }
}

/// What a structural schema of the cluster may say, as far as it is used here.
fn is_structural(schema: &Value, place: &str) {
    const KEYWORDS: &[&str] = &[
        "type",
        "description",
        "properties",
        "required",
        "enum",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "minLength",
        "maxProperties",
        "default",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    has_only(schema, KEYWORDS, place);
    let of_type = schema["type"].as_str().unwrap_or_else(|| panic!("{place} has a type"));
    assert!(["object", "string", "integer", "boolean"].contains(&of_type), "{place}: {of_type}");
    assert!(place.ends_with("metadata") || schema["description"].is_string(), "{place} says what it is");
    if let Some(default) = schema.get("default") {
        assert!(jsonschema::is_valid(schema, default), "the default of {place} is valid");
    }
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        has_only(rule, &["rule", "message"], place);
        assert!(rule["rule"].as_str().unwrap().contains("self"), "{place}");
        assert!(!rule["message"].as_str().unwrap().contains('\n'), "{place}");
    }
    let properties = schema["properties"].as_object();
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(properties.unwrap().contains_key(name.as_str().unwrap()), "{place} requires {name}");
    }
    // An object either has properties, or keeps what it is given, or is metadata, which the cluster knows.
    let keeps = schema["x-kubernetes-preserve-unknown-fields"] == true;
    assert!(of_type != "object" || properties.is_some() || keeps || place.ends_with("metadata"), "{place}");
    for (name, property) in properties.into_iter().flatten() {
        is_structural(property, &format!("{place}.{name}"));
    }
}

#[test]
fn definitions_have_the_shape_of_the_cluster() {
    for (definition, kind) in definitions().iter().zip(ObjectKind::ALL) {
        let object = &definition.object;
        has_only(object, &["apiVersion", "kind", "metadata", "spec"], "the definition");
        assert_eq!(object["apiVersion"], "apiextensions.k8s.io/v1");
        assert_eq!(object["kind"], "CustomResourceDefinition");
        let spec = &object["spec"];
        has_only(spec, &["group", "names", "scope", "versions"], "spec");
        let plural = spec["names"]["plural"].as_str().unwrap();
        assert_eq!(object["metadata"], json!({"name": format!("{plural}.inferencecache.io")}));
        assert_eq!((&spec["group"], &spec["scope"]), (&json!("inferencecache.io"), &json!("Namespaced")));
        has_only(&spec["names"], &["kind", "listKind", "plural", "singular"], "names");
        assert_eq!(spec["names"]["kind"], kind.label());
        assert_eq!(spec["names"]["listKind"], format!("{}List", kind.label()));
        for name in ["plural", "singular"] {
            let name = spec["names"][name].as_str().unwrap();
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
        }
        let versions = spec["versions"].as_array().unwrap();
        assert_eq!(versions.iter().filter(|version| version["storage"] == true).count(), 1);
        for version in versions {
            let known = ["name", "served", "storage", "subresources", "additionalPrinterColumns", "schema"];
            has_only(version, &known, "a version");
            assert_eq!(version["served"], true);
            assert_eq!(
                format!("{}/{}", spec["group"].as_str().unwrap(), version["name"].as_str().unwrap()),
                API_VERSION
            );
            has_only(&version["schema"], &["openAPIV3Schema"], "schema");
            for column in version["additionalPrinterColumns"].as_array().unwrap() {
                has_only(column, &["name", "type", "jsonPath"], "a column");
                let path = column["jsonPath"].as_str().unwrap();
                let field = path.trim_start_matches('.').replace('.', "/properties/");
                let is_own = schema_of(definition).pointer(&format!("/properties/{field}")).is_some();
                assert!(is_own || path == ".metadata.creationTimestamp", "{path}");
            }
        }
        is_structural(schema_of(definition), kind.label());
    }
}

#[test]
fn the_yaml_reads_back_as_the_object() {
    for definition in definitions() {
        let text = definition.yaml().unwrap();
        assert!(text.starts_with('#') && text.ends_with('\n') && !text.ends_with("\n\n"));
        assert_eq!(serde_saphyr::from_str::<Value>(&text).unwrap(), definition.object);
    }
}
