//! Who may call what over gRPC, and which tenants it may name: the callers of `--auth-file`, known by a token or by the
//! certificate they present.
//!
//! Every call is judged by its path before it is read, and by the tenants that its messages name. A caller that may not
//! name a tenant is told the same whether the tenant exists or not. Long streams are judged anew with each message, so
//! that a token which is taken out of the file ends them.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use subtle::ConditionallySelectable as _;
use tonic::Status;
use tonic::codegen::http::{Extensions, HeaderMap, header};

use super::metrics::{Denial, Metrics};
use super::tls::Peer;
use super::tokens::{TokenDigest, bearer};
use super::watched::{FileFault, FileText, Watched};

/// Callers of one file.
const MAX_CALLERS: usize = 1_000;
/// Tokens, certificates or tenants of one caller.
const MAX_NAMED: usize = 1_000;
/// Characters of a tenant that an answer repeats.
const MAX_SHOWN: usize = 64;
/// The tenant that stands for all.
const EVERY_TENANT: &str = "*";

/// What a caller may do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    /// LookupRoute, LookupPDRoute, RenderTemplate, FastLookup's Lookup.
    Lookup,
    /// ReportCacheState, PublishEvent.
    Report,
    /// GetCacheState, StreamCacheEvents, StreamMetrics, Observe.
    Observe,
    /// ExplainRoute.
    Explain,
}

impl Role {
    fn label(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Report => "report",
            Self::Observe => "observe",
            Self::Explain => "explain",
        }
    }

    /// The role that a method asks for; none where there is no such method.
    pub(super) fn for_method(path: &str) -> Option<Self> {
        let (_, method) = path.rsplit_once('/')?;
        Some(match method {
            "LookupRoute" | "LookupPDRoute" | "RenderTemplate" | "Lookup" => Self::Lookup,
            "ReportCacheState" | "PublishEvent" => Self::Report,
            "GetCacheState" | "StreamCacheEvents" | "StreamMetrics" | "Observe" => Self::Observe,
            "ExplainRoute" => Self::Explain,
            _ => return None,
        })
    }
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(default)]
    caller: Vec<WrittenCaller>,
}

/// One caller as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenCaller {
    name: String,
    #[serde(default)]
    token_sha256: Vec<String>,
    #[serde(default)]
    certificates: Vec<String>,
    roles: Vec<Role>,
    tenants: Vec<String>,
}

/// What one caller may.
#[derive(Debug)]
pub(super) struct Grant {
    roles: HashSet<Role>,
    /// Empty with `sees_all`.
    tenants: HashSet<String>,
    sees_all: bool,
}

/// The callers of one file.
pub(super) struct Callers {
    grants: Vec<Arc<Grant>>,
    /// Each with its place in `grants`.
    tokens: Vec<(TokenDigest, u32)>,
    certificates: Vec<(String, u32)>,
}

impl Callers {
    /// From the file's text.
    pub(super) fn load(files: &[FileText]) -> Result<Self, FileFault> {
        let mut callers = Self { grants: Vec::new(), tokens: Vec::new(), certificates: Vec::new() };
        for file in files {
            let text = std::str::from_utf8(&file.bytes).map_err(|_| file.fault("it is no UTF-8 text"))?;
            let written: Written = toml::from_str(text).map_err(|error| {
                let at = error.span().map_or(0, |span| span.start);
                let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
                file.fault(format!("line {line}: {}", error.message().replace('\n', ", ")))
            })?;
            if written.version != 1 {
                return Err(file.fault("`version` is another than 1, which is all that this release reads"));
            }
            if written.caller.len() > MAX_CALLERS {
                return Err(file.fault(format!("it names more than {MAX_CALLERS} callers")));
            }
            for caller in &written.caller {
                callers.add(caller).map_err(|why| file.fault(format!("caller `{}`: {why}", caller.name)))?;
            }
        }
        Ok(callers)
    }

