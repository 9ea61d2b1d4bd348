//! From texts to the policies in force: read, checked by the rules that a server enforces, resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::lint::{Diagnostic, Input, LintOptions, found};
use super::resolve::{Defaults, TenantPolicy, resolve, resolve_from};
use super::schema::Item;
use super::source::{Place, SourceText};
use super::store::PolicySet;
use crate::model::{Source, Sourced, TenantId};

/// Why policies cannot be used: everything that is wrong with them, by source and place.
#[derive(Clone, Debug, Error)]
#[error("{}", Shown(self))]
pub struct PolicyError {
    /// What they were read from.
    pub sources: Vec<SourceText>,
    /// What is wrong; never empty.
    pub diagnostics: Vec<Diagnostic>,
}

/// One line of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyProblem {
    /// File.
    pub name: String,
    /// Where.
    pub place: Place,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: {}", self.name, self.place.line, self.place.column, self.what)
    }
}

impl PolicyError {
    /// The first problem in one line, and how many more there are.
    pub fn headline(&self) -> String {
        let first = self.problems().next().map(|problem| problem.to_string()).unwrap_or_default();
        match self.diagnostics.len() {
            0 | 1 => first,
            count => format!("{first} (and {} more)", count - 1),
        }
    }

    /// Every problem as a line.
    pub fn problems(&self) -> impl Iterator<Item = PolicyProblem> + '_ {
        self.diagnostics.iter().map(|diagnostic| {
            let (name, place) = diagnostic.place(&self.sources);
            let what = format!("{}; {}", diagnostic.what, diagnostic.help);
            PolicyProblem { name: name.to_owned(), place, what }
        })
    }
}

/// All problems, one a line.
struct Shown<'a>(&'a PolicyError);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.problems().enumerate() {
            let line_end = if at > 0 { "\n" } else { "" };
            write!(out, "{line_end}{problem}")?;
        }
        Ok(())
    }
}

/// What files of policies come to.
#[derive(Clone, Debug)]
pub struct LoadedPolicies {
    /// The effective policies.
    pub set: PolicySet,
    /// CachePolicies in force.
    pub policies: usize,
    /// CacheTenants in force.
    pub tenants: usize,
    /// What the CachePolicy in force is called, by namespace.
    pub policy_objects: BTreeMap<String, String>,
    /// What the CacheTenant in force is called, by tenantID.
    pub tenant_objects: BTreeMap<String, String>,
    /// Objects that have no effect because another one comes first, each as a sentence.
    pub inert: Vec<String>,
    /// Objects of other kinds, passed over.
    pub other_kinds: u64,
}

/// Reads CachePolicies and CacheTenants from YAML or JSON: several documents, and `List`s of objects.
///
/// `name` stands for the text in errors and sources. Of several policies for one namespace the one whose name sorts
/// first by bytes counts; of several tenants with one tenantID the first by namespace, then name.
pub fn load_policies(name: &str, text: &str, defaults: &Defaults) -> Result<LoadedPolicies, PolicyError> {
    load_sources(vec![SourceText::new(name, text)], None, defaults)
}

/// Reads several texts as one set; `namespace` is that of objects that name none, `default` where it is `None`.
pub fn load_sources(
    sources: Vec<SourceText>,
    namespace: Option<&str>,
    defaults: &Defaults,
) -> Result<LoadedPolicies, PolicyError> {
    let options = LintOptions { namespace: namespace.map(str::to_owned), ..LintOptions::default() };
    let input = Input::read(&sources, &options);
    let diagnostics = found(&input, |rule| rule.is_enforced());
    if diagnostics.is_empty() {
        return Ok(Chosen::of(&input).resolve(&input, defaults));
    }
    drop(input);
    Err(PolicyError { sources, diagnostics })
}

/// The object that counts for each tenant.
#[derive(Debug, Default)]
struct Chosen<'a> {
    policies: BTreeMap<&'a str, &'a Item>,
    tenants: BTreeMap<&'a str, &'a Item>,
    inert: Vec<String>,
}

impl<'a> Chosen<'a> {
    fn of(input: &'a Input<'_>) -> Self {
        let fallback = input.options.namespace.as_deref();
        let key = |item: &&'a Item| (item.namespace(fallback), item.name());
        let mut chosen = Self::default();
        let mut policies: Vec<&Item> = input.policies().collect();
        policies.sort_by(|a, b| key(a).cmp(&key(b)));
        for item in policies {
            match chosen.policies.get(item.namespace(fallback)) {
                Some(first) => chosen.inert.push(inert(input, item, first)),
                None => drop(chosen.policies.insert(item.namespace(fallback), item)),
            }
        }
        let mut tenants: Vec<&Item> = input.tenants().collect();
        tenants.sort_by(|a, b| key(a).cmp(&key(b)));
        for item in tenants {
            let id = item.text("spec.tenantID").unwrap_or_default();
            match chosen.tenants.get(id) {
                Some(first) => chosen.inert.push(inert(input, item, first)),
                None => drop(chosen.tenants.insert(id, item)),
            }
        }
        chosen
    }

    fn resolve(self, input: &Input<'_>, defaults: &Defaults) -> LoadedPolicies {
        let mut set = PolicySet::empty(defaults);
        let mut ids: Vec<&str> = self.policies.keys().chain(self.tenants.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let mut effective = match self.policies.get(id) {
                Some(item) => resolve_from(&item.policy(), |path| source(input, item, path), defaults),
                None => resolve(&TenantPolicy::default(), &Arc::from(""), defaults),
            };
            if let Some(tenant) = self.tenants.get(id)
                && let Some(most) = tenant.policy().max_index_entries
            {
                let source = source(input, tenant, "spec.quota.maxIndexEntries");
                effective.max_index_entries = Sourced::new(most, source);
            }
            set.insert(TenantId::from(id), effective);
        }
        let objects = |chosen: &BTreeMap<&str, &Item>| {
            let called =
                |(id, item): (&&str, &&Item)| ((*id).to_owned(), source(input, item, "").to_string());
            chosen.iter().map(called).collect()
        };
        LoadedPolicies {
            set,
            policies: self.policies.len(),
            tenants: self.tenants.len(),
            policy_objects: objects(&self.policies),
            tenant_objects: objects(&self.tenants),
            inert: self.inert,
            other_kinds: input.other_kinds() as u64,
        }
    }
}

/// The object, and the line of the field `path` in it.
fn source(input: &Input<'_>, item: &Item, path: &str) -> Source {
    let fallback = input.options.namespace.as_deref();
    input.sources.get(item.file).map_or(Source::Default, |source| item.source_of(path, source, fallback))
}

fn inert(input: &Input<'_>, item: &Item, first: &Item) -> String {
    format!("{} has no effect: {} comes first", source(input, item, ""), source(input, first, ""))
}
