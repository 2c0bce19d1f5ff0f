# Runs each line of the book's pages about installing and about C++, against dist. `scripts/package.sh` reads this file.
#
# Lines that need a registry or Docker are only parsed.

mkdir -p "$work/home" "$work/files"
cp "$dist"/* "$work/files"
cp crates/capi/tests/install_project/CMakeLists.txt "$work/files"
# The program is the first one of the page about C++.
awk '/^```/ { if (code) exit; code = $0 == "```cpp"; next } code' book/src/from-cpp.md >"$work/files/program.cpp"
awk '/^```/ { code = $0 == "```sh"; next } code { print FILENAME, $0 }' book/src/installing.md book/src/from-cpp.md >"$work/lines"

# The system of the page: commands for Debian act on an empty one, and commands in a clone use what is built already.
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} CARGO_INSTALL_ROOT=$work/home/.cargo
HOME=$work/home
root=$work/$part-system
sudo() { "$@"; }
dpkg() { if [[ $1 == --root* ]]; then command dpkg "$@"; else debian_dpkg "$@"; fi; }
abz-alternatives() { DPKG_ROOT=$root "$root/usr/sbin/abz-alternatives" "$@"; }
in_clone() {
    (
        cd "$repository"
        export RUSTFLAGS=$remapped CARGO_BUILD_TARGET=$host
        if [[ $1 == *crates/abz* ]]; then
            RUSTFLAGS+=" -C target-feature=+crt-static" CARGO_PROFILE_RELEASE_STRIP=none
            export CARGO_PROFILE_RELEASE_STRIP
        fi
        eval "$1"
    )
}

cd "$work/files"
wheel=$(find . -name 'abz-*.whl')
ran=0 parsed=0
while read -r page line; do
    case $line in
    docker* | "cargo add"* | "cargo install abz"* | "pip install abz")
        bash -n <<<"$line"
        parsed=$((parsed + 1))
        continue
        ;;
    *environment*) [ -n "$wheel" ] || { echo "LEFT OUT, as the wheel was not built: $line"; continue; } ;;
    sudo*) [ "$(id -u)" = 0 ] || { echo "LEFT OUT, as it needs root: $line"; continue; } ;;
    esac
    echo "  $line"
    case $line in
    "cargo "*) in_clone "$line" ;;
    *) eval "$line" ;;
    esac >"$work/said" 2>&1 </dev/null || { cat "$work/said" >&2; echo "this line of $page fails" >&2; exit 1; }
    ran=$((ran + 1))
done <"$work/lines"
# Each line is of use: they leave the programs of which the page speaks.
"$HOME/.local/bin/abz" --version >/dev/null
"$HOME/.cargo/bin/abz" --version >/dev/null
[ "$(./program | tr '\n' ' ')" = "1 4 9 16 25 " ]
echo "$ran lines of the pages ran, and $parsed that need a registry or Docker were parsed"
