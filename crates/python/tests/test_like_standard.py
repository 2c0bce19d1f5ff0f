"""Calls, arguments and damage, compared with the standard modules `gzip`, `bz2` and `lzma`."""

import bz2
import gc
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import warnings
import zlib

import pytest

import abz
from conftest import SUFFIXES, read, text

MODULES = {"gzip": gzip, "bzip2": bz2, "xz": lzma}


def outcome(function, *arguments):
    """What a function returns, or the exception that it raises."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def check_same(ours, theirs, what):
    """Compares two outcomes. Of two exceptions, one must have the class of the other."""
    (value, error), (their_value, their_error) = ours, theirs
    if their_error is None or error is None:
        assert error is their_error is None, (what, error, their_error)
        assert value == their_value, what
    else:
        pair = isinstance(error, type(their_error)) or isinstance(their_error, type(error))
        assert pair, (what, repr(error), repr(their_error))


def reading_call(draw, size):
    """The name of a random call and the call, as a function of a file that is read."""
    length = draw.choice([0, 1, 7, 5000, 40_000, 2 * size, -1, -2, -100, None])
    place, far = draw.randrange(-50, size + 50), draw.choice([-1, -20, 30, 10**5, -(10**7)])
    from_end = draw.choice([-abs(place), 0, 9])

    def readinto(file):
        buffer = bytearray(abs(length or 5) % 50_000)
        return bytes(buffer[: file.readinto(buffer)])

    calls = {
        "read": lambda file: file.read(length),
        "readinto": readinto,
        "peek": lambda file: file.peek(-1 if length is None else length)[:1],
        "readline": lambda file: file.readline(-1 if length is None else length),
        "readlines": lambda file: file.readlines(5 if length is None else length),
        "next": lambda file: next(file, None),
        "seek": lambda file: (file.seek(place), file.tell()),
        "seek on": lambda file: (file.seek(max(far, -file.tell() - 9), 1), file.tell()),
        "seek from the end": lambda file: (file.seek(from_end, 2), file.tell()),
        "seek from nowhere": lambda file: file.seek(0, 7),
        "seek a fraction": lambda file: file.seek(1.5),
        "seek too far": lambda file: file.seek(1 << 80),
        "tell": lambda file: file.tell(),
        "write": lambda file: file.write(b"x"),
        "writelines": lambda file: file.writelines([b"x"]),
        "truncate": lambda file: file.truncate(),
        "modes": lambda file: (file.readable(), file.writable(), file.seekable(), file.isatty(), file.closed),
        "within": lambda file: file.__enter__() is file,
        "fileno": lambda file: os.fstat(file.fileno()).st_ino,
    }
    name = draw.choice(list(calls))
    return name, calls[name]


@pytest.mark.parametrize("format", MODULES)
def test_calls_of_a_reader_are_those_of_the_standard_module(tmp_path, format):
    draw, contents = random.Random(format), text(60_000)
    path = tmp_path / f"a{SUFFIXES[format]}"
    path.write_bytes(MODULES[format].compress(contents))
    for _ in range(60):
        with abz.open(path, threads=draw.choice([1, 2])) as ours, MODULES[format].open(path) as theirs:
            for _ in range(15):
                name, step = reading_call(draw, len(contents))
                check_same(outcome(step, ours), outcome(step, theirs), name)
        ours.close()
        for step in (lambda file: file.read(1), lambda file: file.seek(0), lambda file: file.tell(), lambda file: file.peek(1)):
            check_same(outcome(step, ours), outcome(step, theirs), "closed")


@pytest.mark.parametrize("format", MODULES)
def test_calls_of_a_writer_are_those_of_the_standard_module(tmp_path, format):
    draw, module = random.Random(format), MODULES[format]
    paths = [tmp_path / f"{name}{SUFFIXES[format]}" for name in ("ours", "theirs")]
    for number in range(60):
        mode = draw.choice(["w", "wb", "x", "xb", "a", "ab"])
        opened = [outcome(opener, path, mode) for opener, path in zip((abz.open, module.open), paths)]
        if opened[0][1] or opened[1][1]:
            check_same(*opened, mode)
            for path in paths:
                path.unlink()
            continue
        ours, theirs = opened[0][0], opened[1][0]
        for _ in range(draw.randrange(12)):
            data = text(draw.choice([0, 1, 50, 3000, 70_000]), seed=number)
            data = draw.choice([bytes, bytearray, memoryview])(data)
            calls = {
                "write": lambda file: file.write(data),
                "write text": lambda file: file.write("x"),
                "writelines": lambda file: file.writelines([data, b"x"]),
                "flush": lambda file: file.flush(),
                "tell": lambda file: file.tell(),
                "read": lambda file: file.read(5),
                "truncate": lambda file: file.truncate(),
                "fileno": lambda file: os.fstat(file.fileno()).st_size >= 0,
            }
            name = draw.choice(list(calls))
            check_same(outcome(calls[name], ours), outcome(calls[name], theirs), name)
        for _ in range(draw.randrange(1, 3)):
            check_same(outcome(ours.close), outcome(theirs.close), "close")
        check_same(outcome(ours.write, b"x"), outcome(theirs.write, b"x"), "closed")
        assert module.decompress(paths[0].read_bytes()) == module.decompress(paths[1].read_bytes()) == read(paths[0])


@pytest.mark.parametrize("mode", ["r+", "rw", "q", "U", "wtb", "wx", None, 7])
def test_modes_that_are_refused(mode):
    check_same(outcome(abz.open, io.BytesIO(), mode), outcome(bz2.open, io.BytesIO(), mode), mode)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gzip leaves its file open after a wrong level
def test_arguments_are_those_of_the_standard_modules(tmp_path):
    data, draw = text(20_000), random.Random(5)
    for suffix, opener in (".gz", gzip.open), (".bz2", bz2.open):
        for level in (9, 1, 0, -1, 10, -2, 100, 1 << 70):
            ours, theirs = tmp_path / f"ours{suffix}", tmp_path / f"theirs{suffix}"

            def write(opener, path):
                with opener(path, "wb", level) if draw.random() < 0.5 else opener(path, "wb", compresslevel=level) as file:
                    file.write(data)

            done, their = outcome(write, abz.open, ours), outcome(write, opener, theirs)
            if suffix == ".gz" and level == 10:
                assert done[1] is None  # a level that the other module does not have
            else:
                # Numbers that fit no C integer are out of the range, too, where another module tells it otherwise.
                assert level > 100 or check_same(done, their, level) is None
                assert (done[1] is None) == (their[1] is None), level
            if done[1] is None:
                with opener(ours) as file:
                    assert file.read() == data
    with pytest.raises(ValueError, match="both"):
        abz.open(tmp_path / "a.gz", "wb", 9, level=9)
    for arguments in ((9, "utf-16"), (9, "latin-1", "replace"), (9, "utf-8", None, "\r\n")):
        for path, opener in (tmp_path / "a.gz", abz.open), (tmp_path / "b.gz", gzip.open):
            with opener(path, "wt", *arguments) as file:
                file.write("a river\nÄ branch\n")
                file.write("of it\n")
        assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == gzip.decompress((tmp_path / "b.gz").read_bytes())
        with abz.open(tmp_path / "a.gz", "rt", *arguments) as ours, gzip.open(tmp_path / "a.gz", "rt", *arguments) as theirs:
            assert ours.read() == theirs.read()
            ours.seek(0), theirs.seek(0)
            assert ours.readline() == theirs.readline()
            assert ours.tell() == theirs.tell()


@pytest.mark.parametrize("when", [0, 1, 1_700_000_000.75])
def test_the_time_of_a_gzip_file(tmp_path, when):
    with abz.open(tmp_path / "a.gz", "wb", mtime=when) as file:
        file.write(b"a branch")
    for data in (tmp_path / "a.gz").read_bytes(), abz.compress(b"a branch", 9, mtime=when):
        with gzip.open(io.BytesIO(data)) as file:
            assert file.read() == b"a branch"
            assert file.mtime == int(when)
    for refused in ({"mtime": -1}, {"mtime": 1 << 40}, {"mtime": 1, "format": "bzip2"}):
        with pytest.raises(ValueError, match="mtime"):
            abz.compress(b"", **refused)


@pytest.mark.parametrize("name", ["a\0.gz", b"a\0.gz", "\0", "", b"", "\udcff\0.gz", None, 7.5, ()])
def test_names_that_no_file_has_are_refused_as_in_the_standard_module(name):
    for mode in "rb", "rt", "ab":
        if name or mode != "ab":
            check_same(outcome(abz.open, name, mode), outcome(gzip.open, name, mode), (name, mode))
    check_same(outcome(abz.index, name), outcome(open, name), name)


def test_names_that_are_not_utf_8(tmp_path):
    name = os.fsencode(tmp_path) + b"/a \xff branch.gz"
    for path in name, os.fsdecode(name):
        with abz.open(path, "wb") as file:
            file.write(b"a branch")
            assert file.name == path
        with abz.open(path) as file, gzip.open(path) as theirs:
            assert (file.read(), file.name) == (b"a branch", theirs.name)
        with open(name, "rb") as below, abz.open(below) as file:
            assert file.read() == b"a branch"
    os.rename(name, name[:-3] + b".bz2")
    with abz.open(name[:-3] + b".bz2", "wb") as file:
        file.write(b"a branch")
    assert read(name[:-3] + b".bz2") == b"a branch"


@pytest.mark.parametrize("format", MODULES)
def test_damage_raises_what_the_standard_module_raises(format):
    draw, module, contents = random.Random(format), MODULES[format], text(3000)
    whole = module.compress(contents)
    for data in whole, module.compress(contents[:50]) + module.compress(contents[50:]):
        for _ in range(400):
            damaged = bytearray(data)
            if draw.random() < 0.7:
                damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            else:
                damaged = damaged[: draw.choice([draw.randrange(20), draw.randrange(len(data))])]
            theirs = outcome(lambda: module.open(io.BytesIO(damaged)).read())
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                ours = outcome(lambda: abz.open(io.BytesIO(damaged)).read())
            if theirs[1] is None or isinstance(ours[1], UserWarning):
                # Contents are never lost without an error, as they may be there.
                assert ours[1] is not None or ours[0] == theirs[0]
                continue
            if format == "xz" and isinstance(ours[1], EOFError):
                continue  # a size in the index may lead past the end
            assert isinstance(ours[1], type(theirs[1])), (ours, theirs[1])
            assert "byte" in str(ours[1]) or isinstance(ours[1], abz.UnknownFormat)


@pytest.mark.parametrize("format", MODULES)
def test_a_file_that_ends_anywhere_is_as_in_the_standard_module(tmp_path, format):
    path, module = tmp_path / f"a{SUFFIXES[format]}", MODULES[format]
    data = module.compress(b"a branch of a river")
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        for step in (lambda file: file.read(), lambda file: [*file], lambda file: (file.seek(0, 2), file.tell())):

            def with_file(opener, file):
                with opener(file) as opened:
                    return step(opened)

            check_same(outcome(with_file, abz.open, path), outcome(with_file, module.open, path), (size, "path"))
            with open(path, "rb") as ours, open(path, "rb") as theirs:
                check_same(outcome(with_file, abz.open, ours), outcome(with_file, module.open, theirs), (size, "file"))
        # A file object without a name has no format before its first bytes.
        unnamed = outcome(lambda: abz.open(io.BytesIO(data[:size])).read())
        check_same(unnamed, (None, EOFError()) if size == 0 else outcome(lambda: module.open(path).read()), (size, "no name"))
        theirs = outcome(module.decompress, data[:size])
        check_same(outcome(abz.decompress, data[:size]), theirs if size else (b"", None), (size, "decompress"))


def test_damage_of_deflate_data_is_told_as_zlib_tells_it():
    damaged = gzip.compress(b"", mtime=0)[:10] + b"\xff" * 30
    for error in zlib.error, gzip.BadGzipFile, abz.BadFile, OSError:
        with pytest.raises(error, match="byte 11"):
            abz.decompress(damaged)


def test_windows_of_zstd_above_128_mib_need_a_setting(tmp_path):
    # A frame with a window of 256 MiB and a stored block (RFC 8878, section 3.1.1).
    data = b"\x28\xb5\x2f\xfd\x00\x90" + (8 << 3 | 1).to_bytes(3, "little") + b"a branch"
    (tmp_path / "a.zst").write_bytes(data)
    for refused in lambda: abz.decompress(data), lambda: read(tmp_path / "a.zst"):
        with pytest.raises(MemoryError, match="268435456"):
            refused()
    assert abz.decompress(data, memory_limit=1 << 30) == b"a branch"
    with abz.open(tmp_path / "a.zst", memory_limit=1 << 30) as file:
        assert file.read() == b"a branch"


class Pausing(io.BytesIO):
    """A file object that has no more bytes, now and then."""

    is_pausing = True

    def read(self, size=-1):
        self.is_pausing = not self.is_pausing
        if self.is_pausing:
            raise TimeoutError("no bytes at the moment")
        return super().read(min(size, 5000))


def test_a_time_out_loses_nothing_when_all_is_read():
    contents = text(300_000)
    for number in range(4):
        with abz.open(Pausing(gzip.compress(contents))) as file:
            found = b""
            while len(found) < len(contents):
                try:
                    if number and len(found) < 100_000:
                        # So there is something in the buffer.
                        found += file.peek(1)[:number] and file.read(number)
                    found += file.read()
                except TimeoutError:
                    pass
            assert found == contents


# A file object may be closed before the writer above it, if both are collected together.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_files_in_cycles_are_collected():
    class Target(io.BytesIO):
        pass

    import weakref

    for make in (
        lambda below: abz.open(below, "wb"),
        lambda below: abz.open(below),
        lambda below: abz.open(below, "rt"),
    ):
        below = Target(gzip.compress(b"a branch"))
        below.above = make(below)
        gone = weakref.ref(below)
        del below
        gc.collect()
        assert gone() is None


def test_a_failed_call_keeps_no_buffers(tmp_path):
    damaged = bytearray(abz.compress(text(3 << 20), level=1))
    damaged[-60_000] ^= 0xFF
    program = """
        import abz, io, resource, sys
        with open(sys.argv[1], "rb") as file:
            damaged = file.read()
        kept = []

        def fail():
            file = abz.open(io.BytesIO(damaged))
            file.read()

        def grown(times):
            for _ in range(times):
                try:
                    fail()
                except abz.BadFile as error:
                    kept.append(error)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = grown(20)
        # In KiB; each reader has buffers of more than a MiB.
        assert grown(100) - before < 30 << 10, before
        assert len(kept) == 120
    """
    (tmp_path / "a.gz").write_bytes(damaged)
    done = run_program(program, tmp_path / "a.gz")
    assert (done.returncode, done.stderr) == (0, "")


def run_program(program, *arguments):
    import textwrap

    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)


def test_an_open_file_that_is_collected_is_warned_of(tmp_path):
    path = tmp_path / "a.gz"
    for mode in "wb", "wt", "rb", "rt":
        file = abz.open(path, mode)
        with pytest.warns(ResourceWarning, match="unclosed file .*a.gz"):
            del file
            gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        abz.open(io.BytesIO(path.read_bytes()))  # its file object is open anyway
        abz.open(path).close()


MEMORY = """
    import abz, io, os, resource, sys
    data, many = os.urandom(1 << 20) * 120, abz.compress(bytes(500 << 20), level=1)
    plain = abz.compress(b"a branch")
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), size + (100 << 20)))
    for call in (
        lambda: abz.compress(data, level=1, threads=THREADS),
        lambda: abz.decompress(many, threads=THREADS),
        lambda: abz.open(io.BytesIO(many), threads=THREADS).read(),
    ):
        try:
            call()
        except MemoryError:
            pass
        else:
            sys.exit(1)
    assert abz.decompress(plain) == b"a branch"
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system does not say how much memory is in use")
@pytest.mark.parametrize("threads", [1, None])
def test_memory_that_is_not_there_is_an_exception(threads):
    done = run_program(MEMORY.replace("THREADS", str(threads)))
    assert (done.returncode, done.stderr) == (0, "")
