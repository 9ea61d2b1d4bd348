//! Runs every console block of the README and of the hand-written guides and compares what it prints.
//!
//! A block is one shell session in an empty folder with `testdata` in it. `cargo run --release --` stands for the binary
//! under test, ports are replaced by free ones, and a line of `...` stands for any lines. A command that ends in `&` is a
//! server; the session goes on when its ports answer, and numbers that fall with the age of entries may be a little less. The block with the test command is held against `.ci/run`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Documents with console blocks; the first says how to run the tests.
const DOCUMENTS: &[&str] =
    &["README.md", "docs/policies.md", "docs/replay.md", "docs/simulate.md", "docs/captures.md"];

const PORTS: [&str; 3] = ["9090", "8080", "8081"];
const MARK: char = '\u{1}';

struct Step {
    command: String,
    output: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The console blocks of a document, each with the line it starts at.
fn blocks(name: &str, text: &str) -> Vec<(usize, Vec<Step>)> {
    let mut blocks = Vec::new();
    let mut block: Option<(usize, Vec<Step>)> = None;
    for (number, line) in text.lines().enumerate() {
        match &mut block {
            None if line.trim_end() == "```console" => block = Some((number + 1, Vec::new())),
            None => {}
            Some(_) if line.trim_end() == "```" => blocks.extend(block.take()),
            Some((_, steps)) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    steps.push(Step { command: command.to_owned(), output: Vec::new() });
                } else if let Some(step) = steps.last_mut() {
                    match is_open(&step.command) && step.output.is_empty() {
                        true => step.command.push_str(&format!("\n{line}")),
                        false => step.output.push(line.to_owned()),
                    }
                } else {
                    panic!("{name}:{}: output before the first command", number + 1);
                }
            }
        }
    }
    assert!(block.is_none(), "a console block of {name} is not closed");
    blocks
}

/// Whether the command goes on: after a backslash, or within a here-document.
fn is_open(command: &str) -> bool {
    let in_document = command.contains("<<'EOF'") && !command.ends_with("\nEOF");
    in_document || command.ends_with('\\')
}

/// How much less a number may be that falls with the age of an entry: what it falls by in some 18 s.
const AGED: f64 = 0.01;

/// Whether `got` is what `expected` says, where `...` matches any lines. Of a live server, which goes by the clock, numbers
/// may have aged.
fn matches(expected: &[String], got: &[&str], is_live: bool) -> bool {
    match expected.split_first() {
        None => got.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=got.len()).any(|skipped| matches(rest, &got[skipped..], is_live))
        }
        Some((line, rest)) => {
            let is_same = |got: &&str| got.trim_end() == line.trim_end() || (is_live && has_aged(line, got));
            got.first().is_some_and(is_same) && matches(rest, &got[1..], is_live)
        }
    }
}

/// Whether the words are the same, but for numbers with a fraction that are a little less.
fn has_aged(expected: &str, got: &str) -> bool {
    let has_aged = |expected: &str, got: &str| {
        let numbers = expected.parse::<f64>().ok().zip(got.parse::<f64>().ok());
        let is_less = |(expected, got): (f64, f64)| got <= expected && got >= expected * (1.0 - AGED);
        expected == got || (got.contains('.') && numbers.is_some_and(is_less))
    };
    let (mut words, mut told) = (expected.split_whitespace(), got.split_whitespace());
    words.by_ref().all(|word| told.next().is_some_and(|told| has_aged(word, told))) && told.next().is_none()
}

fn free_ports() -> Vec<(&'static str, String)> {
    let listeners: Vec<TcpListener> =
        PORTS.iter().map(|_| TcpListener::bind("127.0.0.1:0").expect("a port is free")).collect();
    let ports = listeners.iter().map(|listener| listener.local_addr().expect("bound").port().to_string());
    PORTS.into_iter().zip(ports).collect()
}

