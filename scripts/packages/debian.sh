# Functions that build and install packages of Debian. `scripts/package.sh` reads this file.

debian_version=$version-1

# Adds the documentation that each package of Debian has to folder $2, for package $1.
debian_documents() {
    local at=$2/usr/share/doc/$1
    mkdir -p "$at"
    gzip -n9c CHANGELOG.md >"$at/changelog.gz"
    cp scripts/packages/debian/copyright "$at/copyright"
    {
        echo "anabranch ($debian_version) unstable; urgency=medium"
        printf '\n  * changelog.gz says what is new in this version.\n\n'
        echo " -- The Anabranch developers <anabranch@users.noreply.github.com>  $(date -Rud "@$SOURCE_DATE_EPOCH")"
    } | gzip -n9 >"$at/changelog.Debian.gz"
}

# Builds package $1 of folder $2 in dist. Standard input has the fields of the control file that differ.
debian_package() {
    local name=$1 tree=$2 file=$dist/$1_${debian_version}_amd64.deb
    mkdir -p "$tree/DEBIAN"
    {
        echo "Package: $name"
        echo "Version: $debian_version"
        echo "Architecture: amd64"
        echo "Source: anabranch"
        echo "Maintainer: The Anabranch developers <anabranch@users.noreply.github.com>"
        echo "Homepage: https://github.com/anabranch/anabranch"
        echo "Installed-Size: $(find "$tree" -path "$tree/DEBIAN" -prune -o -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')"
        cat
    } >"$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f | sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
    find "$tree" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" >/dev/null
}

# The packages of the C library and of the compiler that the programs and libraries $@ need.
debian_depends() {
    objdump -T "$@" | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -V | tail -1 | sed 's/.*/libc6 (>= &)/'
    objdump -p "$@" | awk '$1 == "NEEDED" && /libgcc_s/ { print ", libgcc-s1 (>= 4.2)" }'
}

# Fails if lintian finds an error in a package.
debian_lint() {
    have lintian "the check of $(basename -a "$@" | xargs)" || return 0
    lintian --allow-root --fail-on error --tag-display-limit 0 "$@"
}

# Runs dpkg on the empty system in folder $root. Nothing of it is run in there, so it needs no programs.
debian_dpkg() {
    mkdir -p "$root"/{usr/local/bin,etc} "$root"/var/lib/dpkg/{alternatives,info,parts,triggers,updates} "$root/var/log"
    touch "$root"/var/lib/dpkg/{available,status}
    dpkg --root="$root" --force-script-chrootless --force-depends --log=/dev/null "$@" >"$work/dpkg" 2>&1 ||
        { cat "$work/dpkg" >&2; exit 1; }
}

# The files in folder $root with their contents, but for what dpkg notes.
debian_state() {
    (cd "$root" && find . -path ./var -prune -o -type f -exec sha256sum {} + -o -type l -printf '%p -> %l\n' | sort)
}
