# Builds the C and C++ library with spar++, as a tarball and as packages of Debian. `scripts/package.sh` reads this file.

RUSTFLAGS=$remapped cargo build --quiet --release --locked --package capi --package sparxx --target $host
built=$CARGO_TARGET_DIR/$host/release
folder=$work/libanabranch-$version-x86_64-linux
"$built/capi" install --prefix "$folder" >/dev/null
# Symbols for debuggers, which come with the standard library, are three quarters of the static library.
strip --strip-debug --enable-deterministic-archives "$folder/lib/libanabranch.a"
chmod a-x "$folder"/lib/libanabranch.{a,so.*}
mkdir -p "$folder/bin" "$folder"/share/{doc/libanabranch,man/man1}
install "$built/sparxx" "$folder/bin"
ln -s sparxx "$folder/bin/spar++"
{
    printf '.TH SPAR++ 1 "" "spar++ %s" "User Commands"\n.SH NAME\n' "$version"
    printf 'spar++ \\- translate annotations of SPar in C++ and call a C++ compiler\n.SH DESCRIPTION\n.nf\n'
    "$built/sparxx" -h | sed 's/\\/\\e/g; s/-/\\-/g; s/^\./\\\&./'
    printf '.fi\n'
} >"$folder/share/man/man1/spar++.1"
ln -s spar++.1 "$folder/share/man/man1/sparxx.1"
cp book/src/from-cpp.md book/src/from-spar.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder/share/doc/libanabranch"
scripts/packages/licences.py capi sparxx >"$folder/share/doc/libanabranch/licences.txt"
tarball "$folder" "libanabranch-$version-x86_64-linux.tar.gz"

# The shared library has a package of its own, so that programs with another interface can be installed beside it.
soname=$(objdump -p "$folder/lib/libanabranch.so" | awk '$1 == "SONAME" { print $2 }')
runtime=libanabranch${soname##*.}
mkdir -p "$work/$runtime"/{usr/lib,DEBIAN}
cp -P "$folder/lib/$soname" "$folder/lib/libanabranch.so.$version" "$work/$runtime/usr/lib"
debian_documents "$runtime" "$work/$runtime"
gzip -n9c "$folder/share/doc/libanabranch/licences.txt" >"$work/$runtime/usr/share/doc/$runtime/licences.txt.gz"
echo "libanabranch ${soname##*.} $runtime (>= $version)" >"$work/$runtime/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$work/$runtime/DEBIAN/triggers"
debian_package "$runtime" "$work/$runtime" <<EOF
Section: libs
Priority: optional
Depends: $(debian_depends "$folder/lib/libanabranch.so" | tr -d '\n')
Description: streaming loops on all cores, for C and C++ (shared library)
 Anabranch runs a sequential loop that reads, computes and writes on all cores,
 and gives exactly what the loop would have given: the same output, in the same
 order, with the same first error, in bounded memory.
EOF

tree=$work/libanabranch-dev
mkdir -p "$tree"/usr/{lib,share/doc/libanabranch-dev,share/man/man1}
cp -r "$folder/bin" "$folder/include" "$tree/usr"
cp -rP "$folder"/lib/{libanabranch.a,libanabranch.so,cmake,pkgconfig} "$tree/usr/lib"
cp "$folder"/share/doc/libanabranch/from-*.md "$tree/usr/share/doc/libanabranch-dev"
gzip -n9c "$folder/share/doc/libanabranch/licences.txt" >"$tree/usr/share/doc/libanabranch-dev/licences.txt.gz"
gzip -n9c "$folder/share/man/man1/spar++.1" >"$tree/usr/share/man/man1/spar++.1.gz"
ln -s spar++.1.gz "$tree/usr/share/man/man1/sparxx.1.gz"
debian_documents libanabranch-dev "$tree"
debian_package libanabranch-dev "$tree" <<EOF
Section: libdevel
Priority: optional
Depends: $runtime (= $debian_version), $(debian_depends "$folder/bin/sparxx" | tr -d '\n')
Recommends: g++
Description: streaming loops on all cores, for C and C++ (headers and compiler)
 Anabranch runs a sequential loop that reads, computes and writes on all cores,
 and gives exactly what the loop would have given: the same output, in the same
 order, with the same first error, in bounded memory.
 .
 This package has the headers, the static library, files for pkg-config and
 CMake, and spar++, which translates annotations of SPar and calls a compiler.
EOF
[ -n "$tests" ] || return 0

mkdir -p "$work/project"
cat >"$work/project/program.cpp" <<'EOF'
#include <anabranch.hpp>
#include <cstdlib>
int main() { return anabranch::iota(0, 10).map([](int n) { return n; }).count() == 10 ? EXIT_SUCCESS : EXIT_FAILURE; }
EOF
cat >"$work/project/annotated.cpp" <<'EOF'
#include <vector>
int main() {
    std::vector<int> output;
    [[spar::ToStream]] for (int n = 0; n < 100; n++) {
        int twice;
        [[spar::Stage, spar::Input(n), spar::Output(twice), spar::Replicate(2)]] { twice = 2 * n; }
        [[spar::Stage, spar::Input(twice)]] { output.push_back(twice); }
    }
    return output.size() == 100 && output[99] == 198 ? 0 : 1;
}
EOF
cp crates/capi/tests/install_project/CMakeLists.txt "$work/project"

# Programs find the library in prefix $1.
found() {
    local by=$work/by flags
    rm -rf "$by"
    mkdir "$by"
    if have pkg-config "programs that find the library by pkg-config"; then
        flags=$(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --cflags --libs anabranch)
        # shellcheck disable=SC2086
        c++ -std=c++17 "$work/project/program.cpp" $flags -o "$by/shared"
        LD_LIBRARY_PATH=$1/lib "$by/shared"
        flags=$(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --static --cflags --libs anabranch)
        # shellcheck disable=SC2086
        c++ -std=c++17 "$work/project/program.cpp" ${flags/-lanabranch/-l:libanabranch.a} -o "$by/static"
        "$by/static"
    fi
    if have cmake "programs that find the library by CMake"; then
        cmake -S "$work/project" -B "$by/cmake" -DCMAKE_PREFIX_PATH="$1" >/dev/null
        cmake --build "$by/cmake" >/dev/null
        "$by/cmake/shared"
        "$by/cmake/static"
    fi
    "$1/bin/spar++" -spar_file "$work/project/annotated.cpp" -o "$by/annotated"
    "$by/annotated"
}

mkdir "$work/unpacked"
tar -xzf "$dist/libanabranch-$version-x86_64-linux.tar.gz" -C "$work/unpacked"
found "$work/unpacked/libanabranch-$version-x86_64-linux"

debs=("$dist/${runtime}_${debian_version}_amd64.deb" "$dist/libanabranch-dev_${debian_version}_amd64.deb")
debian_lint "${debs[@]}"
if [ "$(id -u)" != 0 ]; then
    echo "LEFT OUT, as it needs root: installing and removing the packages of Debian"
    return 0
fi
root=$work/$part-system
debian_dpkg --install "${debs[@]}"
found "$root/usr"
debian_dpkg --purge libanabranch-dev "$runtime"
[ -z "$(find "$root" -path "$root/var" -prune -o ! -type d -print)" ] || { echo "files are left" >&2; exit 1; }
echo "programs find the library in the tarball and in the packages"
