//! What holds for a replica that was drained, or is drained no more.

use std::io;

use super::printer::{Format, Printer};
use super::text::clean;
use crate::cmd::DrainState;

/// Prints one sentence, or the answer of the server as it is.
pub fn drain(printer: &mut Printer, format: Format, state: &DrainState) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(state),
        Format::Jsonl => return printer.json_line(state),
        Format::Table => {}
    }
    let replica = clean(&state.replica_id);
    match (&state.since, &state.until) {
        (Some(since), Some(until)) if state.drained => {
            printer.line(&format!("`{replica}` is drained since {}, until {}", clean(since), clean(until)))
        }
        _ => printer.line(&format!("`{replica}` is not drained")),
    }
}
