//! Files of policies, as the command line names them.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cmd::error::UsageError;
use crate::cmd::input;
use crate::policy::{MAX_POLICY_BYTES, SourceText};

/// What files of policies end in.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// What standard input is called.
pub const STANDARD_INPUT: &str = "standard input";
/// Folders in folders at most: a loop of links ends there.
const MAX_DEPTH: usize = 32;

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
    let mut files = Vec::new();
    walk(Path::new(path), 0, &mut files)
        .map_err(|(path, error)| UsageError::unreadable(&path.to_string_lossy(), &error))?;
    if files.is_empty() {
        return Err(UsageError::new(
            format!("`{path}` holds no policy files"),
            "name a folder with files that end in .yaml, .yml or .json, or the files themselves",
        ));
    }
    files.sort();
    Ok(files.iter().map(|file| file.to_string_lossy().into_owned()).collect())
}

fn source(path: &str) -> Result<SourceText, UsageError> {
    let name = if path == "-" { STANDARD_INPUT } else { path };
    let mut bytes = Vec::new();
    let read = input::open(path)?.take(MAX_POLICY_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| UsageError::unreadable(path, &error))?;
    Ok(SourceText::from_bytes(name, bytes))
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let failed = |error| (folder.to_path_buf(), error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // Hidden folders hold what tools keep, such as the versions behind a ConfigMap's links.
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let is_policy = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, files)?;
        } else if is_policy {
            files.push(path);
        }
    }
    Ok(())
}
