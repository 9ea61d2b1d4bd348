//! Files of policies: which ones a path stands for, and their text.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::document::MAX_POLICY_BYTES;

/// Endings of the files that are read of a folder.
pub const POLICY_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// A file of policies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyFile {
    /// What it is called in errors and sources.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// Why a file of policies cannot be read.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file or folder is not there, or may not be read.
    #[error("cannot read `{name}`: {error}")]
    Io {
        /// The path.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// Longer than policies can be.
    #[error("`{0}` has more than {MAX_POLICY_BYTES} bytes")]
    TooLong(String),
    /// Not UTF-8.
    #[error("`{0}` is no UTF-8 text")]
    NotText(String),
}

/// The files that `path` stands for: itself, or of a folder those that end in [`POLICY_ENDINGS`], by name.
///
/// Folders in a folder are not entered, as by kubectl, and names that begin with a dot are passed over: a mounted
/// ConfigMap keeps its versions behind such names and links to the current one.
pub fn policy_paths(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let wrong = |error| FileError::Io { name: path.display().to_string(), error };
    if !std::fs::metadata(path).map_err(wrong)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(path).map_err(wrong)? {
        let entry = entry.map_err(wrong)?.path();
        let is_hidden = entry.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_policy =
            entry.extension().is_some_and(|ending| POLICY_ENDINGS.iter().any(|known| ending == *known));
        if !is_hidden && is_policy && entry.is_file() {
            paths.push(entry);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads every file that `paths` stand for, in their order.
pub fn read_policies<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PolicyFile>, FileError> {
    let mut files = Vec::new();
    for path in paths {
        for path in policy_paths(path.as_ref())? {
            files.push(read(&path)?);
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<PolicyFile, FileError> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // One byte over the bound is enough to be refused as too long.
    let most = MAX_POLICY_BYTES as u64 + 1;
    if let Err(error) = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
        return Err(FileError::Io { name, error });
    }
    if bytes.len() > MAX_POLICY_BYTES {
        return Err(FileError::TooLong(name));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(PolicyFile { name, text }),
        Err(_) => Err(FileError::NotText(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_policy_files_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), name).unwrap();
        for name in ["b.yml", "a.yaml", "c.json", "d.txt", ".hidden.yaml", "yaml"] {
            write(name);
        }
        std::fs::create_dir(folder.path().join("e.yaml")).unwrap();
        let texts: Vec<String> =
            read_policies(&[folder.path()]).unwrap().into_iter().map(|file| file.text).collect();
        assert_eq!(texts, ["a.yaml", "b.yml", "c.json"]);
        let one = read_policies(&[folder.path().join("d.txt")]).unwrap();
        assert_eq!(one[0].text, "d.txt");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.yaml");
        assert!(read_policies(&[&path]).unwrap_err().to_string().contains("p.yaml"));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(read_policies(&[&path]), Err(FileError::NotText(_))));
        std::fs::write(&path, vec![b' '; MAX_POLICY_BYTES + 1]).unwrap();
        assert!(matches!(read_policies(&[&path]), Err(FileError::TooLong(_))));
    }
}
