//! What every command prints, where nobody reads it to its end, and where the terminal is narrow and knows nothing.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::help::commands;
use crate::process::Process;
use crate::{icache, look_up, ports, with_report};

const CAPTURE: &str = "testdata/fleet/fleet.capture.jsonl";

/// Whom a command asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asks {
    Nobody,
    /// The gRPC port.
    Server,
    /// The admin port.
    Admin,
    /// All ports.
    All,
}

/// A command line that prints a result: its words, whom it asks, and how it ends.
type Line<'a> = (&'a str, Asks, i32);

/// One for each command, and more where it prints in several ways; `OUT` is a file that is not there yet.
const LINES: &[Line<'static>] = &[
    ("explain", Asks::Nobody, 0),
    ("explain -o json", Asks::Nobody, 0),
    ("explain PREFIX_MATCH", Asks::Nobody, 0),
    ("explain routing-floor-score", Asks::Nobody, 0),
    ("explain inferencecache_lookup_route_calls_total", Asks::Nobody, 0),
    ("explain unknown-field", Asks::Nobody, 0),
    ("explain 3", Asks::Nobody, 0),
    ("lookup --demo", Asks::Nobody, 0),
    ("lookup --demo --explain", Asks::Nobody, 0),
    ("lookup --demo --expect PREFIX_MATCH -o json", Asks::Nobody, 0),
    ("lookup --tenant t --model m --hash-scheme s --prefix-hash ab --explain", Asks::Server, 0),
    ("report --replica r --tenant t --model m --hit-rate 1", Asks::Server, 0),
    ("event --type replica-updated --replica r --tenant t --model m", Asks::Server, 0),
    ("state", Asks::Server, 0),
    ("capture --duration 100ms --out OUT", Asks::Server, 0),
    ("replay testdata/fleet/fleet.capture.jsonl", Asks::Nobody, 0),
    ("replay --check testdata/fleet/fleet.capture.jsonl", Asks::Nobody, 0),
    ("replay testdata/fleet/fleet.capture.jsonl --speed max", Asks::Server, 0),
    ("simulate --trace testdata/traces/conversation_trace.jsonl --replicas 2", Asks::Nobody, 0),
    ("bench --requests 20 --warm-up 0s --chains 4 --replicas 4 --blocks 8", Asks::Server, 0),
    ("policy lint testdata/policies/seven.yaml", Asks::Nobody, 1),
    ("policy rules", Asks::Nobody, 0),
    ("policy rules unknown-field", Asks::Nobody, 0),
    ("policy show testdata/policies/after.yaml", Asks::Nobody, 0),
    ("policy diff testdata/policies/before.yaml testdata/policies/after.yaml", Asks::Nobody, 1),
    (
        "policy simulate --policy testdata/policies/before.yaml --policy testdata/policies/after.yaml \
         testdata/fleet/fleet.capture.jsonl",
        Asks::Nobody,
        0,
    ),
    ("policy schema", Asks::Nobody, 0),
    ("policy crd", Asks::Nobody, 0),
    ("doctor", Asks::All, 1),
    ("top --once", Asks::All, 0),
    ("drain nobody --show", Asks::Admin, 0),
    ("serve --print-config", Asks::Nobody, 0),
    ("completions bash", Asks::Nobody, 0),
    ("man", Asks::Nobody, 0),
];

/// A server that somebody reports to and asks, once in vain.
fn server() -> Process {
    let server = with_report(&["--preload", CAPTURE]);
    look_up(&server, "team-a", "vllm");
    look_up(&server, "Team-A", "vllm");
    server
}

fn command(server: &Process, (words, asks, _): Line<'_>, folder: &Path) -> Command {
    let out = folder.join("out.jsonl");
    // What a command of before has written is in the way of the next.
    let _ = std::fs::remove_file(&out);
    let words: Vec<&str> = words
        .split_whitespace()
        .map(|word| if word == "OUT" { out.to_str().unwrap() } else { word })
        .collect();
    let mut command = icache(&words);
    let [grpc, _, admin] = ports(server);
    match asks {
        Asks::Nobody => &mut command,
        Asks::Server => command.arg(grpc),
        Asks::Admin => command.arg(admin),
        Asks::All => command.args(ports(server)),
    };
    command
}

#[test]
fn every_command_is_among_them() {
    let without_result = ["serve", "subscribe", "generate"];
    for words in commands() {
        let is_leaf = commands().iter().all(|other| other.len() <= words.len() || !other.starts_with(&words));
        let name = words.join(" ");
        let has_line = LINES.iter().any(|(line, ..)| line.starts_with(&name));
        assert!(!is_leaf || has_line || without_result.contains(&name.as_str()), "{name} has no line");
    }
}

/// `| head -1`, and a reader that is gone before anything is written.
#[test]
fn a_reader_that_leaves_is_no_error() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let helps: Vec<String> = commands().iter().map(|words| words.join(" ") + " --help").collect();
    let mut lines: Vec<Line<'_>> = LINES.to_vec();
    lines.extend(helps.iter().map(|line| (line.as_str(), Asks::Nobody, 0)));
    lines.push(("top --interval=100ms", Asks::All, 0));
    for line in lines {
        for reads in [true, false] {
            let mut child = command(&server, line, folder.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let stdout = child.stdout.take().unwrap();
            if reads {
                let mut first = String::new();
                BufReader::new(stdout).read_line(&mut first).unwrap();
                assert!(!first.is_empty(), "{line:?}");
            } else {
                drop(stdout);
            }
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.is_empty(), "{line:?}: {errors}");
            assert_eq!(output.status.code(), Some(line.2), "{line:?}, reads: {reads}");
        }
    }
}

/// Output to look at: without colour, in 60 columns, on a terminal that knows nothing. What a live server says differs each
/// time, and is held to the width only.
#[test]
fn sixty_columns_without_colour_can_be_read() {
    // For programs, and lint, whose lines are those of the files and of compilers.
    let is_long = |words: &str| {
        let copies = ["completions", "man", "policy lint", "policy schema", "policy crd"];
        words.contains("-o json") || copies.iter().any(|copy| words.starts_with(copy))
    };
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let mut wide = Vec::new();
    for line in LINES {
        let (words, asks, status) = *line;
        let mut command = command(&server, *line, folder.path());
        command.envs([("COLUMNS", "60"), ("NO_COLOR", "1"), ("TERM", "dumb")]);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words}: {errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains('\x1b'), "{words}");
        if is_long(words) {
            continue;
        }
        // What has no blank to break at, such as a path, stays whole, and so does what is a line of a file.
        let is_wide =
            |line: &&str| line.chars().count() > 60 && line.trim().contains(' ') && !is_to_copy(line);
        wide.extend(text.lines().filter(is_wide).map(|line| format!("{words}: {line}")));
        if asks == Asks::Nobody {
            insta::assert_snapshot!(words.replace([' ', '/'], "_"), text);
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Lines of a file or an example, shown as they stand there.
fn is_to_copy(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("    ")
}
