//! Rules about what objects are called, whom they are for, and which of several counts.

use std::collections::BTreeMap;

use crate::model::PROBE_TENANT;
use crate::policy::document::{Value, shortened};
use crate::policy::fields::API_VERSION;
use crate::policy::lint::finding::Findings;
use crate::policy::lint::input::Input;
use crate::policy::schema::Item;

/// `duplicate-policy-in-namespace`.
pub(in crate::policy::lint) fn duplicate_policy_in_namespace(input: &Input<'_>, findings: &mut Findings<'_>) {
    let fallback = input.options.namespace.as_deref();
    let tenant = |item: &Item| Some(item.namespace(fallback).to_owned());
    inert(input, input.policies().collect(), tenant, findings, |tenant| {
        format!("keep one CachePolicy for the namespace `{tenant}`; of several, the first by name counts")
    });
}

/// `duplicate-tenant`.
pub(in crate::policy::lint) fn duplicate_tenant(input: &Input<'_>, findings: &mut Findings<'_>) {
    let tenant = |item: &Item| item.text("spec.tenantID").map(str::to_owned);
    inert(input, input.tenants().collect(), tenant, findings, |tenant| {
        format!("keep one CacheTenant for `{tenant}`; of several, the first by namespace, then name, counts")
    });
}

fn inert(
    input: &Input<'_>,
    mut items: Vec<&Item>,
    tenant: impl Fn(&Item) -> Option<String>,
    findings: &mut Findings<'_>,
    help: impl Fn(&str) -> String,
) {
    let fallback = input.options.namespace.as_deref();
    items.sort_by(|a, b| (a.namespace(fallback), a.name()).cmp(&(b.namespace(fallback), b.name())));
    let mut first: BTreeMap<String, &Item> = BTreeMap::new();
    for item in items {
        let Some(tenant) = tenant(item).filter(|tenant| !tenant.is_empty()) else { continue };
        // An object without a name is reported as that.
        let Some(entry) = item.get("metadata.name") else { continue };
        let Some(winner) = first.get(&tenant) else {
            first.insert(tenant, item);
            continue;
        };
        let shown = |item: &Item| shortened(&item.title(fallback));
        let what = format!("{} has no effect: {} comes first", shown(item), shown(winner));
        let mut finding = findings.of(item, entry, what, help(&shortened(&tenant)));
        if let Some(name) = winner.get("metadata.name") {
            finding = finding.related(winner.site(name), "this one counts");
        }
        findings.push(finding);
    }
}

/// `reserved-tenant`.
pub(in crate::policy::lint) fn reserved_tenant(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.tenants() {
        let Some(entry) = item.get("spec.tenantID") else { continue };
        if item.text("spec.tenantID") == Some(PROBE_TENANT) {
            let what = format!(
                "{} is `{PROBE_TENANT}`, which is reserved for health probes",
                item.path_of("spec.tenantID")
            );
            findings.push(findings.of(item, entry, what, "write the tenant_id of the wire"));
        }
    }
}

/// `bad-api-version`.
pub(in crate::policy::lint) fn bad_api_version(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.known() {
        let Some(entry) = item.get("apiVersion") else { continue };
        let Value::Text(text) = &entry.node.value else { continue };
        if &**text != API_VERSION {
            let what = format!("{} is `{}`", item.path_of("apiVersion"), shortened(text));
            findings.push(findings.of(item, entry, what, format!("write `{API_VERSION}`")));
        }
    }
}

/// `bad-name`.
pub(in crate::policy::lint) fn bad_name(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.known() {
        for (path, most, may_have_dots) in [("metadata.name", 253, true), ("metadata.namespace", 63, false)] {
            let (Some(entry), Some(text)) = (item.get(path), item.text(path)) else { continue };
            if text.is_empty() || is_dns_name(text, most, may_have_dots) {
                continue;
            }
            let what = format!("{} is `{}`, which is no DNS-1123 name", item.path_of(path), shortened(text));
            let dots = if may_have_dots { ", `-` and `.`" } else { " and `-`" };
            let help = format!(
                "write lower-case letters, digits{dots}, with a letter or digit at either end, {most} characters at most"
            );
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

fn is_dns_name(text: &str, most: usize, may_have_dots: bool) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(is_end)
            && bytes.last().is_some_and(is_end)
            && bytes.iter().all(|byte| is_end(byte) || *byte == b'-')
    };
    text.len() <= most && (may_have_dots || !text.contains('.')) && text.split('.').all(is_label)
}

/// `quota-zero-admits-nothing`.
pub(in crate::policy::lint) fn quota_zero_admits_nothing(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.tenants() {
        let Some(entry) = item.get("spec.quota.maxIndexEntries") else { continue };
        if item.policy().max_index_entries == Some(0) {
            let what = "a quota of 0 admits nothing: every lookup of the tenant finds an empty index";
            findings.push(findings.of(
                item,
                entry,
                what,
                "leave `maxIndexEntries` out for no bound, or write a number above 0",
            ));
        }
    }
}

/// `policy-without-namespace`.
pub(in crate::policy::lint) fn policy_without_namespace(input: &Input<'_>, findings: &mut Findings<'_>) {
    if input.options.namespace.is_some() {
        return;
    }
    for item in input.policies() {
        let is_there =
            item.get("metadata.namespace").is_some_and(|entry| entry.node.value != Value::Text("".into()));
        let Some(metadata) = item.get("metadata").filter(|_| !is_there) else { continue };
        let what = "the policy names no namespace, so it is for the tenant `default`";
        let help = "write `metadata.namespace`: the tenant_id that the policy is for";
        findings.push(findings.at(item.key(metadata), what, help));
    }
}
