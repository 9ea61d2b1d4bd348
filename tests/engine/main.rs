//! Engine events as data: what payloads decode to, what changes they make, and that no input breaks the rules.
#![allow(clippy::unwrap_used)]

mod bounds;
mod decode;
mod map;
mod random;
mod releases;
mod report;
mod steps;
mod stream;
mod world;
