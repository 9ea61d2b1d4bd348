//! Rules about the tree itself: the arrows between modules, and what must not stand in the sources.

use std::path::{Path, PathBuf};

/// For each module: the modules of this crate that it may name. ARCHITECTURE.md draws the same picture.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("hash", &["model"]),
    ("decision", &["model"]),
    ("index", &["decision", "model"]),
    ("load", &["decision", "model"]),
    ("policy", &["model"]),
    ("engine", &["hash", "model"]),
    ("lookup", &["decision", "hash", "index", "load", "model", "policy"]),
    ("explanation", &["decision", "index", "lookup", "model"]),
    ("contract", &["explanation", "index", "model"]),
    ("bench", &["model"]),
    ("telemetry", &[]),
    ("top", &["doctor", "model", "policy", "server", "telemetry"]),
    ("doctor", &["decision", "model", "policy", "server", "telemetry"]),
    ("capture", &["contract", "model"]),
    (
        "replay",
        &["capture", "contract", "decision", "engine", "explanation", "index", "lookup", "model", "policy"],
    ),
    (
        "simulate",
        &["capture", "contract", "decision", "engine", "hash", "index", "lookup", "model", "policy"],
    ),
    ("server", &["contract", "decision", "explanation", "index", "lookup", "model", "policy"]),
    ("subscribe", &["contract", "engine", "model", "server", "telemetry"]),
];

