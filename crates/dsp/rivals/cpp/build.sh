#!/bin/sh
# Builds the C++ rivals of `exploration` that are installed: OpenMP tasks (a compiler with -fopenmp) and oneTBB (Debian
# libtbb-dev).
# usage: build.sh PROGRAM    ($CXX is the compiler, g++ by default, and $CXXFLAGS its options, -O3)
set -eu
[ $# = 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
compiler=${CXX:-g++}
command -v "$compiler" > /dev/null || { echo "no C++ compiler $compiler: install g++" >&2; exit 1; }
command="$compiler -std=c++20 ${CXXFLAGS:--O3} -DNDEBUG -pthread -o $1 $here/rivals.cpp"
if echo 'int main() {}' | $compiler -fopenmp -x c++ -o "$1.probe" - 2> /dev/null; then
    command="$command -fopenmp"
fi
rm -f "$1.probe"
if echo '#include <tbb/parallel_pipeline.h>' | $compiler -std=c++20 -fsyntax-only -x c++ - 2> /dev/null; then
    command="$command -ltbb"
fi
# Built already, and in the same way?
if [ -e "$1" ] && [ "$1" -nt "$here/rivals.cpp" ] && [ "$(cat "$1.command" 2> /dev/null)" = "$command" ]; then
    exit
fi
$command
echo "$command" > "$1.command"
