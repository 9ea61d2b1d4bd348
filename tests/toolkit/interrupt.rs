//! Ctrl-C in a terminal, whatever command is at work: it ends at once, and the terminal is as before.

use std::net::TcpListener;

use crate::terminal::Terminal;
use crate::with_report;

/// Runs the command in a terminal, waits for `sign` on the screen, presses Ctrl-C and looks how it ends.
fn interrupt(line: &str, sign: &str, status: u32) {
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let mut terminal = Terminal::run(&args, 24, 80, &[]);
    terminal.until(line, |text| text.contains(sign));
    press_and_look(line, &mut terminal, status);
}

fn press_and_look(line: &str, terminal: &mut Terminal, status: u32) {
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), status, "{line}\n{}", terminal.screen().contents());
    assert!(!terminal.screen().alternate_screen() && !terminal.screen().hide_cursor(), "{line}");
    let text = terminal.screen().contents();
    assert!(!text.contains("error:") && !text.contains("panicked"), "{line}\n{text}");
}

#[test]
fn what_asks_a_server_ends_at_once() {
    let server = with_report(&[]);
    let grpc = format!("--server=http://{}", server.grpc_addr);
    interrupt(&format!("bench --duration 10m {grpc}"), "answers a second", 130);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("c.jsonl");
    interrupt(&format!("capture {grpc} --out {}", out.display()), "records", 0);
    let who = "--replica r --tenant t --model m --http-addr 127.0.0.1:0";
    interrupt(&format!("subscribe {who} --engine tcp://127.0.0.1:1 {grpc}"), "following", 0);
}

#[test]
fn what_waits_for_an_answer_ends_at_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let ports = format!("--server={url} --http-url={url} --admin-url={url}");
    let keys = "--tenant t --model m --hash-scheme s --prefix-hash ab";
    for line in [
        format!("state --server={url}"),
        format!("lookup {keys} --server={url}"),
        format!("doctor {ports}"),
        format!("drain r --admin-url={url}"),
        format!("policy show --admin-url={url}"),
    ] {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut terminal = Terminal::run(&args, 24, 80, &[]);
        // Once it has connected, it waits.
        let (socket, _) = silent.accept().unwrap();
        press_and_look(&line, &mut terminal, 130);
        drop(socket);
    }
}

#[test]
fn what_reads_a_long_input_ends_at_once() {
    // The keyboard is an input without end.
    for (line, typed) in [
        ("replay -", "{\"icache\":\"capture\",\"version\":1}\r"),
        ("simulate --trace -", "{\"timestamp\":0,\"input_length\":5,\"hash_ids\":[1]}\r"),
        ("policy lint -", "kind: CachePolicy\r"),
        ("lookup --request -", "{\r"),
    ] {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut terminal = Terminal::run(&args, 24, 80, &[]);
        terminal.press(typed.as_bytes());
        terminal
            .until(line, |text| text.contains(typed.split(char::is_whitespace).next().unwrap_or_default()));
        press_and_look(line, &mut terminal, 130);
    }
}
