#!/bin/sh
# Makes the archive of a release: the binary, manual pages, completions, licence, and a list of what the binary is made of
# (SBOM, CycloneDX 1.5). Two runs on one commit make the same archive, byte by byte, where the compiler is the same.
#
# usage: make.sh [FOLDER]    default: target/dist
#
# ICACHE_DIST_BINARY names a binary that is there already; without it one is built.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/target/dist}
cd "$root"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=$(rustc -vV | sed -n 's/^host: //p')
name=icache-$version-$target
binary=${ICACHE_DIST_BINARY:-}
if [ -z "$binary" ]; then
    # Paths of this machine are no part of the binary.
    RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$root=/icache --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
        cargo build --release --locked --bin icache
    binary=${CARGO_TARGET_DIR:-target}/release/icache
fi

mkdir -p "$folder"
work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cp "$binary" "$work/$name/icache"
cp LICENSE README.md "$work/$name/"
cp -R man completions "$work/$name/"
cargo metadata --format-version 1 --locked --filter-platform "$target" | python3 dist/sbom.py >"$work/$name/sbom.cdx.json"

# Times and owners of the files say nothing of what is in them.
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
find "$work/$name" -type d -exec chmod 755 {} +
find "$work/$name" -type f -exec chmod 644 {} +
chmod 755 "$work/$name/icache"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" -cf "$work/$name.tar" "$name"
gzip -n -9 "$work/$name.tar"
mv "$work/$name.tar.gz" "$folder/"
(cd "$folder" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$folder/$name.tar.gz"
