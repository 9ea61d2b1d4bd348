//! Flags, variables, file; what is in force is told, and what cannot be meant is refused with its place.

use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

use super::authority::put;

fn serve(variables: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("icache").unwrap();
    command.arg("serve").args(args).env_remove("ICACHE_CONFIG");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_flag_goes_over_a_variable_over_the_file() {
    let folder = TempDir::new().unwrap();
    let file = put(
        folder.path(),
        "icache.toml",
        "max-entries = 10\nblock-size = 32\n\npressure-weight = 0.25\npolicy = []\nmax-memory = \"1GiB\"\n",
    );
    let file = file.to_str().unwrap();
    let variables =
        [("ICACHE_BLOCK_SIZE", "64"), ("ICACHE_MAX_ENTRIES", "20"), ("ICACHE_PORT", "tcp://10.0.0.1:9090")];
    let args = ["--config", file, "--max-entries", "30", "--print-config"];
    let told = serve(&variables, &args);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    let told = text(&told.stdout);
    for line in [
        "max-entries = 30 # flag --max-entries".to_owned(),
        "block-size = 64 # variable ICACHE_BLOCK_SIZE".to_owned(),
        format!("pressure-weight = \"0.25\" # file {file}:4"),
        format!("max-memory = \"1GiB\" # file {file}:6"),
        "sweep-interval = \"60s\" # default".to_owned(),
        "insecure-plaintext = false # default".to_owned(),
        "# tls-cert is not set".to_owned(),
    ] {
        assert!(told.lines().any(|own| own == line), "`{line}` in\n{told}");
    }

    // What was printed is a file that gives the same values again.
    let again = put(folder.path(), "printed.toml", &told);
    let values = |config: &str, variables: &[(&str, &str)], more: &[&str]| {
        let args = [&["--config", config, "--print-config", "-o", "json"], more].concat();
        let shown: serde_json::Value = serde_json::from_slice(&serve(variables, &args).stdout).unwrap();
        let settings = shown["settings"].as_array().unwrap().clone();
        settings.iter().map(|own| (own["key"].clone(), own["value"].clone())).collect::<Vec<_>>()
    };
    let before = values(file, &variables, &["--max-entries", "30"]);
    assert!(before.len() > 30);
    assert_eq!(values(again.to_str().unwrap(), &[], &[]), before);
    assert_eq!(
        values(file, &[("ICACHE_CONFIG", "/nowhere"), variables[0], variables[1]], &["--max-entries=30"]),
        before
    );
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    let folder = TempDir::new().unwrap();
    for (file, variables, says) in [
        (
            "max-entrys = 1\n",
            &[][..],
            "c.toml:1`: `max-entrys` is no setting of `icache serve`\nhelp: write `max-entries`",
        ),
        ("\nblock-size = 0\n", &[], "c.toml:2`: invalid value `0` for `--block-size <TOKENS>`"),
        ("sweep-interval = 60\n", &[], "c.toml:1`: "),
        ("[tls]\ncert = \"x\"\n", &[], "c.toml:1`: `tls` is a table"),
        ("grpc-addr = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\n", &[], "c.toml:1`: `grpc-addr` takes one value"),
        ("config = \"x\"\n", &[], "c.toml:1`: `config` is no setting"),
        ("insecure-plaintext = \"perhaps\"\n", &[], "c.toml:1`: "),
        (
            "",
            &[("ICACHE_MAX_STREAMS", "0")],
            "environment variable ICACHE_MAX_STREAMS: invalid value `0` for `--max-streams <N>`",
        ),
        (
            "grpc-addr = \"0.0.0.0:0\"\n",
            &[],
            "`--grpc-addr 0.0.0.0:0` is reachable from other machines, and without TLS",
        ),
        (
            "admin-addr = \"0.0.0.0:0\"\n",
            &[],
            "`--admin-addr 0.0.0.0:0` is reachable from other machines, and without a token",
        ),
        ("tls-cert = \"a.pem\"\n", &[], "`--tls-cert` is given, and `--tls-key` is not"),
        ("tls-cert = \"nowhere.pem\"\ntls-key = \"nowhere.pem\"\n", &[], "`nowhere.pem`: it cannot be read"),
    ] {
        let path = put(folder.path(), "c.toml", file);
        let refused = serve(variables, &["--config", path.to_str().unwrap()]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{file}: {said}");
        let said = said.replace('\u{1b}', "");
        assert!(said.contains(says), "{file}: {said}");
    }
    let missing = serve(&[], &["--config", "/nowhere/icache.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("cannot read `/nowhere/icache.toml`"));
}

#[test]
fn what_is_meant_to_be_open_needs_a_word() {
    for (args, says) in [
        (&["--grpc-addr=0.0.0.0:0", "--insecure-plaintext"][..], ""),
        (&["--admin-addr=0.0.0.0:0", "--insecure-disable-auth"], ""),
        (&["--http-addr=0.0.0.0:0"], ""),
        (&["--grpc-addr=0.0.0.0:0"], "--insecure-plaintext"),
        (&["--admin-addr=[::]:0"], "--admin-token-file"),
    ] {
        let told = serve(&[], &[args, &["--print-config"]].concat());
        assert_eq!(told.status.code(), Some(if says.is_empty() { 0 } else { 2 }), "{args:?}");
        assert!(text(&told.stderr).contains(says), "{args:?}");
    }
}
