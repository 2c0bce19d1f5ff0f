#!/usr/bin/env bash
# Starts a NATS server and three workers on this machine, renders a film on them and once more in one process, and compares the
# two files. Needs the program nats-server, which is a package of Debian.
#
#     scripts/cluster.sh [FILE [--frames N] [--size WIDTHxHEIGHT]]
#
# FILE is the film that is kept, in the format YUV4MPEG2. Without it, none is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v nats-server >/dev/null || { echo "nats-server is not installed: apt-get install nats-server" >&2; exit 1; }
cargo build --release --quiet -p anabranch-cluster --example render
render=${CARGO_TARGET_DIR:-target}/release/examples/render

folder=$(mktemp -d)
processes=()
# The workers leave first, so that they need not wait for a server that is gone.
finish() {
    for process in "${processes[@]:1}" "${processes[@]:0:1}"; do
        kill "$process" && wait "$process" || true
    done
    rm -rf "$folder"
}
trap finish EXIT

film=${1:-$folder/film.y4m}
[ $# -gt 0 ] && shift

# The server chooses a free port, and writes it into a file.
nats-server -js -a 127.0.0.1 -p -1 -sd "$folder" --ports_file_dir "$folder" -l "$folder/log" &
processes+=($!)
for _ in $(seq 100); do
    ports=$(cat "$folder"/nats-server_*.ports 2>/dev/null || true)
    [[ $ports == *nats://* ]] && break
    sleep 0.1
done
[[ $ports =~ nats://[0-9.]+:[0-9]+ ]] || { echo "the server has not started: $(tail -1 "$folder/log")" >&2; exit 1; }
export ANABRANCH_CLUSTER=${BASH_REMATCH[0]}

for _ in 1 2 3; do
    "$render" worker &
    processes+=($!)
done

"$render" run "$film" "$@"
"$render" local "$folder/local.y4m" "$@" 2>/dev/null
cmp "$film" "$folder/local.y4m"
echo "the film of the cluster is that of one process, byte by byte"
