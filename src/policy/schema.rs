//! CachePolicy and CacheTenant as operators write them, and what a file of them comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::document::{Node, Value, parse_documents};
use super::fields::{API_VERSION, CLUSTER_METADATA, DEFAULT_NAMESPACE};
use super::resolve::{Defaults, TenantPolicy, resolve};
use super::store::PolicySet;
use super::take::Fields;
use crate::model::{Eviction, PROBE_TENANT, Source, Sourced, TenantId};

/// Why policy documents cannot be used: the first thing that is wrong with them.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{name}:{line}: {what}")]
pub struct PolicyError {
    /// File.
    pub name: String,
    /// Line, from 1.
    pub line: u64,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl PolicyError {
    pub(super) fn new(name: &str, line: u64, what: impl Into<String>) -> Self {
        Self { name: name.to_owned(), line, what: what.into() }
    }
}

/// What a file of policies comes to.
#[derive(Clone, Debug)]
pub struct LoadedPolicies {
    /// The effective policies.
    pub set: PolicySet,
    /// CachePolicies in force.
    pub policies: usize,
    /// CacheTenants in force.
    pub tenants: usize,
    /// What the CachePolicy in force is called, by namespace.
    pub policy_objects: BTreeMap<String, Arc<str>>,
    /// What the CacheTenant in force is called, by tenantID.
    pub tenant_objects: BTreeMap<String, Arc<str>>,
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
    load_texts([(name, text)], DEFAULT_NAMESPACE, defaults).map_err(|mut errors| errors.swap_remove(0))
}

/// Reads several texts, each with its name, as one set; `namespace` is that of objects which name none.
///
/// The error is not empty: the first problem of each text that has one.
pub(super) fn load_texts<'a>(
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
    namespace: &str,
    defaults: &Defaults,
) -> Result<LoadedPolicies, Vec<PolicyError>> {
    let mut objects = Objects { namespace: namespace.to_owned(), ..Objects::default() };
    let read_text = |objects: &mut Objects, name, text| {
        parse_documents(name, text)?.into_iter().try_for_each(|document| objects.read(name, "", document))
    };
    let errors: Vec<PolicyError> =
        texts.into_iter().filter_map(|(name, text)| read_text(&mut objects, name, text).err()).collect();
    if errors.is_empty() { Ok(objects.resolve(defaults)) } else { Err(errors) }
}

/// An object and how it is called.
#[derive(Debug)]
struct Named<T> {
    /// Namespace, then name: the order in which objects count.
    key: (String, String),
    source: Arc<str>,
    spec: T,
}

#[derive(Debug)]
struct TenantSpec {
    tenant: String,
    max_index_entries: Option<u64>,
}

#[derive(Debug, Default)]
struct Objects {
    /// Of objects that name none.
    namespace: String,
    policies: Vec<Named<TenantPolicy>>,
    tenants: Vec<Named<TenantSpec>>,
    other_kinds: u64,
}

impl Objects {
    fn read(&mut self, name: &str, path: &str, node: Node) -> Result<(), PolicyError> {
        let mut object = Fields::of(name, path, node)?;
        let version = object.text("apiVersion")?;
        let Some((line, kind)) = object.text("kind")? else {
            return Err(object.wrong(
                "kind",
                object.line,
                "is missing; write `CachePolicy` or `CacheTenant`",
            ));
        };
        if kind == "List" {
            return self.read_list(name, path, object);
        }
        if kind != "CachePolicy" && kind != "CacheTenant" {
            self.other_kinds += 1;
            object.ignore_rest();
            return Ok(());
        }
        match version {
            Some((_, version)) if version == API_VERSION => {}
            Some((line, version)) => {
                let what = format!("is `{version}`; write `{API_VERSION}`");
                return Err(object.wrong("apiVersion", line, &what));
            }
            None => {
                return Err(object.wrong("apiVersion", line, &format!("is missing; write `{API_VERSION}`")));
            }
        }
        let key = metadata(&mut object, &self.namespace)?;
        let source = Arc::from(format!("{kind} {}/{} ({name}:{})", key.0, key.1, object.line));
        if kind == "CachePolicy" {
            let spec = policy_spec(&mut object)?;
            self.policies.push(Named { key, source, spec });
        } else {
            let spec = tenant_spec(&mut object)?;
            self.tenants.push(Named { key, source, spec });
        }
        object.take("status");
        object.finish()
    }

