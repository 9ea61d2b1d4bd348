//! A client that was not written here: Python's grpcio, with stubs generated from our proto files, calls every RPC of
//! the real binary.

#[path = "server_support/process.rs"]
#[allow(dead_code)]
mod process;

use std::path::Path;
use std::process::{Command, Output};

use process::Process;

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn python_calls_every_rpc() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    // Beside cargo's own folder for test files, wherever the target folder is.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python-client");
    run(Command::new("sh").arg(tests.join("setup.sh")).arg(&folder));
    let server = Process::start(&[]);
    let output = run(Command::new(folder.join("bin/python"))
        .arg(tests.join("client.py"))
        .arg(folder.join("stubs"))
        .arg(server.grpc_addr.to_string()));
    assert!(String::from_utf8_lossy(&output.stdout).contains("every RPC answered as it should"));
    server.signal("TERM");
    assert_eq!(server.wait().0.code(), Some(0));
}
