//! The edges of the index: every line of the contract that a value just at or just past a limit could break.

mod events;
mod ingest;
mod matching;
mod victims;
mod world;
