//! `icache policy lint`: rules over policies as written, and what they find.
//!
//! The loader runs the same rules: what a rule that [`Rule::is_enforced`] finds, no server takes.

mod allow;
mod finding;
mod fix;
mod input;
mod registry;
mod rules;

pub use finding::{Diagnostic, Edit, Related, Site, place};
pub use fix::fixed;
pub use registry::{Rule, RuleInfo, Severity};

pub(super) use finding::Findings;
pub(super) use input::Input;

use super::source::SourceText;

/// What rules need to know beside the policies.
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// Tokens in a block of the engines.
    pub block_size: u32,
    /// Nanoseconds between two sweeps of the server.
    pub sweep_interval_ns: i64,
    /// The namespace of objects that name none; `None` is `default`, which is then reported.
    pub namespace: Option<String>,
    /// Rules whose findings are left out; one that is enforced is reported all the same.
    pub allow: Vec<Rule>,
}

impl Default for LintOptions {
    fn default() -> Self {
        Self { block_size: 16, sweep_interval_ns: 60 * 1_000_000_000, namespace: None, allow: Vec::new() }
    }
}

/// What the rules found.
#[derive(Clone, Debug)]
pub struct LintReport {
    /// The findings, by source, then place.
    pub diagnostics: Vec<Diagnostic>,
    /// CachePolicies that were read.
    pub policies: usize,
    /// CacheTenants that were read.
    pub tenants: usize,
    /// Objects of other kinds, passed over.
    pub other_kinds: usize,
    /// Findings left out because a comment or an option allows them.
    pub allowed: usize,
}

impl LintReport {
    /// How many findings have `severity`.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.rule.severity() == severity).count()
    }
}

/// Runs every rule over `sources`.
pub fn lint(sources: &[SourceText], options: &LintOptions) -> LintReport {
    let input = Input::read(sources, options);
    let all = found(&input, |_| true);
    let count = all.len();
    let diagnostics = allow::without_allowed(&input, all);
    LintReport {
        allowed: count - diagnostics.len(),
        diagnostics,
        policies: input.policies().count(),
        tenants: input.tenants().count(),
        other_kinds: input.other_kinds(),
    }
}

/// What the rules that `wanted` picks find in `input`, by place.
pub(super) fn found(input: &Input<'_>, wanted: impl Fn(Rule) -> bool) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for rule in Rule::ALL.iter().copied().filter(|rule| wanted(*rule)) {
        (rule.info().check)(input, &mut Findings::new(rule, &mut all));
    }
    for diagnostic in &mut all {
        diagnostic.fix = diagnostic.fix.take().filter(|edit| !input.is_shared(&edit.site));
    }
    all.sort_by(|a, b| (&a.site, a.rule).cmp(&(&b.site, b.rule)));
    // An object that is merged into several others is wrong once.
    all.dedup_by(|a, b| a.site.start < a.site.end && (&a.site, a.rule) == (&b.site, b.rule));
    all
}
