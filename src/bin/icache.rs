//! The `icache` binary.

use std::process::ExitCode;

use icache::cmd::{CommandError, Exit, main as run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    match run(std::env::args_os()) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Usage) => ExitCode::from(2),
        Ok(Exit::Server) => ExitCode::from(3),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, CommandError::Usage(_)) { 2 } else { 3 })
        }
    }
}
