//! Where the command lines run: a folder with files, and names for what is otherwise each time.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Variables of the caller that change what commands do.
const VARIABLES: [&str; 5] = ["NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"];

/// Longest run of a command, in seconds.
const PATIENCE_S: &str = "120";

/// Inner things that no error names: types and words of libraries.
const INSIDE: [&str; 17] = [
    "(os error",
    "u8",
    "u32",
    "i32",
    "u64",
    "i64",
    "f32",
    "usize",
    "untagged",
    "struct ",
    "target type",
    "found in string",
    "..=",
    "Some(",
    "Err(",
    "Error {",
    "::",
];

pub struct World {
    folder: TempDir,
    /// Names, without their `$`, and what they stand for.
    names: Vec<(String, String)>,
}

impl World {
    pub fn new() -> Self {
        let names =
            [("KEYS", "--tenant t --model m --hash-scheme s"), ("WHO", "--replica r --tenant t --model m")];
        let names = names.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { folder: TempDir::new().unwrap(), names }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file of the folder.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A file of so many bytes, all 0, that takes no room.
    pub fn large(&self, name: &str, bytes: u64) -> &Self {
        File::create(self.path().join(name)).unwrap().set_len(bytes).unwrap();
        self
    }

    /// `$name` stands for `value` in command lines and in what is said.
    pub fn name(&mut self, name: &str, value: impl ToString) {
        self.names.push((name.to_owned(), value.to_string()));
    }

    /// The command line, its exit status, and what it says.
    pub fn says(&self, line: &str) -> String {
        let output = self.run(line);
        let errors = self.named(&String::from_utf8(output.stderr.clone()).unwrap());
        self.judge(line, &errors);
        let status = output.status.code().map_or("a signal".to_owned(), |status| status.to_string());
        let mut said = String::new();
        writeln!(said, "$ {}\n{}exit status {status}", shown(line), errors).unwrap();
        said
    }

    fn run(&self, line: &str) -> Output {
        let mut full = line.to_owned();
        let mut names: Vec<&(String, String)> = self.names.iter().collect();
        // Longer names first: one may begin like another.
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, value) in names {
            full = full.replace(&format!("${name}"), value);
        }
        // What is no error runs on, and would be waited for without end.
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", PATIENCE_S, env!("CARGO_BIN_EXE_icache")]);
        command.current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ICACHE_"))
        {
            command.env_remove(name);
        }
        for name in VARIABLES {
            command.env_remove(name);
        }
        let mut words = words(&full).into_iter().peekable();
        while let Some((name, value)) = words.peek().and_then(variable) {
            command.env(name, value);
            words.next();
        }
        while let Some(word) = words.next() {
            let file = || self.path().join(words.clone().next().unwrap());
            match word.to_str() {
                Some("<") => {
                    command.stdin(File::open(file()).unwrap());
                    words.next();
                }
                Some(">") => {
                    command.stdout(File::options().write(true).open(file()).unwrap());
                    words.next();
                }
                _ => {
                    command.arg(word);
                }
            }
        }
        command.output().unwrap()
    }

    /// What is otherwise each time under its name.
    fn named(&self, text: &str) -> String {
        let mut text = text.replace(&format!("{}/", self.path().display()), "");
        for (name, value) in self.names.iter().rev() {
            text = text.replace(value, &format!("${name}"));
        }
        text
    }

    /// An error is two lines, of which the first begins in lower case, and names nothing of the program's insides.
    fn judge(&self, line: &str, text: &str) {
        let mut lines: Vec<&str> = text.lines().collect();
        // A server's log goes before its error.
        lines.retain(|line| !line.starts_with('{'));
        assert_eq!(lines.len(), 2, "{line}: {text}");
        let what = lines[0].strip_prefix("error: ").unwrap_or_else(|| panic!("{line}: {text}"));
        let advice = lines[1].strip_prefix("help: ").unwrap_or_else(|| panic!("{line}: {text}"));
        for part in [what, advice] {
            let starts_well = ["TLS ", "JSON ", "CacheStateUpdate ", "CacheEvent ", "LookupRouteRequest "];
            let is_lower = !part.starts_with(char::is_uppercase)
                || starts_well.iter().any(|word| part.starts_with(word));
            assert!(is_lower, "{line}: {part}");
            assert!(!part.ends_with('.') && !part.is_empty(), "{line}: {part}");
            assert!(!part.contains("  ") && !part.contains('\t'), "{line}: {part}");
        }
        for inside in INSIDE {
            assert!(!is_word(text, inside), "{line}: `{inside}` in {text}");
        }
    }
}

/// The line as a person writes it.
fn shown(line: &str) -> String {
    let variables = line.split(' ').take_while(|word| word.contains('=') && !word.starts_with('-')).count();
    let mut words: Vec<&str> = line.split(' ').collect();
    words.insert(variables, "icache");
    words.join(" ").trim_end().to_owned()
}

/// What `NAME=value` sets.
fn variable(word: &OsString) -> Option<(OsString, OsString)> {
    let at = word.as_bytes().iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&word.as_bytes()[..at], &word.as_bytes()[at + 1..]);
    let is_name = name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    is_name.then(|| (OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
}

/// Whether `part` stands in `text`, and not amid a longer word.
fn is_word(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let is_letter = |char: Option<char>| char.is_some_and(|char| char.is_alphanumeric());
        !part.starts_with(char::is_alphanumeric)
            || !(is_letter(text[..at].chars().next_back())
                || is_letter(text[at + part.len()..].chars().next()))
    })
}

/// The words of a line; what stands between apostrophes is one, and `%FF` is a byte that is no text.
fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut is_quoted, mut is_open) = (String::new(), false, false);
    for char in line.chars() {
        match char {
            '\'' => (is_quoted, is_open) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            char => {
                word.push(char);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
        .into_iter()
        .map(|word| match word.split_once("%FF") {
            Some((before, after)) => {
                OsString::from_vec([before.as_bytes(), b"\xff", after.as_bytes()].concat())
            }
            None => OsString::from(word),
        })
        .collect()
}
