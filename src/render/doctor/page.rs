//! `docs/doctor.md`.

use std::fmt::Write as _;

use crate::doctor::{Check, Source};
use crate::render::registry::{deeper, document};

/// Every check with its long form.
pub fn doctor_page() -> String {
    let mut out = document(
        "Doctor",
        "`icache doctor` asks the three ports of a server, changes nothing, and judges what they answer. Exit status 0 where \
         no finding is an error, 1 where one is, 3 where the gRPC port does not answer. `-o json` prints the shape \
         [Diagnosis](json-output.md).\n\nIds are stable. A check is left out, and said to be, where a port that it needs does \
         not answer.",
    );
    out.push_str("| check | severity | needs | finds |\n|---|---|---|---|\n");
    for info in Check::ALL.iter().map(|check| check.info()) {
        let needs: Vec<&str> = info.needs.iter().copied().map(Source::label).collect();
        let (id, severity, summary) = (info.id, info.severity.label(), info.summary);
        let _ = writeln!(out, "| [`{id}`](#{id}) | {severity} | {} | {summary} |", needs.join(", "));
    }
    for info in Check::ALL.iter().map(|check| check.info()) {
        let _ = write!(out, "\n## {}\n\n{}", info.id, deeper(info.doc));
    }
    out
}
