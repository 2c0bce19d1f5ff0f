#!/bin/sh
# Builds one of the programs in C++. If something that it needs is missing, the last line says what, and the status is 2.
# usage: build.sh VARIANT PROGRAM
#   CXX        the compiler, c++ by default
#   ANABRANCH  the folder with libanabranch_c.a and sparxx, for our own variants
#   FASTFLOW   a checkout of github.com/fastflow/fastflow
#   TASKFLOW   a checkout of github.com/taskflow/taskflow
set -eu
[ $# = 2 ] || { echo "usage: $0 VARIANT PROGRAM" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
flags="-std=c++20 -O3 -DNDEBUG -ffp-contract=off -pthread -I$here"

absent() {
    echo "$1" >&2
    exit 2
}
compiles() {
    echo "$2" | ${CXX:-c++} $flags $1 -x c++ -fsyntax-only - 2> /dev/null
}

case $1 in
    cpp-sequential) set -- "${CXX:-c++}" "$2" sequential.cpp ;;
    cpp-builder)
        set -- "${CXX:-c++}" "$2" builder.cpp "-I$here/../../../crates/capi/include" "$ANABRANCH/libanabranch_c.a" -ldl -lm ;;
    cpp-annotated) set -- "$ANABRANCH/sparxx" "$2" annotated.cpp -spar_file ;;
    tbb)
        compiles "" "#include <tbb/parallel_pipeline.h>" || absent "oneTBB is not installed (Debian: libtbb-dev)"
        set -- "${CXX:-c++}" "$2" tbb.cpp -ltbb ;;
    taskflow)
        compiles "-I${TASKFLOW:-}" "#include <taskflow/taskflow.hpp>" || absent "--taskflow names no checkout of github.com/taskflow/taskflow"
        set -- "${CXX:-c++}" "$2" taskflow.cpp "-I$TASKFLOW" ;;
    openmp)
        compiles "-fopenmp" "#include <omp.h>" || absent "${CXX:-c++} has no OpenMP (Debian: libgomp1 for g++, libomp-dev for clang++)"
        set -- "${CXX:-c++}" "$2" openmp.cpp -fopenmp ;;
    fastflow | fastflow-spinning)
        compiles "-I${FASTFLOW:-}" "#include <ff/ff.hpp>" || absent "--fastflow names no checkout of github.com/fastflow/fastflow"
        blocking=-DBLOCKING
        [ "$1" = fastflow ] || blocking=-UBLOCKING
        set -- "${CXX:-c++}" "$2" fastflow.cpp "-isystem$FASTFLOW" "$blocking" ;;
    *) absent "there is no variant $1 in C++" ;;
esac

compiler=$1 program=$2 source=$3
shift 3
# Built already, in the same way and from these sources?
command="$compiler $flags $source $*"
if [ "$(cat "$program.command" 2> /dev/null)" = "$command" ] && [ -z "$(find "$here" -newer "$program")" ]; then
    exit
fi
case " $* " in
    *" -spar_file "*) "$compiler" $flags -spar_file "$here/$source" -o "$program" ;;
    *) "$compiler" $flags "$here/$source" "$@" -o "$program" ;;
esac
echo "$command" > "$program.command"
