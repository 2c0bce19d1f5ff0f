#!/usr/bin/env bash
# Checks the licences, versions and sources of the dependencies, and looks for known vulnerabilities in them.
#
#     scripts/dependencies.sh [--offline] [--database DIR]
#
# --offline       uses the database of vulnerabilities that an earlier call has fetched, and the crates that cargo has.
# --database DIR  uses a clone of https://github.com/RustSec/advisory-db in DIR, and fetches nothing.
#
# It needs `cargo install --locked cargo-deny cargo-audit`. Both read the same database: cargo-deny looks up the crates that a
# build can use, and cargo-audit all that the lock files name.
set -euo pipefail
cd "$(dirname "$0")/.."
fetch=() database=
while [ $# -gt 0 ]; do
    case $1 in
    --offline) fetch=(--no-fetch) ;;
    --database)
        database=$(realpath "$2")
        fetch=(--no-fetch)
        shift
        ;;
    *)
        sed -n '4,7p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
for program in cargo-deny cargo-audit; do
    command -v $program >/dev/null || { echo "$program is not installed: cargo install --locked $program" >&2; exit 1; }
done

status=0
[ ${#fetch[@]} = 0 ] || export CARGO_NET_OFFLINE=true
for workspace in . measure signals crates/python; do
    echo "== $workspace"
    deny=(cargo deny --locked --manifest-path $workspace/Cargo.toml --config "$PWD/deny.toml")
    "${deny[@]}" check --allow unmatched-skip-root licenses bans sources || status=1
    # cargo-deny takes the folder of its database from its configuration alone, so that of a caller is for cargo-audit.
    [ -n "$database" ] || "${deny[@]}" check ${fetch:+--disable-fetch} advisories || status=1
    cargo audit "${fetch[@]}" ${database:+--db "$database"} --stale --file $workspace/Cargo.lock || status=1
done
exit $status
