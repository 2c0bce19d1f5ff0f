#!/bin/sh
# Makes the inputs of the benchmarks in ../../crates/abz/README.md from Debian packages:
#   text    100 MiB of dictionaries and Unicode tables
#   source  100 MiB of the Linux kernel's source as a tar
#   media   90 MB of compressed data
# usage: corpus.sh DIR    (needs apt-get, dpkg-deb, gzip, bzip2, xz; 2 GB free in $TMPDIR or /tmp)
set -eu
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 1; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get download dict-gcide dict-wn dict-foldoc dict-jargon unicode-data linux-source-6.1 opencv-doc
for package in *.deb; do dpkg-deb -x "$package" x; done

{
    for name in gcide wn foldoc jargon; do gzip -dc < "x/usr/share/dictd/$name.dict.dz"; done
    find x/usr/share/unicode -name '*.txt' | LC_ALL=C sort | xargs cat
    find x/usr/share/unicode -name '*.bz2' | LC_ALL=C sort | xargs bzip2 -dc
} | head -c 104857600 > "$to/text"
# xz complains when head closes the pipe.
{ xz -dc x/usr/src/linux-source-6.1.tar.xz 2> "$work/said" || true; } | head -c 104857600 > "$to/source"
head -c 90000000 opencv-doc_*.deb > "$to/media"
ls -l "$to"
