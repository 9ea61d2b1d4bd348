//! Any bytes as a file of saved state: nothing panics, and what is refused is set aside as it was.
#![no_main]

use icache::index::IndexConfig;
use icache::lookup::{Router, RouterConfig};
use icache::model::{Sourced, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};
use icache::server::{Loaded, StateFolder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("index.state"), bytes).expect("a file can be written");
    let router = Router::new(RouterConfig {
        index: IndexConfig::default(),
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    });
    let now = Timestamp::from_ns(1_700_000_000_000_000_000);
    if let Loaded::Refused { kept, .. } = StateFolder::new(folder.path()).load(&router, now) {
        let kept = std::fs::read(kept.expect("it is set aside")).expect("it is kept");
        assert_eq!(kept, bytes);
        assert_eq!(router.index().entries(), 0);
    }
});
