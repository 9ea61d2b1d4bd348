//! Any bytes as a capture, compressed or not: nothing panics or hangs, and what is read writes and reads back alike.
#![no_main]

use icache::capture::{Header, ReadOptions, Reader, Writer};
use icache::replay::{Replay, ReplayOptions};
use libfuzzer_sys::fuzz_target;

const HEADER: &[u8] = b"{\"icache\":\"capture\",\"version\":1}\n";

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses between a whole file and the lines after a header, which are hard to hit upon.
    let Some((choice, rest)) = bytes.split_first() else { return };
    let with_header = [HEADER, rest].concat();
    let bytes = if choice % 2 == 0 { rest } else { &with_header };
    for skip_bad in [false, true] {
        let Ok(mut reader) = Reader::new("fuzz", bytes, ReadOptions { skip_bad }) else { return };
        let options = ReplayOptions { check: true, skip_bad, ..ReplayOptions::default() };
        let Ok(mut replay) = Replay::new("fuzz", options) else { return };
        while let Ok(Some(record)) = reader.next_record() {
            let header = Header { created: String::new(), source: String::new() };
            let mut writer = Writer::create(Vec::new(), &header).expect("memory can be written");
            // NaN cannot be written, and is not equal to itself.
            if writer.append(record.at, &record.body).is_ok() {
                let written = writer.into_inner();
                let again = Reader::new("again", &written[..], ReadOptions::default())
                    .expect("the header is there")
                    .next_record();
                if let Ok(Some(again)) = again {
                    assert_eq!(again.at, record.at);
                    assert_eq!(again.body.kind(), record.body.kind());
                }
            }
            if replay.apply(&record).is_err() {
                break;
            }
        }
        replay.finish();
    }
});
