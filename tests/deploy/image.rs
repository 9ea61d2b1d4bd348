//! The Dockerfile, and what it makes of the binary: run by a number, with nothing around it, as the Deployment starts it.
//!
//! With `ICACHE_IMAGE_BINARY` the binary is the one that the image gets: it must need no other file, and runs in a root
//! folder that holds only what a container would have, which takes root. `.ci/run` does that after building it with the
//! command that the Dockerfile names. Without it, the binary under test runs as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::manifests::{server_args, server_policies};
use crate::process::Process;
use crate::server_support::http_get;
use crate::{printed, scratch, text};

const BINARY: &str = "ICACHE_IMAGE_BINARY";
const USER: &str = "65532:65532";
/// Where the Deployment mounts the volume for the state.
const STATE: &str = "var/lib/icache";

/// Instructions and their arguments, comments left out.
fn instructions() -> Vec<(String, String)> {
    let dockerfile = text("deploy/Dockerfile");
    let lines = dockerfile.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(word, rest)| (word.to_owned(), rest.to_owned()))
        .collect()
}

#[test]
fn the_image_is_the_binary_run_by_a_number() {
    let instructions = instructions();
    let of = |word: &str| -> Vec<&str> {
        instructions.iter().filter(|(found, _)| found == word).map(|(_, rest)| rest.as_str()).collect()
    };
    assert_eq!(of("FROM"), ["scratch"], "nothing that has a version to go stale");
    assert_eq!(
        of("USER"),
        [USER],
        "a number: there is no list of users in the image, and clusters check for it"
    );
    assert_eq!(of("COPY"), ["--chmod=0555 icache /icache"]);
    assert_eq!((of("ENTRYPOINT"), of("CMD")), (vec![r#"["/icache"]"#], vec![r#"["serve"]"#]));
    assert_eq!(of("STOPSIGNAL"), ["SIGTERM"]);
    for word in ["ADD", "RUN", "SHELL", "VOLUME", "HEALTHCHECK"] {
        assert!(of(word).is_empty(), "{word} needs what is not there");
    }
    let last = instructions.iter().position(|(word, _)| word == "USER").unwrap();
    assert!(last < instructions.iter().position(|(word, _)| word == "ENTRYPOINT").unwrap());
    assert_eq!(
        text("deploy/Dockerfile.dockerignore"),
        "*\n!icache\n",
        "the folder it is built in holds much more"
    );
}

#[test]
fn ci_builds_what_the_dockerfile_copies() {
    let command = "RUSTFLAGS=\"-C target-feature=+crt-static\" cargo build --locked --release --target x86_64-unknown-linux-gnu";
    for place in ["deploy/Dockerfile", ".ci/run", "docs/operations.md"] {
        assert!(text(place).contains(command), "{place}: {command}");
    }
}

/// A place to run the binary in.
struct Container {
    root: TempDir,
    image: Option<PathBuf>,
}

impl Container {
    /// With the policies of the Deployment where it mounts them.
    fn new() -> Self {
        let root = scratch();
        let image = std::env::var_os(BINARY).map(PathBuf::from);
        let policies = root.path().join("etc/icache/policies");
        fs::create_dir_all(&policies).unwrap();
        for (name, policy) in server_policies() {
            fs::write(policies.join(name), policy).unwrap();
        }
        // A volume of its own, in which everybody may write, as the kubelet makes one.
        let state = root.path().join(STATE);
        fs::create_dir_all(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        // Names are looked up as in a cluster's pod: by what the system's resolver reads.
        fs::write(root.path().join("etc/hosts"), "127.0.0.1 icache.test\n").unwrap();
        if let Some(image) = &image {
            fs::copy(image, root.path().join("icache")).unwrap_or_else(|error| panic!("{image:?}: {error}"));
        }
        // Nobody but root may write, and the binary does not run as root.
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o555)).unwrap();
        Self { root, image }
    }

    /// The binary with nothing in its environment.
    fn icache(&self) -> Command {
        let mut command = match &self.image {
            Some(_) => {
                let mut command = Command::new("/usr/sbin/chroot");
                command.arg(format!("--userspec={USER}")).arg(self.root.path()).arg("/icache");
                command
            }
            None => Command::new(env!("CARGO_BIN_EXE_icache")),
        };
        command.env_clear().current_dir(self.root.path());
        command
    }

    /// A path of the container as the binary sees it.
    fn path(&self, path: &str) -> String {
        match self.image {
            Some(_) => path.to_owned(),
            None => format!("{}{path}", self.root.path().display()),
        }
    }

    fn host(&self) -> &'static str {
        if self.image.is_some() { "icache.test" } else { "127.0.0.1" }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // Else nobody but root could remove it.
        let _ = fs::set_permissions(self.root.path(), fs::Permissions::from_mode(0o755));
    }
}

#[tokio::test]
async fn it_serves_as_the_deployment_starts_it() {
    let container = Container::new();
    if let Some(image) = &container.image {
        assert_eq!(needed(image), Vec::<String>::new(), "it is linked statically");
    }
    let args = server_args().into_iter().map(|arg| match arg.split_once('=') {
        Some((flag @ ("--grpc-addr" | "--http-addr" | "--admin-addr"), _)) => format!("{flag}=127.0.0.1:0"),
        Some((flag @ ("--policy" | "--state-dir"), path)) => format!("{flag}={}", container.path(path)),
        _ => arg,
    });
    let server = Process::run(container.icache().args(args));
    assert_eq!(http_get(server.http_addr, "/readyz").await, (200, "ready\n".to_owned()));
    let policies = http_get(server.http_addr, "/metrics").await.1;
    assert!(policies.contains("\ninferencecache_policies 1\n"), "{policies}");

    let url = format!("http://{}:{}", container.host(), server.grpc_addr.port());
    let keys = ["--tenant=team-a", "--model=m", "--hash-scheme=vllm", "--server", &url];
    let report = ["report", "--replica=r1", "--blocks=0a,1a,2a,3a", "--block-tokens=16"];
    let lookup = ["lookup", "--blocks=0a,1a,2a,3a", "--block-tokens=16", "--expect=PREFIX_MATCH"];
    for args in [&report[..], &lookup] {
        let output = container.icache().args(args).args(keys).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", printed(&output));
    }
    server.signal("TERM");
    let (status, log) = tokio::task::spawn_blocking(|| server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0), "{log:?}");
    let saved = container.root.path().join(STATE).join("index.state");
    assert!(saved.is_file(), "the state is saved in its volume");
}

