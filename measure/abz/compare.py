#!/usr/bin/env python3
"""Compares abz with its peers, and prints a Markdown table for each task.

    measure/abz/corpus.sh /dev/shm/corpus
    cargo build --release -p abz
    measure/abz/compare.py --corpus /dev/shm/corpus

`cargo run --release --manifest-path measure/Cargo.toml -- abz` does all three and compares the numbers with their targets.

All contenders of a task run in each round, in a different order each time. A row shows the median wall time, and
the median of the time of abz over that of the peer in the same round, with its 95 % interval (by bootstrap).
Peers that take more than five times as long as abz run in each third round only.
Outputs are verified once, outside the timed runs. A missing peer is listed as not installed. Rounds in which
something else used the processor are dropped and repeated.
"""

import argparse
import bz2
import gzip
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

ABZ = "abz"


class Failed(Exception):
    """The error of a program that failed, or wrote wrong data."""


class Contender:
    """A command line of a program to compare. `{in}` and `{out}` stand for files."""

    def __init__(self, name, line, program=None):
        self.name, self.line = name, line
        self.program = program or line.split()[0]

    def found(self, programs):
        return programs.get(self.program) or shutil.which(self.program)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="the folder that corpus.sh made")
    parser.add_argument("--abz", help="the binary of abz [default: that of the release build]")
    parser.add_argument("--crabz", help="crabz, if it is not on the PATH (cargo install crabz)")
    parser.add_argument("--gzippy", help="gzippy, if it is not on the PATH (cargo install gzippy)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=45, help="seconds after which a task has only three rounds")
    parser.add_argument("--work", default="/dev/shm", help="a folder in memory for outputs")
    parser.add_argument("--only", default="", help="run only tasks whose names contain one of these, separated by |")
    parser.add_argument("--against", default="", help="compare with these peers only, separated by |")
    parser.add_argument("--quick", action="store_true", help="quick run: 3 rounds of a few tasks on small inputs")
    parser.add_argument("--json", help="write all samples to this file instead of tables, after each task")
    parser.add_argument("--patience", type=float, default=120, help="seconds that a task may wait for a busy machine")
    return parser.parse_args()


def busy():
    """Returns the processor time in seconds that all cores together have used so far."""
    with open("/proc/stat") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(most):
    """Waits until nothing else runs, at most `most` seconds. Returns the time waited."""
    began = time.monotonic()
    while True:
        before, looked = busy(), time.monotonic()
        time.sleep(0.1)
        if busy() - before < 0.025 or looked - began > most:
            return looked - began


def run(line, source, target):
    """Runs a command line. Returns its wall and processor time in seconds, and whether other processes disturbed it."""
    words = [word.replace("{in}", source).replace("{out}", target) for word in line.split()]
    stdin = open(source, "rb") if "{in}" not in line else subprocess.DEVNULL
    stdout = open(target, "wb") if "{out}" not in line else subprocess.DEVNULL
    before, began = busy(), time.perf_counter()
    child = subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    used = usage.ru_utime + usage.ru_stime
    # /proc/stat counts hundredths of a second on each core.
    disturbed = busy() - before - used > 0.03 + 0.05 * wall
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise Failed(f"{' '.join(words)}: exit {child.returncode}: {said.decode(errors='replace').strip()}")
    return wall, used, disturbed


def check(right, problem):
    if not right:
        raise Failed(problem)


def digest(file):
    return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return digest(file)


def interval(ratios):
    """Returns the middle 95 % of the medians of resampled ratios."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def table(task, note):
    """Prints the results of a task."""
    noisy = ", THE MACHINE WAS BUSY" if task["busy"] else ""
    print(f"\n**{task['title']}** ({task['kept']} rounds, {task['dropped']} more were disturbed{noisy}){note}\n")
    print("| | median wall s | CPU s | bytes out | abz takes | 95 % |\n|---|--:|--:|--:|--:|--:|")
    for c in task["contenders"]:
        if "walls" not in c:
            print(f"| {c['name']} | {c['failed'] or 'not installed'} | | | | |")
            continue
        ratios = [a / b for a, b in zip(c["of_abz"], c["walls"])]
        low, high = interval(ratios)
        print(
            f"| {c['name']} | {statistics.median(c['walls']):.3f} | {c['cpu']:.2f} | {c['bytes']:,} "
            f"| {statistics.median(ratios):.3f} | {low:.3f} to {high:.3f} |",
            flush=True,
        )


class Bench:
    def __init__(self, options, programs, found):
        self.options, self.programs, self.versions = options, programs, found
        self.folder = os.path.join(options.work, f"abz-compare-{os.getpid()}")
        os.makedirs(self.folder)
        self.tasks, self.memory_used = [], []

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self):
        """Writes the results so far."""
        if self.options.json:
            with open(self.options.json + ".new", "w") as file:
                json.dump({"versions": self.versions, "tasks": self.tasks, "memory": self.memory_used}, file)
            os.replace(self.options.json + ".new", self.options.json)

    def task(self, title, source, contenders, verify, target=None, prepare=None, note=""):
        """Measures the contenders on one input."""
        if not self.wants(title):
            return
        if self.options.against:
            named = [ABZ, *self.options.against.split("|")]
            contenders = [c for c in contenders if any(name in c.name for name in named)]
        if self.options.json:
            print(title, file=sys.stderr, flush=True)
        present = [c for c in contenders if c.found(self.programs)]
        # Times of each contender, by the number of the round.
        sizes, walls, cpu, slow = {}, {c.name: {} for c in present}, {c.name: {} for c in present}, set()
        failed = {}
        lines = {c.name: c.line.replace(c.program, c.found(self.programs), 1) for c in present}
        out = self.path("out")
        for c in present:
            if prepare:
                prepare()
            try:
                wall, _, _ = run(lines[c.name], source, out)
                sizes[c.name] = verify(out, c)
            except (Failed, OSError, EOFError) as problem:
                if c.name == ABZ:
                    raise
                failed[c.name] = str(problem)
                continue
            if c.name == ABZ:
                of_abz = wall
            elif wall > 5 * of_abz:
                slow.add(c.name)
        present = [c for c in present if c.name not in failed]
        kept = dropped = 0
        patience, took = self.options.patience, 0
        while kept < self.options.rounds and (kept < 3 or took < self.options.seconds):
            number, results = kept + dropped, {}
            order = present[number % len(present):] + present[:number % len(present)]
            order = [c for c in order if kept % 3 == 0 or c.name not in slow]
            for c in order if number % 2 else reversed(order):
                if prepare:
                    prepare()
                patience -= wait_for_quiet(patience)
                results[c.name] = run(lines[c.name], source, target or out)
            walls_of_all = sum(wall for wall, _, _ in results.values())
            if any(disturbed for _, _, disturbed in results.values()) and patience > 0:
                dropped += 1
                patience -= walls_of_all
                continue
            kept += 1
            took += walls_of_all
            for name, (wall, used, _) in results.items():
                walls[name][kept] = wall
                cpu[name][kept] = used
        self.tasks.append({
            "title": title,
            "kept": kept,
            "dropped": dropped,
            "busy": patience <= 0,
            "contenders": [
                {
                    "name": c.name,
                    "walls": list(walls[c.name].values()),
                    "of_abz": [walls[ABZ][at] for at in walls[c.name]],
                    "cpu": statistics.median(cpu[c.name].values()),
                    "bytes": sizes[c.name],
                } if c in present else {"name": c.name, "failed": failed.get(c.name)} for c in contenders
            ],
        })
        if self.options.json:
            self.save()
        else:
            table(self.tasks[-1], note)

    def wants(self, *titles):
        """Returns whether one of these tasks is to be run. Inputs of other tasks are not made."""
        return any(part in title for title in titles for part in self.options.only.split("|"))

    def compress(self, name, source, level):
        title = f"compress {name}, level {level}"
        if not self.wants(title):
            return
        expected = digest_of(source)

        def verify(out, contender):
            with gzip.open(out) as file:
                check(digest(file) == expected, f"{contender.name} lost data")
            return os.path.getsize(out)

        igzip = {1: (0, 1), 6: (2,), 9: (3,)}[level]
        self.task(title, source, [
            Contender(ABZ, f"abz -{level} -p2 -c {{in}}"),
            Contender("pigz -p2", f"pigz -{level} -p2 -c {{in}}"),
            Contender("crabz -p2", f"crabz -Q -p2 -l{level} {{in}}"),
            Contender("gzippy -p2", f"gzippy -{level} -p2 -c {{in}}"),
            Contender("gzip", f"gzip -{level} -c {{in}}"),
            Contender("libdeflate-gzip", f"libdeflate-gzip -{level} -c {{in}}"),
            *(Contender(f"igzip -{level}", f"igzip -{level} -c {{in}}") for level in igzip),
        ], verify)

    def decompress(self, name, source, plain, to_file):
        if not self.wants(f"decompress {name} to " + ("a file" if to_file else "/dev/null")):
            return
        expected = digest_of(plain)

        def verify(out, contender):
            check(digest_of(out) == expected, f"{contender.name} gave other data")
            return os.path.getsize(out)

        where = "a file" if to_file else "/dev/null"
        self.task(f"decompress {name} to {where}", source, [
            Contender(ABZ, "abz -d -p2 -c {in}"),
            Contender("igzip", "igzip -d -c {in}"),
            Contender("libdeflate-gunzip", "libdeflate-gunzip -c {in}"),
            Contender("crabz -p2", "crabz -Q -d -p2 {in}"),
            Contender("gzippy -p2", "gzippy -d -p2 -c {in}"),
            Contender("pigz -p2", "pigz -d -p2 -c {in}"),
            Contender("gzip", "gzip -d -c {in}"),
        ], verify, None if to_file else os.devnull)

    def bzip2(self, name, source):
        """bzip2 -9 in both directions; bzip2 itself made the file to decompress."""
        back = f"decompress {name} that bzip2 -9 compressed to /dev/null"
        if not self.wants(f"compress {name}, bzip2 -9", back):
            return
        expected = digest_of(source)

        def verify(out, contender):
            with bz2.open(out) as file:
                check(digest(file) == expected, f"{contender.name} lost data")
            return os.path.getsize(out)

        self.task(f"compress {name}, bzip2 -9", source, [
            Contender(ABZ, "abz -F bzip2 -9 -p2 -c {in}"),
            Contender("lbzip2 -n2", "lbzip2 -9 -n2 -c {in}"),
            Contender("pbzip2 -p2", "pbzip2 -9 -p2 -c {in}"),
            Contender("bzip2", "bzip2 -9 -c {in}"),
        ], verify)
        if not self.wants(back):
            return
        made = self.path(name + ".bz2")
        with open(made, "wb") as file:
            subprocess.run(["bzip2", "-9", "-c", source], stdout=file, check=True)

        def verify_plain(out, contender):
            check(digest_of(out) == expected, f"{contender.name} gave other data")
            return os.path.getsize(out)

        self.task(back, made, [
            Contender(ABZ, "abz -d -p2 -c {in}"),
            Contender("lbzip2 -n2", "lbzip2 -d -n2 -c {in}"),
            Contender("pbzip2 -p2", "pbzip2 -d -p2 -c {in}"),
            Contender("bzip2", "bzip2 -d -c {in}"),
        ], verify_plain, os.devnull)

    def lzma(self, name, source, tool):
        """lzip -6 or xz -6 in both directions, in blocks of the same size; the peer made the file to decompress."""
        # The size is that of an even number of blocks, for two threads: of 16 MiB for lzip and 24 MiB for xz.
        peer, level, size = {"lzip": ("plzip -n2", "plzip -6", 64 << 20), "xz": ("xz -T2", "xz -6 -T2", 48 << 20)}[tool]
        title = f"compress {size >> 20} MiB of {name}, {tool} -6"
        back = f"decompress {size >> 20} MiB of {name} that {level} compressed to /dev/null"
        if not self.wants(title, back):
            return
        plain, made = self.path(f"{name}.{tool}.plain"), self.path(f"{name}.{tool}")
        with open(source, "rb") as file, open(plain, "wb") as beginning:
            beginning.write(file.read(size))
        expected = digest_of(plain)

        def verify(out, contender):
            with open(out, "rb") as file:
                read = subprocess.run([peer.split()[0], "-dc"], stdin=file, stdout=subprocess.PIPE, check=True)
            check(hashlib.sha256(read.stdout).hexdigest() == expected, f"{contender.name} lost data")
            return os.path.getsize(out)

        self.task(title, plain, [
            Contender(ABZ, f"abz -F {tool} -6 -p2 -c {{in}}"),
            Contender(peer, f"{peer} -6 -c {{in}}"),
        ], verify)
        if not shutil.which(peer.split()[0]) or not self.wants(back):
            return
        with open(made, "wb") as file:
            subprocess.run([*level.split(), "-c", plain], stdout=file, check=True)

        def verify_plain(out, contender):
            check(digest_of(out) == expected, f"{contender.name} gave other data")
            return os.path.getsize(out)

        self.task(back, made, [
            Contender(ABZ, "abz -d -p2 -c {in}"),
            Contender(peer, f"{peer} -d -c {{in}}"),
            Contender("abz -p1", "abz -d -p1 -c {in}", "abz"),
        ], verify_plain, os.devnull)

    def zstd(self, name, source):
        """zstd in both directions; abz made one file to decompress, and zstd, in a single frame, the other."""
        both = [f"compress {what}{name}, zstd -{level}" for level, what in ((3, ""), (19, "64 MiB of "))]
        back = [f"decompress {name} that {who} -3 compressed to /dev/null" for who in ("abz -F zstd", "zstd")]
        if not self.wants(*both, *back):
            return
        beginning = self.path(f"{name}.beginning")
        with open(source, "rb") as file, open(beginning, "wb") as out:
            out.write(file.read(64 << 20))
        for level, title, plain in ((3, name, source), (19, f"64 MiB of {name}", beginning)):
            expected = digest_of(plain)

            def verify(out, contender):
                read = subprocess.run(["zstd", "-dc", out], stdout=subprocess.PIPE, check=True)
                check(hashlib.sha256(read.stdout).hexdigest() == expected, f"{contender.name} lost data")
                return os.path.getsize(out)

            self.task(f"compress {title}, zstd -{level}", plain, [
                Contender(ABZ, f"abz -F zstd --level {level} -p2 -c {{in}}"),
                Contender("zstd -T2", f"zstd -q -{level} -T2 -c {{in}}"),
            ], verify)
        if not self.wants(*back):
            return
        expected = digest_of(source)
        own, foreign = self.path(name + ".abz.zst"), self.path(name + ".zst")
        for words, made in (([self.programs["abz"], "-F", "zstd", "-3"], own), (["zstd", "-q", "-3"], foreign)):
            with open(made, "wb") as file:
                subprocess.run([*words, "-c", source], stdout=file, check=True)

        def verify_plain(out, contender):
            check(digest_of(out) == expected, f"{contender.name} gave other data")
            return os.path.getsize(out)

        for who, made in (("abz -F zstd", own), ("zstd", foreign)):
            self.task(f"decompress {name} that {who} -3 compressed to /dev/null", made, [
                Contender(ABZ, "abz -d -p2 -c {in}"),
                Contender("zstd", "zstd -q -d -c {in}"),
            ], verify_plain, os.devnull)

    def tree(self, title, source, sizes, contenders):
        """Compresses files of these sizes below a folder, in place."""
        if not self.wants(title):
            return
        tree, listing = self.path("tree"), self.path("names")
        names = [f"{tree}/{number // 100:02}/{number:04}" for number in range(len(sizes))]
        with open(listing, "w") as file:
            file.writelines(f"{name}\n" for name in names)
        with open(source, "rb") as file:
            data = file.read(min(sum(sizes), os.path.getsize(source)))

        def contents():
            """Returns the next bytes of the source for each file, from the start again at its end."""
            at = 0
            for name, size in zip(names, sizes):
                piece = data[at:at + size]
                while len(piece) < size:
                    piece += data[:size - len(piece)]
                at = (at + size) % len(data)
                yield name, piece

        def prepare():
            shutil.rmtree(tree, ignore_errors=True)
            for folder in sorted({os.path.dirname(name) for name in names}):
                os.makedirs(folder)
            for name, piece in contents():
                with open(name, "wb") as file:
                    file.write(piece)

        def verify(_, contender):
            total = 0
            for name, piece in contents():
                check(not os.path.exists(name), f"{contender.name} left {name}")
                with gzip.open(name + ".gz") as file:
                    check(file.read() == piece, f"{contender.name} lost data of {name}")
                total += os.path.getsize(name + ".gz")
            return total

        self.task(title, listing, [
            Contender(c.name, c.line.replace("{tree}", tree), c.program) for c in contenders
        ], verify, prepare=prepare)
        shutil.rmtree(tree, ignore_errors=True)

    def many(self, source):
        """Many files in one call, compared with xargs that runs two processes of gzip."""
        abz = self.programs["abz"]
        self.tree("1,000 files of 16 KiB", source, 1000 * [16 << 10], [
            Contender(ABZ, f"xargs {abz} -p2", "xargs"),
            Contender("xargs -P2 -n32 gzip", "xargs -P2 -n32 gzip", "xargs"),
            Contender("xargs -P2 -n32 pigz -p1", "xargs -P2 -n32 pigz -p1", "xargs"),
            Contender("xargs pigz -p2", "xargs pigz -p2", "xargs"),
            Contender("gzip", "xargs gzip", "xargs"),
        ])
        if self.options.quick:
            return
        # Sizes like those of source code: most are small, some are not; 33 MB in all.
        rng = random.Random(6000)
        small = [min(int(rng.lognormvariate(8, 1.1)), 256 << 10) for _ in range(6000)]
        of_a_tree = [
            Contender(ABZ, "abz -r -p2 {tree}"),
            Contender("xargs -P2 -n64 gzip", "xargs -P2 -n64 gzip", "xargs"),
            Contender("pigz -r -p2", "pigz -r -p2 {tree}"),
        ]
        self.tree("6,000 small files", source, small, of_a_tree)
        large = small[:3000] + [200 << 20] + small[3000:] + [200 << 20]
        self.tree("two of 200 MiB among 6,000 small files", source, large, of_a_tree)

    def ranges(self, text, source):
        """1 MiB in the middle of a file of 1 GiB that abz made, compared with all of it."""
        title = "1 MiB in the middle of 1 GiB"
        if not self.wants(title):
            return
        plain, packed = self.path("large"), self.path("large.gz")
        with open(plain, "wb") as out:
            while out.tell() < 1 << 30:
                for path in (source, text):
                    with open(path, "rb") as file:
                        out.write(file.read((1 << 30) - out.tell()))
        with open(packed, "wb") as out:
            subprocess.run([self.programs["abz"], "-1", "-c", plain], stdout=out, check=True)
        with open(plain, "rb") as file:
            file.seek(512 << 20)
            expected = hashlib.sha256(file.read(1 << 20)).hexdigest()
        whole = digest_of(plain)

        def verify(out, contender):
            check(digest_of(out) == (expected if contender.name == ABZ else whole), f"{contender.name} gave other data")
            return os.path.getsize(out)

        self.task(title, packed, [
            Contender(ABZ, "abz --range 512M..513M -p2 -c {in}"),
            Contender("all of it", "abz -d -p2 -c {in}", "abz"),
        ], verify, os.devnull)
        for path in (plain, packed):
            os.remove(path)

    def memory(self, title, words, feed, stall):
        """Returns the peak memory of abz while its reader may stall."""
        if not self.wants("memory " + title):
            return
        child = subprocess.Popen([self.programs["abz"], *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not os.fork():
            child.stdout.close()
            try:
                feed(child.stdin)
                child.stdin.close()
            finally:
                os._exit(0)
        child.stdin.close()
        most, total = 0, 0
        if stall:
            total += len(child.stdout.read(64 << 10))
            time.sleep(stall)
        while True:
            with open(f"/proc/{child.pid}/status") as status:
                most = max([most] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
            data = child.stdout.read1(1 << 20)
            if not data:
                break
            total += len(data)
        assert child.wait() == 0 and total
        os.wait()
        if not self.memory_used and not self.options.json:
            print("\n**memory**: the most that abz held, with `-p2` where nothing is said\n\n| | |\n|---|--:|")
        self.memory_used.append({"title": title, "mib": most / 1024})
        if self.options.json:
            self.save()
        else:
            print(f"| {title} | {most / 1024:.1f} MiB |", flush=True)

    def inputs(self):
        """Returns the files of the corpus, or only their beginnings with --quick."""
        for name in ("text", "source", "media"):
            path = os.path.join(self.options.corpus, name)
            if self.options.quick:
                with open(path, "rb") as file, open(self.path(name), "wb") as beginning:
                    beginning.write(file.read(12 << 20))
                path = self.path(name)
            yield path

    def all(self):
        text, source, media = self.inputs()
        quick = self.options.quick
        for level in (6,) if quick else (6, 1, 9):
            for path in (text,) if quick else (text, source):
                self.compress(os.path.basename(path), path, level)
        self.compress("media (compressed already)", media, 6)
        for path in (text,) if quick else (text, source):
            name = os.path.basename(path)
            if not self.wants(*(
                f"decompress {name} that {who} compressed to {where}"
                for who in ("abz", "gzip -6") for where in ("/dev/null", "a file")
            )):
                continue
            own, foreign = self.path(name + ".abz.gz"), self.path(name + ".gz")
            for program, made in ((self.programs["abz"], own), ("gzip", foreign)):
                with open(made, "wb") as file:
                    subprocess.run([program, "-6", "-c", path], stdout=file, check=True)
            for to_file in (False,) if quick else (False, True):
                self.decompress(f"{name} that abz compressed", own, path, to_file)
                self.decompress(f"{name} that gzip -6 compressed", foreign, path, to_file)
        self.many(source)
        for path in () if quick else (text, source):
            self.bzip2(os.path.basename(path), path)
            for tool in ("lzip", "xz"):
                self.lzma(os.path.basename(path), path, tool)
            if shutil.which("zstd"):
                self.zstd(os.path.basename(path), path)
        if not quick:
            self.ranges(text, source)
            self.memories(text)
            self.stalled(text, source, media)

    def stalled(self, *paths):
        """Measures the memory to inflate a file that does not record its blocks, while the reader stalls."""
        behind = ", behind a reader that stalls"
        for path in paths:
            title, packed = f"decompress {os.path.basename(path)} that gzip -6 compressed", self.path("packed.gz")
            ways = [(f"-p{threads}", *more) for threads in (1, 2, 4) for more in ((), ("--speculate=always",))]
            if not self.wants(*(f"memory {title}, {' '.join(way)}{behind}" for way in ways)):
                continue
            with open(packed, "wb") as out:
                subprocess.run(["gzip", "-6", "-c", path], stdout=out, check=True)
            for way in ways:
                # The file is named, as in `abz -dc FILE | (sleep 3; cat > /dev/null)`.
                self.memory(f"{title}, {' '.join(way)}{behind}", ["-dc", *way, packed], lambda _: None, 3)

    def memories(self, text):
        if not self.wants("memory"):
            return
        chunk = bytes(1 << 20)

        def zeros(pipe):
            for _ in range(3 << 10):
                pipe.write(chunk)

        def file(path):
            return lambda pipe: pipe.write(open(path, "rb").read())

        for stall in (0, 3):
            behind = ", behind a reader that stalls" if stall else ""
            self.memory("compress 3 GiB of zeros" + behind, ["-p2"], zeros, stall)
            self.memory("compress text" + behind, ["-p2"], file(text), stall)
            self.memory("compress text in blocks of 4 MiB" + behind, ["-p2", "-b4M"], file(text), stall)
        for name, make in (("abz", [self.programs["abz"]]), ("gzip", ["gzip", "-1"])):
            bomb = self.path("bomb.gz")
            with open(bomb, "wb") as out:
                child = subprocess.Popen(make, stdin=subprocess.PIPE, stdout=out)
                zeros(child.stdin)
                child.stdin.close()
                assert child.wait() == 0
            for stall in (0, 3):
                behind = ", behind a reader that stalls" if stall else ""
                self.memory(f"decompress 3 GiB of zeros made by {name}" + behind, ["-d", "-p2"], file(bomb), stall)
        beginning = self.path("beginning")
        with open(text, "rb") as whole, open(beginning, "wb") as out:
            out.write(whole.read(32 << 20))
        for words in ("bzip2 -9", "lzip -6", "xz -6", "zstd -3"):
            packed, behind = self.path("packed"), ", behind a reader that stalls"
            self.memory(f"compress text, {words}" + behind, ["-p2", "-F", *words.split()], file(beginning), 3)
            with open(packed, "wb") as out:
                subprocess.run([self.programs["abz"], "-F", *words.split(), "-c", beginning], stdout=out, check=True)
            # The file is named, because the blocks of a pipe are not known beforehand.
            self.memory(f"decompress text, {words}" + behind, ["-d", "-p2", "-c", packed], lambda _: None, 3)


def versions(programs):
    """Returns names and versions; missing programs have no version."""
    found = {}
    peers = "pigz crabz gzippy gzip libdeflate-gzip igzip bzip2 lbzip2 pbzip2 plzip xz zstd"
    for name in ("abz", *peers.split()):
        found[name] = None
        program = programs.get(name) or shutil.which(name)
        if program:
            flag = "-V" if name == "libdeflate-gzip" else "--version"
            said = subprocess.run([program, flag], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            lines = (said.stdout + said.stderr).strip().splitlines()
            found[name] = lines[0] if lines else "unknown"
    return found


def print_versions(found):
    print("| program | version |\n|---|---|")
    for name, version in found.items():
        print(f"| {name} | {version or 'not installed'} |")
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown")
    print(f"| machine | {os.cpu_count()} cores, {model} |")


def main():
    options = arguments()
    if options.quick:
        options.rounds, options.patience = min(options.rounds, 3), min(options.patience, 2)
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    programs = {"abz": options.abz or os.path.join(target, "release", "abz")}
    for name in ("crabz", "gzippy"):
        if getattr(options, name):
            programs[name] = getattr(options, name)
    found = versions(programs)
    bench = Bench(options, programs, found)
    try:
        if not options.json:
            print_versions(found)
        bench.all()
        bench.save()
    finally:
        shutil.rmtree(bench.folder)


if __name__ == "__main__":
    main()
