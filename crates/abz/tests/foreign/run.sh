#!/usr/bin/env bash
# Runs the test suites of other programs against abz under their names, and prints a table of the results.
#
#     cargo build --release -p abz && crates/abz/tests/foreign/run.sh target/release/abz [FOLDER]
#
# Downloads the tests from Debian's source packages (see fetch.sh) to FOLDER, or to a temporary folder, since their
# licences do not allow keeping them here. Needs Debian or a similar system, the network, and a C compiler. FOLDER/log
# holds the output of the tests. The exit status is 1 if a test failed.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
abz=$(realpath "$1")
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    folder=$(realpath "$2")
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
"$here/fetch.sh" "$folder" gzip bzip2 lbzip2 lzip xz-utils libzstd || exit 1
rm -rf "$folder/bin" "$folder/log" "$folder/trial"
mkdir -p "$folder"/{bin,log,trial}
ln -s "$abz" "$folder/bin/abz"
"$folder/bin/abz" --install-links "$folder/bin" > /dev/null || exit 1
bin=$folder/bin
version=$("$abz" --version | sed 's/.* //')
unset GZIP BZIP2 BZIP XZ_OPT XZ_DEFAULTS ZSTD_CLEVEL
export LC_ALL=C TMPDIR=$folder/trial

suite= passed=0 failed=0 skipped=0 failures= worst=0
begin() { suite=$1 passed=0 failed=0 skipped=0 failures=; }
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)) failures+=" $1"; }
end() {
    [ "$failed" = 0 ] || worst=1
    printf '%-28s %6d %6d %7d %s\n' "$suite" "$passed" "$failed" "$skipped" "$failures"
}
# check NAME COMMAND...: passes if the command succeeds.
check() {
    local name=$1
    shift
    if "$@" >> "$folder/log/${suite%%:*}" 2>&1; then pass; else fail "$name"; fi
}
# Decodes with abz under the name of a tool and with the installed tool, and compares.
same() { cmp <("$bin/$1" -dc "$2") <(PATH=/usr/bin:/bin "$1" -dc "$2"); }
refused() { ! timeout 60 "$1" -dc "$2" > /dev/null; }
# Compresses and decompresses with abz.
round_trip() { "$bin/$1" "$2" -c < "$3" | "$bin/$1" -dc | cmp - "$3"; }
# Compresses and decompresses with a dictionary, by abz and by the installed tool.
with_dictionary() {
    "$bin/zstd" -D "$1" -c "$2" | "$bin/zstd" -D "$1" -dc | cmp - "$2" \
        && "$bin/zstd" -D "$1" -c "$2" | PATH=/usr/bin:/bin zstd -D "$1" -dc | cmp - "$2"
}
decodes_to() { "$bin/$1" -dc "$2" | cmp - "$3"; }

gzip_scripts() {
    begin "gzip: tests/"
    local build=$folder/trial/gzip
    mkdir -p "$build"
    cp -r "$folder/gzip/tests" "$build/"
    ln -s "$bin"/{gzip,gunzip,zcat} "$build/"
    local script
    for script in gzexe zcmp zdiff zegrep zfgrep zforce zgrep zless zmore znew; do
        sed -e "s|'@bindir@'|'$build'|g; s|@bindir@|$build|g; s|@VERSION@|$version|g; s|@GREP@|grep|g" \
            "$folder/gzip/$script.in" > "$build/$script"
        chmod +x "$build/$script"
    done
    local test
    for test in $(awk '/^TESTS =/ { on = 1; next } on { print $1; if (!/\\$/) exit }' "$build/tests/Makefile.am"); do
        # The tests expect to be in a folder called tests beside the programs.
        (
            cd "$build/tests"
            export srcdir=. abs_srcdir=$build/tests top_srcdir=$folder/gzip abs_top_builddir=$build VERSION=$version
            export abs_top_srcdir=$folder/gzip PATH=$build:$PATH SHELL=/bin/sh GREP=grep PERL=perl CC=cc
            export built_programs="gzip gunzip zcat zcmp zdiff zegrep zfgrep zforce zgrep znew"
            GZIP_TEST_NAME=$test timeout 300 sh "./$test" 9>&2
        ) > "$folder/log/gzip-$test" 2>&1
        case $? in
            0) pass ;;
            77) skipped=$((skipped + 1)) ;;
            *) fail "$test" ;;
        esac
    done
    end
}

