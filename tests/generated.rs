//! What is generated and checked in is what the sources generate.

use std::path::Path;

#[test]
fn generated_files_are_current() {
    let stale = icache::generate::stale(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let stale: Vec<String> = stale.iter().map(|file| file.path.display().to_string()).collect();
    assert!(stale.is_empty(), "stale: {}; `cargo run -- generate` brings them up to date", stale.join(", "));
}

#[test]
fn every_command_has_its_page() {
    let pages = icache::generate::man_pages().unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[0], "icache.1");
    for name in ["icache-lookup.1", "icache-explain.1", "icache-report.1", "icache-policy-diff.1"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    for (name, page) in &pages {
        assert!(String::from_utf8_lossy(page).contains(".SH EXAMPLES"), "{name} has no example");
    }
}
