//! A running server at a glance: one frame for scripts, or a screen that keeps up.

mod json;
mod lines;
mod screen;

use std::io;

pub use self::screen::{Screen, Shown};
use super::printer::{Format, Printer};
use crate::top::View;

/// Prints one frame.
pub fn top(printer: &mut Printer, format: Format, view: &View) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&json::ViewJson::from(view)),
        Format::Jsonl => printer.json_line(&json::ViewJson::from(view)),
        Format::Table => {
            let look = printer.look();
            for line in lines::lines(view, look) {
                let painted =
                    line.tone.map_or_else(|| line.text.clone(), |tone| tone.paint(look.color, &line.text));
                printer.line(&painted)?;
            }
            Ok(())
        }
    }
}
