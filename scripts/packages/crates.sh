# Packs the crates that can be published, and builds each from its package. `scripts/package.sh` reads this file.

mapfile -t crates < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
wanted = "description readme license repository keywords categories rust_version".split()
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        missing = [name for name in wanted if not package[name]]
        if missing:
            sys.exit("%s has no %s" % (package["name"], ", ".join(missing)))
        print(package["name"])')
named=()
for crate in "${crates[@]}"; do named+=(--package "$crate"); done

# Each is built from its package with its own dependencies, if it is to be tested.
verify=--no-verify
[ -z "$tests" ] || verify=
cargo package --quiet --locked ${verify:+"$verify"} "${named[@]}"
for crate in "${crates[@]}"; do cp "$CARGO_TARGET_DIR/package/$crate-$version.crate" "$dist"; done
[ -n "$tests" ] || return 0

RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --all-features --no-deps "${named[@]}"

# A workspace of the packages and a program, which has nothing else of this repository but the versions of Cargo.lock.
mkdir -p "$work/outside/program/src"
members=
for crate in "${crates[@]}"; do
    tar -xzf "$dist/$crate-$version.crate" -C "$work/outside"
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
        [ -s "$work/outside/$crate-$version/$file" ] || { echo "$crate has no $file" >&2; exit 1; }
    done
    members+="\"$crate-$version\", "
done
{
    printf '[workspace]\nresolver = "3"\nmembers = [%s"program"]\n\n[patch.crates-io]\n' "$members"
    for crate in "${crates[@]}"; do echo "$crate = { path = \"$crate-$version\" }"; done
} >"$work/outside/Cargo.toml"
cp Cargo.lock "$work/outside"
cat >"$work/outside/program/Cargo.toml" <<EOF
[package]
name = "program"
version = "1.0.0"
edition = "2024"

[dependencies]
abz = "$version"
anabranch = "$version"
EOF
cp book/examples/from_packages.rs "$work/outside/program/src/main.rs"
# Paths of dependencies would lead out of the packages.
python3 - "$work"/outside/*-"$version"/Cargo.toml <<'EOF'
import sys, tomllib
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        manifest = tomllib.load(file)
    tables = [manifest, *manifest.get("target", {}).values()]
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for dependency, value in table.get(kind, {}).items():
                if isinstance(value, dict) and "path" in value:
                    sys.exit(f"{name}: {dependency} has a path")
EOF
(cd "$work/outside" && cargo run --quiet --package program && cargo check --quiet --workspace --all-features --examples)

# The minimum supported version of Rust, if its toolchain is there.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustup run "$oldest" rustc --version >/dev/null 2>&1; then
    (cd "$work/outside" && cargo "+$oldest" check --quiet --workspace --all-features)
else
    echo "LEFT OUT, as the toolchain is not installed: the check with Rust $oldest"
fi
echo "${#crates[@]} crates are packed, and a program outside of this repository builds against them"
