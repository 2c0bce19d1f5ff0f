#!/usr/bin/env python3
"""Writes the licences of the crates that are built into programs, as text.

    licences.py PACKAGE...

Reads the sources of the crates, which cargo has downloaded. Crates of this workspace are left out. Fails if a crate comes
without a licence file and its licence is none whose text is elsewhere in the output.
"""

import json
import pathlib
import re
import subprocess
import sys

FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
OTHER = {".rs", ".py", ".c", ".h", ".html", ".toml", ".sh", ".in", ".pl"}
TARGET = "x86_64-unknown-linux-gnu"



def cargo(*words):
    """Returns the output of a command of cargo."""
    return subprocess.run(["cargo", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET))
packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
found = set()
for program in sys.argv[1:]:
    # The tree knows which features are built; the metadata are those of the whole workspace.
    tree = cargo("tree", "--locked", "-p", program, "-e", "normal", "--target", TARGET, "--prefix", "none")
    found |= {tuple(line.split()[:2]) for line in tree.splitlines()}


def texts(folder):
    """Returns the licence files below a folder: their paths, and their contents."""
    files = (f for f in folder.rglob("*") if f.is_file() and FILE.match(f.name) and f.suffix not in OTHER)
    for file in sorted(files):
        if not {"tests", "test", "benches", "examples"} & set(file.relative_to(folder).parts):
            yield file.relative_to(folder), file.read_text(errors="replace").strip()


shown = {}  # the text of each file, and the section that has it
without = []
sections = []
for name, version in sorted(found):
    package = packages[name, version.removeprefix("v")]
    if package["source"] is None:
        continue
    title = f"{package['name']} {package['version']}: {package['license']}"
    lines = ["=" * 100, title, *filter(None, [package["repository"]]), ""]
    files = list(texts(pathlib.Path(package["manifest_path"]).parent))
    if not files:
        without.append(package)
        lines += [f"The crate has no licence file. Its authors: {', '.join(package['authors']) or 'not named'}.", ""]
    for path, text in files:
        if text in shown:
            lines += [f"{path}: as {shown[text]}", ""]
        else:
            shown[text] = f"{path} of {package['name']}"
            lines += ["-" * 100, f"{path}", "", text, ""]
    sections.append("\n".join(lines))

for package in without:
    if not {"MIT", "Apache-2.0"} & set(re.split(r"[ ()/]+", package["license"] or "")):
        sys.exit(f"{package['name']} has no licence file, and its licence is {package['license']}")

roots = ", ".join(sorted(sys.argv[1:]))
print(f"The licences of the {len(sections)} crates that are built into {roots}.")
print(
    "\nThe standard library of Rust is built in too (MIT or Apache-2.0, https://www.rust-lang.org/policies/licenses),"
    "\nand so is the GNU C library where the program is static (LGPL-2.1-or-later, https://www.gnu.org/software/libc/);"
    "\nthe sources of the program, with which it can be linked again, are at https://github.com/anabranch/anabranch.\n"
)
print("\n".join(sections), end="")
