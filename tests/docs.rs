//! What the documents name exists: flags, commands, files that are linked.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The documents: those at the root, those in `docs/`, and the pages behind `icache explain` and the lint rules.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root(), root().join("docs"), root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && folder != root() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 30, "the registries' pages are among them");
    found
}

/// What stands between backticks, and the lines of code blocks.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            found.push(line.to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

fn flags(command: &clap::Command, into: &mut BTreeSet<String>) {
    into.extend(command.get_arguments().filter_map(|flag| flag.get_long()).map(|long| format!("--{long}")));
    command.get_subcommands().for_each(|command| flags(command, into));
}

/// Flags of programs that are not ours, and of the benchmarks, which the documents name too.
const FOREIGN: &[&str] =
    &["--bench", "--locked", "--only", "--path", "--release", "--runs", "--target", "--test"];

#[test]
fn flags_and_commands_exist() {
    let mut definition = icache::cmd::definition();
    definition.build();
    let mut known: BTreeSet<String> = FOREIGN.iter().map(|flag| (*flag).to_owned()).collect();
    known.extend(["--help".to_owned(), "--version".to_owned()]);
    flags(&definition, &mut known);
    let mut wrong = Vec::new();
    for path in documents() {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        for code in code(&std::fs::read_to_string(&path).unwrap()) {
            let words: Vec<&str> = code.split([' ', '=', ',', '/', '(', ')']).collect();
            for word in &words {
                let is_flag = word.starts_with("--")
                    && word.len() > 2
                    && word[2..].starts_with(|c: char| c.is_ascii_lowercase());
                if is_flag && !known.contains(word.trim_end_matches([':', '.', ';', ']'])) {
                    wrong.push(format!("{shown}: there is no flag `{word}`"));
                }
            }
            let Some(at) = words.iter().position(|word| *word == "icache") else { continue };
            let mut command = &definition;
            for name in words[at + 1..].iter().take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()))
            {
                match command.find_subcommand(name) {
                    Some(found) => command = found,
                    None if command.has_subcommands() && !name.is_empty() => {
                        wrong.push(format!("{shown}: there is no command `{name}` in `{code}`"));
                        break;
                    }
                    None => break,
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn linked_files_exist() {
    let mut wrong = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let folder: &Path = path.parent().unwrap();
            if !file.is_empty() && !file.contains("://") && !folder.join(file).exists() {
                wrong.push(format!("{}: links `{file}`, which is not there", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
