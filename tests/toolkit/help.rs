//! The help of every command as it was last looked at, in 80 and in 60 columns.

use crate::icache;

/// Every command, as the words after `icache`.
pub fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, words: &[String], into: &mut Vec<Vec<String>>) {
        into.push(words.to_vec());
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            below(command, &[words, &[command.get_name().to_owned()]].concat(), into);
        }
    }
    let mut found = Vec::new();
    below(&icache::cmd::definition(), &[], &mut found);
    found
}

fn help(words: &[String], columns: &str) -> String {
    let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let output = icache(&args).env("COLUMNS", columns).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_help_of_every_command() {
    let commands = commands();
    assert!(commands.len() > 20);
    for words in commands {
        let name = ["icache".to_owned()].into_iter().chain(words.clone()).collect::<Vec<_>>().join("-");
        insta::assert_snapshot!(name, help(&words, "80"));
    }
}

#[test]
fn help_keeps_within_60_columns() {
    for words in commands() {
        let text = help(&words, "60");
        // Examples are lines to copy, and stay as they are.
        let described = text.split("Examples:").next().unwrap();
        let wide: Vec<&str> = described.lines().filter(|line| line.chars().count() > 60).collect();
        assert!(
            wide.iter().all(|line| line.trim_start().starts_with("Usage:") || !line.trim().contains(' ')),
            "{words:?}: {wide:?}"
        );
    }
}
