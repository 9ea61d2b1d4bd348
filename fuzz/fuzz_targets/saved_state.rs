//! Any bytes as a file of saved state: nothing panics, and what is refused is set aside as it was.
//!
//! The first byte chooses between a whole file, and sections that are framed here with checksums that hold, which are
//! hard to hit upon: a kind in one byte, a length in two, the message.
#![no_main]

use icache::index::IndexConfig;
use icache::lookup::{Router, RouterConfig};
use icache::model::{Sourced, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};
use icache::server::{Loaded, StateFolder};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A file of the version that is read, of sections cut from the bytes.
fn framed(mut rest: &[u8]) -> Vec<u8> {
    let mut file = b"ICACHEst\x01\0\0\0".to_vec();
    let mut place = 0;
    while let Some(([kind, low, high], after)) = rest.split_first_chunk::<3>() {
        let length = after.len().min(usize::from(u16::from_le_bytes([*low, *high])));
        let (message, after) = after.split_at(length);
        rest = after;
        let mut section = vec![*kind];
        section.extend(u32::try_from(length).expect("it is of two bytes").to_le_bytes());
        section.extend(message);
        file.extend(&section);
        file.extend(xxh3_64_with_seed(&section, place).to_le_bytes());
        place += 1;
    }
    file
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let bytes = &if choice % 2 == 0 { rest.to_vec() } else { framed(rest) };
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
        assert_eq!(&kept, bytes);
        assert_eq!(router.index().entries(), 0);
    }
});
