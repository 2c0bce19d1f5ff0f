#!/bin/sh
# Builds the C++ rivals that are installed: of `exploration`, OpenMP tasks (a compiler with -fopenmp) and oneTBB (Debian
# libtbb-dev); with the library of the programs' stages, the programs with OpenMP tasks that depend on one another.
# usage: build.sh PROGRAM [STAGES.a]    ($CXX is the compiler, g++ by default, and $CXXFLAGS its options, -O3)
set -eu
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: $0 PROGRAM [STAGES.a]" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
compiler=${CXX:-g++}
command -v "$compiler" > /dev/null || { echo "no C++ compiler $compiler: install g++" >&2; exit 1; }
source=$here/rivals.cpp
[ $# = 1 ] || source=$here/stages.cpp
command="$compiler -std=c++20 ${CXXFLAGS:--O3} -DNDEBUG -pthread -o $1 $source"
if echo 'int main() {}' | $compiler -fopenmp -x c++ -o "$1.probe" - 2> /dev/null; then
    command="$command -fopenmp"
elif [ $# = 2 ]; then
    echo "no OpenMP: $compiler has no -fopenmp" >&2
    exit 1
fi
rm -f "$1.probe"
if [ $# = 2 ]; then
    command="$command $2 -ldl -lm"
elif echo '#include <tbb/parallel_pipeline.h>' | $compiler -std=c++20 -fsyntax-only -x c++ - 2> /dev/null; then
    command="$command -ltbb"
fi
# Built already, and in the same way?
if [ -e "$1" ] && [ "$1" -nt "$source" ] && { [ $# = 1 ] || [ "$1" -nt "$2" ]; } &&
    [ "$(cat "$1.command" 2> /dev/null)" = "$command" ]; then
    exit
fi
$command
echo "$command" > "$1.command"
