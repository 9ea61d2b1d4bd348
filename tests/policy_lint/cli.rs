//! `icache policy lint` and `rules` with the real binary.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::HEAD;

fn run(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_icache"))
        .arg("policy")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A program that reads none of it may be gone already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn status(folder: &Path, args: &[&str], input: &str) -> Option<i32> {
    run(folder, args, input).status.code()
}

#[test]
fn exit_statuses() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let error = format!("{HEAD}spec: {{evictionTTL: 1d}}\n");
    let warning = format!("{HEAD}spec: {{evictionTTL: 48h}}\n");
    let info = format!("{HEAD}spec: {{eviction: LRU}}\n");
    fs::create_dir(path.join("empty")).expect("folders can be made");
    fs::write(path.join("warning.yaml"), &warning).expect("the folder can be written");
    for (args, input, expected) in [
        (&["lint", "-"][..], HEAD, 0),
        (&["lint", "-"], &error, 1),
        (&["lint", "-"], &warning, 0),
        (&["lint", "--deny", "warnings", "-"], &warning, 1),
        (&["lint", "--deny", "warnings", "-"], &info, 0),
        (&["lint", "--deny", "warnings", "--allow", "ttl-very-long", "-"], &warning, 0),
        (&["lint", "--allow", "bad-duration", "-"], &error, 2),
        (&["lint", "--allow", "no-such-rule", "-"], &error, 2),
        (&["lint", "--block-size", "0", "-"], HEAD, 2),
        (&["lint", "--sweep-interval", "soon", "-"], HEAD, 2),
        (&["lint", "no-such-file.yaml"], "", 2),
        (&["lint", "empty"], "", 2),
        (
            &["lint", "--deny", "warnings", "--allow", "ttl-very-long", "warning.yaml", "warning.yaml", "."],
            "",
            0,
        ),
        (&["lint"], "", 2),
        (&["lint", "warning.yaml"], "", 0),
        (&["lint", "--deny", "warnings", "."], "", 1),
        (&["rules"], "", 0),
        (&["rules", "ttl-very-long", "-o", "json"], "", 0),
        (&["rules", "ttl-very-lon"], "", 2),
    ] {
        let output = run(path, args, input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{args:?} {input}: {said}");
        assert_eq!(said.is_empty(), expected != 2, "{args:?}: {said}");
    }
}

#[test]
fn folders_are_read_whole_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::create_dir_all(path.join("b/.hidden")).expect("folders can be made");
    for (name, text) in [
        ("b/2.yml", "kind: ["),
        ("b/1.json", "{"),
        ("a.yaml", "}"),
        ("note.txt", "["),
        ("b/.hidden/x.yaml", "["),
        (".x.yaml", "["),
    ] {
        fs::write(path.join(name), text).expect("files can be written");
    }
    let output = run(path, &["lint", "--format", "github", "."], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let files: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("file=")?.1.split(',').next()).collect();
    assert_eq!(files, ["./a.yaml", "./b/1.json", "./b/2.yml"]);
}

#[test]
fn fixes_are_written_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.yaml");
    let text =
        |eviction: &str| format!("\u{feff}{HEAD}spec:\n  eviction: {eviction} # é\n").replace('\n', "\r\n");
    fs::write(&path, text("lfu")).expect("files can be written");
    let output = run(folder.path(), &["lint", "--fix", "p.yaml"], "");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("fixed 1 place\n"), "{output:?}");
    assert_eq!(fs::read_to_string(&path).expect("the file is there"), text("LFU"));
    let names: Vec<_> = fs::read_dir(folder.path()).expect("the folder is there").collect();
    assert_eq!(names.len(), 1);
    assert_eq!(status(folder.path(), &["lint", "--fix", "p.yaml"], ""), Some(0));
    let piped = run(folder.path(), &["lint", "--fix", "-"], &text("lfu"));
    assert_eq!(String::from_utf8_lossy(&piped.stdout), text("LFU"));
    let same = run(folder.path(), &["lint", "--fix", "-"], &text("LFU"));
    assert_eq!(String::from_utf8_lossy(&same.stdout), text("LFU"));
}

/// No more of a huge file is read than tells that it is too large.
#[test]
fn huge_files_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fs::File::create(folder.path().join("huge.yaml")).expect("a file can be made");
    file.set_len(100 << 20).expect("a file can be sparse");
    let output = run(folder.path(), &["lint", "huge.yaml"], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("error[syntax]: the text has more than 4 MiB\n"), "{text}");
}

#[test]
fn long_lines_are_cut_and_their_places_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let filler = "é".repeat(100_000);
    let text = format!("{HEAD}spec: {{routingFloorScore: \"{filler}\", eviction: lfu}}\n");
    let output = run(folder.path(), &["lint", "-"], &text);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("standard input:6:100041\n"), "{}", &shown[..shown.len().min(4_000)]);
    assert!(shown.len() < 8_000, "{}", shown.len());
}
