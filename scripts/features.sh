#!/usr/bin/env bash
# Checks that each crate compiles without warnings: without its features, with each feature alone, and without each of the formats.
#
#     scripts/features.sh [check|test]    `test` runs the tests of each in place of compiling them
set -euo pipefail
cd "$(dirname "$0")/.."
action=${1:-check}
# Runs cargo for a crate with these features. A warning is an error.
with_features() {
    local messages
    echo "== $1, ${2:-no features}"
    messages=$(cargo "$action" --quiet --locked -p "$1" --no-default-features --features "$2" 2>&1) && ! grep '^warning' <<<"$messages" && return
    echo "$messages" >&2
    exit 1
}
for crate in anabranch-plan anabranch anabranch-network anabranch-cluster abz-codec abz; do
    manifest=$(cargo pkgid -p "$crate" | sed 's|^path+file://||; s|#.*||')/Cargo.toml
    # The names below `[features]`, without those that only switch on what others need.
    features=$(sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z0-9]*\) *=.*/\1/p' "$manifest" | grep -v '^default$')
    for feature in "" $features; do
        with_features "$crate" "$feature"
    done
done
formats="bzip2 gzip lzma zstd"
for crate in abz-codec abz; do
    for left_out in $formats; do
        with_features "$crate" "${formats/$left_out/}"
    done
done
# What a format is left out for is not linked then.
for linked in gzip:libdeflate-sys lzma:liblzma-sys zstd:zstd-sys; do
    echo "== abz beside a crate that links another ${linked#*:}"
    if cargo tree --locked -p abz --no-default-features --features "${formats/${linked%:*}/}" --edges normal,build | grep -w "${linked#*:}"; then
        echo "abz links ${linked#*:} without the feature ${linked%:*}" >&2
        exit 1
    fi
done
