//! The `icache` binary.

fn main() {}
