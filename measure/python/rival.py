#!/usr/bin/env python3
"""Measures reading and writing of 100 MiB of text against other packages.

    crates/python/measure.py [--rounds N] [--mib N] [--quick]

Install the packages beside abz first: pip install rapidgzip indexed_gzip pgzip xopen isal zlib-ng. One that is missing is left
out. In each round all contenders of a row run once, in random order, each in a process of its own. The time is that of the loop,
without the start of Python. The ratio of a round is the time of abz to that of the other; the table has its median and the
range of the middle half of the rounds.
"""

import argparse
import gzip
import itertools
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

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


ROWS = [
    ("open().read(1 << 20) to the end, a file of gzip -6", "read", {"rapidgzip": 0.9, "xopen": 0.6, "gzip": 0.2}),
    ("writing, gzip at level 6, a MiB at a time", "write", {"pgzip": 0.6, "xopen": 0.8}),
    ("1,000 random reads of 4 KiB with an index", "random", {"indexed_gzip": 0.5, "rapidgzip": 0.5}),
]


def contend(folder, name):
    """Runs one contender in this process, and prints its seconds and what it returned."""
    work = getattr(Contenders(folder), name)()
    began = time.perf_counter()
    result = work()
    print(json.dumps([time.perf_counter() - began, result]))


def seconds(folder, name):
    """Runs one contender in a process of its own."""
    command = [sys.executable, __file__, "--contend", folder, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mib", type=int, default=100, help="how much text")
    parser.add_argument("--quick", action="store_true", help="3 rounds")
    parser.add_argument("--contend", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contend:
        return contend(*arguments.contend)
    rounds = 3 if arguments.quick else arguments.rounds

    from importlib.metadata import PackageNotFoundError, version

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder, arguments.mib << 20)
        versions = []
        for package in "abz", "rapidgzip", "indexed_gzip", "pgzip", "xopen", "isal", "zlib-ng":
            try:
                versions.append(f"{package} {version(package)}")
            except PackageNotFoundError:
                pass
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores; {', '.join(versions)}")
        print(f"{arguments.mib} MiB of text, {rounds} rounds\n")
        print("| what | against | target | ratio [middle half] | seconds | verdict |")
        print("|---|---|--:|--:|--:|---|")
        for row, kind, targets in ROWS:
            measure(name, row, kind, targets, rounds)


def measure(folder, row, kind, targets, rounds):
    times, results = {}, set()
    for contender in ["abz", *targets]:
        # The first run makes indices and fills caches. It is not counted.
        try:
            results.add(seconds(folder, f"{kind}_{contender}")[1])
        except RuntimeError as error:
            if contender == "abz":
                raise
            print(f"| {row} | {contender} | {targets[contender]} | left out: {error} | | |")
            continue
        times[contender] = []
    assert len(results) == 1, f"the contenders read different numbers of bytes: {results}"
    for _ in range(rounds):
        for contender in random.sample(list(times), len(times)):
            times[contender].append(seconds(folder, f"{kind}_{contender}")[0])
    ours = times.pop("abz")
    for contender, theirs in times.items():
        ratios = [our / their for our, their in zip(ours, theirs)]
        low, median, high = statistics.quantiles(ratios, n=4)
        target = targets[contender]
        verdict = "met" if high <= target else "not met" if low > target else "open"
        both = f"{statistics.median(ours):.3f}, {statistics.median(theirs):.3f}"
        print(f"| {row} | {contender} | {target} | {median:.2f} [{low:.2f}, {high:.2f}] | {both} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
