#!/usr/bin/env bash
# Checks the workspace with the oldest version of Rust that Cargo.toml names, if rustup has that toolchain or can get it.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! command -v rustup >/dev/null; then
    echo "not checked: Rust $oldest (there is no rustup)" >&2
elif ! rustup toolchain list | grep -q "^$oldest" && ! timeout 300 rustup toolchain install "$oldest.0" --profile minimal --no-self-update >/dev/null 2>&1; then
    echo "not checked: Rust $oldest (rustup cannot get it)" >&2
else
    cargo "+$(rustup toolchain list | grep -o "^$oldest[^ ]*" | head -n 1)" check --locked --workspace
fi
