#!/bin/sh
# Compresses and decompresses 5 GiB through pipes: more than a 32-bit size can hold, and more members than one part of
# the index holds (blocks of 64 KiB).
# usage: soak.sh [MiB]    ($ABZ is the binary, by default that of the release build)
set -eu
mib=${1:-5120}
abz=${ABZ:-${CARGO_TARGET_DIR:-target}/release/abz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A megabyte that compresses like text. Each copy gets a different number.
"$abz" --help > "$work/text"
while [ "$(wc -c < "$work/text")" -lt 1000000 ]; do cat "$work/text" "$work/text" > "$work/t"; mv "$work/t" "$work/text"; done
head -c 1000000 "$work/text" > "$work/block"
input() {
    n=0
    while [ $n -lt "$mib" ]; do
        printf '%048576d' $n
        cat "$work/block"
        n=$((n + 1))
    done
}
sum() { sha256sum | cut -d' ' -f1; }

expected=$(input | sum)
for options in -1 "-6 -b64K" "-1 -p7"; do
    input | "$abz" $options > "$work/x.gz"
    [ "$("$abz" -dc "$work/x.gz" | sum)" = "$expected" ] || { echo "abz $options: other data" >&2; exit 1; }
    [ "$(gzip -dc "$work/x.gz" | sum)" = "$expected" ] || { echo "abz $options: gzip reads other data" >&2; exit 1; }
    listed=$("$abz" -ql "$work/x.gz" | awk '{ print $2 }')
    [ "$listed" = $((mib * 1048576)) ] || { echo "abz -l: $listed bytes" >&2; exit 1; }
    echo "abz $options: $mib MiB, both ways, and gzip agrees"
done
input | gzip -1 > "$work/x.gz"
[ "$("$abz" -dc < "$work/x.gz" | sum)" = "$expected" ] || { echo "gzip -1: abz reads other data" >&2; exit 1; }
echo "gzip -1: $mib MiB, and abz agrees"
