//! The JSON that commands print, field by field: what `docs/json-output.md` lists and the tests compare with the output.

mod bench;
mod doctor;
mod lint;
mod lookup;
mod policy;
mod registry;
mod replay;
mod server;
mod simulate;
mod top;

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::JSON_VERSION;

/// One JSON object.
#[derive(Debug)]
pub struct Shape {
    /// What it is called in the document.
    pub name: &'static str,
    /// Where it stands.
    pub stands: &'static str,
    /// Name and meaning of each field, in order.
    pub fields: &'static [(&'static str, &'static str)],
}

const VERSION: (&str, &str) = ("version", "version of this shape");

/// Every shape, by command.
pub static SHAPES: LazyLock<Vec<&'static Shape>> = LazyLock::new(|| {
    let by_command = [
        lookup::SHAPES,
        registry::SHAPES,
        server::SHAPES,
        doctor::SHAPES,
        top::SHAPES,
        policy::SHAPES,
        lint::SHAPES,
        replay::SHAPES,
        simulate::SHAPES,
        bench::SHAPES,
    ];
    by_command.into_iter().flatten().collect()
});

/// `docs/json-output.md`.
pub fn json_output_page() -> String {
    let mut out = super::registry::document(
        "JSON output",
        "What commands print with `-o json` (one indented document) and `-o jsonl` (one a line). Fields are never \
         renamed, and none changes its meaning, without a new `version`; new fields may come. Numbers have their full \
         precision.",
    );
    let _ = writeln!(out, "The version of every shape is {JSON_VERSION}.");
    for shape in SHAPES.iter() {
        let _ = write!(
            out,
            "\n## {}\n\nStands in: {}.\n\n| field | holds |\n|---|---|\n",
            shape.name, shape.stands
        );
        for (field, meaning) in shape.fields {
            let _ = writeln!(out, "| `{field}` | {meaning} |");
        }
    }
    out
}
