//! The file of callers.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use subtle::ConditionallySelectable as _;

use super::Role;
use crate::server::tokens::TokenDigest;
use crate::server::watched::{FileFault, FileText};

/// Callers of one file.
const MAX_CALLERS: usize = 1_000;
/// Tokens, certificates or tenants of one caller.
const MAX_NAMED: usize = 1_000;
/// The tenant that stands for all.
const EVERY_TENANT: &str = "*";

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
pub(in crate::server) struct Grant {
    pub(super) roles: HashSet<Role>,
    /// Empty with `sees_all`.
    pub(super) tenants: HashSet<String>,
    pub(super) sees_all: bool,
}

/// The callers of one file.
pub(in crate::server) struct Callers {
    grants: Vec<Arc<Grant>>,
    /// Each with its place in `grants`.
    tokens: Vec<(TokenDigest, u32)>,
    certificates: Vec<(String, u32)>,
}

impl Callers {
    /// From the file's text.
    pub(in crate::server) fn load(files: &[FileText]) -> Result<Self, FileFault> {
        let mut callers = Self { grants: Vec::new(), tokens: Vec::new(), certificates: Vec::new() };
        for file in files {
            let text = std::str::from_utf8(&file.bytes).map_err(|_| file.fault("it is no UTF-8 text"))?;
            let written: Written = toml::from_str(text).map_err(|error| {
                let at = error.span().map_or(0, |span| span.start);
                let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
                let why = error.message().replace('\n', ", ").replace("unknown variant", "unknown value");
                file.fault(format!("line {line}: {why}"))
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

    pub(super) fn find(&self, credential: &Credential) -> Option<Arc<Grant>> {
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
    pub(in crate::server) fn knows(&self, token: &TokenDigest) -> bool {
        self.find(&Credential::Token(*token)).is_some()
    }
}

/// What a caller shows.
#[derive(Clone)]
pub(super) enum Credential {
    Token(TokenDigest),
    Certificate(Arc<[String]>),
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
            (of(&good, "\"admin\"", "\"t\""), "line 5: unknown value `admin`"),
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
}
