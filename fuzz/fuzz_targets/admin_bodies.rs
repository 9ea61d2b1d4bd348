//! Any bytes as the body of what the admin port takes: a push of policies, a probe. Nothing panics, and what is refused
//! says why.
#![no_main]

use std::sync::Arc;

use icache::model::Limits;
use icache::policy::{Defaults, PolicySet, PolicySources, decode_push};
use icache::server::answer_probe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match decode_push(bytes) {
        Ok(pushed) => {
            let mut sources = PolicySources::of_set(PolicySet::empty(&Defaults::default()));
            sources.set_pushed(pushed);
            let set = Arc::new(sources.effective());
            let view = sources.view(&set);
            drop((view, sources.inert()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Err(why) = answer_probe(bytes, Limits::default()) {
        assert!(why.starts_with("the body is no probe: "));
    }
});
