#!/usr/bin/env bash
# Writes the pages of the library crates, from the beginning of each `lib.rs` to its first example or heading.
#
#     scripts/readmes.sh            writes crates/*/README.md
#     scripts/readmes.sh --check    fails if one of them is not as it would be written
set -euo pipefail
cd "$(dirname "$0")/.."

# The page of crate $1.
page() {
    local name
    name=$(sed -n 's/^name = "\(.*\)"/\1/p;T;q' "crates/$1/Cargo.toml")
    echo "# $name"
    echo
    # Links to items lead nowhere outside of the documentation, so only their texts stay. Hidden lines of the example go.
    awk '
        !/^\/\/!/ { exit }
        { sub(/^\/\/! ?/, "") }
        !code && /^# / { exit }
        /^```/ { print code ? "```" : "```rust"; if (code) exit; code = 1; next }
        code && /^# / { next }
        { print }
    ' "crates/$1/src/lib.rs" | sed -E '/^```rust/,/^```$/!s/\[([^]]*)\](\([^)]*\))?/\1/g'
    echo
    echo "The [documentation](https://docs.rs/$name) has the rest. The licence is MIT or Apache-2.0, at your choice."
}

for crate in record plan macros anabranch network anabranch-cluster abz-codec; do
    if [ "${1:-}" = --check ]; then
        page "$crate" | diff "crates/$crate/README.md" - || { echo "crates/$crate/README.md: run scripts/readmes.sh" >&2; exit 1; }
    else
        page "$crate" > "crates/$crate/README.md"
    fi
done
