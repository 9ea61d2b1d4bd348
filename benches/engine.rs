//! What `icache subscribe` costs before anything is sent: batches decoded and mapped, and bytes for each block held.
//!
//! A batch is as vLLM publishes it: one event of 8 blocks of 16 tokens as arrays, a 32-byte hash each, behind a parent
//! of its sequence of 512 blocks; from the second round on the blocks of an earlier batch are removed with it.

#![allow(clippy::print_stderr, reason = "figures that criterion has no form for")]

use std::hint::black_box;
use std::time::Instant;

use icache::engine::{Mapper, MapperOptions, decode_batch};
use icache::model::Timestamp;

const BLOCKS: u32 = 8;
const SIZE: u32 = 16;
const SEQUENCE: u32 = 512 / BLOCKS;
const BATCHES: u32 = 131_072;

fn hash(block: u32) -> [u8; 32] {
    let mut bytes = [0x5a; 32];
    let mixed = u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[24..].copy_from_slice(&mixed.to_be_bytes());
    bytes
}

fn hashes(out: &mut Vec<u8>, batch: u32) {
    rmp::encode::write_array_len(out, BLOCKS).expect("a vector takes all");
    for block in 0..BLOCKS {
        rmp::encode::write_bin(out, &hash(batch * BLOCKS + block)).expect("a vector takes all");
    }
}

/// Stores the blocks of a batch, and removes those of another.
fn payload(batch: u32, removes: Option<u32>) -> Vec<u8> {
    let mut out = vec![0x93, 0xcb];
    out.extend(1.0_f64.to_be_bytes());
    out.push(if removes.is_some() { 0x92 } else { 0x91 });
    out.push(0x97);
    rmp::encode::write_str(&mut out, "BlockStored").expect("a vector takes all");
    hashes(&mut out, batch);
    if batch.is_multiple_of(SEQUENCE) {
        out.push(0xc0);
    } else {
        rmp::encode::write_bin(&mut out, &hash(batch * BLOCKS - 1)).expect("a vector takes all");
    }
    rmp::encode::write_array_len(&mut out, BLOCKS * SIZE).expect("a vector takes all");
    for token in 0..BLOCKS * SIZE {
        let token = (batch.wrapping_mul(31) + token) % 128_000;
        rmp::encode::write_uint(&mut out, token.into()).expect("a vector takes all");
    }
    out.extend([SIZE as u8, 0xc0]);
    rmp::encode::write_str(&mut out, "GPU").expect("a vector takes all");
    if let Some(removed) = removes {
        out.push(0x93);
        rmp::encode::write_str(&mut out, "BlockRemoved").expect("a vector takes all");
        hashes(&mut out, removed);
        rmp::encode::write_str(&mut out, "GPU").expect("a vector takes all");
    }
    out.push(0xc0);
    out
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default();
    pages * 4_096
}

fn run(what: &str, mapper: &mut Mapper, payloads: &[Vec<u8>]) {
    let start = Instant::now();
    for payload in payloads {
        let batch = decode_batch(payload).expect("the payload is a batch");
        black_box(mapper.apply(&batch, Timestamp::default()));
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes: usize = payloads.iter().map(Vec::len).sum();
    eprintln!(
        "{what}: {:.0} batches/s, {:.0} blocks stored/s, {:.0} MB/s",
        payloads.len() as f64 / seconds,
        (payloads.len() as u32 * BLOCKS) as f64 / seconds,
        bytes as f64 / seconds / 1e6
    );
}

fn main() {
    let first: Vec<Vec<u8>> = (0..BATCHES).map(|batch| payload(batch, None)).collect();
    let second: Vec<Vec<u8>> =
        (BATCHES..2 * BATCHES).map(|batch| payload(batch, Some(batch - BATCHES))).collect();
    let mut mapper = Mapper::new(MapperOptions::default());
    let before = resident_bytes();
    run("stored", &mut mapper, &first);
    let held = mapper.counts().held_blocks;
    assert_eq!(held, (BATCHES * BLOCKS) as usize);
    eprintln!(
        "{held} blocks held, {:.0} bytes each, resident",
        (resident_bytes() - before) as f64 / held as f64
    );
    run("stored and removed", &mut mapper, &second);
    assert_eq!(mapper.counts().held_blocks, held);
}
