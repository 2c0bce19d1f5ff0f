#!/usr/bin/env bash
# Builds and tests what users install, and writes it to dist/ with its checksums in dist/SHA256SUMS.
#
#     scripts/package.sh [--twice] [--build-only] [PART...]
#
# PART is one of these; without it, all are built:
#
#     crates     the crates that can be published: dist/*.crate
#     abz        the static program, as a tarball and as a package of Debian: dist/abz-*.tar.gz, dist/abz_*.deb
#     library    the C and C++ library with spar++, as a tarball and as packages of Debian: dist/libanabranch*
#     wheel      abz for Python, if crates/python is there: dist/*.whl
#     book       runs each line of installing.md and from-cpp.md of the book against dist
#
# --twice       builds everything again, in a clone in another folder, and compares the bytes.
# --build-only  leaves out the tests of what was built.
#
# It needs the stock Rust toolchain, a C and C++ compiler, Python 3, git and dpkg-deb. With CARGO_NET_OFFLINE=true it needs no
# network, once `cargo fetch` has run. Changes must be committed. A test that needs a program that is not installed is left
# out, and a line says so; the tests in a chroot and of the packages of Debian need root.
set -euo pipefail
cd "$(dirname "$0")/.."
twice= tests=1 parts=()
while [ $# -gt 0 ]; do
    case $1 in
    --twice) twice=1 ;;
    --build-only) tests= ;;
    crates | abz | library | wheel | book) parts+=("$1") ;;
    *)
        sed -n '4,15p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
if [ -n "$(git status --porcelain)" ]; then
    echo "there are changes that are not committed: commit or stash them" >&2
    exit 1
fi

repository=$PWD
dist=$repository/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p;T;q' Cargo.toml)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$repository/target}/packages
if [ ${#parts[@]} = 0 ]; then
    rm -rf "$dist"
    parts=(crates abz library wheel book)
fi
mkdir -p "$dist" "$CARGO_TARGET_DIR"
CARGO_TARGET_DIR=$(realpath "$CARGO_TARGET_DIR")
work=$(mktemp -d "${TMPDIR:-/tmp}/package.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The same sources give the same bytes: no time but that of the commit, no path of this machine, no order of a folder.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
host=x86_64-unknown-linux-gnu
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# What .cargo/config.toml says of C, and the same for the paths in its assertions.
CFLAGS_x86_64_unknown_linux_gnu="$(sed -n 's/^CFLAGS_x86_64_unknown_linux_gnu = "\(.*\)"/\1/p' .cargo/config.toml) -ffile-prefix-map=$cargo_home=/cargo"
export CFLAGS_x86_64_unknown_linux_gnu
remapped="--remap-path-prefix=$repository=/anabranch --remap-path-prefix=$cargo_home=/cargo"

# Whether program $1 is installed; says that $2 is left out if it is not.
have() {
    command -v "$1" >/dev/null && return
    echo "LEFT OUT, as $1 is not installed: $2"
    return 1
}

# Packs folder $1, the last part of whose path is the folder in the archive, as dist/$2.
tarball() {
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --directory "$(dirname "$1")" "$(basename "$1")" | gzip -n9 >"$dist/$2"
}

# shellcheck source=packages/debian.sh
. scripts/packages/debian.sh

for part in "${parts[@]}"; do
    began=$SECONDS
    echo "== $part"
    # A failure must end the script, so this is no condition.
    # shellcheck source=/dev/null
    (. "scripts/packages/$part.sh")
    (cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
    echo "== $part took $((SECONDS - began)) s"
done
cat "$dist/SHA256SUMS"

if [ -n "$twice" ]; then
    echo "== again, in another folder"
    git clone --quiet --no-local "$repository" "$work/again"
    CARGO_TARGET_DIR=$work/target "$work/again/scripts/package.sh" --build-only "${parts[@]}" >"$work/log" 2>&1 ||
        { tail -50 "$work/log" >&2; exit 1; }
    diff "$dist/SHA256SUMS" "$work/again/dist/SHA256SUMS" || { echo "the second build differs from the first" >&2; exit 1; }
    echo "the second build has the same bytes"
fi
