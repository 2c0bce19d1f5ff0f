#!/usr/bin/env python3
"""Measures each I/O mode of abz with the sets of the paper on parallel DEFLATE.

    io_modes.py --abz PROGRAM [--rounds 2] [--disk FOLDER] [--memory /dev/shm] [--slow FOLDER] [--only PLACE] [--markdown OUT]

Sets: `large` (3 files of 100 MB), `small` (files of 512 KiB to 2 MiB, 100 MB in all) and `mixed` (256 KiB to 80 MB),
each of random bytes and of files of this machine. A round compresses (at level 1, which waits most for its files) and
decompresses each set in each mode, one after the other, beginning with another mode each time. The table has the
shortest time of each in seconds. Blocks have the default size, and once the size of the largest file per thread (at
most 4 MiB, which abz allows). The script fails if decompressed contents differ. It takes some five minutes.
"""

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

MODES = [("stream", "stream"), ("pread", "stream"), ("stream", "pwrite"), ("pread", "pwrite"), ("mmap", "mmap")]
KIB, MB = 1 << 10, 1_000_000

HEADING = """# I/O modes

Times in seconds from `measure/abz/io_modes.py --markdown`, whose description names the sets. Each is the
shorter of two runs.
"""


def sizes(name, chance):
    if name == "large":
        return [100 * MB] * 3
    if name == "small":
        least, most, total = 512 * KIB, 2048 * KIB, 100 * MB
    else:
        least, most, total = 256 * KIB, 80 * MB, 200 * MB
    found = []
    while total > 0:
        # Sizes are uniform on a logarithmic scale: many small ones and some large ones.
        size = min(int(least * (most / least) ** chance.random()), total)
        found.append(size)
        total -= size
    return found


def real():
    """Yields the contents of files of this machine, repeatedly."""
    while True:
        for path in sorted(Path("/usr").rglob("*")):
            if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                yield path.read_bytes()


def make(folder, name, contents):
    chance = random.Random(name)
    source, rest = real(), b""
    for number, size in enumerate(sizes(name, chance)):
        with open(folder / f"{number:03}", "wb") as file:
            while size > 0:
                if contents == "random":
                    piece = chance.randbytes(min(size, 1 << 20))
                else:
                    while not rest:
                        rest = next(source)
                    piece, rest = rest[:size], rest[size:]
                file.write(piece)
                size -= len(piece)


def digest(folder):
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.read_bytes())
    return total.hexdigest()


def run(arguments, folder):
    began = time.perf_counter()
    subprocess.run(arguments, cwd=folder, check=True)
    return time.perf_counter() - began


def measure(options, folder, threads):
    """Returns the times of each mode for one set: compressing, with blocks of a thread's share, and decompressing."""
    names = sorted(path.name for path in folder.iterdir())
    share = max(path.stat().st_size for path in folder.iterdir()) // threads
    block = f"{min(max(share, 4 * KIB), 4 << 20) // KIB}K"
    expected, times = digest(folder), {}
    for turn in range(options.rounds):
        for place in range(len(MODES)):
            mode = MODES[(turn + place) % len(MODES)]
            program = [options.abz, "-q", "-f", "-1", f"-p{threads}", "--input-io", mode[0], "--output-io", mode[1]]
            packed = [name + ".gz" for name in names]
            found = [run([*program, *names], folder), run([*program, "-d", "--no-sparse", *packed], folder)]
            found.append(run([*program, "-b", block, *names], folder))
            run([*program, "-d", *packed], folder)
            times.setdefault(mode, []).append(found)
    if digest(folder) != expected:
        raise SystemExit(f"WRONG CONTENTS in {folder}")
    return {mode: [min(column) for column in zip(*found)] for mode, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--abz", type=os.path.abspath, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--disk", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--slow", type=Path, help="a folder on a slow file system, such as one mounted with -o sync")
    parser.add_argument("--only", help="measure only on tmpfs, disk or slow")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    lines = [HEADING, "| set | contents | on | read, write | compress | compress, blocks of size / threads | decompress |"]
    lines.append("|---|---|---|---|--:|--:|--:|")
    places = {"tmpfs": options.memory, "disk": options.disk, "slow": options.slow}
    for place, root in places.items():
        if root is None or options.only not in (None, place):
            continue
        for name in ("large", "small", "mixed"):
            for contents in ("real", "random"):
                folder = Path(tempfile.mkdtemp(dir=root))
                try:
                    make(folder, name, contents)
                    for (read, write), (pack, unpack, shares) in measure(options, folder, threads).items():
                        row = f"| {name} | {contents} | {place} | {read}, {write} | {pack:.2f} | {shares:.2f} | {unpack:.2f} |"
                        lines.append(row)
                        print(row, flush=True)
                finally:
                    shutil.rmtree(folder)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
