//! What lies in `deploy/`, and the guide to it: checked by the tools that will read it (promtool, the schemas of
//! Kubernetes, systemd), and held against what the binary has: metrics, labels, flags.
//!
//! promtool comes with Debian's package `prometheus`, systemd-analyze with `systemd`. Where one of them is not installed, the
//! checks that need it say so and pass; where `CI` is set they fail.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]
#![allow(clippy::print_stderr, reason = "a check that is left out says so")]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod alerts;
mod dashboard;
mod guide;
mod image;
mod manifests;
mod metrics;
mod promql;
mod unit;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the repository.
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The one document of a YAML file.
fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The documents of a YAML file.
fn yaml_documents(path: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Files below a folder of the repository whose names end like this, from the root of the repository.
fn files(below: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path.strip_prefix(root()).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// The strings below `value` that `at` leads to, where lists are gone through.
fn strings(value: &Value, at: &str) -> Vec<String> {
    let (key, rest) = at.split_once('.').unwrap_or((at, ""));
    match value {
        Value::Array(items) => items.iter().flat_map(|item| strings(item, at)).collect(),
        Value::String(text) if at.is_empty() => vec![text.clone()],
        Value::Object(fields) => fields.get(key).map(|value| strings(value, rest)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A tool that is not part of a Rust toolchain; none where it is not installed, which CI does not let pass.
fn tool(name: &str, package: &str) -> Option<Command> {
    let is_there = Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    if is_there {
        return Some(Command::new(name));
    }
    assert!(std::env::var_os("CI").is_none(), "`{name}` is not there; install Debian's package `{package}`");
    eprintln!("not checked: `{name}` is not there; Debian's package `{package}` has it");
    None
}

/// What a command printed, which must have succeeded.
fn succeeded(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let printed = printed(&output);
    assert!(output.status.success(), "{command:?} failed\n{printed}");
    printed
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Long flags of `icache COMMAND`, with the dashes; none where there is no such command.
fn flags(command: &str) -> Option<BTreeSet<String>> {
    let mut definition = icache::cmd::definition();
    definition.build();
    let found = definition.find_subcommand(command)?;
    Some(found.get_arguments().filter_map(|flag| flag.get_long()).map(|long| format!("--{long}")).collect())
}

/// The flags among the arguments, with the values that follow `=` or come next.
fn given(args: &[String]) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        if !arg.starts_with("--") {
            continue;
        }
        found.push(match arg.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (arg.clone(), args.next_if(|next| !next.starts_with("--")).cloned()),
        });
    }
    found
}

/// The value of a flag among the arguments.
fn value_of(args: &[String], flag: &str) -> String {
    let found = given(args).into_iter().find(|(name, _)| name == flag);
    found.and_then(|(_, value)| value).unwrap_or_else(|| panic!("`{flag}` with a value is among {args:?}"))
}

/// Seconds, of `10s`.
fn seconds(span: &str) -> u64 {
    span.strip_suffix('s')
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("{span} in seconds"))
}

/// Bytes, of `512MiB` or `512Mi`.
fn bytes(size: &str) -> u64 {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &size[digits.len()..] {
        "MiB" | "Mi" => 1 << 20,
        "GiB" | "Gi" | "G" => 1 << 30,
        unit => panic!("a unit that is not known: {unit}"),
    };
    digits.parse::<u64>().unwrap() * unit
}

/// The folder for scratch files of one test, empty.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

#[test]
fn arguments_are_read_as_a_shell_passes_them() {
    let args = ["serve", "--a=1", "--b", "2", "--c", "--d=x=y"].map(str::to_owned);
    let expected = [("--a", Some("1")), ("--b", Some("2")), ("--c", None), ("--d", Some("x=y"))];
    let expected = expected.map(|(flag, value)| (flag.to_owned(), value.map(str::to_owned)));
    assert_eq!(given(&args), expected);
    assert_eq!((bytes("512MiB"), bytes("768Mi"), seconds("30s")), (536_870_912, 805_306_368, 30));
}
