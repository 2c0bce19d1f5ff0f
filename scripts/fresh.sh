#!/usr/bin/env bash
# The README's two commands as a new user runs them: in a clean clone of HEAD, with an empty home, an empty CARGO_HOME, the
# stock toolchain (what `rustup toolchain install --profile default` brings), a C compiler and the base system alone, beside
# a program that keeps every processor busy; once without and once with RUST_BACKTRACE=1.
#
#     scripts/fresh.sh [--idle] [--target DIR] [--cargo-config FILE] [--rounds N]
#
# --idle               leaves the busy program out and runs each command once: this is how long a new user waits.
# --target DIR         builds in DIR and leaves it there: a second call is quicker. Without it everything is built anew.
# --cargo-config FILE  is the configuration of the empty CARGO_HOME, for a machine that reaches its registry by a mirror.
# --rounds N           runs the tests N more times; each run must pass.
#
# Exits with 1 at the first failure. It then keeps its folder and prints the name.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
target= config= rounds=0 idle=
while [ $# -gt 0 ]; do
    case $1 in
    --idle)
        idle=1
        shift
        continue
        ;;
    --target) target=$(realpath -m "$2") ;;
    --cargo-config) config=$(realpath "$2") ;;
    --rounds) rounds=$2 ;;
    *)
        sed -n '6,11p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done

work=$(mktemp -d "${TMPDIR:-/tmp}/fresh.XXXXXX")
busy=()
ended() {
    local status=$?
    [ ${#busy[@]} -gt 0 ] && kill "${busy[@]}" 2>/dev/null
    if [ $status -eq 0 ]; then rm -rf "$work"; else echo "FAILED: see $work" >&2; fi
}
trap ended EXIT
mkdir "$work"/{home,cargo,bin}
git clone --quiet --no-local "$repository" "$work/clone"
[ -z "$(git status --porcelain)" ] || echo "note: changes that are not committed are not in the clone" >&2
[ -z "$config" ] || cp "$config" "$work/cargo/config.toml"
target=${target:-$work/target}

# The toolchain, without the sources of the standard library if they are installed: rustc quotes them in its messages.
# rustc finds its libraries from where it really lies, so links to it would lead back to them.
sysroot=$(rustc --print sysroot)
if [ -e "$sysroot/lib/rustlib/src" ]; then
    cp -al "$sysroot" "$work/toolchain" 2>/dev/null || cp -a "$sysroot" "$work/toolchain"
    rm -r "$work/toolchain/lib/rustlib/src"
    sysroot=$work/toolchain
fi
for program in cargo rustc rustdoc rustfmt cargo-fmt cargo-clippy clippy-driver; do
    printf '#!/bin/sh\nexec %q "$@"\n' "$sysroot/bin/$program" >"$work/bin/$program"
    chmod +x "$work/bin/$program"
done

# The programs of the base system and of a C compiler.
compiler='^(cc|c99|gcc|as|ld|ar|nm|ranlib|strip|objcopy|objdump|.*-linux-gnu-(gcc|cc|as|ld|ar|nm|ranlib))(-[0-9.]+)?$'
if command -v dpkg-query >/dev/null; then
    dpkg-query -W -f '${Package} ${Essential}\n' | awk '$2 == "yes" { print $1 }' | xargs dpkg-query -L | sort -u
    # What these depend on, as far as it has programs.
    printf '%s\n' /usr/bin/{awk,mawk,kill,getconf}
else
    find /usr/bin /bin -maxdepth 1
fi >"$work/base"
find /usr/bin /usr/local/bin -maxdepth 1 | awk -F/ -v name="$compiler" '$NF ~ name' >>"$work/base"
grep -E '^(/usr)?(/local)?/bin/[^/]+$' "$work/base" | while read -r program; do
    [ ! -x "$program" ] || ln -sf "$program" "$work/bin/${program##*/}"
done

# Runs a command as the new user.
fresh() {
    local kept=() variable
    for variable in $(compgen -e | grep -iE '^(https?_proxy|no_proxy|ssl_cert_(file|dir)|cargo_(http|net|registr|source)_.*)$'); do
        kept+=("$variable=${!variable}")
    done
    (cd "$work/clone" && env -i "${kept[@]}" PATH="$work/bin" HOME="$work/home" CARGO_HOME="$work/cargo" \
        CARGO_TARGET_DIR="$target" "$@")
}

[ -n "$idle" ] || for _ in $(seq "$(nproc)"); do
    sh -c 'while :; do :; done' &
    busy+=($!)
done

compresses() {
    cp ARCHITECTURE.md "$work/file"
    rm -f "$work/file.gz"
    fresh "$@" cargo run --release -- -k "$work/file"
    gzip -dc "$work/file.gz" | cmp - "$work/file"
}

# Says what is done, and how long it took.
step() {
    local began=$SECONDS
    echo "== $1"
    shift
    "$@"
    echo "== took $((SECONDS - began)) s$beside"
}

beside=" beside a busy program" backtraces=("" RUST_BACKTRACE=1)
[ -z "$idle" ] || { beside="" && backtraces=(""); }
step "downloads" fresh cargo fetch --quiet
for backtrace in "${backtraces[@]}"; do
    step "cargo run --release -- -k FILE $backtrace" compresses ${backtrace:+"$backtrace"}
    step "cargo test --workspace $backtrace" fresh ${backtrace:+"$backtrace"} cargo test --workspace
done
for ((round = 1; round <= rounds; round++)); do
    step "cargo test --workspace, round $round of $rounds" fresh cargo test --workspace
done
echo "both commands work on a machine that has the stock toolchain, a C compiler and the base system"
