# Builds the static program abz, as a tarball and as a package of Debian. `scripts/package.sh` reads this file.

# Packed, the relocations take 3 KiB instead of 220.
RUSTFLAGS="$remapped -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs" CARGO_PROFILE_RELEASE_STRIP=none \
    cargo install --quiet --path crates/abz --locked --target $host --root "$work/abz" --no-track

# A static program must not call what loads plug-ins of the C library: names of users and hosts, and character sets. dlopen itself
# is linked with dlsym, which the standard library calls, so its calls are looked for.
plugins='(__)?dlopen|get(pw|gr)(nam|uid|gid|ent)(_r)?|getgrouplist|initgroups|get(addr|name)info|get(host|net|proto|serv)by[a-z]*(_r)?|iconv_open'
calls=$(objdump -d --no-show-raw-insn "$work/abz/bin/abz" | grep -oE "(call|jmp) .*<($plugins)>" | grep -oE '<.*>' | sort -u || true)
if [ -n "$calls" ]; then
    echo "abz calls functions that load plug-ins of the C library:" "$calls" >&2
    exit 1
fi
strip "$work/abz/bin/abz"

folder=$work/abz-$version-x86_64-linux
mkdir -p "$folder"/{bin,share/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d,doc/abz/completions}}
abz=$folder/bin/abz
install "$work/abz/bin/abz" "$abz"
"$abz" --generate man >"$folder/share/man/man1/abz.1"
"$abz" --generate bash >"$folder/share/bash-completion/completions/abz"
"$abz" --generate zsh >"$folder/share/zsh/vendor-completions/_abz"
"$abz" --generate fish >"$folder/share/fish/vendor_completions.d/abz.fish"
"$abz" --generate elvish >"$folder/share/doc/abz/completions/abz.elv"
"$abz" --generate powershell >"$folder/share/doc/abz/completions/abz.ps1"
cp crates/abz/README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder/share/doc/abz"
scripts/packages/licences.py abz >"$folder/share/doc/abz/licences.txt"
tarball "$folder" "abz-$version-x86_64-linux.tar.gz"