/// Modules that may name everybody.
const TOP: &[&str] = &["bin", "cmd", "render", "generate", "lib"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(below: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![below.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the tree can be read") {
            let path = entry.expect("an entry of the tree can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn module_of(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).expect("a source lies under src");
    let first = inside.components().next().expect("a source has a name");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The modules of this crate that a source names by `crate::` paths, in code or documentation.
fn named(source: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut names = Vec::new();
    for (at, _) in source.match_indices("crate::") {
        let rest = &source[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let list = list.split('}').next().unwrap_or_default();
            let heads = list
                .split(',')
                .map(|part| part.trim().chars().take_while(|c| is_name(*c)).collect::<String>());
            names.extend(heads.filter(|head| !head.is_empty()));
        } else {
            names.push(rest.chars().take_while(|c| is_name(*c)).collect());
        }
    }
    names
}

#[test]
fn modules_name_only_what_the_arrows_allow() {
    let mut wrong = Vec::new();
    for path in files(&root().join("src"), ".rs") {
        let module = module_of(&path);
        if TOP.contains(&module.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{module}: a new module needs its arrows in tests/tidy.rs"));
            continue;
        };
        let source = std::fs::read_to_string(&path).expect("a source can be read");
        for name in named(&source) {
            if name != module && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{}: `{module}` must not name `{name}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads a list of imports as the compiler would.
#[test]
fn names_are_found_in_every_form_of_import() {
    let source =
        "use crate::model::Tier;\nuse crate::{hash, index::Index};\nlet x = crate::policy::resolve();";
    assert_eq!(named(source), ["model", "hash", "index", "policy"]);
}

/// What must not stand in a source, and where it may.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("println!", &["src/render/", "src/bin/", "build.rs"]),
    ("eprintln!", &["src/render/", "src/bin/"]),
    ("todo!(", &[]),
    ("unimplemented!(", &[]),
    ("#[ignore", &[]),
    ("unsafe ", &["src/index/ahead.rs"]),
    ("thread::sleep", &[]),
    ("prost::", &["src/contract/", "src/server/", "build.rs"]),
    ("tonic::", &["src/contract/", "src/server/", "src/subscribe/", "src/cmd/", "build.rs"]),
];

#[test]
fn sources_keep_to_their_layer() {
    let mut wrong = Vec::new();
    for path in files(&root().join("src"), ".rs").into_iter().chain([root().join("build.rs")]) {
        let shown = path.strip_prefix(root()).expect("a source lies in the tree").display().to_string();
        let source = std::fs::read_to_string(&path).expect("a source can be read");
        for (line, text) in source.lines().enumerate() {
            let code = text.split("//").next().unwrap_or_default();
            for (word, homes) in FORBIDDEN {
                let starts_word =
                    |at: usize| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                let is_used = code.match_indices(word).any(|(at, _)| starts_word(at));
                if is_used && !homes.iter().any(|home| shown.starts_with(home)) {
                    wrong.push(format!("{shown}:{}: `{word}` has no place here", line + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<_> = files(&root().join("src"), ".rs")
        .into_iter()
        .filter(|path| !std::fs::read_to_string(path).expect("a source can be read").starts_with("//! "))
        .collect();
    assert!(silent.is_empty(), "no module documentation: {silent:?}");
}

/// The tree speaks of the product alone: no path of a machine it was built on.
#[test]
fn no_machine_paths() {
    let homes = ["/root/", "/home/", "/work/"];
    let mut wrong = Vec::new();
    for folder in
        ["src", "tests", "docs", "proto", "benches", "man", "completions", "deploy", "examples", "dist"]
    {
        let folder = root().join(folder);
        if !folder.is_dir() {
            continue;
        }
        for path in files(&folder, "") {
            if path.ends_with("tests/tidy.rs") {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if let Some(home) = homes.iter().find(|home| text.contains(**home)) {
                wrong.push(format!("{}: names `{home}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest can be read");
    let mut inside = false;
    let mut silent = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if inside && line.contains('=') && !line.contains(" # ") {
            silent.push(line);
        }
    }
    assert!(silent.is_empty(), "no reason given: {silent:#?}");
}

/// Dependencies that only generated code names, and the source that brings it about.
const NAMED_BY_GENERATED_CODE: &[(&str, &str)] = &[("pbjson", "pbjson_build::")];

/// The dependencies that a manifest declares, as code names them.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if let Some((name, _)) = line.split_once('=').filter(|_| inside) {
            found.push(name.trim().replace('-', "_"));
        }
    }
    found
}

/// Whether `source` has a path that begins with the crate `name`.
fn names_crate(source: &str, name: &str) -> bool {
    let is_path = |at: usize| {
        let is_whole = !source[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        is_whole && (source[at + name.len()..].starts_with("::") || source[..at].ends_with("use "))
    };
    source.match_indices(name).any(|(at, _)| is_path(at))
}

#[test]
fn every_dependency_is_used() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest can be read");
    let folders = ["src", "tests", "benches"].map(|folder| files(&root().join(folder), ".rs"));
    let sources: Vec<String> = folders
        .into_iter()
        .flatten()
        .chain([root().join("build.rs")])
        .filter(|path| !path.ends_with("tests/tidy.rs"))
        .map(|path| std::fs::read_to_string(path).expect("a source can be read"))
        .map(|source| {
            let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
            code.collect::<Vec<_>>().join("\n")
        })
        .collect();
    let found = dependencies(&manifest);
    assert!(found.len() > 40, "the manifest is read: {found:?}");
    let unused: Vec<_> = found
        .iter()
        .filter(|name| {
            let by_generated = NAMED_BY_GENERATED_CODE.iter().find(|(generated, _)| generated == name);
            match by_generated {
                Some((_, source)) => !sources.iter().any(|text| text.contains(source)),
                None => !sources.iter().any(|text| names_crate(text, name)),
            }
        })
        .collect();
    assert!(unused.is_empty(), "named nowhere: remove them from Cargo.toml: {unused:?}");
}

#[test]
fn crates_are_found_where_a_path_begins_with_them() {
    for (source, is_found) in [
        ("use bytes::Bytes;", true),
        ("let x = bytes::Bytes::new();", true),
        ("use bytes;", true),
        ("let bytes = 1;", false),
        ("crate::bytes::x()", false),
        ("some_bytes::x()", false),
    ] {
        assert_eq!(names_crate(source, "bytes"), is_found, "{source}");
    }
}