    fn read_list(&mut self, name: &str, path: &str, mut list: Fields<'_>) -> Result<(), PolicyError> {
        if !path.is_empty() {
            return Err(list.wrong(
                "kind",
                list.line,
                "is `List` within a list; write its items into the outer one",
            ));
        }
        list.take("metadata");
        let items = match list.take("items") {
            None => Vec::new(),
            Some(Node { value: Value::List(items), .. }) => items,
            Some(Node { line, value }) => {
                return Err(list.wrong("items", line, &format!("is {}; write a list", value.describe())));
            }
        };
        for (at, item) in items.into_iter().enumerate() {
            self.read(name, &format!("items[{at}]"), item)?;
        }
        list.finish()
    }

    fn resolve(mut self, defaults: &Defaults) -> LoadedPolicies {
        self.policies.sort_by(|a, b| a.key.cmp(&b.key));
        self.tenants.sort_by(|a, b| a.key.cmp(&b.key));
        let mut inert = Vec::new();
        let mut policies: BTreeMap<&str, &Named<TenantPolicy>> = BTreeMap::new();
        for policy in &self.policies {
            let namespace = policy.key.0.as_str();
            match policies.get(namespace) {
                Some(first) => {
                    inert.push(format!("{} has no effect: {} comes first", policy.source, first.source))
                }
                None => drop(policies.insert(namespace, policy)),
            }
        }
        let mut tenants: BTreeMap<&str, &Named<TenantSpec>> = BTreeMap::new();
        for tenant in &self.tenants {
            match tenants.get(tenant.spec.tenant.as_str()) {
                Some(first) => {
                    inert.push(format!("{} has no effect: {} comes first", tenant.source, first.source))
                }
                None => drop(tenants.insert(&tenant.spec.tenant, tenant)),
            }
        }
        let mut set = PolicySet::empty(defaults);
        let mut ids: Vec<&str> = policies.keys().chain(tenants.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let mut effective = match policies.get(id) {
                Some(policy) => resolve(&policy.spec, &policy.source, defaults),
                None => resolve(&TenantPolicy::default(), &Arc::from(""), defaults),
            };
            if let Some(tenant) = tenants.get(id)
                && let Some(most) = tenant.spec.max_index_entries
            {
                effective.max_index_entries = Sourced::new(most, Source::Object(Arc::clone(&tenant.source)));
            }
            set.insert(TenantId::from(id), effective);
        }
        LoadedPolicies {
            set,
            policies: policies.len(),
            tenants: tenants.len(),
            policy_objects: policies
                .iter()
                .map(|(id, it)| ((*id).to_owned(), Arc::clone(&it.source)))
                .collect(),
            tenant_objects: tenants
                .iter()
                .map(|(id, it)| ((*id).to_owned(), Arc::clone(&it.source)))
                .collect(),
            inert,
            other_kinds: self.other_kinds,
        }
    }
}

/// Namespace and name.
fn metadata(object: &mut Fields<'_>, default_namespace: &str) -> Result<(String, String), PolicyError> {
    let Some(mut metadata) = object.object("metadata")? else {
        return Err(object.wrong(
            "metadata",
            object.line,
            "is missing; write `metadata: {name: ..., namespace: ...}`",
        ));
    };
    let name = match metadata.text("name")? {
        Some((_, name)) if !name.is_empty() => name,
        Some((line, _)) => return Err(metadata.wrong("name", line, "is empty; give the object a name")),
        None => return Err(metadata.wrong("name", metadata.line, "is missing; give the object a name")),
    };
    let namespace = match metadata.text("namespace")? {
        Some((_, namespace)) if !namespace.is_empty() => namespace,
        _ => default_namespace.to_owned(),
    };
    for field in CLUSTER_METADATA {
        metadata.take(field);
    }
    metadata.finish()?;
    Ok((namespace, name))
}

