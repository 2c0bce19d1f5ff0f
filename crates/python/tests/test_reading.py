"""Files that are read."""

import io
import os
import random

import pytest

import abz
from conftest import STANDARD, Plain, read


def test_contents_come_back(written, contents):
    with abz.open(written) as file:
        assert file.read() == contents
        assert file.read() == b""
    with abz.open(written, threads=1) as file:
        assert b"".join(iter(lambda: file.read(99_991), b"")) == contents


@pytest.mark.parametrize("format", STANDARD)
def test_it_reads_what_the_standard_library_writes(tmp_path, format, contents):
    path = tmp_path / "without a suffix"
    path.write_bytes(STANDARD[format](contents) + STANDARD[format](b"and more"))
    with abz.open(path) as file:
        assert file.read() == contents + b"and more"


def test_lines_come_back(written, contents):
    with abz.open(written) as file:
        assert list(file) == contents.splitlines(keepends=True)
    with abz.open(written, "rt", encoding="ascii") as file:
        assert list(file) == contents.decode().splitlines(keepends=True)


def test_text_is_decoded(tmp_path):
    path = tmp_path / "notes.gz"
    path.write_bytes(abz.compress("Fluß\r\n".encode("latin-1")))
    with abz.open(path, "rt", encoding="latin-1") as file:
        assert file.read() == "Fluß\n"
    with abz.open(path, "rt", encoding="latin-1", newline="") as file:
        assert file.read() == "Fluß\r\n"
    with abz.open(path, "rt", encoding="ascii", errors="replace") as file:
        assert file.read() == "Flu\N{REPLACEMENT CHARACTER}\n"


def test_it_has_what_a_buffered_reader_has(written, contents):
    file = abz.open(written)
    # numpy would read the file below in place of the contents.
    assert isinstance(file, io.BufferedIOBase) and not isinstance(file, io.BufferedReader)
    for name in dir(io.BufferedReader):
        assert name.startswith("_") or hasattr(file, name), name
    assert file.readable() and not file.writable() and file.seekable() and not file.isatty()
    assert (file.name, file.mode) == (str(written), "rb")
    assert contents.startswith(file.peek(10))
    assert file.tell() == 0
    assert file.readline() == contents[: contents.index(b"\n") + 1]
    buffer = bytearray(1000)
    at = file.tell()
    assert file.readinto(buffer) == 1000
    assert buffer == contents[at : at + 1000]
    assert contents[at + 1000 :].startswith(file.read1())
    assert os.path.sameopenfile(file.fileno(), file.raw.fileno())
    with pytest.raises(io.UnsupportedOperation):
        file.write(b"")
    file.close()
    file.close()
    assert file.closed
    for operation in file.read, file.tell, lambda: file.seek(0), file.readline, file.fileno, lambda: iter(file), lambda: next(file):
        with pytest.raises(ValueError, match="closed"):
            operation()


def test_random_reads_and_seeks_are_those_of_a_plain_file(written, contents):
    draw, plain = random.Random(1), Plain(contents)
    with abz.open(written) as file:
        for _ in range(200):
            size, position = draw.choice([0, 1, 1000, 70_000, 2_000_000]), draw.randrange(len(contents) + 1000)
            action = draw.choice(["read", "read1", "readline", "peek", "start", "here", "end"])
            if action == "read":
                assert file.read(size) == plain.read(size)
            elif action == "read1":
                some = file.read1(size)
                assert some == plain.read(len(some))
                assert some or size == 0 or plain.tell() >= len(contents)
            elif action == "readline":
                assert file.readline() == plain.readline()
            elif action == "peek":
                assert contents[plain.tell() :].startswith(file.peek())
            elif action == "start":
                assert file.seek(position) == plain.seek(position)
            elif action == "here":
                distance = max(position - 1_000_000, -plain.tell())
                assert file.seek(distance, io.SEEK_CUR) == plain.seek(distance, io.SEEK_CUR)
            else:
                distance = -min(position, len(contents))
                assert file.seek(distance, io.SEEK_END) == plain.seek(distance, io.SEEK_END)
            assert file.tell() == plain.tell()


def test_wrong_seeks_are_told(written):
    with abz.open(written) as file:
        file.read(10)
        for wrong in (0, 7), (0, -1), (1 << 80, 0):
            with pytest.raises((ValueError, OverflowError)):
                file.seek(*wrong)
            assert file.tell() == 10
        # Before the start is the start, as in the standard modules.
        for before in (-1, 0), (-11, 1), (-(10**9), 2):
            assert (file.seek(*before), file.tell()) == (0, 0)
            file.seek(10)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        abz.open(tmp_path / "no.gz")
    assert caught.value.filename == str(tmp_path / "no.gz")
    with pytest.raises(OSError):
        read(tmp_path)
    with pytest.raises(TypeError, match="expected a path or a file object with a method read, found int"):
        abz.open(1)


def test_a_file_without_its_end_raises_at_the_end(written, contents):
    file = written.read_bytes()
    written.write_bytes(file[:-1000])
    found = b""
    with abz.open(written) as file, pytest.raises(EOFError, match=written.name):
        while True:
            some = file.read(10_000)
            assert some, "the end is missing, and nothing says so"
            found += some
    assert contents.startswith(found)


def test_damage_raises_at_its_place_and_again(tmp_path, contents):
    path = tmp_path / "notes.gz"
    file = bytearray(abz.compress(contents, block_size=100_000))
    at = len(file) // 2
    file[at : at + 64] = bytes(64)
    path.write_bytes(file)
    found = b""
    with abz.open(path) as file:
        with pytest.raises(abz.BadFile, match="notes.gz"):
            while True:
                found += file.read(10_000)
        with pytest.raises(abz.BadFile, match="notes.gz"):
            file.read(10_000)
    assert found and contents.startswith(found)


def test_what_is_not_compressed_is_a_bad_file(tmp_path):
    path = tmp_path / "notes.gz"
    path.write_bytes(b"a branch of a river\n")
    with pytest.raises(abz.BadFile, match="notes.gz"):
        read(path)
    (tmp_path / "notes.zst").write_bytes(b"")
    with pytest.raises(abz.ShortFile, match="notes.zst: .*empty"):
        read(tmp_path / "notes.zst")