    fn add(&mut self, written: &WrittenCaller) -> Result<(), String> {
        let at = u32::try_from(self.grants.len()).map_err(|_| "there are too many".to_owned())?;
        let lists = [&written.token_sha256, &written.certificates, &written.tenants];
        if lists.iter().any(|list| list.len() > MAX_NAMED) {
            return Err(format!("a list has more than {MAX_NAMED} items"));
        }
        if written.token_sha256.is_empty() && written.certificates.is_empty() {
            return Err("give it `token-sha256` or `certificates`, or nobody can be it".to_owned());
        }
        if written.roles.is_empty() || written.tenants.is_empty() {
            return Err("`roles` and `tenants` need an item each, or it can do nothing".to_owned());
        }
        for text in &written.token_sha256 {
            let digest = TokenDigest::from_hex(text).ok_or(
                "`token-sha256` is the SHA-256 of a token in 64 hex digits, as `printf %s TOKEN | sha256sum` prints it",
            )?;
            if self.tokens.iter().any(|(own, _)| own.matches(&digest).into()) {
                return Err("one of its tokens is listed before; a token is one caller's".to_owned());
            }
            self.tokens.push((digest, at));
        }
        for name in &written.certificates {
            if name.is_empty() || self.certificates.iter().any(|(own, _)| own == name) {
                return Err("a name in `certificates` is empty, or listed before".to_owned());
            }
            self.certificates.push((name.clone(), at));
        }
        let sees_all = written.tenants.iter().any(|tenant| tenant == EVERY_TENANT);
        let tenants =
            if sees_all { HashSet::new() } else { written.tenants.iter().cloned().collect::<HashSet<_>>() };
        if tenants.contains("") {
            return Err("a tenant in `tenants` has no name".to_owned());
        }
        self.grants.push(Arc::new(Grant {
            roles: written.roles.iter().copied().collect(),
            tenants,
            sees_all,
        }));
        Ok(())
    }

    fn find(&self, credential: &Credential) -> Option<Arc<Grant>> {
        let at = match credential {
            Credential::Token(token) => {
                // Every token is compared, whichever matches.
                self.tokens.iter().fold(u32::MAX, |found, (own, at)| {
                    u32::conditional_select(&found, at, own.matches(token))
                })
            }
            Credential::Certificate(names) => {
                let own = self.certificates.iter().find(|(name, _)| names.contains(name));
                own.map_or(u32::MAX, |(_, at)| *at)
            }
        };
        self.grants.get(at as usize).cloned()
    }

    /// Whether `token` is a caller's.
    pub(super) fn knows(&self, token: &TokenDigest) -> bool {
        self.find(&Credential::Token(*token)).is_some()
    }
}

/// What a caller shows.
#[derive(Clone)]
enum Credential {
    Token(TokenDigest),
    Certificate(Arc<[String]>),
}

/// The gate of gRPC; without a file it lets everybody through.
#[derive(Clone)]
pub(super) struct Access {
    callers: Option<Arc<Watched<Callers>>>,
    metrics: Arc<Metrics>,
}

impl Access {
    pub(super) fn new(callers: Option<Arc<Watched<Callers>>>, metrics: Arc<Metrics>) -> Self {
        Self { callers, metrics }
    }

    /// Who calls `path`, where it may.
    pub(super) fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Caller, Status> {
        let Some(watched) = &self.callers else { return Ok(Caller(Who::Anyone)) };
        let unknown = || {
            self.metrics.observe_denial(Denial::Unauthenticated);
            Status::unauthenticated(
                "the caller is not known here; send `authorization: Bearer TOKEN`, or present a certificate that is",
            )
        };
        let names =
            extensions.get::<Peer>().map(|peer| Arc::clone(&peer.names)).filter(|names| !names.is_empty());
        let credential = match (headers.get(header::AUTHORIZATION), names) {
            (Some(value), _) => Credential::Token(bearer(value.as_bytes()).ok_or_else(unknown)?),
            (None, Some(names)) => Credential::Certificate(names),
            (None, None) => return Err(unknown()),
        };
        let callers = watched.current();
        let grant = callers.find(&credential).ok_or_else(unknown)?;
        if let Some(role) = Role::for_method(path).filter(|role| !grant.roles.contains(role)) {
            self.metrics.observe_denial(Denial::Forbidden);
            return Err(Status::permission_denied(format!(
                "the caller is known, and has not the role `{}`",
                role.label()
            )));
        }
        let (watched, metrics) = (Arc::clone(watched), Arc::clone(&self.metrics));
        let role = Role::for_method(path);
        Ok(Caller(Who::Known(Arc::new(Known { watched, metrics, callers, grant, credential, role }))))
    }
}