fn policy_spec(object: &mut Fields<'_>) -> Result<TenantPolicy, PolicyError> {
    let Some(mut spec) = object.object("spec")? else { return Ok(TenantPolicy::default()) };
    let mut policy = TenantPolicy {
        eviction: spec.choice("eviction", &[("LRU", Eviction::Lru), ("LFU", Eviction::Lfu)])?,
        ttl_ns: spec.positive_duration("evictionTTL")?,
        minimum_prefix_tokens: spec.count32("minimumPrefixTokens")?,
        minimum_matched_tokens: spec.count32("minimumMatchedTokens")?,
        routing_floor_score: floor_score(&mut spec)?,
        lookup_timeout_ms: spec.count32("lookupTimeoutMs")?,
        affinity_routing: spec.choice("affinityRouting", &[("Enabled", true), ("Disabled", false)])?,
        ..TenantPolicy::default()
    };
    if let Some(mut strategy) = spec.object("strategy")? {
        policy.enable_chain_matching = strategy.boolean("enableChainMatching")?;
        policy.require_chain = strategy.boolean("requireChain")?;
        policy.enable_tenant_hot = strategy.boolean("enableTenantHot")?;
        if policy.require_chain == Some(true) && policy.enable_chain_matching == Some(false) {
            let what = "is true and `enableChainMatching` is false: every lookup would be refused; change one of them";
            return Err(strategy.wrong("requireChain", strategy.line, what));
        }
        strategy.finish()?;
    }
    spec.finish()?;
    Ok(policy)
}

fn floor_score(spec: &mut Fields<'_>) -> Result<Option<f32>, PolicyError> {
    const FIELD: &str = "routingFloorScore";
    let Some(node) = spec.take(FIELD) else { return Ok(None) };
    let Value::Text(text) = &node.value else {
        let what = format!("is {}; write a decimal in quotes, as in \"0.1\"", node.value.describe());
        return Err(spec.wrong(FIELD, node.line, &what));
    };
    match text.parse() {
        Ok(score) if is_floor_score(text) => Ok(Some(score)),
        _ => {
            let what = format!(
                "is `{text}`; write up to 8 digits, then at most 6 decimals, without sign or exponent, as in \"0.1\""
            );
            Err(spec.wrong(FIELD, node.line, &what))
        }
    }
}

/// `^(0|[1-9][0-9]{0,7})(\.[0-9]{1,6})?$`
fn is_floor_score(text: &str) -> bool {
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    let whole_fits =
        whole == "0" || (1..=8).contains(&whole.len()) && !whole.starts_with('0') && all_digits(whole);
    whole_fits && decimals.is_none_or(|decimals| (1..=6).contains(&decimals.len()) && all_digits(decimals))
}

fn tenant_spec(object: &mut Fields<'_>) -> Result<TenantSpec, PolicyError> {
    let Some(mut spec) = object.object("spec")? else {
        return Err(object.wrong("spec", object.line, "is missing; write at least `tenantID`"));
    };
    let tenant = match spec.text("tenantID")? {
        Some((line, id)) if id == PROBE_TENANT => {
            return Err(spec.wrong(
                "tenantID",
                line,
                &format!("is `{id}`, which is reserved for health probes"),
            ));
        }
        Some((_, id)) if !id.is_empty() => id,
        Some((line, _)) => {
            return Err(spec.wrong("tenantID", line, "is empty; write the tenant_id of the wire"));
        }
        None => return Err(spec.wrong("tenantID", spec.line, "is missing; write the tenant_id of the wire")),
    };
    spec.choice("isolationMode", &[("Fairness", ())])?;
    let mut max_index_entries = None;
    if let Some(mut quota) = spec.object("quota")? {
        max_index_entries = quota.count("maxIndexEntries", i64::MAX)?.map(i64::unsigned_abs);
        quota.finish()?;
    }
    if let Some(crypto) = spec.object("crypto")? {
        crypto.finish()?;
    }
    spec.finish()?;
    Ok(TenantSpec { tenant, max_index_entries })
}
