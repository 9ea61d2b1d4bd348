//! The policies in force.

use std::io;

use crate::policy::{KnobView, PolicyView, PushedView, ReloadView};
use crate::render::printer::{Format, Printer};
use crate::render::table::Grid;
use crate::render::text::{Tone, clean};

/// Prints every namespace with every knob; the JSON form is that of `GET /policy`. `is_part` leaves out of the table
/// what holds for namespaces that are not shown.
pub fn policies(printer: &mut Printer, format: Format, view: &PolicyView, is_part: bool) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(view),
        Format::Jsonl => return printer.json_line(view),
        Format::Table => {}
    }
    for (at, own) in view.namespaces.iter().enumerate() {
        if at > 0 {
            printer.line("")?;
        }
        table(printer, &format!("namespace {}", clean(&own.namespace)), &own.knobs)?;
    }
    if view.namespaces.is_empty() {
        table(printer, "every namespace", &view.default.knobs)?;
    } else if !is_part {
        printer.line("")?;
        table(printer, "every other namespace", &view.default.knobs)?;
    }
    if !view.inert.is_empty() {
        printer.line("")?;
    }
    for sentence in &view.inert {
        printer.labelled(Tone::Warning, "inert:", sentence)?;
    }
    if view.pushed.is_some() || view.last_reload.is_some() {
        printer.line("")?;
    }
    if let Some(PushedView { version, policies, tenants }) = &view.pushed {
        printer.line(&format!(
            "pushed: policies {policies}, tenants {tenants}, in version {version} of the protocol"
        ))?;
    }
    match &view.last_reload {
        Some(reload) => last_reload(printer, reload),
        None => Ok(()),
    }
}

fn table(printer: &mut Printer, title: &str, knobs: &[KnobView]) -> io::Result<()> {
    printer.line(&printer.paint(Tone::Strong, title))?;
    let mut grid = Grid::new(printer.look(), &["knob", "value", "source"]);
    for knob in knobs {
        grid.row([knob.name.as_str(), &knob.value.to_string(), &knob.source]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}

fn last_reload(printer: &mut Printer, reload: &ReloadView) -> io::Result<()> {
    if reload.succeeded {
        return printer.line(&format!("last reload of the files: {}, in force", clean(&reload.at)));
    }
    let what = format!("{}: refused, the last good policies stay in force", reload.at);
    printer.labelled(Tone::Bad, "last reload of the files:", &what)?;
    reload.problems.iter().try_for_each(|problem| printer.line(&format!("  {}", clean(problem))))
}
