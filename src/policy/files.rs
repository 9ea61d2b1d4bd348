//! Policy files: what lies at the paths that an operator named, read as one set.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::document::MAX_POLICY_BYTES;
use super::resolve::Defaults;
use super::schema::{LoadedPolicies, PolicyError, load_texts};

/// Bytes of all files of a set together at most.
pub const MAX_SET_BYTES: usize = 32 << 20;
/// Files of a set at most.
pub const MAX_SET_FILES: usize = 10_000;
/// Levels of folders that are looked into below a folder named; a circle of links ends here.
pub const MAX_FOLDER_DEPTH: usize = 8;

/// Endings of files in a folder that are read.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Something that is wrong with a set of policy files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyProblem {
    /// The file or folder.
    pub file: String,
    /// Line, from 1; `None` where the file cannot be read at all.
    pub line: Option<u64>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.what),
            None => write!(out, "{}: {}", self.file, self.what),
        }
    }
}

impl From<PolicyError> for PolicyProblem {
    fn from(error: PolicyError) -> Self {
        Self { file: error.name, line: Some(error.line), what: error.what }
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

/// The texts of a set, each with the name of its file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyTexts(Vec<(String, String)>);

impl PolicyFiles {
    /// What the texts come to.
    pub fn load(&self, texts: &PolicyTexts) -> Result<LoadedPolicies, Vec<PolicyProblem>> {
        let named = texts.0.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        load_texts(named, &self.namespace, &self.defaults)
            .map_err(|errors| errors.into_iter().map(PolicyProblem::from).collect())
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
    pub fn load(files: PolicyFiles) -> Result<Self, Vec<PolicyProblem>> {
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
) -> Result<LoadedPolicies, Vec<PolicyProblem>> {
    let files =
        PolicyFiles { paths: paths.to_vec(), namespace: namespace.to_owned(), defaults: defaults.clone() };
    LoadedFiles::load(files).map(|found| found.loaded)
}

/// Reads every policy file at `paths`: files whatever they are called, and below folders those that end in `.yaml`,
/// `.yml` or `.json`. A name in a folder that begins with a dot is passed over: the folders behind the links of a
/// mounted ConfigMap, and what editors leave beside a file. A file that is reached twice is read once.
pub fn read_paths(paths: &[PathBuf]) -> Result<PolicyTexts, Vec<PolicyProblem>> {
    let mut reading = Reading::default();
    for path in paths {
        match fs::metadata(path) {
            Err(error) => reading.refuse(path, unreadable(&error)),
            Ok(kind) if kind.is_dir() => reading.read_folder(path, 0),
            Ok(kind) if kind.is_file() => reading.read_file(path),
            Ok(_) => reading.refuse(path, "is neither a file nor a folder; name one of them".to_owned()),
        }
    }
    if reading.problems.is_empty() { Ok(PolicyTexts(reading.texts)) } else { Err(reading.problems) }
}

#[derive(Default)]
struct Reading {
    texts: Vec<(String, String)>,
    problems: Vec<PolicyProblem>,
    seen: HashSet<PathBuf>,
    bytes: usize,
}

impl Reading {
    fn refuse(&mut self, path: &Path, what: String) {
        self.problems.push(PolicyProblem { file: path.display().to_string(), line: None, what });
    }

    /// Reads what lies in a folder, in the order of names.
    fn read_folder(&mut self, folder: &Path, depth: usize) {
        if depth > MAX_FOLDER_DEPTH {
            let what = format!("lies more than {MAX_FOLDER_DEPTH} folders deep; name it by itself");
            return self.refuse(folder, what);
        }
        let listed = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
        let mut entries = match listed {
            Ok(entries) => entries,
            Err(error) => return self.refuse(folder, unreadable(&error)),
        };
        entries.retain(|path| !is_hidden(path));
        entries.sort_unstable();
        for path in entries {
            let has_ending =
                path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
            match fs::metadata(&path) {
                Ok(kind) if kind.is_dir() => self.read_folder(&path, depth + 1),
                Ok(kind) if kind.is_file() && has_ending => self.read_file(&path),
                Err(error) if has_ending => self.refuse(&path, unreadable(&error)),
                _ => {}
            }
        }
    }

    fn read_file(&mut self, path: &Path) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        if self.texts.len() >= MAX_SET_FILES {
            // Once is enough for all that follow.
            if self.problems.is_empty() {
                self.refuse(path, format!("is one too many: at most {MAX_SET_FILES} policy files are read"));
            }
            return;
        }
        match read_text(path) {
            Ok(text) => {
                self.bytes += text.len();
                if self.bytes > MAX_SET_BYTES {
                    let what = format!(
                        "brings the policies to {} bytes, at most {MAX_SET_BYTES} are read",
                        self.bytes
                    );
                    self.bytes -= text.len();
                    return self.refuse(path, what);
                }
                self.texts.push((path.display().to_string(), text));
            }
            Err(what) => self.refuse(path, what),
        }
    }
}

/// No more than the limit is read, however large the file is.
fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let limit = MAX_POLICY_BYTES as u64;
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(&error))?;
    if bytes.len() > MAX_POLICY_BYTES {
        return Err(format!(
            "is larger than {MAX_POLICY_BYTES} bytes, which is the most that is read of one file"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "is no text in UTF-8; save it as that".to_owned())
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The system's words without its number.
fn unreadable(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
    format!("cannot be read: {text}")
}