fn script(steps: &[Step], ports: &[(&str, String)]) -> String {
    let mut script = String::from(
        "set -u\nexport NO_COLOR=1 COLUMNS=80\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n\
         answers() { (exec 3<>\"/dev/tcp/127.0.0.1/$1\") 2>/dev/null; }\n",
    );
    let (grpc, admin) = (&ports[0].1, &ports[2].1);
    let http = &ports[1].1;
    script.push_str(&format!("export ICACHE_SERVER=http://127.0.0.1:{grpc}\n"));
    script.push_str(&format!("export ICACHE_HTTP_URL=http://127.0.0.1:{http}\n"));
    script.push_str(&format!("export ICACHE_ADMIN_URL=http://127.0.0.1:{admin}\n"));
    for step in steps {
        let mut command = step.command.replace("cargo run --release --", "icache");
        for (written, free) in ports {
            command = command.replace(written, free);
        }
        if command.starts_with("icache serve") {
            for (flag, (_, free)) in ["--grpc-addr", "--http-addr", "--admin-addr"].into_iter().zip(ports) {
                command =
                    command.replacen("icache serve", &format!("icache serve {flag} 127.0.0.1:{free}"), 1);
            }
        }
        script.push_str(&format!("printf '{MARK}\\n'\n"));
        if command.ends_with('&') {
            script.push_str(&format!("{} 2>server.log &\n", command.trim_end_matches('&')));
            script.push_str(&format!(
                "until answers {grpc} && answers {admin}; do kill -0 $! || {{ cat server.log; exit 1; }}; done\n"
            ));
        } else {
            script.push_str(&format!("{command}\n"));
        }
    }
    script
}

fn run(place: &str, steps: &[Step]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::os::unix::fs::symlink(root().join("testdata"), folder.path().join("testdata")).expect("a link");
    let binary = Path::new(env!("CARGO_BIN_EXE_icache")).parent().expect("the binary lies in a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-c", &script(steps, &free_ports())])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .expect("bash runs");
    let printed = String::from_utf8(output.stdout).expect("the commands print text");
    let errors = String::from_utf8_lossy(&output.stderr);
    let parts: Vec<&str> = printed.split(&format!("{MARK}\n")).skip(1).collect();
    assert_eq!(parts.len(), steps.len(), "{place}: the session broke off\n{printed}\n{errors}");
    let is_live = steps.iter().any(|step| step.command.ends_with('&'));
    for (step, part) in steps.iter().zip(parts) {
        let got: Vec<&str> = part.lines().collect();
        assert!(
            matches(&step.output, &got, is_live),
            "{place}: `{}` printed\n{part}\nand not\n{}\n{errors}",
            step.command,
            step.output.join("\n")
        );
    }
}

#[test]
fn every_console_block_prints_what_it_says() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).expect("there is a .ci/run");
    for &document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document)).expect("a document can be read");
        let blocks = blocks(document, &text);
        assert!(blocks.len() >= 2, "{document} shows commands at work");
        let mut runs_tests = false;
        for (line, steps) in &blocks {
            let place = format!("{document}:{line}");
            match steps.iter().find(|step| step.command.starts_with("cargo test")) {
                Some(step) => {
                    assert_eq!(steps.len(), 1, "{place}: the test command stands alone");
                    assert!(
                        ci.lines().any(|line| line.trim() == step.command),
                        "CI calls `{}`",
                        step.command
                    );
                    runs_tests = true;
                }
                None => run(&place, steps),
            }
        }
        assert_eq!(runs_tests, document == DOCUMENTS[0], "the README alone says how to run the tests");
    }
}

#[test]
fn a_line_of_dots_stands_for_any_lines() {
    let expected: Vec<String> = ["a", "...", "d"].map(str::to_owned).to_vec();
    assert!(matches(&expected, &["a", "b", "c", "d"], false));
    assert!(matches(&expected, &["a", "d"], false));
    assert!(!matches(&expected, &["a", "b"], false));
    assert!(!matches(&expected, &["a", "d", "e"], false));
}

#[test]
fn numbers_of_a_live_server_may_have_aged() {
    let line = "vllm-7   81.92             128                      1  T1".to_owned();
    let is_taken = |got: &str, is_live| matches(std::slice::from_ref(&line), &[got], is_live);
    assert!(is_taken("vllm-7   81.91             128                 0.9999  T1", true));
    assert!(!is_taken("vllm-7   81.91             128                 0.9999  T1", false));
    for wrong in [
        "vllm-7   80.92             128                      1  T1",
        "vllm-7   81.92             127                      1  T1",
        "vllm-7   82.01             128                      1  T1",
        "vllm-7   81.92             128                      1",
        "vllm-7   81.92             128                      1  T1 more",
    ] {
        assert!(!is_taken(wrong, true), "{wrong}");
    }
}