/// Who made a call; an extension of its request.
#[derive(Clone)]
pub(super) struct Caller(Who);

#[derive(Clone)]
enum Who {
    /// There is no access control.
    Anyone,
    Known(Arc<Known>),
    /// The call came by no door.
    Nobody,
}

struct Known {
    watched: Arc<Watched<Callers>>,
    metrics: Arc<Metrics>,
    callers: Arc<Callers>,
    grant: Arc<Grant>,
    credential: Credential,
    role: Option<Role>,
}

impl Known {
    /// What it may by the file as it is now.
    fn grant(&self) -> Option<Arc<Grant>> {
        let current = self.watched.current();
        if Arc::ptr_eq(&current, &self.callers) {
            return Some(Arc::clone(&self.grant));
        }
        let grant = current.find(&self.credential);
        grant.filter(|grant| self.role.is_none_or(|role| grant.roles.contains(&role)))
    }
}

impl Caller {
    /// Of a server without access control.
    #[cfg(test)]
    pub(super) fn anyone() -> Self {
        Self(Who::Anyone)
    }

    /// Of a request; one that came by no door may do nothing.
    pub(super) fn of<T>(request: &tonic::Request<T>) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or(Self(Who::Nobody))
    }

    /// Whether the tenant is one that it may name. An empty name is no tenant.
    pub(super) fn may_name(&self, tenant: &str) -> Result<(), Status> {
        match &self.0 {
            Who::Anyone => Ok(()),
            Who::Nobody => Err(Status::permission_denied("the call came by no door")),
            Who::Known(known) => {
                let Some(grant) = known.grant() else {
                    known.metrics.observe_denial(Denial::Unauthenticated);
                    return Err(Status::unauthenticated("the caller is not known here any more"));
                };
                if tenant.is_empty() || grant.sees_all || grant.tenants.contains(tenant) {
                    return Ok(());
                }
                known.metrics.observe_denial(Denial::Forbidden);
                let shown: String = tenant.chars().take(MAX_SHOWN).collect();
                Err(Status::permission_denied(format!("the caller may not name the tenant `{shown}`")))
            }
        }
    }

    /// Whether it may name every tenant, which whoever is shown everything has to.
    pub(super) fn may_name_all(&self) -> Result<(), Status> {
        match &self.0 {
            Who::Known(known) if !self.sees_all() => {
                known.metrics.observe_denial(Denial::Forbidden);
                Err(Status::permission_denied(
                    "this shows every tenant, and the caller may not name them all",
                ))
            }
            _ => self.may_name(""),
        }
    }

    /// The tenants that it may name; none where it may name all.
    pub(super) fn tenants(&self) -> Option<HashSet<String>> {
        match &self.0 {
            Who::Anyone => None,
            Who::Nobody => Some(HashSet::new()),
            Who::Known(known) => match known.grant() {
                Some(grant) if grant.sees_all => None,
                Some(grant) => Some(grant.tenants.clone()),
                None => Some(HashSet::new()),
            },
        }
    }

    /// Whether what is told of `tenant` may be told to it.
    pub(super) fn sees(&self, tenant: &str) -> bool {
        match &self.0 {
            Who::Anyone => true,
            Who::Nobody => false,
            Who::Known(known) => {
                known.grant().is_some_and(|grant| grant.sees_all || grant.tenants.contains(tenant))
            }
        }
    }

    /// Whether it may name every tenant.
    pub(super) fn sees_all(&self) -> bool {
        match &self.0 {
            Who::Anyone => true,
            Who::Nobody => false,
            Who::Known(known) => known.grant().is_some_and(|grant| grant.sees_all),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const DIGEST: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

    fn load(text: &str) -> Result<Callers, String> {
        let file = FileText { path: PathBuf::from("callers.toml"), bytes: text.as_bytes().to_vec() };
        Callers::load(&[file]).map_err(|fault| fault.to_string())
    }

    fn caller(rest: &str) -> String {
        format!("version = 1\n[[caller]]\nname = \"a\"\n{rest}")
    }

    #[test]
    fn callers_are_found_by_what_they_show() {
        let text = caller(&format!(
            "token-sha256 = [\"{DIGEST}\"]\ncertificates = [\"spiffe://a\"]\nroles = [\"lookup\"]\ntenants = [\"t\"]\n"
        ));
        let callers = load(&text).unwrap();
        let find = |credential| callers.find(&credential).map(|grant| grant.tenants.contains("t"));
        assert_eq!(find(Credential::Token(TokenDigest::of(b"secret"))), Some(true));
        assert_eq!(find(Credential::Token(TokenDigest::of(b"Secret"))), None);
        assert_eq!(
            find(Credential::Certificate(["x".to_owned(), "spiffe://a".to_owned()].into())),
            Some(true)
        );
        assert_eq!(find(Credential::Certificate(["spiffe://A".to_owned()].into())), None);
        assert!(callers.knows(&TokenDigest::of(b"secret")));
        assert!(
            load("version = 1\n").unwrap().find(&Credential::Token(TokenDigest::of(b"secret"))).is_none()
        );
    }

    #[test]
    fn a_file_that_cannot_be_meant_is_refused_with_its_place() {
        let of = |tokens: &str, roles: &str, tenants: &str| {
            caller(&format!("token-sha256 = [{tokens}]\nroles = [{roles}]\ntenants = [{tenants}]\n"))
        };
        let good = format!("\"{DIGEST}\"");
        for (text, says) in [
            ("version = 2\n".to_owned(), "`version`"),
            ("caller = []\n".to_owned(), "missing field `version`"),
            ("version = 1\nversion = 1\n".to_owned(), "line 2"),
            (of(&good, "\"lookup\"", "\"t\"") + "extra = 1\n", "line 7: unknown field `extra`"),
            (of(&good, "\"admin\"", "\"t\""), "line 5: unknown variant `admin`"),
            (of(&good, "", "\"t\""), "caller `a`: `roles` and `tenants`"),
            (of(&good, "\"lookup\"", ""), "caller `a`: `roles` and `tenants`"),
            (of(&good, "\"lookup\"", "\"\""), "has no name"),
            (of("", "\"lookup\"", "\"t\""), "nobody can be it"),
            (of("\"secret\"", "\"lookup\"", "\"t\""), "64 hex digits"),
            (of(&format!("{good}, {good}"), "\"lookup\"", "\"t\""), "one caller's"),
        ] {
            let error = load(&text).err().unwrap();
            assert!(error.contains(says) && error.starts_with("`callers.toml`: "), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn callers_are_bounded() {
        let many = |count: usize| {
            let one = |at: usize| {
                format!(
                    "[[caller]]\nname = \"{at}\"\ncertificates = [\"c{at}\"]\nroles = [\"lookup\"]\ntenants = [\"*\"]\n"
                )
            };
            "version = 1\n".to_owned() + &(0..count).map(one).collect::<String>()
        };
        assert!(load(&many(MAX_CALLERS)).is_ok());
        assert!(load(&many(MAX_CALLERS + 1)).err().unwrap().contains("more than 1000 callers"));
    }

    #[test]
    fn every_method_of_our_services_has_a_role() {
        for (service, proto) in [
            (
                "inferencecache.v1alpha1.InferenceCache",
                include_str!("../../proto/inferencecache/v1alpha1/inferencecache.proto"),
            ),
            ("icache.v1alpha1.Explain", include_str!("../../proto/icache/v1alpha1/explain.proto")),
            ("icache.v1alpha1.Observe", include_str!("../../proto/icache/v1alpha1/observe.proto")),
            ("icache.v1alpha1.FastLookup", include_str!("../../proto/icache/v1alpha1/fast_lookup.proto")),
        ] {
            let methods: Vec<_> = proto
                .lines()
                .filter_map(|line| line.trim().strip_prefix("rpc ")?.split_once('(').map(|(name, _)| name))
                .collect();
            assert!(!methods.is_empty());
            for method in methods {
                assert!(Role::for_method(&format!("/{service}/{method}")).is_some(), "{method}");
            }
        }
    }
}
