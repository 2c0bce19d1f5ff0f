#!/usr/bin/env bash
# Checks that the crates compile for other systems, as far as the standard library of each is there.
#
#     scripts/check_targets.sh [TARGET...]
#
# Without TARGET: macOS, Windows, 64-bit ARM and 32 bits. `rustup target add TARGET` gets its standard library. The crates with
# code in C (abz, abz-codec) are checked too where a C compiler for the target is there, and where abz can run.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin x86_64-pc-windows-msvc aarch64-unknown-linux-gnu i686-unknown-linux-gnu

libraries=(-p anabranch-record -p anabranch-plan -p anabranch-macros -p anabranch -p anabranch-network -p anabranch-cluster)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '#include <stdlib.h>' >"$folder/empty.c"

# Whether cargo's build scripts find a C compiler for target $1: the host's own, or one that is named after the target.
compiles_c() {
    case $1 in
    "$(rustc -vV | sed -n 's/^host: //p')") cc -c "$folder/empty.c" -o "$folder/empty.o" ;;
    i686-unknown-linux-gnu) cc -m32 -c "$folder/empty.c" -o "$folder/empty.o" ;;
    *-linux-gnu) "${1/-unknown/}-gcc" -c "$folder/empty.c" -o "$folder/empty.o" ;;
    *-apple-*) [ "$(uname -s)" = Darwin ] ;;
    *) false ;;
    esac 2>/dev/null
}

checked=0
for target in "$@"; do
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        echo "$target: NOT CHECKED, as its standard library is not installed (rustup target add $target)"
        continue
    fi
    cargo check --quiet --locked --all-features --target "$target" "${libraries[@]}"
    checked=$((checked + 1))
    if compiles_c "$target"; then
        cargo check --quiet --locked --target "$target" -p abz-codec -p abz
        echo "$target: checked"
    else
        echo "$target: the libraries are checked; NOT CHECKED are abz and abz-codec, as no C compiler for it is installed"
    fi
done
echo "$checked of $# targets are checked"
