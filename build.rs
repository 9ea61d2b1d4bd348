//! Compiles the gRPC contracts without a system protoc: messages, services, proto3 JSON and the descriptor set that
//! reflection serves. And finds out what is being built, for `--version`.

use std::path::{Path, PathBuf};
use std::process::Command;

use prost::Message as _;

const PROTOS: [&str; 5] = [
    "inferencecache/v1alpha1/inferencecache.proto",
    "icache/v1alpha1/explain.proto",
    "icache/v1alpha1/observe.proto",
    "icache/v1alpha1/fast_lookup.proto",
    "icache/v1alpha1/saved_state.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=build.rs");
    name_the_build()?;

    let descriptors = protox::compile(PROTOS, ["proto"])?;
    let encoded = descriptors.encode_to_vec();
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), &encoded)?;

    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    pbjson_build::Builder::new()
        .register_descriptors(&encoded)?
        .build(&[".inferencecache.v1alpha1", ".icache.v1alpha1"])?;
    Ok(())
}

/// Commit and build, as variables of the compiler. Nothing of them depends on when or where it is built.
fn name_the_build() -> Result<(), std::env::VarError> {
    println!("cargo:rerun-if-env-changed=ICACHE_COMMIT");
    let (profile, target) = (std::env::var("PROFILE")?, std::env::var("TARGET")?);
    let given = std::env::var("ICACHE_COMMIT").ok().filter(|commit| !commit.is_empty());
    // In other builds than those that are handed out, every commit would compile everything anew.
    let found = || if profile == "release" { commit_of_the_checkout() } else { None };
    let commit = given.or_else(found).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=ICACHE_COMMIT={commit}");
    println!("cargo:rustc-env=ICACHE_BUILD={profile}, {target}");
    Ok(())
}

/// The commit of this folder's own repository; none in an unpacked archive, and without git.
fn commit_of_the_checkout() -> Option<String> {
    let folder = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(&folder).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let root = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    if root.canonicalize().ok()? != Path::new(&folder).canonicalize().ok()? {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        println!("cargo:rerun-if-changed={}", Path::new(&folder).join(path).display());
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
