#!/usr/bin/env bash
# Runs the tests of anabranch-record, which has most of the unsafe code, under Miri. Without Miri it takes AddressSanitizer, and
# without a nightly toolchain it says that nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
if cargo +nightly miri --version >/dev/null 2>&1; then
    MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p anabranch-record --lib
elif cargo +nightly --version >/dev/null 2>&1; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p anabranch-record --tests --target "$host" --target-dir target/sanitized
else
    echo "not checked: unsafe code (there is no nightly toolchain)" >&2
fi
