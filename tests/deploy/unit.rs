//! The systemd unit.

use crate::{flags, given, printed, scratch, seconds, text, tool};

const UNIT: &str = "deploy/systemd/icache.service";
const BINARY: &str = "/usr/local/bin/icache";

/// Keys and values of the unit, continued lines joined.
fn keys() -> Vec<(String, String)> {
    let unit = text(UNIT).replace("\\\n", " ");
    unit.lines()
        .filter(|line| !line.starts_with(['#', '[']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn value(key: &str) -> String {
    let found = keys().into_iter().find(|(name, _)| name == key);
    found.unwrap_or_else(|| panic!("{key} is set")).1
}

fn args() -> Vec<String> {
    value("ExecStart").split_whitespace().map(str::to_owned).collect()
}

#[test]
fn it_starts_a_server_that_ends_in_time() {
    let args = args();
    assert_eq!(args[..2], [BINARY, "serve"]);
    let known = flags("serve").unwrap();
    for (flag, _) in given(&args) {
        assert!(known.contains(&flag), "`icache serve` has no `{flag}`");
    }
    let stop: u64 = value("TimeoutStopSec").parse().unwrap();
    assert!(stop > seconds(&crate::value_of(&args, "--drain-timeout")), "it is not killed while it drains");
    let memory = crate::bytes(&crate::value_of(&args, "--max-memory"));
    assert!(crate::bytes(&value("MemoryMax")) >= memory + crate::guide::beside_the_index());
}

#[test]
fn it_gives_the_service_as_little_as_it_needs() {
    for (key, wanted) in [
        ("DynamicUser", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("MemoryDenyWriteExecute", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("SystemCallFilter", "@system-service"),
        ("SystemCallArchitectures", "native"),
    ] {
        assert_eq!(value(key), wanted, "{key}");
    }
}

#[test]
fn systemd_takes_it_and_finds_it_little_exposed() {
    let Some(mut verify) = tool("systemd-analyze", "systemd") else { return };
    let folder = scratch();
    let copy = folder.path().join("icache.service");
    std::fs::write(&copy, text(UNIT).replace(BINARY, env!("CARGO_BIN_EXE_icache"))).unwrap();
    let output = verify.args(["verify", "--man=no"]).arg(&copy).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", printed(&output));
    let Some(mut security) = tool("systemd-analyze", "systemd") else { return };
    // Of 0 to 100, where 0 is least exposed; a service that says nothing has 96.
    let output =
        security.args(["security", "--offline=yes", "--threshold=15", "--no-pager"]).arg(&copy).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", printed(&output));
}
