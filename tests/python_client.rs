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

#[test]
fn python_decodes_what_the_admin_port_tells() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::TempDir::new().expect("a folder can be made");
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "token-of-the-admin-port\n").expect("a file can be written");
    let capture = tests.join("testdata/fleet/fleet.capture.jsonl");
    let text = |path: &Path| path.to_str().expect("the path is text").to_owned();
    let server = Process::start(&["--admin-token-file", &text(&tokens), "--preload", &text(&capture)]);
    let output = run(Command::new("python3")
        .arg(tests.join("tests/python/admin.py"))
        .arg(server.admin_addr.to_string())
        .arg("token-of-the-admin-port"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("every answer decoded"));
}
