# Builds abz for Python as a wheel. `scripts/package.sh` reads this file.

if [ ! -d crates/python ]; then
    echo "LEFT OUT, as crates/python is not there: the wheel"
    return 0
fi
have maturin "the wheel" || return 0
RUSTFLAGS=$remapped maturin build --quiet --release --locked --manifest-path crates/python/Cargo.toml --out "$dist"
