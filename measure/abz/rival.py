#!/usr/bin/env python3
"""Runs abz and its peers on files, one run for each request on standard input.

    cargo run --release --manifest-path measure/Cargo.toml -- abz

builds abz, has the inputs created, and starts this. It measures the rounds, and judges.

The lines that this program prints first are those of every rival (measure/harness/src/rival.rs). Each request `next` is answered
by the next task as JSON, or by `null` after the last one. `check N` runs contender N of the task once, and verifies its output.
The answer is its time in seconds, 0, its processor time in seconds and the bytes that it wrote. `run N` runs it without a check.
A task with the key `scale` compares abz with one and with two threads, and tells what a report says.
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import shutil
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


def contenders(lines):
    """Contenders from lines `NAME: COMMAND`."""
    return [Contender(*(word.strip() for word in line.split(":", 1))) for line in lines.strip().splitlines()]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="the folder that corpus.sh made")
    parser.add_argument("--abz", required=True, help="the binary of abz")
    parser.add_argument("--work", required=True, help="an empty folder for inputs and outputs, best in memory")
    parser.add_argument("--only", default="", help="only tasks whose names contain one of these, separated by |")
    parser.add_argument("--quick", action="store_true", help="a few tasks on small inputs")
    return parser.parse_args()


def run(line, source, target):
    """Runs a command line. Returns its wall time in seconds, and what the system says that it used."""
    words = [word.replace("{in}", source).replace("{out}", target) for word in line.split()]
    stdin = open(source, "rb") if "{in}" not in line else subprocess.DEVNULL
    stdout = open(target, "wb") if "{out}" not in line else subprocess.DEVNULL
    began = time.perf_counter()
    child = subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise Failed(f"{' '.join(words)}: exit {child.returncode}: {said.decode(errors='replace').strip()}")
    return wall, usage


def check(right, problem):
    if not right:
        raise Failed(problem)


def digest(file):
    return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return digest(file)


def same(expected, unpack=None):
    """Returns a check that an output, which `unpack` decompresses if it is given, has this digest."""

    def verify(out, contender):
        with open(out, "rb") as file:
            if unpack:
                read = subprocess.Popen([unpack, "-dc"], stdin=file, stdout=subprocess.PIPE)
                found = digest(read.stdout)
                check(read.wait() == 0, f"{unpack} does not read what {contender.name} wrote")
            else:
                found = digest(file)
        check(found == expected, f"{contender.name} gave other data")
        return os.path.getsize(out)

    return verify


def written(path, *words):
    """Writes the output of a command to a file, and returns the file."""
    with open(path, "wb") as file:
        subprocess.run(words, stdout=file, check=True)
    return path


def beginning(path, source, size):
    """Writes the first bytes of a file to another one, and returns that."""
    with open(source, "rb") as file, open(path, "wb") as out:
        out.write(file.read(size))
    return path


class Bench:
    def __init__(self, options, programs):
        self.options, self.programs = options, programs

    def path(self, name):
        return os.path.join(self.options.work, name)

    def offer(self, task, answer=None):
        """Tells a task, and answers the requests for it until the next one is asked for."""
        print(json.dumps(task), flush=True)
        for line in sys.stdin:
            word, *number = line.split()
            if word == "next":
                return
            try:
                print(*answer(word == "check", int(number[0])), flush=True)
            except (Failed, OSError, EOFError) as problem:
                print("failed:", " ".join(str(problem).split()), flush=True)
        sys.exit()

    def task(self, title, source, contenders, verify, target=None, prepare=None):
        """Offers to run the contenders on one input."""
        if not self.wants(title):
            return
        out = self.path("out")

        def answer(is_checked, number):
            contender = contenders[number]
            if prepare:
                prepare()
            line = contender.line.replace(contender.program, contender.found(self.programs), 1)
            wall, usage = run(line, source, out if is_checked else target or out)
            used = usage.ru_utime + usage.ru_stime
            return (wall, 0, used, verify(out, contender)) if is_checked else (wall, 0, used)

        peers = [{"name": c.name, "installed": bool(c.found(self.programs))} for c in contenders]
        self.offer({"title": title, "contenders": peers}, answer)

    def wants(self, *titles):
        """Returns whether one of these tasks is to be run. Inputs of other tasks are not made."""
        return any(part in title for title in titles for part in self.options.only.split("|"))

    def compress(self, title, source, unpack, lines):
        """Compresses a file."""
        if self.wants(title):
            self.task(title, source, contenders(lines), same(digest_of(source), unpack))

    def decompress(self, title, plain, packed, lines, to_file=False):
        """Decompresses to /dev/null, or to a file, what `packed` makes of a file."""
        title += " to a file" if to_file else " to /dev/null"
        if self.wants(title):
            made = written(self.path("packed"), *packed, plain)
            self.task(title, made, contenders(lines), same(digest_of(plain)), None if to_file else os.devnull)

    def gzip(self, name, source, level):
        igzip = {1: (0, 1), 6: (2,), 9: (3,)}[level]
        self.compress(f"compress {name}, level {level}", source, "gzip", f"""
            {ABZ}: abz -{level} -p2 -c {{in}}
            pigz -p2: pigz -{level} -p2 -c {{in}}
            crabz -p2: crabz -Q -p2 -l{level} {{in}}
            gzippy -p2: gzippy -{level} -p2 -c {{in}}
            gzip: gzip -{level} -c {{in}}
            libdeflate-gzip: libdeflate-gzip -{level} -c {{in}}
        """ + "\n".join(f"igzip -{level}: igzip -{level} -c {{in}}" for level in igzip))

    def gunzip(self, name, source, to_file):
        for who, program in (("abz", self.programs["abz"]), ("gzip -6", "gzip")):
            self.decompress(f"decompress {name} that {who} compressed", source, [program, "-6", "-c"], f"""
                {ABZ}: abz -d -p2 -c {{in}}
                igzip: igzip -d -c {{in}}
                libdeflate-gunzip: libdeflate-gunzip -c {{in}}
                crabz -p2: crabz -Q -d -p2 {{in}}
                gzippy -p2: gzippy -d -p2 -c {{in}}
                pigz -p2: pigz -d -p2 -c {{in}}
                gzip: gzip -d -c {{in}}
            """, to_file)

    def bzip2(self, name, source):
        """bzip2 -9 in both directions; bzip2 itself makes the file to decompress."""
        self.compress(f"compress {name}, bzip2 -9", source, "bzip2", f"""
            {ABZ}: abz -F bzip2 -9 -p2 -c {{in}}
            lbzip2 -n2: lbzip2 -9 -n2 -c {{in}}
            pbzip2 -p2: pbzip2 -9 -p2 -c {{in}}
            bzip2: bzip2 -9 -c {{in}}
        """)
        self.decompress(f"decompress {name} that bzip2 -9 compressed", source, ["bzip2", "-9", "-c"], f"""
            {ABZ}: abz -d -p2 -c {{in}}
            lbzip2 -n2: lbzip2 -d -n2 -c {{in}}
            pbzip2 -p2: pbzip2 -d -p2 -c {{in}}
            bzip2: bzip2 -d -c {{in}}
        """)

    def lzma(self, name, source, tool):
        """lzip -6 or xz -6 in both directions, in blocks of the same size; the peer makes the file to decompress."""
        # The size is that of an even number of blocks, for two threads: of 16 MiB for lzip and 24 MiB for xz.
        peer, level, size = {"lzip": ("plzip -n2", "plzip -6", 64), "xz": ("xz -T2", "xz -6 -T2", 48)}[tool]
        small = f"compress 16 MiB of {name}, lzip -6 in blocks of 4 MiB"
        title = f"compress {size} MiB of {name}, {tool} -6"
        back = f"decompress {size} MiB of {name} that {level} compressed"
        if not shutil.which(peer.split()[0]) or not self.wants(title, small, f"{back} to /dev/null"):
            return
        plain = beginning(self.path("beginning"), source, size << 20)
        self.compress(title, plain, peer.split()[0], f"""
            {ABZ}: abz -F {tool} -6 -p2 -c {{in}}
            {peer}: {peer} -6 -c {{in}}
        """)
        if tool == "lzip" and self.wants(small):
            self.compress(small, beginning(self.path("small"), source, 16 << 20), "plzip", f"""
                {ABZ}: abz -F lzip -6 -b4M -p2 -c {{in}}
                plzip -n2 -B4MiB: plzip -n2 -B4MiB -6 -c {{in}}
            """)
        self.decompress(back, plain, [*level.split(), "-c"], f"""
            {ABZ}: abz -d -p2 -c {{in}}
            {peer}: {peer} -d -c {{in}}
            abz -p1: abz -d -p1 -c {{in}}
        """)

    def zstd(self, name, source):
        """zstd in both directions; abz makes one file to decompress, and zstd, in a single frame, the other."""
        for level, size in ((3, None), (19, 64)):
            title = f"compress {f'{size} MiB of ' if size else ''}{name}, zstd -{level}"
            if self.wants(title):
                plain = beginning(self.path("beginning"), source, size << 20) if size else source
                self.compress(title, plain, "zstd", f"""
                    {ABZ}: abz -F zstd --level {level} -p2 -c {{in}}
                    zstd -T2: zstd -q -{level} -T2 -c {{in}}
                """)
        for who, words in (("abz -F zstd", [self.programs["abz"], "-F", "zstd"]), ("zstd", ["zstd", "-q"])):
            self.decompress(f"decompress {name} that {who} -3 compressed", source, [*words, "-3", "-c"], f"""
                {ABZ}: abz -d -p2 -c {{in}}
                zstd: zstd -q -d -c {{in}}
            """)

    def tree(self, title, source, sizes, contenders):
        """Compresses files of these sizes below a folder, in place."""
        if not self.wants(title):
            return
        tree, used, listing = self.path("tree"), self.path("used"), self.path("names")
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

        os.makedirs(used)

        def prepare():
            # The last tree is kept. ext4 gives no new file the inode of one that was deleted within the last minutes, and
            # passes over those one by one: half of the time of a run, if a tree was deleted before it.
            if os.path.exists(tree):
                os.rename(tree, os.path.join(used, str(len(os.listdir(used)))))
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
        shutil.rmtree(tree)
        shutil.rmtree(used)

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
        written(packed, self.programs["abz"], "-1", "-c", plain)
        with open(plain, "rb") as file:
            file.seek(512 << 20)
            expected = hashlib.sha256(file.read(1 << 20)).hexdigest()
        whole = digest_of(plain)

        def verify(out, contender):
            return same(expected if contender.name == ABZ else whole)(out, contender)

        self.task(title, packed, [
            Contender(ABZ, "abz --range 512M..513M -p2 -c {in}"),
            Contender("all of it", "abz -d -p2 -c {in}", "abz"),
        ], verify, os.devnull)
        for path in (plain, packed):
            os.remove(path)

    def scaling(self, text):
        """Compresses and decompresses with one thread and with two, and tells what a report says.

        Each input has 64 blocks or more, so that 16 threads can share them. The level of lzip and xz is a quick one.
        """
        forms = (("gzip -6", None), ("bzip2 -9", 69), ("lzip -1 -b1M", 64), ("xz -1 -b1M", 64), ("zstd -3", None))
        for how, size in forms:
            name = f"scaling {how}"
            if not self.wants(*(f"{name}, {action} text" for action in ("compress", "decompress"))):
                continue
            plain = beginning(self.path("beginning"), text, size << 20) if size else text
            self.scale(f"{name}, compress text", plain, None, f"-F {how} -c")
            self.scale(f"{name}, decompress text", plain, [ABZ, "-F", *how.split()], "-dc")
            program = how.split()[0]
            if program in ("gzip", "bzip2", "zstd"):
                more = "--speculate=always " if program == "gzip" else ""
                title = f"{name}, decompress text that {program} compressed"
                self.scale(title, plain, how.split(), f"{more}-dc")

    def scale(self, title, plain, packed, words):
        """Offers to run abz with one thread and with two on a file, or on what `packed` makes of it."""
        if not self.wants(title) or (packed and not (packed[0] == ABZ or shutil.which(packed[0]))):
            return
        source, abz, told = plain, self.programs["abz"], self.path("report")
        if packed:
            program = abz if packed[0] == ABZ else packed[0]
            source = written(self.path("packed"), program, *packed[1:], "-c", plain)

        def line(threads):
            return f"{abz} {words} -p{threads} {{in}}"

        def least(line):
            """What the quickest of a few runs used, and what it reported."""
            found, begin = [], time.perf_counter()
            while len(found) < 3 and time.perf_counter() - begin < 3:
                wall, usage = run(line, source, os.devnull)
                with open(told) as file:
                    [report] = json.load(file)
                processors = usage.ru_utime + usage.ru_stime
                its = {"wall": wall, "processors": processors, "system": usage.ru_stime, "faults": usage.ru_minflt}
                found.append((wall, its, report))
            return min(found, key=lambda run: run[0])[1:]

        reports = f"--report=json --report-file={told} -f"
        one, _ = least(f"{line(1)} {reports}")
        two, report = least(f"{line(2)} {reports}")
        keys = ("name", "role", "items", "busy_ns", "off_processor_ns")
        scale = {
            "mib": os.path.getsize(plain) / (1 << 20),
            "one": one,
            "two": two,
            "run_ns": report["wall_ns"],
            "items": report["items"],
            "nodes": [{key: node[key] for key in keys} for node in report["nodes"]],
            "plan": report["plan"],
        }

        def answer(is_checked, number):
            wall, usage = run(line((2, 1)[number]), source, os.devnull)
            return wall, 0, usage.ru_utime + usage.ru_stime

        peers = [{"name": f"abz -p{threads}", "installed": True} for threads in (2, 1)]
        self.offer({"title": title, "contenders": peers, "scale": scale}, answer)

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
        self.offer({"title": title, "mib": most / 1024})

    def inputs(self):
        """Returns the files of the corpus, or only their beginnings with --quick."""
        for name in ("text", "source", "media"):
            path = os.path.join(self.options.corpus, name)
            if self.options.quick:
                path = beginning(self.path(name), path, 12 << 20)
            yield path

    def all(self):
        text, source, media = self.inputs()
        quick = self.options.quick
        texts = (text,) if quick else (text, source)
        for level in (6,) if quick else (6, 1, 9):
            for path in texts:
                self.gzip(os.path.basename(path), path, level)
        self.gzip("media (compressed already)", media, 6)
        for path in texts:
            for to_file in (False,) if quick else (False, True):
                self.gunzip(os.path.basename(path), path, to_file)
        self.many(source)
        for path in () if quick else (text, source):
            self.bzip2(os.path.basename(path), path)
            for tool in ("lzip", "xz"):
                self.lzma(os.path.basename(path), path, tool)
            if shutil.which("zstd"):
                self.zstd(os.path.basename(path), path)
        if not quick:
            self.ranges(text, source)
            self.scaling(text)
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
            written(packed, "gzip", "-6", "-c", path)
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
        plain = beginning(self.path("beginning"), text, 32 << 20)
        for words in ("bzip2 -9", "lzip -6", "xz -6", "zstd -3"):
            packed, behind = self.path("packed"), ", behind a reader that stalls"
            self.memory(f"compress text, {words}" + behind, ["-p2", "-F", *words.split()], file(plain), 3)
            written(packed, self.programs["abz"], "-F", *words.split(), "-c", plain)
            # The file is named, because the blocks of a pipe are not known beforehand.
            self.memory(f"decompress text, {words}" + behind, ["-d", "-p2", "-c", packed], lambda _: None, 3)


def tell_versions(programs):
    """Prints the names and versions of the programs that are installed."""
    peers = "pigz crabz gzippy gzip libdeflate-gzip igzip bzip2 lbzip2 pbzip2 plzip xz zstd"
    for name in ("abz", *peers.split()):
        program = programs.get(name) or shutil.which(name)
        if program:
            flag = "-V" if name == "libdeflate-gzip" else "--version"
            said = subprocess.run([program, flag], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            lines = (said.stdout + said.stderr).strip().splitlines()
            print(name, lines[0] if lines else "unknown")
    print("ready", flush=True)


def main():
    options = arguments()
    programs = {"abz": options.abz}
    tell_versions(programs)
    # The first task is asked for as every other.
    if sys.stdin.readline():
        Bench(options, programs).all()
        print("null", flush=True)


if __name__ == "__main__":
    main()
