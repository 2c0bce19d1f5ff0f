#!/usr/bin/env bash
# Downloads the sources of other programs for their tests: fetch.sh FOLDER PACKAGE...
#
# Uses Debian's source packages as in this machine's package lists. The lists themselves are not changed: copies of
# them ask for sources.
set -euo pipefail
folder=$(realpath "$1")
shift

apt=$folder/apt
mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
sed -n 's/^deb\(-src\)\? /deb-src /p' /etc/apt/sources.list 2>/dev/null > "$apt/sources.list" || true
for list in /etc/apt/sources.list.d/*.list; do
    [ -e "$list" ] && sed -n 's/^deb\(-src\)\? /deb-src /p' "$list" > "$apt/parts/${list##*/}"
done
for list in /etc/apt/sources.list.d/*.sources; do
    [ -e "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" > "$apt/parts/${list##*/}"
done
options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/parts"
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root -qq)

apt-get "${options[@]}" update
cd "$folder"
for package in "$@"; do
    [ -d "$package" ] && continue
    mkdir -p "$apt/$package"
    (cd "$apt/$package" && apt-get "${options[@]}" source --tar-only "$package" > /dev/null)
    mkdir "$package"
    tar -C "$package" --strip-components=1 -xf "$apt/$package"/*.orig.tar.*[!c]
done
