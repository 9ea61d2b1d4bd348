//! What `--version` says.

use crate::icache;

#[test]
fn the_version_names_commit_and_build() {
    let output = icache(&["--version"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.starts_with(&format!("icache {version} (commit ")), "{text}");
    assert!(text.contains("debug") || text.contains("release"), "{text}");
    let of_command = icache(&["lookup", "--version"]).output().unwrap();
    assert_eq!(String::from_utf8(of_command.stdout).unwrap(), text, "one program has one version");
    let short = icache(&["-V"]).output().unwrap();
    assert_eq!(String::from_utf8(short.stdout).unwrap(), text);
}
