//! The archive of a release.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn make(folder: &Path, binary: &Path) -> (PathBuf, Vec<u8>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("sh");
    command.arg(root.join("dist/make.sh")).arg(folder).env("ICACHE_DIST_BINARY", binary);
    // The first call waits for the lock of the package cache where another cargo holds it.
    let output = command.env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archive = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let bytes = std::fs::read(&archive).unwrap();
    (archive, bytes)
}

#[test]
fn the_archive_holds_what_a_release_needs_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    // What is packed as the binary is another matter, and ours is large.
    let binary = folder.path().join("binary");
    std::fs::write(&binary, "#!/bin/sh\n").unwrap();
    let (archive, bytes) = make(folder.path(), &binary);
    assert_eq!(make(folder.path(), &binary).1, bytes, "byte by byte");

    let tar = |args: &[&str]| {
        let output = Command::new("tar").args(args).arg("-f").arg(&archive).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = tar(&["-tz"]);
    let name = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
    for file in ["icache", "LICENSE", "README.md", "man/icache.1", "completions/_icache", "sbom.cdx.json"] {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "no {file} in {listed}");
    }
    Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status().unwrap();
    let sbom = std::fs::read(folder.path().join(name).join("sbom.cdx.json")).unwrap();
    let sbom: Value = serde_json::from_slice(&sbom).unwrap();
    assert_eq!((&sbom["bomFormat"], &sbom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = sbom["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().map(|component| component["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"tonic") && names.contains(&"ratatui") && !names.contains(&"portable-pty"));
    let references: Vec<&Value> = components.iter().map(|component| &component["bom-ref"]).collect();
    for dependency in sbom["dependencies"].as_array().unwrap() {
        for needed in dependency["dependsOn"].as_array().unwrap() {
            assert!(references.contains(&needed), "{needed} is listed");
        }
    }
}
