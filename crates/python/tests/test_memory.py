"""Compression and decompression in memory."""

import array
import bz2
import gzip
import lzma
import zlib

import pytest

import abz
from conftest import STANDARD

READERS = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress, "zlib": zlib.decompress}


def test_contents_come_back(format, contents):
    for data in b"", b"a", contents:
        assert abz.decompress(abz.compress(data, format=format, level=1)) == data


@pytest.mark.parametrize("format", READERS)
def test_the_standard_library_reads_it(format, contents):
    assert READERS[format](abz.compress(contents, format=format, level=1)) == contents


@pytest.mark.parametrize("format", STANDARD)
def test_it_reads_what_the_standard_library_writes(format, contents):
    file = STANDARD[format](contents)
    assert abz.decompress(file) == contents
    assert abz.decompress(file + STANDARD[format](b"and more")) == contents + b"and more"


def test_the_result_does_not_depend_on_threads(format, contents):
    assert abz.compress(contents, format=format, level=1, threads=1) == abz.compress(
        contents, format=format, level=1, threads=4
    )


def test_levels_and_block_sizes_change_the_result(contents):
    sizes = {len(abz.compress(contents, level=level)) for level in (1, 6, 9)}
    assert len(sizes) == 3
    assert len(abz.compress(contents, block_size=10_000)) > len(abz.compress(contents))


def test_any_buffer_is_taken():
    numbers = array.array("i", range(1000))
    expected = numbers.tobytes()
    for data in numbers, bytearray(expected), memoryview(expected), memoryview(numbers):
        assert abz.decompress(abz.compress(data)) == expected
    every_second = memoryview(expected)[::2]
    assert abz.decompress(abz.compress(every_second)) == expected[::2]
    file = abz.compress(expected)
    assert abz.decompress(bytearray(file)) == abz.decompress(memoryview(file)) == expected


def test_wrong_arguments_are_told():
    with pytest.raises(TypeError, match="str"):
        abz.compress("text")
    with pytest.raises(ValueError, match="expected a format of gzip, .*, found \"rar\""):
        abz.compress(b"", format="rar")
    with pytest.raises(ValueError, match="from 0 to 9, found 99"):
        abz.compress(b"", format="xz", level=99)
    for function in abz.compress, abz.decompress:
        with pytest.raises(ValueError, match="expected 1 worker or more, found 0"):
            function(abz.compress(b""), threads=0)


@pytest.mark.parametrize("argument", ["threads", "block_size", "memory_limit", "mtime", "level", "compresslevel"])
def test_numbers_out_of_their_range_are_value_errors(tmp_path, argument):
    path = tmp_path / "a.gz"
    path.write_bytes(abz.compress(b"a branch"))
    calls = {
        "compress": lambda setting: abz.compress(b"", **setting),
        "decompress": lambda setting: abz.decompress(path.read_bytes(), **setting),
        "read": lambda setting: abz.open(path, **setting).read(),
        "write": lambda setting: abz.open(tmp_path / "b.gz", "wb", **setting).close(),
        "index": lambda setting: abz.index(path, **setting),
    }
    takes = {
        "threads": list(calls),
        "memory_limit": ["decompress", "read", "write"],
        "block_size": ["compress", "write"],
    }
    for name in takes.get(argument, ["compress", "write"]):
        for number in (-2, -(1 << 63), -(1 << 80), 1 << 80, 1 << 200):
            with pytest.raises(ValueError, match=f"found {number}"):
                calls[name]({argument: number})
        for other in ("2", b"2", [], object()):
            with pytest.raises(TypeError):
                calls[name]({argument: other})


def test_damage_is_told(format, contents):
    file = bytearray(abz.compress(contents, format=format, level=1))
    with pytest.raises(EOFError):
        abz.decompress(file[: len(file) // 2])
    for at in range(len(file) // 2, len(file) // 2 + 64):
        file[at] ^= 0x55
    with pytest.raises((abz.BadFile, EOFError)):
        abz.decompress(file)


def test_what_is_not_compressed_is_a_bad_file():
    with pytest.raises(abz.BadFile):
        abz.decompress(b"a branch of a river\n")
    assert abz.decompress(b"") == b""
    assert issubclass(abz.BadFile, OSError)
