//! Compiles the gRPC contracts without a system protoc: messages, services, proto3 JSON and the descriptor set that
//! reflection serves.

use std::path::PathBuf;

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
