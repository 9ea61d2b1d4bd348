//! The real binary as a server.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// A running `icache serve`; killed when dropped.
pub struct Process {
    child: Child,
    pub grpc_addr: SocketAddr,
    pub http_addr: SocketAddr,
    pub admin_addr: SocketAddr,
    lines: Arc<Mutex<Vec<Value>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts on free ports, where `args` do not say which, and waits for the line that says where.
    pub fn start(args: &[&str]) -> Self {
        let free = ["--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"];
        let is_given = |free: &&str| {
            let flag = &free[..=free.find('=').expect("a flag and its value")];
            args.iter().any(|arg| arg.starts_with(flag))
        };
        // Another build of it, to measure with.
        let other = std::env::var_os("ICACHE_TEST_BINARY");
        let mut command = Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_icache").into()));
        command
            .arg("serve")
            .args(free.into_iter().filter(|free| !is_given(free)))
            .arg("--log-format=json")
            .args(args);
        Self::run(&mut command)
    }

    /// Runs a server that logs JSON, and waits for the line that says where it listens.
    pub fn run(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().expect("standard error is piped"));
        let mut lines = Vec::new();
        let serving = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).expect("the log is text") > 0, "it ended early: {lines:?}");
            let line: Value =
                serde_json::from_str(&line).unwrap_or_else(|_| panic!("no line of JSON: {line}"));
            lines.push(line.clone());
            if line["message"] == "serving" {
                break line;
            }
        };
        let address = |name: &str| serving[name].as_str().and_then(|text| text.parse().ok()).expect(name);
        let (grpc_addr, http_addr, admin_addr) =
            (address("grpc_addr"), address("http_addr"), address("admin_addr"));
        let lines = Arc::new(Mutex::new(lines));
        let seen = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                seen.lock().expect("no reader panics").push(line);
            }
        });
        Self { child, grpc_addr, http_addr, admin_addr, lines, reader: Some(reader) }
    }

    /// The log so far.
    pub fn log(&self) -> Vec<Value> {
        self.lines.lock().expect("no reader panics").clone()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().expect("sh runs").success());
    }

    /// Waits for the end; gives the exit status and the log.
    pub fn wait(mut self) -> (ExitStatus, Vec<Value>) {
        let status = self.child.wait().expect("the child is ours");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader ends with the log");
        }
        let lines = std::mem::take(&mut *self.lines.lock().expect("no reader panics"));
        (status, lines)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
