//! The effective configuration: as a file that can be given again, and as JSON.

use std::io;

use serde_json::Value;

use super::printer::{Format, Printer};
use super::text::clean;
use crate::cmd::Setting;
use crate::server::{ConfigView, SettingView};

/// Prints it. The table form is TOML that `--config` reads; what is not set is a comment.
pub fn config(printer: &mut Printer, format: Format, view: &ConfigView) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(view),
        Format::Jsonl => return printer.json_line(view),
        Format::Table => {}
    }
    for setting in &view.settings {
        printer.line(&line(setting))?;
    }
    Ok(())
}

fn line(setting: &SettingView) -> String {
    let SettingView { key, value, source, .. } = setting;
    let source = clean(source);
    match value {
        Value::Null => format!("# {key} is not set"),
        value => format!("{key} = {} # {source}", toml(value)),
    }
}

/// JSON of a number, a switch or a text is TOML as it stands; control characters are escaped alike in both.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// The settings as Markdown, a table for each heading of the help.
pub fn settings_table(settings: &[Setting]) -> String {
    let mut headings: Vec<&str> = Vec::new();
    for setting in settings {
        if !headings.contains(&setting.heading.as_str()) {
            headings.push(&setting.heading);
        }
    }
    let mut page = String::new();
    for heading in headings {
        page.push_str(&format!(
            "\n### {heading}\n\n| key | value | default | variable | |\n|---|---|---|---|---|\n"
        ));
        for setting in settings.iter().filter(|setting| setting.heading == heading) {
            let Setting { key, variable, value_name, default, help, .. } = setting;
            let default = default.as_ref().map(|default| format!("`{default}`")).unwrap_or_default();
            let help = help.replace('\n', " ").replace('|', "\\|");
            page.push_str(&format!("| `{key}` | {value_name} | {default} | {variable} | {help} |\n"));
        }
    }
    page + "\n"
}
