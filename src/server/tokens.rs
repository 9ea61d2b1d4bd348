//! Secrets that callers present: only their SHA-256 is kept, and it is compared in constant time.

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::watched::{FileFault, FileText};

/// SHA-256 of a token.
#[derive(Clone, Copy)]
pub(super) struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Of a token in clear.
    pub(super) fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// From 64 hex digits.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Whether the two are equal, in a time that says nothing of where they differ.
    pub(super) fn matches(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

/// Tokens of the admin port that one file may hold.
const MAX_TOKENS: usize = 1_000;
/// Bytes of the shortest token: 16 random bytes in base64 are 22.
const MIN_TOKEN_BYTES: usize = 16;

/// The tokens of the admin port.
pub(super) struct AdminTokens(Vec<TokenDigest>);

impl AdminTokens {
    /// One a line; empty lines, and lines that begin with `#`, are passed over.
    pub(super) fn load(files: &[FileText]) -> Result<Self, FileFault> {
        let mut tokens = Vec::new();
        for file in files {
            let text = std::str::from_utf8(&file.bytes).map_err(|_| file.fault("it is no UTF-8 text"))?;
            for (line, token) in text.lines().map(str::trim).enumerate() {
                if token.is_empty() || token.starts_with('#') {
                    continue;
                }
                let line = line + 1;
                if token.len() < MIN_TOKEN_BYTES {
                    return Err(file.fault(format!(
                        "the token in line {line} is shorter than {MIN_TOKEN_BYTES} characters"
                    )));
                }
                if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                    return Err(file
                        .fault(format!("the token in line {line} has characters that no header can carry")));
                }
                tokens.push(TokenDigest::of(token.as_bytes()));
            }
            if tokens.is_empty() {
                return Err(file.fault("it holds no token; write one a line"));
            }
            if tokens.len() > MAX_TOKENS {
                return Err(file.fault(format!("it holds more than {MAX_TOKENS} tokens")));
            }
        }
        Ok(Self(tokens))
    }

    /// Whether `token` is one of them. Every one is compared, whichever matches.
    pub(super) fn admit(&self, token: &TokenDigest) -> bool {
        let matched = self.0.iter().fold(Choice::from(0), |matched, own| matched | own.matches(token));
        matched.into()
    }
}

/// The token of `Authorization: Bearer TOKEN`.
pub(super) fn bearer(header: &[u8]) -> Option<TokenDigest> {
    let (scheme, token) = header.split_at_checked(7)?;
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty())
        .then(|| TokenDigest::of(token.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn load(text: &str) -> Result<AdminTokens, String> {
        let file = FileText { path: PathBuf::from("tokens"), bytes: text.as_bytes().to_vec() };
        AdminTokens::load(&[file]).map_err(|fault| fault.to_string())
    }

    #[test]
    fn tokens_are_one_a_line() {
        let tokens =
            load("# for controllers\n\n  first-token-0123456789 \r\nsecond-token-0123456789\n").unwrap();
        let admits = |token: &str| tokens.admit(&TokenDigest::of(token.as_bytes()));
        assert!(admits("first-token-0123456789") && admits("second-token-0123456789"));
        for other in ["", "first-token-012345678", "first-token-01234567890", "# for controllers"] {
            assert!(!admits(other), "{other}");
        }
    }

    #[test]
    fn files_without_a_usable_token_are_refused() {
        let many = |count: usize| (0..count).map(|at| format!("token-{at:020}\n")).collect::<String>();
        assert!(load(&many(MAX_TOKENS)).is_ok());
        for (text, says) in [
            (String::new(), "holds no token"),
            ("# none\n".to_owned(), "holds no token"),
            ("0123456789abcdef\nshort\n".to_owned(), "line 2 is shorter than 16"),
            ("0123456789 abcdef".to_owned(), "line 1 has characters"),
            (many(MAX_TOKENS + 1), "more than 1000 tokens"),
        ] {
            let error = load(&text).err().unwrap();
            assert!(error.contains(says), "{error}");
            assert!(!error.contains("short\n") && !error.contains("abcdef"), "the token is told: {error}");
        }
        assert!(load("0123456789abcdef").is_ok());
    }

    #[test]
    fn a_bearer_header_has_its_scheme_and_a_token() {
        let expected = TokenDigest::of(b"secret");
        for (header, is_token) in [
            ("Bearer secret", true),
            ("bearer secret", true),
            ("BEARER  secret ", true),
            ("Bearer", false),
            ("Bearer ", false),
            ("Basic secret", false),
            ("secret", false),
            ("", false),
        ] {
            let found = bearer(header.as_bytes()).is_some_and(|token| bool::from(token.matches(&expected)));
            assert_eq!(found, is_token, "{header:?}");
        }
    }
}
