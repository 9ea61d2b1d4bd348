//! `icache top` in a pseudo-terminal and in a script, and a progress bar.

use crate::process::Process;
use crate::terminal::Terminal;
use crate::{ask, icache, is_documented, look_up, ports, with_report};

fn watch(server: &Process, rows: u16, cols: u16, variables: &[(&str, &str)]) -> Terminal {
    let args = [vec!["top".to_owned(), "--interval=100ms".to_owned()], ports(server).to_vec()].concat();
    Terminal::run(&args, rows, cols, variables)
}

/// The terminal is as a shell wants it: the usual screen, the cursor shown.
fn is_sane(terminal: &Terminal) {
    let screen = terminal.screen();
    assert!(!screen.alternate_screen(), "the usual screen is back");
    assert!(!screen.hide_cursor(), "the cursor is shown");
}

#[test]
fn lookups_appear_and_the_terminal_is_given_back() {
    let server = with_report(&[]);
    let mut terminal = watch(&server, 24, 80, &[]);
    let text = terminal.until("the first frame", |text| text.contains("vllm-0"));
    assert!(terminal.screen().alternate_screen());
    for part in ["1 prefix, 1 entry", "defaults for every tenant", "50 %", "25 %", "q quit"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    look_up(&server, "team-a", "vllm");
    look_up(&server, "nobody", "vllm");
    let text = terminal
        .until("the lookups", |text| text.contains("PREFIX_MATCH") && text.contains("UNKNOWN_TENANT"));
    assert!(text.contains("50.0 %"), "{text}");
    terminal.press(b"q");
    assert_eq!(terminal.end(), 0);
    is_sane(&terminal);
}

#[test]
fn control_c_and_signals_end_it_well() {
    let server = with_report(&[]);
    for end in ["key", "INT", "TERM"] {
        let mut terminal = watch(&server, 24, 80, &[]);
        terminal.until("the first frame", |text| text.contains("vllm-0"));
        match end {
            "key" => terminal.press(b"\x03"),
            signal => terminal.signal(signal),
        }
        assert_eq!(terminal.end(), 0, "{end}");
        is_sane(&terminal);
    }
}

#[test]
fn it_follows_the_size_of_the_terminal_and_scrolls() {
    let server = with_report(&["--preload", "testdata/fleet/fleet.capture.jsonl"]);
    let mut terminal = watch(&server, 24, 80, &[]);
    terminal.until("the whole frame", |text| text.contains("vllm-3") && text.contains("q quit"));
    terminal.resize(8, 60);
    let text = terminal.until("the small frame", |text| text.contains("more below"));
    assert!(!text.contains("vllm-3") && text.lines().all(|line| line.chars().count() <= 60), "{text}");
    terminal.press(b"\x1b[F");
    terminal.until("the end of the frame", |text| text.contains("vllm-3"));
    terminal.press(b"q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn without_colour_nothing_is_coloured() {
    let server = with_report(&[]);
    let colours = |variables| {
        let mut terminal = watch(&server, 24, 80, variables);
        terminal.until("the first frame", |text| text.contains("vllm-0"));
        terminal.press(b"q");
        assert_eq!(terminal.end(), 0);
        let cell = terminal.written.windows(4).any(|bytes| bytes == b"\x1b[1m" || bytes == b"\x1b[2m");
        cell || terminal.written.windows(5).any(|bytes| bytes.starts_with(b"\x1b[3") && bytes.ends_with(b"m"))
    };
    assert!(colours(&[]));
    assert!(!colours(&[("NO_COLOR", "1")]));
}

#[test]
fn a_dumb_terminal_gets_one_frame_after_the_other() {
    let server = with_report(&[]);
    let mut terminal = watch(&server, 40, 80, &[("TERM", "dumb")]);
    terminal.until("the second frame", |text| text.matches("vllm-0").count() >= 2);
    assert!(!terminal.written.contains(&0x1b), "no control sequences");
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_server_that_goes_is_said_to_be_away_and_comes_back() {
    let server = with_report(&[]);
    let (http, admin) = (server.http_addr.to_string(), server.admin_addr.to_string());
    let mut terminal = watch(&server, 24, 80, &[]);
    terminal.until("the first frame", |text| text.contains("vllm-0"));
    drop(server);
    terminal.until("that it is away", |text| {
        text.contains("no answer from /metrics") && !text.contains("vllm-0")
    });
    let again = Process::start(&[&format!("--http-addr={http}"), &format!("--admin-addr={admin}")]);
    terminal.until("that it is back", |text| {
        text.contains("no replica has reported") && !text.contains("no answer")
    });
    terminal.press(b"q");
    assert_eq!(terminal.end(), 0);
    drop(again);
}

#[test]
fn one_frame_for_scripts() {
    let server = with_report(&[]);
    look_up(&server, "team-a", "vllm");
    let output = ask(&server, &["top", "--once"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["lookups   1   hints 100.0 %", "PREFIX_MATCH", "vllm-0", "team-a"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let output = ask(&server, &["top", "--once", "-o", "json"]);
    let frame: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    is_documented("View", &frame);
    assert_eq!((&frame["lookups"]["hintShare"], &frame["index"]["entries"]), (&1.0.into(), &1.into()));
    assert_eq!(frame["replicas"][0]["pressure"], 0.25);
}

#[test]
fn one_frame_of_nobody_is_an_error() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}");
    let output = icache(&["top", "--once", "--server", &url, "--http-url", &url, "--admin-url", &url])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("error: cannot reach the server") && text.lines().count() == 2, "{text}");
}

#[test]
fn a_replay_shows_its_progress_on_a_terminal() {
    let args = ["replay", "testdata/fleet/fleet.capture.jsonl"].map(str::to_owned);
    let mut terminal = Terminal::run(&args, 60, 100, &[]);
    assert_eq!(terminal.end(), 0);
    let written = String::from_utf8_lossy(&terminal.written).into_owned();
    assert!(written.contains("records"), "{written}");
    let text = terminal.screen().contents();
    assert!(text.contains("30 of 30 lookups got a hint"), "{text}");
    assert!(!terminal.screen().hide_cursor());
}
