//! The tools that look at a running server, and what every command has in common: terminals, pipes, help.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod completion;
mod doctor;
mod examples;
mod help;
mod interrupt;
mod output;
#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
mod release;
#[path = "../server_support/shapes.rs"]
mod shapes;
mod terminal;
mod top;
mod version;

use std::process::{Command, Output, Stdio};

use process::Process;
use shapes::is_documented;

/// The program, with nothing of the caller's environment that changes its output.
fn icache(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.args(args).stdin(Stdio::null());
    for name in
        ["ICACHE_SERVER", "ICACHE_ADMIN_URL", "ICACHE_HTTP_URL", "NO_COLOR", "COLUMNS", "LC_ALL", "LANG"]
    {
        command.env_remove(name);
    }
    command
}

/// The flags that name the ports of a server.
fn ports(server: &Process) -> [String; 3] {
    [
        format!("--server=http://{}", server.grpc_addr),
        format!("--http-url=http://{}", server.http_addr),
        format!("--admin-url=http://{}", server.admin_addr),
    ]
}

/// Runs a command against a server.
fn ask(server: &Process, args: &[&str]) -> Output {
    icache(args).args(ports(server)).output().unwrap()
}

/// Runs a command of the gRPC port, which has to succeed.
fn grpc(server: &Process, args: &[&str]) {
    let output = icache(args).args(["--server", &format!("http://{}", server.grpc_addr)]).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A server to which one replica has reported one prefix, with statistics.
fn with_report(flags: &[&str]) -> Process {
    let server = Process::start(flags);
    let keys = ["--tenant", "team-a", "--model", "llama", "--hash-scheme", "vllm"];
    let what = ["--blocks", "0a0b", "--block-tokens", "64", "--hit-rate", "0.5", "--pressure", "0.25"];
    grpc(&server, &[&["report", "--replica", "vllm-0"][..], &keys, &what].concat());
    server
}

/// Looks up one prefix, whatever the answer is.
fn look_up(server: &Process, tenant: &str, scheme: &str) {
    let keys = ["--tenant", tenant, "--model", "llama", "--hash-scheme", scheme];
    grpc(server, &[&["lookup", "--blocks", "0a0b", "--block-tokens", "64"][..], &keys].concat());
}
