#!/usr/bin/env bash
# Builds the published crates with the oldest versions that their manifests allow, in a copy, so that a bound which is too low
# is found before a user finds it. Resolving so is not stable in cargo: RUSTC_BOOTSTRAP lets a stable one do it, in this script only.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf -- "$copy"' EXIT

git -C "$root" ls-files -z imp imp-derive README.md LICENSE-APACHE LICENSE-MIT Cargo.toml clippy.toml |
    tar -C "$root" --null --files-from=- --create --file=- | tar -C "$copy" --extract --file=-
# The two crates alone: what the tests need must not raise their versions.
sed -i 's/^members = .*/members = ["imp", "imp-derive"]/' "$copy/Cargo.toml"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/minimal-versions
cd "$copy"
RUSTC_BOOTSTRAP=1 cargo update -Z direct-minimal-versions
cargo check -p imp --all-features
cargo check -p imp --no-default-features
