#!/bin/sh
# Builds the C++ rivals that are installed: oneTBB (Debian libtbb-dev), and Taskflow, which no distribution packages:
# TASKFLOW is the folder of its sources (4.x; 3.x for deferred tokens), the one with taskflow/taskflow.hpp below.
# usage: build.sh PROGRAM    ($CXX is the compiler, g++ by default)
set -eu
[ $# = 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
command="${CXX:-g++} -std=c++20 -O3 -DNDEBUG -pthread ${TASKFLOW:+-I$TASKFLOW} -o $1 $here/rivals.cpp"
if echo '#include <tbb/parallel_pipeline.h>' | ${CXX:-g++} -fsyntax-only -x c++ - 2> /dev/null; then
    command="$command -ltbb"
fi
# Built already, and in the same way?
if [ -e "$1" ] && [ "$1" -nt "$here/rivals.cpp" ] && [ "$1" -nt "$here/contender.hpp" ] && [ "$(cat "$1.command" 2> /dev/null)" = "$command" ]; then
    exit
fi
$command
echo "$command" > "$1.command"
