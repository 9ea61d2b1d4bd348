//! Files and folders of policies: which are read, which of several objects counts, and what is said of the rest.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use icache::policy::{Defaults, FileProblem, LoadedPolicies, MAX_POLICY_BYTES, MAX_SET_BYTES, load_paths};

fn policy(name: &str, namespace: &str, prefix_tokens: u32) -> String {
    format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{minimumPrefixTokens: {prefix_tokens}}}\n"
    )
}

/// A folder with files, each a path below it and a text.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn load(paths: &[PathBuf]) -> Result<LoadedPolicies, Vec<FileProblem>> {
    load_paths(paths, "default", &Defaults::default())
}

fn load_folder(folder: &Path) -> Result<LoadedPolicies, Vec<FileProblem>> {
    load(&[folder.to_path_buf()])
}

/// The tenants that have a policy, by name.
fn tenants(loaded: &LoadedPolicies) -> Vec<String> {
    let mut tenants: Vec<String> = loaded.set.iter().map(|(tenant, _)| tenant.to_string()).collect();
    tenants.sort();
    tenants
}

/// The only problem, without the folder.
fn only(problems: Result<LoadedPolicies, Vec<FileProblem>>, folder: &Path) -> String {
    let problems = problems.unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_folder_gives_its_policy_files_and_nothing_else() {
    let found = folder(&[
        ("a.yaml", &policy("p", "a", 1)),
        ("b.yml", &policy("p", "b", 1)),
        (
            "c.json",
            r#"{"apiVersion": "inferencecache.io/v1alpha1", "kind": "CachePolicy", "metadata": {"name": "p", "namespace": "c"}}"#,
        ),
        ("below/deeper/d.yaml", &policy("p", "d", 1)),
        ("service.yaml", "apiVersion: v1\nkind: Service\nspec: {}\n---\nkind: List\nitems: [{kind: Pod}]\n"),
        ("empty.yaml", ""),
        ("notes.txt", "no: [yaml"),
        ("e.yaml~", "no: [yaml"),
        (".hidden.yaml", "no: [yaml"),
        (".git/x.yaml", "no: [yaml"),
        ("..2026_11_30/a.yaml", "no: [yaml"),
    ]);
    // What an editor leaves while a file is open points nowhere.
    symlink("nobody@nowhere", found.path().join(".#a.yaml")).unwrap();
    let loaded = load_folder(found.path()).unwrap();
    assert_eq!(tenants(&loaded), ["a", "b", "c", "d"]);
    assert_eq!((loaded.policies, loaded.other_kinds), (4, 2));
    let source = loaded.set.policy_of("d").minimum_prefix_tokens.source.to_string();
    assert_eq!(source, format!("CachePolicy d/p ({}:4)", found.path().join("below/deeper/d.yaml").display()));
}

#[test]
fn several_files_are_one_set() {
    let found = folder(&[
        ("1.yaml", &policy("b", "t", 2)),
        ("2.yaml", &policy("a", "t", 1)),
        ("3", &policy("0a", "t", 3)),
    ]);
    let paths = ["1.yaml", "2.yaml", "3"].map(|name| found.path().join(name));
    let loaded = load(&paths).unwrap();
    assert_eq!(loaded.set.policy_of("t").minimum_prefix_tokens.value, 3, "`0a` sorts before `a` and `b`");
    assert_eq!(loaded.inert.len(), 2, "{:?}", loaded.inert);
    assert!(loaded.inert[0].starts_with("CachePolicy t/a") && loaded.inert[0].contains("CachePolicy t/0a"));
}

#[test]
fn a_file_that_is_reached_twice_is_read_once() {
    let found = folder(&[("p.yaml", &policy("p", "t", 1))]);
    symlink("p.yaml", found.path().join("link.yaml")).unwrap();
    let loaded = load(&[found.path().join("p.yaml"), found.path().to_path_buf()]).unwrap();
    assert_eq!((loaded.policies, loaded.inert.len()), (1, 0));
}

#[test]
fn the_namespace_is_that_of_objects_which_name_none() {
    let found = folder(&[(
        "p.yaml",
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p}\nspec: {minimumPrefixTokens: 1}\n",
    )]);
    let paths = [found.path().to_path_buf()];
    for namespace in ["default", "team-a"] {
        let loaded = load_paths(&paths, namespace, &Defaults::default()).unwrap();
        assert_eq!(tenants(&loaded), [namespace]);
    }
}

#[test]
fn every_file_that_is_wrong_is_named() {
    let found = folder(&[
        ("a.yaml", "kind: [\n"),
        ("b.yaml", &policy("p", "t", 1)),
        ("c.yaml", &policy("p", "t", 1).replace("spec", "spek")),
    ]);
    let mut paths = vec![found.path().to_path_buf(), found.path().join("gone.yaml")];
    let problems = load(&paths).unwrap_err();
    assert_eq!(problems.len(), 1, "what cannot be read comes first: {problems:?}");
    assert!(problems[0].to_string().contains("gone.yaml: cannot be read: no such file"), "{}", problems[0]);
    paths.pop();
    let problems = load(&paths).unwrap_err();
    let lines: Vec<_> = problems.iter().map(|problem| problem.place.unwrap().line).collect();
    assert_eq!(lines.len(), 2, "{problems:?}");
    assert_eq!(lines[1], 4, "{problems:?}");
}

#[test]
fn what_cannot_be_a_policy_file_is_refused_without_reading_on() {
    let binary = folder(&[]);
    fs::write(binary.path().join("x.yaml"), b"\xff\xfe\x00").unwrap();
    let told = only(load_folder(binary.path()), binary.path());
    assert!(told.starts_with("x.yaml:1:1: ") && told.contains("UTF-16"), "{told}");

    let dangling = folder(&[]);
    symlink("nowhere", dangling.path().join("x.yaml")).unwrap();
    assert!(only(load_folder(dangling.path()), dangling.path()).starts_with("x.yaml: cannot be read"));

    let device = only(load(&["/dev/zero".into()]), Path::new("/dev"));
    assert!(device.contains("neither a file nor a folder"), "{device}");

    // A circle of links leads to the same file.
    let circle = folder(&[("p.yaml", &policy("p", "t", 1))]);
    symlink(".", circle.path().join("again")).unwrap();
    assert_eq!(load_folder(circle.path()).unwrap().policies, 1);
}

/// A comment of `bytes` bytes.
fn comment(bytes: usize) -> String {
    let mut text = "# ".repeat(bytes / 2);
    text.push_str(&"#"[..bytes % 2]);
    text
}

#[test]
fn sizes_at_the_limit_and_one_over() {
    let found = folder(&[("a.yaml", &comment(MAX_POLICY_BYTES))]);
    load_folder(found.path()).unwrap();
    fs::write(found.path().join("a.yaml"), comment(MAX_POLICY_BYTES + 1)).unwrap();
    let told = only(load_folder(found.path()), found.path());
    assert!(told.starts_with("a.yaml:1:1: ") && told.contains("more than 4 MiB"), "{told}");

    assert_eq!(MAX_SET_BYTES % MAX_POLICY_BYTES, 0);
    let found = folder(&[]);
    for at in 0..MAX_SET_BYTES / MAX_POLICY_BYTES {
        fs::write(found.path().join(format!("{at}.yaml")), comment(MAX_POLICY_BYTES)).unwrap();
    }
    load_folder(found.path()).unwrap();
    fs::write(found.path().join("z.yaml"), "#").unwrap();
    let told = only(load_folder(found.path()), found.path());
    assert!(told.starts_with("z.yaml: brings the policies to 33554433 bytes"), "{told}");
}