tree=$work/tree
mkdir -p "$tree"/usr/{sbin,share/abz,share/man/man8,share/lintian/overrides}
cp -r "$folder"/* "$tree/usr"
rm "$tree"/usr/share/doc/abz/{CHANGELOG.md,LICENSE-*}
gzip -n9 "$tree"/usr/share/doc/abz/licences.txt "$tree/usr/share/man/man1/abz.1"
debian_documents abz "$tree"
install scripts/packages/debian/abz-alternatives "$tree/usr/sbin"
gzip -n9c scripts/packages/debian/abz-alternatives.8 >"$tree/usr/share/man/man8/abz-alternatives.8.gz"
cp scripts/packages/debian/README.Debian "$tree/usr/share/doc/abz"
cp scripts/packages/debian/abz.lintian-overrides "$tree/usr/share/lintian/overrides/abz"
"$abz" --install-links "$work/links" >/dev/null
ls "$work/links" >"$tree/usr/share/abz/names"
mkdir -p "$tree/DEBIAN"
install scripts/packages/debian/abz.prerm "$tree/DEBIAN/prerm"
debian_package abz "$tree" <<'EOF'
Section: utils
Priority: optional
Description: parallel compressor for gzip, bzip2, lzip, xz and zstd
 abz compresses and decompresses files of five formats with all cores. It never
 leaves an incomplete file behind, reads ranges of files, recovers damaged
 files, and packs and unpacks archives of tar.
 .
 abz-alternatives(8) also makes it run as gzip, pigz, bzip2, lbzip2, lzip,
 plzip, xz or zstd.
EOF
[ -n "$tests" ] || return 0

# The tarball runs where nothing else is.
mkdir "$work/empty"
tar -xzf "$dist/abz-$version-x86_64-linux.tar.gz" -C "$work/empty" --strip-components=2 "abz-$version-x86_64-linux/bin/abz"
cp ARCHITECTURE.md "$work/empty/file"
mkdir "$work/empty/folder"
cp scripts/*.sh "$work/empty/folder"
if [ "$(id -u)" = 0 ]; then
    alone() { chroot "$work/empty" /abz "$@"; }
    for format in gzip bzip2 lzip xz zstd zlib zip; do
        alone -F $format -k -o packed file
        alone -d -c packed | cmp - ARCHITECTURE.md
        alone -t packed
        rm "$work/empty/packed"
    done
    alone -k file
    gzip -dc "$work/empty/file.gz" | cmp - ARCHITECTURE.md
    alone -l file.gz >/dev/null
    alone --archive folder.tar.gz folder
    mv "$work/empty/folder" "$work/empty/packed"
    alone --extract folder.tar.gz
    diff -r "$work/empty/folder" "$work/empty/packed"
else
    echo "LEFT OUT, as it needs root: abz in an empty chroot"
fi
for name in share/man/man1/abz.1 share/bash-completion/completions/abz share/doc/abz/licences.txt; do
    [ -s "$folder/$name" ] || { echo "$name is empty" >&2; exit 1; }
done
# shellcheck disable=SC2016
bash -c '. "$1"; complete -p abz' - "$folder/share/bash-completion/completions/abz" >/dev/null
! have mandoc "the check of the manual pages" || mandoc -T lint -W error "$folder/share/man/man1/abz.1"

deb=$dist/abz_${debian_version}_amd64.deb
debian_lint "$deb"
if [ "$(id -u)" != 0 ]; then
    echo "LEFT OUT, as it needs root: installing and removing the package of Debian"
    return 0
fi
# A system with a package that has pigz. It is there before abz, and afterwards it is as it was.
root=$work/$part-system
mkdir -p "$work/pigz/usr/bin" "$work/pigz/DEBIAN"
echo "the other pigz" >"$work/pigz/usr/bin/pigz"
printf '%s\n' "Package: pigz" "Version: 1" "Architecture: all" "Maintainer: nobody <nobody@localhost>" "Description: none" \
    >"$work/pigz/DEBIAN/control"
dpkg-deb --build "$work/pigz" "$work/pigz.deb" >/dev/null
debian_dpkg --install "$work/pigz.deb"
debian_state >"$work/before"
debian_dpkg --install "$deb"
"$root/usr/bin/abz" -c ARCHITECTURE.md | gzip -dc | cmp - ARCHITECTURE.md
[ -z "$(ls "$root/usr/local/bin")" ] || { echo "names of other programs are on before anybody asked" >&2; exit 1; }
alternatives() { DPKG_ROOT=$root "$root/usr/sbin/abz-alternatives" "$@"; }
alternatives on pigz lbzip2 >/dev/null 2>&1
[ "$(ls "$root/usr/local/bin" | xargs)" = "lbzip2 pigz" ]
[ "$(readlink "$root/usr/local/bin/pigz") $(readlink "$root/etc/alternatives/abz-pigz")" = "/etc/alternatives/abz-pigz /usr/bin/abz" ]
[ "$(cat "$root/usr/bin/pigz")" = "the other pigz" ]
# The next version keeps the names that are on.
dpkg-deb --raw-extract "$deb" "$work/next"
sed -i "s/^Version: .*/Version: $debian_version.1/" "$work/next/DEBIAN/control"
dpkg-deb --root-owner-group --build "$work/next" "$work/next.deb" >/dev/null
debian_dpkg --install "$work/next.deb"
[ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Version}' abz)" = "$debian_version.1" ]
[ "$(ls "$root/usr/local/bin" | xargs)" = "lbzip2 pigz" ]
alternatives off lbzip2 >/dev/null 2>&1
[ "$(alternatives status)" = pigz ]
debian_dpkg --remove abz
debian_state | diff "$work/before" -
debian_dpkg --purge abz
debian_state | diff "$work/before" -
echo "abz is a static program of $(stat -c %s "$abz") bytes; its package installs, upgrades and removes"
