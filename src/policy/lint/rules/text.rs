//! Rules about the text as YAML.

use crate::policy::document::{Problem, shortened};
use crate::policy::lint::finding::{Findings, Site};
use crate::policy::lint::input::Input;

/// `syntax`.
pub(in crate::policy::lint) fn syntax(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (file, parsed) in input.files.iter().enumerate() {
        for problem in &parsed.problems {
            if let Problem::Syntax { span, what, help } = problem {
                findings.add(Site::new(file, span), what, *help);
            }
        }
    }
}

/// `duplicate-key`.
pub(in crate::policy::lint) fn duplicate_key(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (file, parsed) in input.files.iter().enumerate() {
        for problem in &parsed.problems {
            if let Problem::DuplicateKey { key, span, first } = problem {
                let what = format!("`{}` stands twice in one object", shortened(key));
                let finding = findings.at(Site::new(file, span), what, "keep one of the two");
                findings.push(finding.related(Site::new(file, first), "the first one"));
            }
        }
    }
}