/// The loader and the libraries that an ELF file asks for, by number of their entries.
fn needed(file: &Path) -> Vec<String> {
    const PT_DYNAMIC: u32 = 2;
    const PT_INTERP: u32 = 3;
    const DT_NEEDED: u64 = 1;
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let number = |at: usize, len: usize| {
        bytes[at..at + len].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    assert_eq!(&bytes[..6], b"\x7fELF\x02\x01", "64 bits, little-endian");
    let (table, size, count) = (number(32, 8) as usize, number(54, 2) as usize, number(56, 2) as usize);
    let mut needed = Vec::new();
    for header in (0..count).map(|entry| table + entry * size) {
        let kind = number(header, 4) as u32;
        if kind == PT_INTERP {
            needed.push("a loader".to_owned());
        } else if kind == PT_DYNAMIC {
            let (start, len) = (number(header + 8, 8) as usize, number(header + 32, 8) as usize);
            let tags = (start..start + len).step_by(16).filter(|at| number(*at, 8) == DT_NEEDED);
            needed.extend(tags.map(|at| format!("a library, entry {}", number(at + 8, 8))));
        }
    }
    needed
}

#[test]
fn a_binary_linked_as_usual_needs_more_than_itself() {
    let needed = needed(Path::new(env!("CARGO_BIN_EXE_icache")));
    assert!(needed.contains(&"a loader".to_owned()) && needed.len() > 1, "{needed:?}");
}
