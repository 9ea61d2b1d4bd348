//! Policy files of a server: what lies at the paths that an operator named, read as one set.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::load::{LoadedPolicies, PolicyProblem, load_sources};
use super::resolve::Defaults;
use super::source::{MAX_POLICY_BYTES, Place, SourceText};

/// Bytes of all files of a set together at most.
pub const MAX_SET_BYTES: usize = 32 << 20;
/// Files of a set at most.
pub const MAX_SET_FILES: usize = 10_000;

/// Levels of folders below one that is named, at most.
pub const MAX_FOLDER_DEPTH: usize = 32;

/// Endings of the files that are read of a folder.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Something that is wrong with a set of policy files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProblem {
    /// The file or folder.
    pub file: String,
    /// Where in it; `None` where it cannot be read at all.
    pub place: Option<Place>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl FileProblem {
    fn of(path: &Path, what: impl Into<String>) -> Self {
        Self { file: path.display().to_string(), place: None, what: what.into() }
    }

    /// What cannot be read, in the system's words without its number.
    fn unreadable(path: &Path, error: &io::Error) -> Self {
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        Self::of(path, format!("cannot be read: {text}"))
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place { line, column }) => write!(out, "{}:{line}:{column}: {}", self.file, self.what),
            None => write!(out, "{}: {}", self.file, self.what),
        }
    }
}

impl From<PolicyProblem> for FileProblem {
    fn from(problem: PolicyProblem) -> Self {
        Self { file: problem.name, place: Some(problem.place), what: problem.what }
    }
}

/// Where policies are read from, and what holds where they are silent.
#[derive(Clone, Debug)]
pub struct PolicyFiles {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Of objects that name none.
    pub namespace: String,
    /// Of fields that are absent.
    pub defaults: Defaults,
}

/// What the files of a set hold, each with its name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyTexts(Vec<(String, Vec<u8>)>);

impl PolicyFiles {
    /// What the texts come to.
    pub fn load(&self, texts: &PolicyTexts) -> Result<LoadedPolicies, Vec<FileProblem>> {
        let sources = texts
            .0
            .iter()
            .map(|(name, bytes)| SourceText::from_bytes(name.as_str(), bytes.clone()))
            .collect();
        load_sources(sources, Some(&self.namespace), &self.defaults)
            .map_err(|error| error.problems().map(FileProblem::from).collect())
    }
}

/// A set that was read and is valid.
#[derive(Clone, Debug)]
pub struct LoadedFiles {
    /// Where it was read from.
    pub files: PolicyFiles,
    /// What was read.
    pub texts: PolicyTexts,
    /// What it comes to.
    pub loaded: LoadedPolicies,
}

impl LoadedFiles {
    /// Reads and loads what lies at the paths of `files`.
    pub fn load(files: PolicyFiles) -> Result<Self, Vec<FileProblem>> {
        let texts = read_paths(&files.paths)?;
        let loaded = files.load(&texts)?;
        Ok(Self { files, texts, loaded })
    }
}

/// Reads and loads every policy file at `paths` as one set.
pub fn load_paths(
    paths: &[PathBuf],
    namespace: &str,
    defaults: &Defaults,
) -> Result<LoadedPolicies, Vec<FileProblem>> {
    let files =
        PolicyFiles { paths: paths.to_vec(), namespace: namespace.to_owned(), defaults: defaults.clone() };
    LoadedFiles::load(files).map(|found| found.loaded)
}

/// The files that `path` stands for: itself, or of a folder with all below it those that end in `.yaml`, `.yml` or
/// `.json`, in the order of their paths. The error names what cannot be read.
///
/// Names in a folder that begin with a dot are passed over: the versions behind the links of a mounted ConfigMap, and
/// what editors and other tools keep. A folder that links lead to again is entered once.
pub fn policy_paths(path: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    if !fs::metadata(path).map_err(|error| (path.to_owned(), error))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    list(path, 0, &mut HashSet::new(), &mut files)?;
    files.sort_unstable();
    Ok(files)
}

fn list(
    folder: &Path,
    depth: usize,
    entered: &mut HashSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let failed = |error| (folder.to_owned(), error);
    if depth > MAX_FOLDER_DEPTH || !entered.insert(fs::canonicalize(folder).map_err(failed)?) {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_policy = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            list(&path, depth + 1, entered, files)?;
        } else if is_policy {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads every file that `paths` stand for, see [`policy_paths`]; one that is reached twice is read once.
///
/// The error is not empty.
pub fn read_paths(paths: &[PathBuf]) -> Result<PolicyTexts, Vec<FileProblem>> {
    let mut reading = Reading::default();
    for path in paths {
        match policy_paths(path) {
            Ok(files) => files.iter().for_each(|file| reading.read(file)),
            Err((path, error)) => reading.problems.push(FileProblem::unreadable(&path, &error)),
        }
    }
    if reading.problems.is_empty() { Ok(PolicyTexts(reading.texts)) } else { Err(reading.problems) }
}

#[derive(Default)]
struct Reading {
    texts: Vec<(String, Vec<u8>)>,
    problems: Vec<FileProblem>,
    seen: HashSet<PathBuf>,
    bytes: usize,
}

impl Reading {
    fn read(&mut self, path: &Path) {
        // A file that is gone meanwhile is told as one that cannot be read.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        match self.bounded(path) {
            Ok(bytes) => self.texts.push((path.display().to_string(), bytes)),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// The bytes of a file, within the bounds of the set; what is over that of a file is left to whoever reads the text.
    fn bounded(&mut self, path: &Path) -> Result<Vec<u8>, FileProblem> {
        if self.texts.len() >= MAX_SET_FILES {
            return Err(FileProblem::of(
                path,
                format!("is one too many: at most {MAX_SET_FILES} files are read"),
            ));
        }
        let bytes = read_file(path)?;
        let sum = self.bytes + bytes.len();
        if sum > MAX_SET_BYTES {
            let what = format!("brings the policies to {sum} bytes, at most {MAX_SET_BYTES} are read");
            return Err(FileProblem::of(path, what));
        }
        self.bytes = sum;
        Ok(bytes)
    }
}

/// A pipe or a device would never end, and says nothing twice.
fn read_file(path: &Path) -> Result<Vec<u8>, FileProblem> {
    let unreadable = |error| FileProblem::unreadable(path, &error);
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(FileProblem::of(path, "is neither a file nor a folder; name one of them"));
    }
    let mut bytes = Vec::new();
    // One byte over the bound is enough to be refused as too large.
    let most = MAX_POLICY_BYTES as u64 + 1;
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(unreadable)?;
    Ok(bytes)
}
