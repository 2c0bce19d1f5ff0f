#!/usr/bin/env bash
# How long the README's commands take from cold, downloads not counted, and how much of that the tests run.
#
#     scripts/times.sh [--keep DIR]
#
# Wall time is what users see, and means something on a machine with nothing else to do; processor time means something
# beside other programs too. --keep DIR builds in DIR, which must be empty, and leaves it there with cargo's own timings.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
target=$folder/target
case ${1:-} in
--keep) target=$2 ;;
"") ;;
*)
    sed -n "4,7p" "$0" >&2
    exit 2
    ;;
esac
trap 'rm -rf "$folder"' EXIT
if [ -n "$(ls -A "$target" 2>/dev/null)" ]; then
    echo "$target is not empty" >&2
    exit 2
fi
cargo fetch --quiet
export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$target
TIMEFORMAT='   %R s; processors %U s and %S s in the system'
# Runs a command with its output in a file, and tells what it took.
timed() {
    echo "$*"
    time "$@" >"$folder/output" 2>&1 || { tail -50 "$folder/output" >&2; exit 1; }
}

echo "$(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown), $(rustc --version)"
cp ARCHITECTURE.md "$folder/file"
timed cargo run --release --timings -- -kf "$folder/file"
rm -rf "$target/release"
timed cargo test --workspace --no-run --timings
timed cargo test --workspace
