#!/usr/bin/env bash
# Runs the tests of anabranch-record and anabranch-network, which have most of the unsafe code, under Miri. Without Miri it takes AddressSanitizer, and
# without a nightly toolchain it says that nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
if cargo +nightly miri --version >/dev/null 2>&1; then
    MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p anabranch-record -p anabranch-network --lib
elif cargo +nightly --version >/dev/null 2>&1; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    # A test asks for more memory than there is. Networks that are dropped without a run leave their processes on purpose, and tests
    # forget values.
    export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
    RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p anabranch-record -p anabranch-network --tests --target "$host" --target-dir target/sanitized
else
    echo "not checked: unsafe code (there is no nightly toolchain)" >&2
fi
