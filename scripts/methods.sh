#!/usr/bin/env bash
# Lists the public methods of a stream, and counts them last.
set -euo pipefail
cd "$(dirname "$0")/.."
find crates/anabranch/src -name '*.rs' -print0 | xargs -0 awk '
    /^impl/ { ours = /Stream<\x27/ && !/ for / }
    ours && match($0, /^    pub fn [a-z_]+/) { print substr($0, 12, RLENGTH - 11) }
' | sort -u | tee /dev/stderr | wc -l
