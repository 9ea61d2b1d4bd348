//! What lies in `examples/` does what it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::with_report;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script with the binary under test on the path.
fn script(path: &str, args: &[&str], server: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_icache")).parent().unwrap();
    let path_variable = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.arg(root().join(path)).args(args).current_dir(root()).env("PATH", path_variable);
    command.env("ICACHE_SERVER", server).output().unwrap()
}

const CAPTURE: &str = "testdata/fleet/fleet.capture.jsonl";

#[test]
fn the_gate_passes_what_is_well_and_stops_what_is_not() {
    let check = |policies: &str, capture: &str| {
        script("examples/ci/check.sh", &[policies, capture], "http://127.0.0.1:1").status.code()
    };
    assert_eq!(check("examples/policies", CAPTURE), Some(0));
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.yaml");
    let text = std::fs::read_to_string(root().join("examples/policies/chat.yaml")).unwrap();
    std::fs::write(&bad, text.replace("minimumMatchedTokens", "minimumMatchTokens")).unwrap();
    assert_eq!(check(bad.to_str().unwrap(), CAPTURE), Some(1));
    // A capture in which one answer was recorded otherwise.
    let capture = std::fs::read_to_string(root().join(CAPTURE)).unwrap();
    assert!(capture.contains("\"AFFINITY_HINT\""));
    let changed = folder.path().join("changed.capture.jsonl");
    std::fs::write(&changed, capture.replace("\"AFFINITY_HINT\"", "\"NO_HINT\"")).unwrap();
    assert_eq!(check("examples/policies", changed.to_str().unwrap()), Some(1));
}

#[test]
fn ci_jobs_call_commands_that_exist() {
    for file in ["examples/ci/github-actions.yaml", "examples/ci/gitlab-ci.yaml"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        serde_saphyr::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        for command in ["icache policy lint policies/", "icache replay --check \"$capture\""] {
            assert!(text.contains(command), "{file} has no `{command}`");
        }
    }
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks: serde_json::Value = serde_saphyr::from_str(&hooks).unwrap();
    assert_eq!(hooks[0]["entry"], "icache policy lint");
    assert_eq!(hooks[0]["language"], "rust");
}

#[test]
fn clients_follow_hints_and_pass_over_the_rest() {
    let tests = root().join("tests/python");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python-client");
    let made = Command::new("sh").arg(tests.join("setup.sh")).arg(&folder).status().unwrap();
    assert!(made.success(), "the virtual environment is there");
    let server = with_report(&[]);
    let address = server.grpc_addr.to_string();
    let python = |address: &str, tenant: &str, scheme: &str| {
        let output = Command::new(folder.join("bin/python"))
            .arg(root().join("examples/clients/lookup.py"))
            .arg(folder.join("stubs"))
            .args([address, tenant, "llama", scheme, "64", "0a0b", "0c0d"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        (String::from_utf8(output.stdout).unwrap(), errors)
    };
    let (answer, errors) = python(&address, "team-a", "vllm");
    assert_eq!(answer, "vllm-0\n", "{errors}");
    let (answer, errors) = python(&address, "Team-A", "vllm");
    assert_eq!(answer, "-\n");
    assert!(errors.contains("UNKNOWN_TENANT"), "{errors}");

    let url = format!("http://{address}");
    let shell = |server: &str, tenant: &str| {
        let output =
            script("examples/clients/lookup.sh", &[tenant, "llama", "vllm", "64", "0a0b,0c0d"], server);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(shell(&url, "team-a"), "vllm-0\n");
    assert_eq!(shell(&url, "Team-A"), "-\n");
    drop(server);
    assert_eq!(shell(&url, "team-a"), "-\n", "without a server the request is routed all the same");
}
