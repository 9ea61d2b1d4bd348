//! Which files of policies a path stands for.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Endings of the files that are read of a folder.
pub const POLICY_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Levels of folders that are looked into below one that is named; a circle of links ends here.
pub const MAX_FOLDER_DEPTH: usize = 8;

/// A file or folder of policies that is not there, or may not be read.
#[derive(Debug, Error)]
#[error("cannot read `{name}`: {error}")]
pub struct FileError {
    /// The path.
    pub name: String,
    /// What the system says.
    pub error: io::Error,
}

impl FileError {
    fn new(path: &Path, error: io::Error) -> Self {
        Self { name: path.display().to_string(), error }
    }
}

/// The files that `path` stands for: itself, or of a folder those that end in [`POLICY_ENDINGS`], in the order of their
/// paths.
///
/// Names that begin with a dot are passed over: a mounted ConfigMap keeps its versions behind such names and links to
/// the current one.
pub fn policy_paths(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut paths = Vec::new();
    if std::fs::metadata(path).map_err(|error| FileError::new(path, error))?.is_dir() {
        list(path, MAX_FOLDER_DEPTH, &mut paths)?;
    } else {
        paths.push(path.to_path_buf());
    }
    Ok(paths)
}

fn list(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let wrong = |error| FileError::new(folder, error);
    let entries = std::fs::read_dir(folder).map_err(wrong)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>().map_err(wrong)?;
    entries.sort();
    for entry in entries {
        let is_hidden = entry.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_policy =
            entry.extension().is_some_and(|ending| POLICY_ENDINGS.iter().any(|known| ending == *known));
        if is_hidden {
            continue;
        }
        if entry.is_dir() {
            if depth > 0 {
                list(&entry, depth - 1, paths)?;
            }
        } else if is_policy {
            paths.push(entry);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_policy_files_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("e.yaml")).unwrap();
        std::fs::create_dir_all(folder.path().join(".git")).unwrap();
        for name in
            ["b.yml", "a.yaml", "c.json", "d.txt", ".hidden.yaml", "yaml", "e.yaml/f.yaml", ".git/g.yaml"]
        {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            let paths = policy_paths(path).unwrap();
            paths.iter().map(|path| path.strip_prefix(&folder).unwrap().display().to_string()).collect()
        };
        assert_eq!(names(folder.path()), ["a.yaml", "b.yml", "c.json", "e.yaml/f.yaml"]);
        assert_eq!(names(&folder.path().join("d.txt")), ["d.txt"]);
    }

    #[test]
    fn a_circle_of_links_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(policy_paths(folder.path()).unwrap().len(), MAX_FOLDER_DEPTH + 1);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.yaml");
        assert!(policy_paths(&path).unwrap_err().to_string().contains("p.yaml"));
    }
}
