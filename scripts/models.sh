#!/usr/bin/env bash
# Runs every model: loom (memory order of the protocols), then shuttle (schedules of whole runs).
#
#     scripts/models.sh [FILTER]     only the tests whose names contain FILTER
#
# Exits with 1 if one fails. Each checker builds into a directory of its own below $CARGO_TARGET_DIR.
set -uo pipefail
cd "$(dirname "$0")/.."
base=${CARGO_TARGET_DIR:-target}/models
# Models need an optimised build, but not link-time optimisation.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0

failed=()
for suite in "loom anabranch-record" "loom anabranch-network" "shuttle anabranch" "shuttle anabranch-network"; do
    read -r checker package <<<"$suite"
    echo "== $checker: cargo test -p $package --release --test integration $*"
    RUSTFLAGS="--cfg $checker" CARGO_TARGET_DIR=$base/$checker \
        cargo test --quiet -p "$package" --release --no-fail-fast --test integration -- "$@" || failed+=("$checker $package")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED: ${failed[*]}"
    exit 1
fi
echo "all models hold"
