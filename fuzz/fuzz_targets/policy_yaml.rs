//! Any bytes as a policy file: nothing panics or hangs, lint and loader agree, and fixing ends.
#![no_main]

use icache::policy::lint::{LintOptions, fixed, lint};
use icache::policy::{Defaults, SourceText, load_sources};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = SourceText::from_bytes("fuzz.yaml", bytes.to_vec());
    let options = LintOptions::default();
    let report = lint(std::slice::from_ref(&source), &options);
    let refused = report.diagnostics.iter().any(|diagnostic| diagnostic.rule.is_enforced());
    let loaded = load_sources(vec![source.clone()], None, &Defaults::default());
    assert_eq!(refused, loaded.is_err(), "lint and loader judge alike: {:?}", report.diagnostics);
    if let Err(error) = loaded {
        assert!(!error.to_string().is_empty());
    }
    if let Some((better, _)) = fixed(&source, &options) {
        assert!(fixed(&better, &options).is_none(), "what is fixed stays fixed");
    }
});
