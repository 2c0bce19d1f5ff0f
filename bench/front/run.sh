#!/usr/bin/env bash
# Measures the front ends: annotations beside the builder, and `anabranch::ssp` beside Rust-SSP.
#
#     RUST_SSP_DIR=/path/to/rust-ssp bench/front/run.sh [ROUNDS]
#
# Rust-SSP is not in a registry: without a checkout of its repository, that part says so and is left out. Instructions
# are counted by `valgrind` if it is there; times of the two contenders alternate, the least of the rounds counts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-5}
work=${CARGO_TARGET_DIR:-$here/../../target}/front
mkdir -p "$work/src/bin"
work=$(cd "$work" && pwd)
cp "$here/loops.rs" "$work/src/bin/loops.rs"
sed 's/use SSP::/use anabranch::ssp::/' "$here/ssp.rs" > "$work/src/bin/ours.rs"
rm -f "$work/src/bin/theirs.rs"
cat > "$work/Cargo.toml" <<END
[package]
name = "front"
version = "0.0.0"
edition = "2021"
[workspace]
[dependencies]
anabranch = { path = "$here/../../crates/anabranch" }
[profile.release]
lto = "thin"
codegen-units = 1
END
if [ -n "${RUST_SSP_DIR:-}" ]; then
    sed 's/use SSP::/use rust_spp::/' "$here/ssp.rs" > "$work/src/bin/theirs.rs"
    sed -i "s|^\[dependencies\]|[dependencies]\nrust-spp = { path = \"$RUST_SSP_DIR\" }|" "$work/Cargo.toml"
fi
export CARGO_TARGET_DIR=$work/target
cargo build --release --quiet --manifest-path "$work/Cargo.toml"
bin=$CARGO_TARGET_DIR/release

echo "Annotations beside the builder (grain about 16 ns)"
for kind in "" _with_errors; do
    for workers in 1 2; do
        for form in annotated builder; do
            best=$(for _ in $(seq "$rounds"); do "$bin/loops" "$form$kind" $workers 5000000; done | sort -n | head -1)
            echo "  $form$kind, $workers workers: $best"
        done
    done
    if command -v valgrind > /dev/null; then
        for form in annotated builder; do
            count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bin/loops" "$form$kind" 1 1000000 2>&1 |
                sed -n 's/.*Collected : //p')
            echo "  $form$kind, 1 worker, 1,000,000 items: $count instructions"
        done
    else
        echo "  valgrind is not there: instructions were not counted"
    fi
done

if [ -z "${RUST_SSP_DIR:-}" ]; then
    echo "RUST_SSP_DIR is not set: no comparison with Rust-SSP"
    exit
fi
echo "Rust-SSP's program, ns an item at a grain of about 0, 100 ns, 1 us, 10 us"
for _ in $(seq "$rounds"); do
    for library in ours theirs; do
        echo "  $library: $("$bin/$library")"
    done
done
echo "Cores busy while idle"
for library in ours theirs; do
    echo "  $library: $("$bin/$library" idle)"
done
