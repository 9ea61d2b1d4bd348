//! Every error that a command can give, as a person sees it: tables of command lines, whose errors and exit statuses are
//! kept in snapshots to be read.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "../server_security/authority.rs"]
#[allow(dead_code)]
mod authority;
mod captures;
mod command_line;
mod policies;
#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
mod prompts;
mod servers;
mod serving;
mod world;

use world::World;

/// Runs each line and compares what is said with the snapshot `family`.
fn look(family: &str, world: &World, lines: &[&str]) {
    let said: Vec<String> = lines.iter().map(|line| world.says(line)).collect();
    insta::assert_snapshot!(family, said.join("\n"));
}
