//! Whether the server is there, and admits who asks.

use super::{count, counted, listed, one};
use crate::doctor::registry::Found;
use crate::doctor::{FaultKind, Observations};
use crate::model::format_duration;

/// A certificate that ends sooner is worth a warning, in seconds.
const CERTIFICATE_DAYS: i64 = 14;

/// Clocks that are further apart are worth a warning, in nanoseconds; the header tells whole seconds.
const MAX_SKEW_NS: i64 = 2_000_000_000;

const SECOND_NS: i64 = 1_000_000_000;
const DAY_S: i64 = 86_400;

fn fault_of(seen: &Observations, is_tls: bool) -> Found {
    match &seen.serving {
        Err(fault) if (fault.kind == FaultKind::Tls) == is_tls => one(fault.what.clone(), &fault.advice),
        _ => Found::new(),
    }
}

pub fn server_unreachable(seen: &Observations) -> Found {
    fault_of(seen, false)
}

pub fn tls_failed(seen: &Observations) -> Found {
    fault_of(seen, true)
}

pub fn access_refused(seen: &Observations) -> Found {
    match &seen.access {
        Err(fault) if fault.kind == FaultKind::Refused => one(fault.what.clone(), &fault.advice),
        _ => Found::new(),
    }
}

pub fn not_serving(seen: &Observations) -> Found {
    match seen.serving {
        Ok(false) => one(
            format!("the server at `{}` says NOT_SERVING", seen.url),
            "it is stopping: look whether it is being restarted, and at its log",
        ),
        _ => Found::new(),
    }
}

/// Whether a URL leads to this machine and no further.
fn is_local(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split([':', '/']).next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

pub fn plaintext_beyond_host(seen: &Observations) -> Found {
    if seen.url.starts_with("https:") || is_local(&seen.url) {
        return Found::new();
    }
    one(
        format!("calls to `{}` leave this machine without TLS, and with them hashes and tokens", seen.url),
        "start the server with `--tls-cert` and `--tls-key`, and name it with https://; or keep the network to those \
         who may read along",
    )
}

pub fn credentials_stale(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let by_kind = page.by_label("inferencecache_credentials_reload_success", "kind");
    let stale: Vec<&str> =
        by_kind.iter().filter(|(_, is_good)| **is_good == 0.0).map(|(kind, _)| kind.as_str()).collect();
    if stale.is_empty() {
        return Found::new();
    }
    one(
        format!(
            "what the files of {} say is not in force; what they said before still is",
            listed(stale.into_iter())
        ),
        "the server's log says which file and what is wrong with it; correct it, and it is read again at once",
    )
}

pub fn certificate_ends_soon(seen: &Observations) -> Found {
    let ends = seen.metrics.as_ref().ok().and_then(|page| {
        page.sum("inferencecache_tls_certificate_expiry_timestamp_seconds").filter(|ends| *ends > 0.0)
    });
    let Some(ends) = ends else { return Found::new() };
    let left = ends as i64 - seen.now.as_ns() / SECOND_NS;
    if left > CERTIFICATE_DAYS * DAY_S {
        return Found::new();
    }
    let message = match left {
        ..=0 => "the server's certificate has ended".to_owned(),
        left if left < DAY_S => "the server's certificate ends within a day".to_owned(),
        left => format!("the server's certificate ends in {}", counted((left / DAY_S) as u64, "day")),
    };
    one(message, "renew it; the server takes up the new files by itself")
}

pub fn clock_skew(seen: &Observations) -> Found {
    let Ok(skew) = seen.skew_ns else { return Found::new() };
    if skew.saturating_abs() <= MAX_SKEW_NS {
        return Found::new();
    }
    let which = if skew > 0 { "ahead of" } else { "behind" };
    let span = format_duration(skew.saturating_abs() / SECOND_NS * SECOND_NS);
    one(
        format!("the server's clock is {span} {which} this machine's"),
        "synchronise both, with NTP for instance; certificates, captures and ages mean little without it",
    )
}

pub fn versions_differ(seen: &Observations) -> Found {
    let version =
        seen.metrics.as_ref().ok().and_then(|page| page.label("inferencecache_build_info", "version"));
    match version {
        Some(version) if version != seen.version => one(
            format!("the server is icache {version}, this program {}", seen.version),
            "use the same version on both sides where commands and server disagree",
        ),
        _ => Found::new(),
    }
}

pub fn callers_refused(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let by_result = page.by_label("inferencecache_grpc_denied_total", "result");
    let of = |result: &str| by_result.get(result).copied().unwrap_or_default() as u64;
    let (unknown, forbidden) = (of("unauth"), of("forbidden"));
    if unknown + forbidden == 0 {
        return Found::new();
    }
    one(
        format!(
            "since its start the server refused {} of callers it does not know and {} of callers that may not do this",
            counted(unknown, "call"),
            counted(forbidden, "call")
        ),
        "compare the tokens that gateways and sidecars show with the server's `--auth-file`: roles and tenants too",
    )
}

pub fn handshakes_fail(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let failures = count(page, "inferencecache_tls_failures_total");
    if failures == 0 {
        return Found::new();
    }
    let by_cause = page.by_label("inferencecache_tls_failures_total", "cause");
    let causes: Vec<&str> =
        by_cause.iter().filter(|(_, failures)| **failures > 0.0).map(|(cause, _)| cause.as_str()).collect();
    one(
        format!(
            "{} failed since the server started: {}",
            counted(failures, "TLS handshake"),
            listed(causes.into_iter())
        ),
        "check that clients name the server with https://, trust its authority, and present a certificate where it asks",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (url, local) in [
            ("http://127.0.0.1:9090", true),
            ("http://[::1]:9090", true),
            ("http://localhost:9090", true),
            ("http://icache:9090", false),
            ("http://10.0.0.1:9090", false),
            ("http://127.0.0.1.example:9090", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }
}
