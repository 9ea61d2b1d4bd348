//! Files of policies, as the command line names them.

use std::io::Read;
use std::path::Path;

use crate::cmd::error::UsageError;
use crate::cmd::input;
use crate::policy::{MAX_POLICY_BYTES, SourceText, policy_paths};

/// What standard input is called.
pub const STANDARD_INPUT: &str = "standard input";

/// The texts of files, of folders with all that is in them, and of standard input (`-`), in order.
pub fn sources(paths: &[String]) -> Result<Vec<SourceText>, UsageError> {
    let mut sources = Vec::new();
    for path in paths {
        if path != "-" && Path::new(path).is_dir() {
            let files = policy_paths(Path::new(path))
                .map_err(|(path, error)| UsageError::unreadable(&path.to_string_lossy(), &error))?;
            for file in files {
                sources.push(source(&file.to_string_lossy())?);
            }
        } else {
            sources.push(source(path)?);
        }
    }
    Ok(sources)
}

fn source(path: &str) -> Result<SourceText, UsageError> {
    let name = if path == "-" { STANDARD_INPUT } else { path };
    let mut bytes = Vec::new();
    let read = input::open(path)?.take(MAX_POLICY_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| UsageError::unreadable(path, &error))?;
    Ok(SourceText::from_bytes(name, bytes))
}
