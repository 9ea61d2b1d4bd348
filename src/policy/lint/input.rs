//! What rules look at.

use super::LintOptions;
use super::finding::{Edit, Site};
use crate::policy::document::{Entry, Parsed, parse};
use crate::policy::fields::{Field, ObjectKind};
use crate::policy::schema::{Item, Role, Written, items};
use crate::policy::source::SourceText;

/// Sources, read.
#[derive(Debug)]
pub(in crate::policy) struct Input<'a> {
    pub(in crate::policy) sources: &'a [SourceText],
    pub(in crate::policy) files: Vec<Parsed>,
    pub(in crate::policy) items: Vec<Item>,
    pub(in crate::policy) options: &'a LintOptions,
}

impl<'a> Input<'a> {
    /// Reads `sources`; what is wrong with them is for the rules to say.
    pub(in crate::policy) fn read(sources: &'a [SourceText], options: &'a LintOptions) -> Self {
        let files: Vec<Parsed> = sources.iter().map(parse).collect();
        let items = files.iter().enumerate().flat_map(|(file, parsed)| items(file, parsed)).collect();
        Self { sources, files, items, options }
    }

    /// The objects of one kind.
    fn of(&self, kind: ObjectKind) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.kind() == Some(kind))
    }

    /// CachePolicies.
    pub(in crate::policy) fn policies(&self) -> impl Iterator<Item = &Item> {
        self.of(ObjectKind::CachePolicy)
    }

    /// CacheTenants.
    pub(in crate::policy) fn tenants(&self) -> impl Iterator<Item = &Item> {
        self.of(ObjectKind::CacheTenant)
    }

    /// Objects of either kind.
    pub(super) fn known(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind().is_some())
    }

    /// Fields below and beside `spec` of every object, as written.
    pub(super) fn written(&self) -> impl Iterator<Item = (&Item, &'static Field, &Entry)> {
        self.known()
            .flat_map(|item| item.written().iter().map(move |Written { field, entry }| (item, *field, entry)))
    }

    /// Objects of other kinds.
    pub(in crate::policy) fn other_kinds(&self) -> usize {
        self.items.iter().filter(|item| item.role == Role::Other).count()
    }

    /// Whether aliases repeat what stands at `site`.
    pub(super) fn is_shared(&self, site: &Site) -> bool {
        let shared = self.files.get(site.file).map_or(&[][..], |parsed| &parsed.shared);
        shared.iter().any(|span| span.start <= site.start && site.end <= span.end)
    }

    /// What `site` covers.
    pub(super) fn slice(&self, site: &Site) -> &str {
        self.sources.get(site.file).map_or("", |source| source.slice(&site.span()))
    }
}

impl Item {
    /// The value of an entry; its key where the value is a list or an object.
    pub(super) fn site(&self, entry: &Entry) -> Site {
        Site::new(self.file, &entry.node.span)
    }

    /// The key of an entry.
    pub(super) fn key(&self, entry: &Entry) -> Site {
        Site::new(self.file, &entry.key_span)
    }

    /// Where the object begins.
    pub(super) fn head(&self) -> Site {
        Site::new(self.file, &self.start())
    }
}

/// The change from `old` to `new` at `site`, where `old` stands there as it is, in quotes or without.
pub(super) fn rewritten(input: &Input<'_>, site: &Site, old: &str, new: &str) -> Option<Edit> {
    let written = input.slice(site);
    let quote = match written.len().checked_sub(old.len()) {
        Some(0) => 0,
        Some(2) if written.starts_with(['"', '\'']) => 1,
        _ => return None,
    };
    let site = Site { file: site.file, start: site.start + quote, end: site.end.saturating_sub(quote) };
    (input.slice(&site) == old).then(|| Edit { site, text: new.to_owned() })
}
