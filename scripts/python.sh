#!/usr/bin/env bash
# Builds the Python package in crates/python, installs it into a fresh virtual environment, and tests it there.
#
#     scripts/python.sh [--profile PROFILE] [--python PYTHON] [--keep DIR] [--sources] [PYTEST ARGUMENTS]
#
# --profile PROFILE  is the profile of cargo, release by default. `dev` builds faster.
# --python PYTHON    is the interpreter, python3 by default.
# --keep DIR         makes the environment in DIR and leaves it there.
# --sources          also builds from a source distribution, and for a package that can be edited (pip install -e), and tries both.
#
# Needs Python 3.9 or later with pip, and the package registry. Packages of tests/requirements.txt that cannot be installed are
# left out of the tests, whose last line names them. Exits with 3 if what the build itself needs is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=release python=python3 keep= sources=
while [ $# -gt 0 ]; do
    case $1 in
    --sources) sources=1 && shift && continue ;;
    --profile) profile=$2 ;;
    --python) python=$2 ;;
    --keep) keep=$(realpath -m "$2") ;;
    *) break ;;
    esac
    shift 2
done

work=$(mktemp -d "${TMPDIR:-/tmp}/python.XXXXXX")
trap 'rm -rf "$work"' EXIT
environment=${keep:-$work/environment}
unavailable() {
    echo "the Python package was not built and tested: $1" >&2
    exit 3
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || unavailable "$python is not Python 3.9 or later"
"$python" -m venv "$environment" >"$work/log" 2>&1 || unavailable "$python cannot make an environment with pip"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PATH="$environment/bin:$PATH"
pip() { "$environment/bin/python" -m pip --quiet "$@"; }
pip install 'maturin>=1.9,<2' pytest >"$work/log" 2>&1 || unavailable "maturin and pytest cannot be installed: $(tail -n 1 "$work/log")"

echo "== build, $profile"
# The environment has what the build needs.
pip wheel --no-deps --no-build-isolation --config-settings "profile=$profile" --wheel-dir "$work/wheels" crates/python
# A kept environment may have the package of an earlier build.
pip install --force-reinstall --no-deps "$work"/wheels/abz-*.whl
if [ -n "$sources" ]; then
    # Each in an environment of its own, with the target folder of the build above.
    try() {
        "$python" -m venv --system-site-packages "$work/$1"
        echo "$environment"/lib/python3*/site-packages >"$(echo "$work/$1"/lib/python3*/site-packages)/build.pth"
        "$work/$1/bin/python" -m pip --quiet install --ignore-installed --no-deps --no-build-isolation --config-settings "profile=$profile" "${@:2}"
        (cd "$work" && "$work/$1/bin/python" -c "import abz; assert abz.decompress(abz.compress(b'a branch')) == b'a branch'")
        (cd "$work" && "$work/$1/bin/abz" --version)
    }
    echo "== build from a source distribution"
    # As a front end does it: the hooks of the build, in the folder of the sources.
    (cd crates/python && "$environment/bin/python" -c "import sys; sys.path.insert(0, '.'); import backend; backend.build_sdist(sys.argv[1])" "$work")
    CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/crates/python/target}" try sdist "$work"/abz-*.tar.gz
    echo "== build for a package that can be edited"
    try editable --editable crates/python
    rm -f crates/python/python/abz/_abz*.so
fi
echo "== packages that the tests use"
grep -v '^#' crates/python/tests/requirements.txt | while read -r package; do
    pip install "$package" >"$work/log" 2>&1 || echo "$package cannot be installed: $(tail -n 1 "$work/log")" >&2
done
echo "== tests"
# From another folder, so that the package is the one that was installed.
cd "$work"
ABZ_PROFILE=$profile "$environment/bin/python" -m pytest --quiet -p no:cacheprovider -c "$OLDPWD/crates/python/pyproject.toml" "$OLDPWD/crates/python/tests" "$@"
