#!/usr/bin/env bash
# Translates the public programs of SPar, and compares what they print with the sequential program. Exits with 1 if it differs.
#   scripts/spar_programs.sh SPARXX DIR     # DIR gets clones of github.com/GMAP/SPar and SPBench, unless they are there
# Of SPBench, bzip2 is built (Debian's libbz2-dev) and run; ferret (libgsl-dev, libjpeg-dev) and the two that need OpenCV
# (libopencv-dev) are translated, and compiled where their libraries are installed.
# Their licences are their own: nothing of them is in this repository.
set -euo pipefail
sparxx=$(realpath "$1")
mkdir -p "$2" && cd "$2"
here=$PWD
rm -f differs
[ -d SPar ] || git clone --depth 1 https://github.com/GMAP/SPar
[ -d SPBench ] || git clone --depth 1 https://github.com/GMAP/SPBench
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
                        touch "$here/differs"
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

# SPBench: the flags of its configurations, without the library UPL, which measures the use of processors.
spbench() {
    echo "-w -O1 -std=c++17 -DNO_UPL -DNO_CMAKE_CONFIG -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DNO_DEFAULT_MAPPING" \
        "-ISPBench/libs/spbench -ISPBench/sys/apps/$1 -ISPBench/sys/apps/$1/include -I$2 -I$2/operators/include"
}

# bzip2, which compresses a file. The sequential program fails when it decompresses ("Could not read enough data from file"), so
# this is not compared.
bzip2() {
    local folder=SPBench/benchmarks/bzip2 common form flag workers
    common="SPBench/libs/spbench/spbench.cpp SPBench/sys/apps/bzip2/bzip2_utils.cpp"
    [ -e text ] || for _ in 1 2 3 4 5 6 7 8; do cat SPBench/src/*.py SPBench/sys/apps/*/*.cpp; done >text
    form=$folder/sequential/bzip2_sequential
    # shellcheck disable=SC2046,SC2086
    "$cxx" $(spbench bzip2 $form) $form/*.cpp $form/operators/src/*.cpp $common -lbz2 -pthread -o bzip2_sequential
    rm -f text.bz2 && ./bzip2_sequential -X -C -i text >/dev/null && mv text.bz2 sequential.bz2
    form=$folder/spar/bzip2_spar_farm
    for flag in "${flags[@]:0:4}"; do
        # shellcheck disable=SC2046,SC2086
        "$sparxx" $flag $(spbench bzip2 $form) -spar_file $form/bzip2_spar_farm.cpp $form/operators/src/*.cpp $common \
            -lbz2 -o bzip2_spar
        for workers in 1 2 4; do
            rm -f text.bz2 && SPAR_NUM_WORKERS=$workers ./bzip2_spar -X -C -i text >/dev/null
            verdict=equal
            cmp -s text.bz2 sequential.bz2 || { verdict=DIFFERS && touch "$here/differs"; }
            echo "$verdict  SPBench bzip2  ${flag:-no flag}  $workers workers"
        done
    done
}

# translated APPLICATION PROGRAM FLAGS...: compiles a program whose libraries are found by the flags, or translates it.
translated() {
    local form=SPBench/benchmarks/$1/spar/$2 name=$1
    shift 2
    local program
    program=$form/$(basename "$form").cpp
    "$sparxx" --check "$program"
    # shellcheck disable=SC2046
    if [ $# -gt 0 ] && "$sparxx" $(spbench "$name" "$form") "$@" -c -spar_file "$program" -o program.o; then
        echo "compiled    SPBench $(basename "$form")"
    else
        echo "translated  SPBench $(basename "$form")"
    fi
}

# What pkg-config says of a library, or nothing.
# shellcheck disable=SC2046
library() { pkg-config --cflags "$1" 2>/dev/null || true; }

bzip2
for program in ferret_spar_farm ferret_spar_pipeline; do
    # shellcheck disable=SC2046
    translated ferret $program $(library gsl)
done
# shellcheck disable=SC2046
translated lane_detection lane_spar_farm $(library opencv4)
# shellcheck disable=SC2046
translated person_recognition person_spar_farm $(library opencv4)
[ ! -e "$here/differs" ]
