#!/usr/bin/env bash
# Translates the public programs of SPar, and holds what they print against the sequential program.
#   scripts/spar_programs.sh SPARXX DIR     # DIR gets a clone of github.com/GMAP/SPar, unless it is there
# Their licences are their own: nothing of them is in this repository.
set -euo pipefail
sparxx=$(realpath "$1")
mkdir -p "$2" && cd "$2"
[ -d SPar ] || git clone --depth 1 https://github.com/GMAP/SPar
cxx=${CXX:-c++}
flags=("" "-spar_ordered" "-spar_ondemand" "-spar_ondemand 4 -spar_blocking" "-spar_unordered")

# check FOLDER FILE INPUT ARGUMENTS...: prints a line for each set of flags and number of workers.
check() {
    local folder=$1 file=$2 sorted=$3
    shift 3
    (
        cd "SPar/examples/$folder"
        "$cxx" -w -O1 -include cmath -include cerrno "$file" -o sequential
        ./sequential "$@" >sequential.out
        [ ! -e ouput.txt ] || mv ouput.txt sequential.file
        for flag in "${flags[@]}"; do
            # shellcheck disable=SC2086
            "$sparxx" $flag -w -O1 -include cmath -include cerrno -spar_file "$file" -o parallel
            for workers in 1 2 4; do
                SPAR_NUM_WORKERS=$workers ./parallel "$@" >parallel.out
                [ ! -e ouput.txt ] || mv ouput.txt parallel.file
                verdict=equal
                for kind in out file; do
                    [ -e "sequential.$kind" ] || continue
                    if ! cmp -s <(grep -iv time "sequential.$kind" | "$sorted") <(grep -iv time "parallel.$kind" | "$sorted"); then
                        verdict=DIFFERS
                    fi
                done
                echo "$verdict  $folder/$file  ${flag:-no flag}  $workers workers"
            done
        done
    )
}

words() { tr ' ' '\n' | sort; }

check prime_number prime.cpp cat -n 6000 -r 3
check matrix_multi matrix_multi.cpp cat
check file_stream file_stream.cpp sort
check . simple_spar.cpp words
check sobel_filter sobel.cpp sort 800x600/
"$sparxx" -w -c -spar_file SPar/examples/reactive_stream/reactive_stream.cpp -o reactive.o && echo "translated  reactive_stream"
