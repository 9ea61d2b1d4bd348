//! `icache capture` as a process, and what `icache replay` says of its files.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::until;

/// A running recorder; killed when dropped.
pub struct Recorder {
    child: Child,
}

impl Recorder {
    /// Starts one, and waits until it observes: it creates its file then.
    pub async fn start(server: SocketAddr, out: &Path, args: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_icache"))
            .args(["capture", "-o", "json", "--server", &format!("http://{server}"), "--out"])
            .arg(out)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until(async || out.exists(), |is_there| *is_there).await;
        Self { child }
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// Ctrl-C, and what it says: its result, and what is on standard error.
    pub fn stop(self) -> (Value, String) {
        self.signal("INT");
        let (status, out, err) = self.wait();
        assert_eq!(status.code(), Some(0), "{err}");
        (serde_json::from_str(&out).unwrap(), err)
    }

    /// Waits for its end.
    pub fn wait(mut self) -> (ExitStatus, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap(), out, err)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Exit status and result of `icache replay --check`.
pub fn replayed(capture: &Path) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["replay", "--check", "-o", "json"])
        .arg(capture)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{err}"));
    (output.status.code(), json)
}
