//! Files of policies, as the command line names them.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cmd::error::UsageError;
use crate::cmd::input;
use crate::policy::{MAX_POLICY_BYTES, SourceText, policy_paths};

/// What standard input is called.
pub const STANDARD_INPUT: &str = "standard input";

/// The texts of files, of folders with all that is in them, and of standard input (`-`), in order; each file once.
pub fn sources(paths: &[String]) -> Result<Vec<SourceText>, UsageError> {
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for path in paths {
        for name in names(path)? {
            // What cannot be resolved cannot be opened either, and that has a better error.
            let same = std::fs::canonicalize(&name).unwrap_or_else(|_| PathBuf::from(&name));
            if seen.insert(same) {
                sources.push(source(&name)?);
            }
        }
    }
    Ok(sources)
}

fn names(path: &str) -> Result<Vec<String>, UsageError> {
    if path == "-" || !Path::new(path).is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = policy_paths(Path::new(path))
        .map_err(|(path, error)| UsageError::unreadable(&path.to_string_lossy(), &error))?;
    if files.is_empty() {
        return Err(UsageError::new(
            format!("`{path}` holds no policy files"),
            "name a folder with files that end in .yaml, .yml or .json, or the files themselves",
        ));
    }
    Ok(files.iter().map(|file| file.to_string_lossy().into_owned()).collect())
}

fn source(path: &str) -> Result<SourceText, UsageError> {
    let name = if path == "-" { STANDARD_INPUT } else { path };
    let mut bytes = Vec::new();
    let read = input::open(path)?.take(MAX_POLICY_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| UsageError::unreadable(path, &error))?;
    Ok(SourceText::from_bytes(name, bytes))
}
