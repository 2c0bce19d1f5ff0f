# Builds abz for Python as a wheel, by the package's own build backend. `scripts/package.sh` reads this file.

if ! python3 -m venv "$work/build" >"$work/said" 2>&1 ||
    ! "$work/build/bin/pip" install --quiet 'maturin>=1.9,<2' >"$work/said" 2>&1; then
    echo "LEFT OUT, as maturin cannot be installed: the wheel: $(tail -n 1 "$work/said")"
    return 0
fi
# The crate is a workspace of its own, so what cargo derives from the paths of its dependencies is in the bytes: in names of
# symbols and in the order of functions. It is built from a copy in a folder that has the same name each time.
sources=${TMPDIR:-/tmp}/anabranch-$version-wheel
mkdir "$sources" || { echo "$sources is the folder of another build of the wheel; remove it if none runs" >&2; exit 1; }
trap 'rm -rf "$sources"' EXIT
git archive HEAD | tar --extract --directory "$sources"
remapped="--remap-path-prefix=$sources=/anabranch --remap-path-prefix=$cargo_home=/cargo"
# The backend looks for maturin on the path.
PATH="$work/build/bin:$PATH" RUSTFLAGS=$remapped pip --quiet --disable-pip-version-check wheel --no-deps \
    --no-build-isolation --config-settings "build-args=--compatibility pypi --auditwheel check" --wheel-dir "$dist" \
    "$sources/crates/python"
wheel=$(echo "$dist"/abz-"$version"-*.whl)

# The tag says which C library the wheel needs. The symbols of its program and of its library must not need a later one.
mkdir "$work/wheel"
(cd "$work/wheel" && python3 -m zipfile -e "$wheel" .)
mapfile -t programs < <(find "$work/wheel" -name '*.so' -o -path '*/scripts/abz')
needed=$(objdump -T "${programs[@]}" | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -V | tail -1)
tagged=$(basename "$wheel" | sed -n 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_x86_64.*/\1.\2/p')
if [ "${#programs[@]}" != 2 ] || [ "$(printf '%s\n' "$needed" "$tagged" | sort -V | tail -1)" != "$tagged" ]; then
    echo "the wheel needs glibc $needed and is tagged $(basename "$wheel")" >&2
    exit 1
fi
[ -n "$tests" ] || return 0

python3 -m venv "$work/python"
"$work/python/bin/pip" --quiet --disable-pip-version-check install --no-index --no-deps "$wheel"
"$work/python/bin/abz" --version >/dev/null
"$work/python/bin/python" - "$work" <<'EOF'
import pathlib, sys
import abz
text = b"a branch of a river\n" * 100_000
name = pathlib.Path(sys.argv[1]) / "text.xz"
with abz.open(name, "wb") as file:
    file.write(text)
with abz.open(name) as file:
    file.seek(-20, 2)
    assert file.read() == text[-20:]
assert all(abz.decompress(abz.compress(text, format=kind)) == text for kind in ("gzip", "bzip2", "lzip", "xz", "zstd"))
EOF
echo "the wheel needs glibc $needed, and is tagged so; it installs into an empty environment. scripts/python.sh tests the package"
