//! The `icache` binary: parse, run, exit status.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    icache::cmd::main(std::env::args_os()).into()
}
