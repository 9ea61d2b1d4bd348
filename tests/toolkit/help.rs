//! The help of every command as it was last looked at, in 80 and in 60 columns, and what becomes of output that nobody
//! reads to its end.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::{ask, icache, look_up, with_report};

/// Every command, as the words after `icache`.
fn commands() -> Vec<Vec<String>> {
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

/// Commands that print much, against a server where they need one; the first line is read, and the rest is not.
#[test]
fn a_reader_that_leaves_is_no_error() {
    let capture = "testdata/fleet/fleet.capture.jsonl";
    let server = with_report(&["--preload", capture]);
    look_up(&server, "team-a", "vllm");
    let ours: Vec<String> = crate::ports(&server).to_vec();
    let grpc = vec![ours[0].clone()];
    let nothing = Vec::new;
    let mut cases: Vec<(Vec<&str>, Vec<String>)> = vec![
        (vec!["explain"], nothing()),
        (vec!["explain", "-o", "json"], nothing()),
        (vec!["lookup", "--demo", "--explain"], nothing()),
        (vec!["replay", capture], nothing()),
        (vec!["policy", "rules"], nothing()),
        (vec!["completions", "bash"], nothing()),
        (vec!["man"], nothing()),
        (vec!["serve", "--print-config"], nothing()),
        (vec!["state"], grpc.clone()),
        (vec!["doctor"], ours.clone()),
        (vec!["top", "--once"], ours.clone()),
        (vec!["top", "--interval=100ms"], ours),
    ];
    let helps: Vec<Vec<String>> = commands();
    for words in &helps {
        cases.push((words.iter().map(String::as_str).chain(["--help"]).collect(), nothing()));
    }
    for (args, more) in cases {
        let mut child =
            icache(&args).args(&more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{args:?}");
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.is_empty(), "{args:?}: {errors}");
        let status = output.status.code();
        assert!(status == Some(0) || (args[0] == "doctor" && status == Some(1)), "{args:?}: {status:?}");
    }
    assert!(ask(&server, &["top", "--once"]).status.success(), "the server is none the worse");
}
