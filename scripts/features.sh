#!/usr/bin/env bash
# Checks that each crate compiles without its default features, and with each feature alone.
#
#     scripts/features.sh [check|test]    `test` runs the tests of each in place of compiling them
set -euo pipefail
cd "$(dirname "$0")/.."
action=${1:-check}
for crate in anabranch-plan anabranch anabranch-cluster abz-codec abz; do
    manifest=$(cargo pkgid -p "$crate" | sed 's|^path+file://||; s|#.*||')/Cargo.toml
    # The names below `[features]`, without those that only switch on what others need.
    features=$(sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z]*\) *=.*/\1/p' "$manifest" | grep -v '^default$')
    for feature in "" $features; do
        echo "== $crate, ${feature:-no features}"
        cargo "$action" --quiet --locked -p "$crate" --no-default-features ${feature:+--features "$feature"}
    done
done
echo "== abz beside a crate that links liblzma"
if cargo tree --locked -p abz --no-default-features --features tokio --edges normal,build | grep -w liblzma-sys; then
    echo "abz links liblzma without the feature lzma" >&2
    exit 1
fi
