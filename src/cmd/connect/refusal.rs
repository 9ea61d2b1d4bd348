//! What is wrong with the TLS of a server, in words.

use std::fmt::Debug;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::super::error::sentence;

/// What is wrong with the TLS of the server at `url`, and what to do.
pub(super) fn told(url: &str, host: &str, error: &rustls::Error) -> (String, String) {
    let of_certificate = |what: &str, advice: &str| {
        (format!("the certificate of the server at `{url}` {what}"), advice.to_owned())
    };
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => of_certificate(
                "has expired",
                "have the server's operator renew it; check this machine's clock",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                of_certificate("is not valid yet", "check this machine's clock, and the server's certificate")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                of_certificate(
                    &format!("is not for the name `{host}`"),
                    "name the server as its certificate does, or have the name added to it",
                )
            }
            CertificateError::UnknownIssuer => of_certificate(
                "is of an authority that is not trusted here",
                "give the PEM file of its authority with `--ca`",
            ),
            wrong => of_certificate(
                &format!("cannot be trusted: {}", in_words(wrong)),
                "have the server's operator look at it",
            ),
        },
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => (
            format!("the server at `{url}` does not speak TLS"),
            "give an http:// URL, or start the server with `--tls-cert` and `--tls-key`".to_owned(),
        ),
        rustls::Error::AlertReceived(alert) => by_alert(url, *alert),
        error => (
            format!("TLS with the server at `{url}` failed: {}", sentence(error)),
            "look at the server's certificate and log".to_owned(),
        ),
    }
}

/// What the server said when it ended the connection, and what to do.
pub(super) fn by_alert(url: &str, alert: AlertDescription) -> (String, String) {
    match alert {
        AlertDescription::CertificateRequired => (
            format!("the server at `{url}` asks for a certificate, and none was presented"),
            "give one with `--cert` and `--key`".to_owned(),
        ),
        alert => (
            format!("the server at `{url}` refused the connection: {}", in_words(&alert)),
            "check the certificate given with `--cert`: its authority must be one that the server trusts"
                .to_owned(),
        ),
    }
}

/// What is wrong with a certificate or key of our own, as the end of a sentence.
pub(super) fn unusable(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InconsistentKeys(_) => "the key is that of another certificate".to_owned(),
        rustls::Error::InvalidCertificate(wrong) => in_words(wrong),
        error => sentence(error),
    }
}

/// A name of the TLS library as words: `BadCertificate` is a bad certificate.
fn in_words(name: &impl Debug) -> String {
    let name = format!("{name:?}");
    let name = name.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
    // What has no name is shown as a number behind that of its type.
    if name == "AlertDescription" {
        return "for a reason that is not known here".to_owned();
    }
    let letters: Vec<char> = name.trim_end_matches("Context").chars().collect();
    let is_upper = |at: usize| letters.get(at).is_some_and(char::is_ascii_uppercase);
    let mut words = String::new();
    for (at, letter) in letters.iter().enumerate() {
        // Of an acronym every letter is a capital, and stays one.
        let is_acronym =
            is_upper(at) && (is_upper(at + 1) || (at > 0 && is_upper(at - 1) && at + 1 == letters.len()));
        if is_upper(at) && at > 0 && !is_upper(at - 1) {
            words.push(' ');
        }
        words.push(if is_acronym { *letter } else { letter.to_ascii_lowercase() });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        assert_eq!(in_words(&AlertDescription::BadCertificate), "bad certificate");
        assert_eq!(in_words(&CertificateError::UnhandledCriticalExtension), "unhandled critical extension");
        assert_eq!(in_words(&AlertDescription::UnknownCA), "unknown CA");
        assert_eq!(in_words(&AlertDescription::from(7)), "for a reason that is not known here");
    }

    #[test]
    fn refusals_name_the_server_and_nothing_of_the_library() {
        for error in [
            rustls::Error::InvalidCertificate(CertificateError::BadSignature),
            rustls::Error::AlertReceived(AlertDescription::UnknownCA),
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType),
        ] {
            let (what, advice) = told("https://h:1", "h", &error);
            assert!(what.contains("`https://h:1`"), "{what}");
            assert!(!what.contains("BadSignature") && !what.contains("UnknownCA"), "{what}");
            assert!(!advice.is_empty());
        }
    }
}
