//! What is generated from the command line's definition and the registries, and checked in: completions, man pages,
//! documents, CustomResourceDefinitions.

use std::io;
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_mangen::Man;

use crate::cmd::{Exit, definition, settings};
use crate::policy::crd::definitions;
use crate::render::{
    doctor_page, exit_status_page, gates_page, json_output_page, lint_rules_page, metrics_table,
    reason_codes_page, reason_codes_table, settings_table,
};
use crate::{server, subscribe};

const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish];

/// The alert rules, where they are written and tested.
const RULES: &str = include_str!("../deploy/prometheus/rules.yaml");

/// The same rules as an object of the Prometheus Operator.
fn prometheus_rule() -> String {
    let mut object = String::from(
        "# Generated from deploy/prometheus/rules.yaml by `cargo run -- generate`.\n\
         apiVersion: monitoring.coreos.com/v1\n\
         kind: PrometheusRule\n\
         metadata:\n\
         \x20 name: icache\n\
         \x20 labels: {app.kubernetes.io/name: icache}\n\
         spec:\n",
    );
    for line in RULES.lines().filter(|line| !line.starts_with('#')) {
        object.push_str(&format!("  {line}\n"));
    }
    object
}

/// Every file that is generated whole: its path from the root of the repository, and what it holds.
pub fn files() -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![
        ("docs/reason-codes.md".into(), reason_codes_page().into_bytes()),
        ("docs/doctor.md".into(), doctor_page().into_bytes()),
        ("docs/gates.md".into(), gates_page().into_bytes()),
        ("docs/lint-rules.md".into(), lint_rules_page().into_bytes()),
        ("docs/json-output.md".into(), json_output_page().into_bytes()),
        ("deploy/kubernetes/monitoring/prometheusrule.yaml".into(), prometheus_rule().into_bytes()),
        ("docs/exit-status.md".into(), exit_status_page(exit_rows()).into_bytes()),
    ];
    for shell in SHELLS {
        let name = clap_complete::Generator::file_name(&shell, "icache");
        files.push((PathBuf::from("completions").join(name), completion(shell)));
    }
    for definition in definitions() {
        files.push((Path::new(CRDS).join(&definition.file), definition.yaml()?.into_bytes()));
    }
    for (name, page) in man_pages()? {
        files.push((PathBuf::from("man").join(name), page));
    }
    Ok(files)
}

/// Files that are written by hand but for the parts between `<!-- generated: NAME -->` and `<!-- end -->`.
const WITH_PARTS: [&str; 5] =
    ["README.md", "docs/clients.md", "docs/configuration.md", "docs/operations.md", "docs/subscribe.md"];

/// `text` with its generated parts as they should be; a part with an unknown name stays as it is.
fn with_parts(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!-- generated: ") {
        let Some(((name, _), (_, tail))) = after.split_once(" -->").zip(after.split_once("<!-- end -->"))
        else {
            break;
        };
        let part = match name {
            "commands" => commands_table(),
            "metrics" => metrics_table(server::METRICS),
            "sidecar-metrics" => metrics_table(subscribe::METRICS),
            "settings" => settings_table(&settings()),
            "reason-codes" => reason_codes_table("docs/reason-codes.md"),
            "reason-codes-in-docs" => reason_codes_table("reason-codes.md"),
            _ => break,
        };
        out.push_str(&format!("{before}<!-- generated: {name} -->\n{part}<!-- end -->"));
        rest = tail;
    }
    out + rest
}

fn commands_table() -> String {
    let mut table = String::from("| command | |\n|---|---|\n");
    for command in definition().get_subcommands().filter(|command| !command.is_hide_set()) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        table.push_str(&format!("| `icache {}` | {about} |\n", command.get_name()));
    }
    table
}

/// Where clusters' administrators look for the CustomResourceDefinitions.
const CRDS: &str = "deploy/crds";

/// Folders in which nothing else may lie.
const OWN_FOLDERS: [&str; 3] = ["completions", CRDS, "man"];

/// A file that is not as it should be.
#[derive(Debug)]
pub struct Stale {
    /// From the root of the repository.
    pub path: PathBuf,
    /// What it should hold; `None` where it should not be there.
    pub wanted: Option<Vec<u8>>,
}

impl Stale {
    /// Brings the file below `root` up to date.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let path = root.join(&self.path);
        match &self.wanted {
            None => std::fs::remove_file(path),
            Some(text) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                std::fs::write(path, text)
            }
        }
    }
}

/// The files below `root` that are missing, differ, or are left over from a command that is gone.
pub fn stale(root: &Path) -> io::Result<Vec<Stale>> {
    let files = files()?;
    let mut stale = Vec::new();
    for folder in OWN_FOLDERS {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = Path::new(folder).join(entry?.file_name());
            if !files.iter().any(|(wanted, _)| *wanted == path) {
                stale.push(Stale { path, wanted: None });
            }
        }
    }
    for path in WITH_PARTS {
        let text = std::fs::read_to_string(root.join(path))?;
        let wanted = with_parts(&text);
        if wanted != text {
            stale.push(Stale { path: path.into(), wanted: Some(wanted.into_bytes()) });
        }
    }
    for (path, wanted) in files {
        if std::fs::read(root.join(&path)).ok().as_deref() != Some(wanted.as_slice()) {
            stale.push(Stale { path, wanted: Some(wanted) });
        }
    }
    Ok(stale)
}

/// The completion script of one shell.
pub fn completion(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "icache", &mut script);
    script
}

/// File name and text of every manual page; the first is that of the program.
pub fn man_pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    // Without the width of this terminal, and with the global options in every page.
    let mut root = definition().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(&root, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    // Of a command below, the library would name the version after its last word.
    let source = format!("icache {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).manual("icache manual").source(source);
    let name = man.get_filename();
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = with_examples(&String::from_utf8_lossy(&page));
    pages.push((name, page.into_bytes()));
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| add_pages(command, pages))
}

/// What stands after the options of every command is its examples: their section gets that name, and keeps its lines.
fn with_examples(page: &str) -> String {
    let Some((before, rest)) = page.split_once(".SH EXTRA\nExamples:\n") else { return page.to_owned() };
    let (examples, after) =
        rest.split_once("\n.SH ").map_or((rest, ""), |(examples, after)| (examples, after));
    format!("{before}.SH EXAMPLES\n.nf\n{examples}\n.fi\n.SH {after}")
}

fn exit_rows() -> impl Iterator<Item = (u8, &'static str, &'static str)> {
    Exit::ALL.iter().map(|exit| {
        let info = exit.info();
        (info.status, info.name, info.meaning)
    })
}
