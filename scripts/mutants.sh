#!/usr/bin/env bash
# Removes one rule of the protocols at a time and checks that a model notices.
#
#     scripts/mutants.sh [NAME...]     only these mutants; without names all of them
#
# A mutant is a `Mutant("NAME")` in the sources. scripts/mutants.md says what each one does and which models kill it;
# they are run one by one, until one fails. A mutant without a row is run against all models of its crate.
# The models are built once for each checker, and the variable MUTANT chooses a mutant. Every model that is used is run
# without a mutant first, under the same time limit: so a model that hangs or reaches a limit with the mutant was killed by it.
#
# MODEL_SECONDS is the time limit of a model (120). A mutant that survives is tried again with SCHEDULES (40) times as many
# random schedules.
#
# Exits with 1 if a mutant survives, or if the table and the sources do not name the same mutants.
set -uo pipefail
cd "$(dirname "$0")/.."
base=${CARGO_TARGET_DIR:-target}/models
table=scripts/mutants.md
limit=${MODEL_SECONDS:-120}
patience=${SCHEDULES:-40}
unset MUTANT
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0

in_sources() { grep -rhoE 'Mutant\("[a-z_]+"\)' crates --include='*.rs' | cut -d'"' -f2 | sort -u; }
in_table() { sed -nE 's/^\| `([a-z_]+)` \|.*/\1/p' "$table" | sort -u; }
# The models that kill $1 according to the table, as MODULE::TEST of the crate's test program.
models_of() { grep -E "^\| \`$1\` \|" "$table" | grep -oE '(loom|shuttle)_[a-z]+::[a-z_]+'; }

# The test program with the models of checker $1 in package $2.
build() {
    local log
    log=$(RUSTFLAGS="--cfg $1 --cfg mutants -A warnings" CARGO_TARGET_DIR=$base/mutants/$1 \
        cargo test -p "$2" --release --no-run --test integration 2>&1) || { echo "$log" >&2; return 1; }
    sed -nE 's/^ *Executable tests\/integration\/main\.rs \((.*)\)$/\1/p' <<<"$log"
}

# Runs test $2 of program $1. 0: it holds; 124 or 137: it hangs; 2: there is no such test; else: it fails.
run() {
    local out code
    out=$(timeout -k 5 "$limit" "$1" --exact "$2" 2>&1)
    code=$?
    grep -q '^running 0 tests' <<<"$out" && return 2
    return $code
}

sources=$(in_sources)
failed=0
if [ $# -eq 0 ] && ! diff <(echo "$sources") <(in_table) >&2; then
    echo "$table (right) and the sources (left) do not name the same mutants" >&2
    failed=1
fi
names=("${@:-$sources}")
declare -A known programs
programs[loom]=$(build loom anabranch-record)
programs[shuttle]=$(build shuttle anabranch)
programs[records]=$(build loom anabranch-network)
programs[network]=$(build shuttle anabranch-network)
for program in "${programs[@]}"; do [ -n "$program" ] || exit 2; done
# The program that has model $1.
program_of() {
    case $1 in
    loom_record::* | loom_outside::*) echo "${programs[records]}" ;;
    loom_*) echo "${programs[loom]}" ;;
    shuttle_networks::*) echo "${programs[network]}" ;;
    *) echo "${programs[shuttle]}" ;;
    esac
}
count=0
survivors=0
for name in ${names[@]}; do
    if ! grep -qx "$name" <<<"$sources"; then
        echo "there is no mutant \"$name\"" >&2
        exit 2
    fi
    models=$(models_of "$name")
    if [ -z "$models" ]; then
        # Not in the table: everything that models the crate.
        suite=loom
        grep -rlq "Mutant(\"$name\")" crates/anabranch && suite=shuttle
        grep -rlq "Mutant(\"$name\")" crates/network/src/network && suite=network
        grep -rlq "Mutant(\"$name\")" crates/network/src/record && suite=records
        models=$("${programs[$suite]}" --list 2>/dev/null | sed -nE "s/^((loom|shuttle)_[a-z_:]+): test$/\1/p")
    fi
    verdict=SURVIVED
    for attempt in $(sed "s/$/@1/" <<<"$models") $(grep shuttle_ <<<"$models" | sed "s/$/@$patience/"); do
        model=${attempt%@*}
        program=$(program_of "$model")
        export SCHEDULES=${attempt#*@}
        if [ -z "${known[$attempt]:-}" ]; then
            run "$program" "$model"
            code=$?
            if [ $code -ne 0 ]; then
                echo "$model does not hold without a mutant, or not within $limit s ($code)" >&2
                exit 2
            fi
            known[$attempt]=holds
        fi
        MUTANT=$name run "$program" "$model"
        case $? in
        0) continue ;;
        124 | 137) verdict="killed by $model (it hangs)" ;;
        *) verdict="killed by $model" ;;
        esac
        break
    done
    printf '%-36s %s\n' "$name" "$verdict"
    count=$((count + 1))
    [ "$verdict" = SURVIVED ] && survivors=$((survivors + 1))
done
echo "mutants: $count, survivors: $survivors"
[ $survivors -eq 0 ] || failed=1
exit $failed