bzip2_samples() {
    begin "bzip2: samples"
    local n
    for n in 1 2 3; do
        check "sample$n-d" decodes_to bzip2 "$folder/bzip2/sample$n.bz2" "$folder/bzip2/sample$n.ref"
        check "sample$n-1" round_trip bzip2 "-$n" "$folder/bzip2/sample$n.ref"
        check "sample$n-9" round_trip bzip2 -9 "$folder/bzip2/sample$n.ref"
    done
    end
}

lbzip2_vectors() {
    begin "lbzip2: tests/"
    local judge=$folder/trial/minbzcat file
    if ! cc -w -o "$judge" "$folder/lbzip2/tests/minbzcat.c" 2> "$folder/log/minbzcat"; then
        skipped=1
    else
        for file in "$folder"/lbzip2/tests/*.bz2; do
            if timeout 60 "$judge" < "$file" > "$folder/trial/plain" 2> /dev/null; then
                check "${file##*/}" decodes_to lbzip2 "$file" "$folder/trial/plain"
            else
                check "${file##*/}" refused "$bin/lbzip2" "$file"
            fi
        done
    fi
    end
}

lzip_check() {
    begin "lzip: check.sh"
    if [ -e "$bin/lzip" ]; then
        mkdir -p "$folder/trial/lzip"
        ln -s "$bin/lzip" "$folder/trial/lzip/lzip"
        local asked lines
        asked=$(grep -c 'test_failed \$LINENO' "$folder/lzip/testsuite/check.sh")
        (cd "$folder/trial/lzip" && bash "$folder/lzip/testsuite/check.sh" "$folder/lzip/testsuite" abz) > "$folder/log/lzip" 2>&1
        # The script continues after a failure, and prints the line numbers of failures among the output of the
        # program.
        lines=$(comm -12 <(grep -oP ' [0-9]+(?![0-9.])' "$folder/log/lzip" | tr -d ' ' | sort -u) \
            <(grep -n 'test_failed \$LINENO' "$folder/lzip/testsuite/check.sh" | cut -d: -f1 | sort -u) | sort -n)
        for line in $lines; do fail "$line"; done
        passed=$((asked - failed))
    else
        skipped=1
    fi
    end
}

xz_files() {
    begin "xz: tests/files"
    if [ -e "$bin/xz" ]; then
        local file
        for file in "$folder"/xz-utils/tests/files/good-*; do
            check "${file##*/}" same xz "$file"
        done
        for file in "$folder"/xz-utils/tests/files/{bad,unsupported}-*; do
            check "${file##*/}" refused "$bin/xz" "$file"
        done
    else
        skipped=1
    fi
    end
}

zstd_vectors() {
    begin "zstd: tests/golden-*"
    if [ -e "$bin/zstd" ]; then
        local file
        for file in "$folder"/libzstd/tests/golden-decompression/*.zst; do
            check "${file##*/}" same zstd "$file"
        done
        for file in "$folder"/libzstd/tests/golden-compression/*; do
            check "${file##*/}" round_trip zstd -3 "$file"
            check "${file##*/}-19" round_trip zstd -19 "$file"
        done
        file=$folder/libzstd/tests/golden-dictionaries/http-dict-missing-symbols
        check "${file##*/}" with_dictionary "$file" "$folder/libzstd/tests/golden-compression/http"
    else
        skipped=1
    fi
    end
}

printf '%-28s %6s %6s %7s %s\n' suite passed failed skipped "which failed"
gzip_scripts
bzip2_samples
lbzip2_vectors
lzip_check
xz_files
zstd_vectors
exit "$worst"
