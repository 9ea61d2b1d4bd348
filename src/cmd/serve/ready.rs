//! The ready file: the bound addresses, for scripts that start a server on free ports.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use serde::Serialize;

use super::super::UsageError;
use super::super::error::sentence;
use crate::server::Running;

/// What the ready file holds.
#[derive(Serialize)]
struct Ready {
    version: u32,
    grpc_addr: SocketAddr,
    http_addr: SocketAddr,
    admin_addr: SocketAddr,
}

/// A file of an earlier run must not be taken for this one's.
pub(in crate::cmd) fn forget(path: &Path) -> Result<(), UsageError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

pub(super) fn write(path: &Path, running: &Running) -> Result<(), UsageError> {
    let ready = Ready {
        version: 1,
        grpc_addr: running.grpc_addr(),
        http_addr: running.http_addr(),
        admin_addr: running.admin_addr(),
    };
    write_json(path, &ready)
}

/// Written aside and renamed: whoever sees the file sees all of it.
pub(in crate::cmd) fn write_json(path: &Path, ready: &impl Serialize) -> Result<(), UsageError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.tmp", std::process::id()));
    let written = serde_json::to_string(ready)
        .map_err(io::Error::from)
        .and_then(|text| std::fs::write(&aside, text + "\n"))
        .and_then(|()| std::fs::rename(&aside, path));
    written.map_err(|error| {
        // The error is told either way; what was begun is of no use.
        let _ = std::fs::remove_file(&aside);
        refused(path, &error)
    })
}

fn refused(path: &Path, error: &io::Error) -> UsageError {
    UsageError::new(
        format!("cannot write `{}`: {}", path.display(), sentence(error)),
        "give `--ready-file` a path in a folder that exists and can be written to",
    )
}
