//! Forms of output: the text against a golden file, the others against their schemas.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::shapes::is_documented;

const SEVEN: &str = "seven.yaml";

/// What lint prints of a file below `testdata/policies`, run in that folder.
fn lint(format: &str, files: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["policy", "lint", "--format", format])
        .args(files)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/policies"))
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn schema(path: &str) -> Value {
    let path = format!("{}/testdata/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the schema is there");
    serde_json::from_str(&text).expect("a schema is JSON")
}

fn validates(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).expect("the schema is valid");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn seven_problems_in_one_run() {
    insta::assert_snapshot!("seven_problems", lint("text", &[SEVEN]));
}

/// The published schema without the pattern of `language`, whose stray bracket is a regular expression in JavaScript only.
fn sarif_schema() -> Value {
    let mut schema = schema("sarif/sarif-schema-2.1.0.json");
    for definition in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{definition}/properties/language"));
        if let Some(Value::Object(language)) = language {
            language.remove("pattern");
        }
    }
    schema
}

#[test]
fn sarif_is_valid_by_the_published_schema() {
    let log: Value = serde_json::from_str(&lint("sarif", &[SEVEN, "clean.yaml"])).expect("SARIF is JSON");
    let schema = sarif_schema();
    validates(&schema, &log);
    let run = &log["runs"][0];
    for result in run["results"].as_array().expect("there are results") {
        let index = result["ruleIndex"].as_u64().expect("a rule has its index") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = Value::from("fatal");
    assert!(!jsonschema::is_valid(&schema, &broken));
}

#[test]
fn json_is_valid_and_agrees_with_the_text() {
    let found: Value = serde_json::from_str(&lint("json", &[SEVEN, "clean.yaml"])).expect("JSON is JSON");
    validates(&schema("policies/lint.schema.json"), &found);
    is_documented("Lint", &found);
    is_documented("Diagnostic", &found["diagnostics"][0]);
    let text = lint("text", &[SEVEN, "clean.yaml"]);
    for diagnostic in found["diagnostics"].as_array().expect("there are diagnostics") {
        let place = format!(
            "{}:{}:{}\n",
            diagnostic["file"].as_str().unwrap_or_default(),
            diagnostic["line"],
            diagnostic["column"]
        );
        assert!(text.contains(&place), "{place}");
    }
    let listed = found["diagnostics"].as_array().map_or(0, Vec::len) as u64;
    let counted: u64 = ["errors", "warnings", "infos"].iter().filter_map(|name| found[*name].as_u64()).sum();
    assert_eq!(listed, counted);
}

/// Elements of JUnit XML that are written: attributes, whether text may stand there, and children.
type Element = (&'static str, &'static [&'static str], bool, &'static [&'static str]);

const JUNIT: &[Element] = &[
    ("testsuites", &["name", "tests", "failures", "errors"], false, &["testsuite"]),
    ("testsuite", &["name", "tests", "failures", "errors", "skipped"], false, &["testcase"]),
    ("testcase", &["name", "classname"], false, &["failure", "system-out"]),
    ("failure", &["type", "message"], true, &[]),
    ("system-out", &[], true, &[]),
];

#[test]
fn junit_is_valid() {
    let text = lint("junit", &[SEVEN, "clean.yaml"]);
    let document = roxmltree::Document::parse(&text).expect("JUnit is XML");
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let (_, attributes, may_have_text, children) = JUNIT
            .iter()
            .find(|(known, ..)| *known == name)
            .unwrap_or_else(|| panic!("unknown element {name}"));
        let found: Vec<&str> = node.attributes().map(|attribute| attribute.name()).collect();
        assert_eq!(&found, attributes, "{name}");
        for child in node.children() {
            if child.is_element() {
                assert!(children.contains(&child.tag_name().name()), "{name}");
            } else if !may_have_text {
                assert!(child.text().is_none_or(|text| text.trim().is_empty()), "{name}");
            }
        }
    }
    let root = document.root_element();
    let count = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count().to_string();
    assert_eq!(root.attribute("tests"), Some(&*count("testcase")));
    assert_eq!(root.attribute("failures"), Some(&*count("failure")));
    let clean = root.children().filter(|node| node.attribute("name") == Some("clean.yaml"));
    assert_eq!(clean.map(|suite| suite.attribute("failures")).collect::<Vec<_>>(), [Some("0")]);
}

#[test]
fn github_commands_are_escaped() {
    let text = lint("github", &[SEVEN]);
    assert!(text.lines().count() >= 7);
    for line in text.lines() {
        let (command, message) = line[2..].split_once("::").expect("a command has a message");
        let (name, properties) = command.split_once(' ').expect("a command has properties");
        assert!(line.starts_with("::") && ["error", "warning", "notice"].contains(&name), "{line}");
        for property in properties.split(',') {
            assert_eq!(property.matches('=').count(), 1, "{line}");
            assert!(!property.contains(':'), "{line}");
        }
        assert!(!message.is_empty());
    }
}
