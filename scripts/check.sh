#!/usr/bin/env bash
# The checks of a change, in three tiers. Each tier has the one before it.
#
#     scripts/check.sh quick CRATE [TEST]   while you work: formatting, lints, the crate's unit tests, and its tests whose names
#                                           contain TEST: under a minute once the crate was built
#     scripts/check.sh change               before you hand it in: .ci/run, 30 minutes at most from cold on two cores
#     scripts/check.sh nightly [STEP...]    what takes longer, or only these of its steps. It goes on after a step that fails, and
#                                           ends with the time of each
set -uo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '2,9p' "$0" >&2
    exit 2
}

# One code generation unit takes 7 minutes for the tests of anabranch, and makes them a little faster.
export fast_build="env CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16"

# Each step of the nightly tier: its name, its minutes from cold on two cores, and its command. The minutes were measured while other
# programs used half of the machine. Those with ~ are estimates: that of `features` from two thirds of its runs, and that of `change`
# from its limit.
steps() {
    cat <<'STEPS'
change     ~30  .ci/run
features   ~60  scripts/features.sh test
portable     6  RUSTFLAGS="--cfg portable" CARGO_TARGET_DIR=target/portable cargo test -p anabranch-record -p anabranch-network -p anabranch
models       8  scripts/models.sh
mutants     10  scripts/mutants.sh
miri         4  scripts/unsafe.sh
soak        10  $fast_build SOAK_SECONDS=60 cargo test -p anabranch --release --test integration soak -- --ignored --nocapture
annotated    3  ANNOTATED=2500 ANNOTATED_FROM="$SEED"0000 cargo test -p anabranch --test integration annotated_functions -- --ignored --nocapture
generator   15  PROPTEST_RNG_SEED=$SEED PROPTEST_CASES=10000 cargo test -p anabranch --test integration generator::
written      4  PROPTEST_RNG_SEED=$SEED ANNOTATED_CASES=600 cargo test -p anabranch --test integration many_cases_as_annotated -- --ignored --nocapture
cpp          1  PROPTEST_RNG_SEED=$SEED PROPTEST_CASES=6000 cargo test -p capi --test integration contract
cluster      6  CLUSTER_RUNS=2000 CLUSTER_SEED=$SEED cargo test -p anabranch-cluster --test integration random::
fuzz        30  $fast_build ABZ_FUZZ_SECONDS=600 cargo test -p abz-codec --release --test integration mutation
damaged     5  $fast_build ABZ_SOAK=8 cargo test --release -p abz --test integration corrupted
abz          2  cargo build --release -p abz
inject       1  scripts/inject.sh target/release/abz
readers     13  scripts/readers.sh --fetch target/readers --boot target/release/abz
python       9  scripts/python.sh --sources
package     14  scripts/package.sh
dependencies 1  scripts/dependencies.sh
STEPS
}

case ${1:-} in
quick)
    crate=${2:-} test=${3:-}
    [ -n "$crate" ] || usage
    set -e
    cargo fmt --all -- --check
    cargo clippy -p "$crate" --all-targets -- -D warnings
    cargo test --quiet -p "$crate" --lib
    [ -z "$test" ] || cargo test --quiet -p "$crate" --test integration -- "$test"
    ;;
change) .ci/run ;;
nightly)
    shift
    told=() failed=0
    export SEED=${SEED:-$RANDOM} # of the random cases
    while read -r name minutes command; do
        case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
        echo "== $name (about ${minutes#\~} minutes): ${command//\$SEED/$SEED}"
        start=$SECONDS result=passed
        bash -c "$command" </dev/null || { result=FAILED failed=1; }
        told+=("$(printf '%-14s %-7s %5d s' "$name" "$result" $((SECONDS - start)))")
    done < <(steps)
    printf '%s\n' "${told[@]}"
    exit "$failed"
    ;;
*) usage ;;
esac
