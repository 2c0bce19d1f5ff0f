#!/usr/bin/env python3
"""Reads and writes text with abz and other packages, one run for each request on standard input.

    cargo run --release --manifest-path measure/Cargo.toml -- python

starts this as `rival.py FOLDER MIB`. It measures the rounds, and judges.

The lines that this program prints first are those of every rival (measure/harness/src/rival.rs): the packages that are installed.
A request names a contender, such as `read_abz`. Each runs in a process of its own. The answer is the time of its loop in seconds,
without the start of Python, and the number of bytes.
"""

import gzip
import itertools
import os
import pathlib
import random
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version

READS = 1000
READ_BYTES = 4096


def read_all(file):
    """Reads to the end, a MiB at a time."""
    size = 0
    while some := file.read(1 << 20):
        size += len(some)
    return size


def read_at_random(file, size):
    draw, total = random.Random(7), 0
    for _ in range(READS):
        file.seek(draw.randrange(size - READ_BYTES))
        total += len(file.read(READ_BYTES))
    return total


def write_all(file, data):
    """Writes everything, a MiB at a time."""
    for start in range(0, len(data), 1 << 20):
        file.write(data[start : start + (1 << 20)])
    file.close()


class Contenders:
    """The functions that do the same by different packages. Each returns what it needs seconds for."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.file = str(self.folder / "text.gz")
        self.size = (self.folder / "text").stat().st_size

    def read_abz(self):
        import abz

        return lambda: read_all(abz.open(self.file))

    def read_rapidgzip(self):
        import rapidgzip

        return lambda: read_all(rapidgzip.open(self.file, parallelization=os.cpu_count()))

    def read_xopen(self):
        import xopen

        return lambda: read_all(xopen.xopen(self.file, "rb", threads=2))

    def read_gzip(self):
        return lambda: read_all(gzip.open(self.file))

    def data(self):
        return (self.folder / "text").read_bytes()

    def write_abz(self):
        import abz

        data = self.data()
        return lambda: write_all(abz.open(self.folder / "out.gz", "wb", level=6), data)

    def write_pgzip(self):
        import pgzip

        data = self.data()
        return lambda: write_all(pgzip.open(str(self.folder / "out.gz"), "wb", compresslevel=6, thread=os.cpu_count()), data)

    def write_xopen(self):
        import xopen

        data = self.data()
        return lambda: write_all(xopen.xopen(self.folder / "out.gz", "wb", compresslevel=6, threads=2), data)

    def random_abz(self):
        import abz

        index = str(self.folder / "text.gz.abzi")
        if not os.path.exists(index):
            abz.index(self.file, index)
        return lambda: read_at_random(abz.open(self.file, index=index), self.size)

    def random_indexed_gzip(self):
        import indexed_gzip

        index = str(self.folder / "text.gzidx")
        if not os.path.exists(index):
            with indexed_gzip.open(self.file) as file:
                file.build_full_index()
                file.export_index(index)
        return lambda: read_at_random(indexed_gzip.open(self.file, index_file=index), self.size)

    def random_rapidgzip(self):
        import rapidgzip

        index = str(self.folder / "text.rapidgzip")
        if not os.path.exists(index):
            with rapidgzip.open(self.file, parallelization=os.cpu_count()) as file:
                file.export_index(index)

        def work():
            with rapidgzip.open(self.file, parallelization=os.cpu_count()) as file:
                file.import_index(index)
                return read_at_random(file, self.size)

        return work


def contend(folder, name):
    """Runs one contender in this process, and prints its seconds and how many bytes there were."""
    contenders = Contenders(folder)
    work = getattr(contenders, name)()
    began = time.perf_counter()
    result = work()
    print(time.perf_counter() - began, contenders.size if result is None else result)


def make(folder, size):
    """Writes text of that many bytes, and its file of gzip -6."""
    draw = random.Random(3)
    words = ["".join(draw.choices("etaoinshrdlcumwfgypbvk", k=draw.randint(2, 11))) for _ in range(20_000)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    lines, left = [], size
    while left > 0:
        drawn = iter(draw.choices(words, cum_weights=weights, k=130_000))
        lines.extend(" ".join(line) + "\n" for line in zip(*[drawn] * 13))
        left -= sum(map(len, lines[-10_000:]))
    text = "".join(lines).encode()[:size]
    (folder / "text").write_bytes(text)
    with open(folder / "text.gz", "wb") as file:
        try:
            subprocess.run(["gzip", "-6nc"], input=text, stdout=file, check=True)
        except FileNotFoundError:
            file.write(gzip.compress(text, 6))


def main():
    if sys.argv[1] == "contend":
        return contend(*sys.argv[2:])
    folder, mib = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    make(folder, mib << 20)
    print(f"gzip {sys.version.split()[0]}")
    for package in "abz", "rapidgzip", "indexed_gzip", "pgzip", "xopen", "isal", "zlib-ng":
        try:
            print(package, version(package))
        except PackageNotFoundError:
            pass
    print("ready", flush=True)
    for line in sys.stdin:
        done = subprocess.run([sys.executable, __file__, "contend", folder, line.strip()], capture_output=True, text=True)
        said = done.stderr if done.returncode else done.stdout
        print(said.strip().splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
