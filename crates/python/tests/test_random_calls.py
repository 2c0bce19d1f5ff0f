"""Random calls, compared with those of a buffer in memory, and what follows the last member of a file."""

import bz2
import gzip
import io
import random
import warnings

import pytest

import abz
from conftest import STANDARD, Plain, read, text


class Failing(io.BytesIO):
    """A file object that fails now and then, while it is told to."""

    fails = False

    def __init__(self, data, draw):
        super().__init__(data)
        self.draw = draw

    def read(self, size=-1):
        if self.fails and self.draw.random() < 0.3:
            raise OSError("a disk that fails")
        return super().read(size)

    def seek(self, offset, whence=0):
        if self.fails and whence and self.draw.random() < 0.3:
            raise OSError("a disk that fails")
        return super().seek(offset, whence)


def readinto(file, size):
    buffer = bytearray(size)
    return buffer[: file.readinto(buffer)]


def call(draw, size):
    """A random call, as a function of a file."""
    length = draw.choice([0, 1, 100, 40_000, draw.randrange(size)])
    place = draw.randrange(size) if draw.random() < 0.9 else draw.choice([size, size + 1, size + 10**9])
    return draw.choice(
        [
            lambda file: file.read(length),
            lambda file: readinto(file, length),
            lambda file: file.readline(),
            lambda file: file.readlines(length % 1000 + 1),
            lambda file: next(file, b""),
            lambda file: file.tell(),
            lambda file: file.seek(place),
            lambda file: file.seek(place - file.tell(), 1),
            lambda file: file.seek(place - size, 2),
        ]
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_are_those_of_a_buffer_also_after_seeks_that_fail(format, contents, threads):
    draw = random.Random(f"{format} {threads}")
    files = [abz.compress(contents, format=format, level=1)]
    if format in STANDARD:
        # These record no places.
        files.append(STANDARD[format](contents[:99_999]) + STANDARD[format](contents[99_999:]))
    for data in files:
        for _ in range(3):
            below = Failing(data, draw)
            ours, plain = abz.open(below, threads=threads), io.BufferedReader(Plain(contents))
            for number in range(25):
                below.fails = draw.random() < 0.3
                if below.fails:
                    place = draw.choice([(draw.randrange(len(contents)), 0), (-draw.randrange(9999), 2)])
                    try:
                        assert ours.seek(*place) == plain.seek(*place)
                    except OSError as error:
                        assert "a disk that fails" in str(error)
                    below.fails = False
                step = call(draw, len(contents))
                assert step(ours) == step(plain), number
                if draw.random() < 0.3:
                    before = draw.choice([(-1, 0), (-1 - ours.tell(), 1), (-1 - len(contents), 2)])
                    # Before the start is the start, as in the standard modules.
                    assert ours.seek(*before) == plain.seek(0)
                assert ours.tell() == plain.tell()
            assert ours.read() == plain.read()


@pytest.mark.parametrize("format", STANDARD)
def test_one_flipped_bit_at_the_start_of_a_member_is_no_silent_end(format):
    first, second = text(5000), text(5000, seed=1)
    start, more = STANDARD[format](first), STANDARD[format](second)
    # The names of the formats: gzip's has 3 bytes, bzip2's 4 and xz's 6.
    for bit in range(8 * {"gzip": 3, "bzip2": 4, "xz": 6}[format]):
        damaged = bytearray(start + more)
        damaged[len(start) + bit // 8] ^= 1 << bit % 8
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                # A level of bzip2 may be another one.
                assert abz.decompress(damaged) == first + second, bit
            except (abz.BadFile, EOFError, UserWarning):
                pass
            else:
                assert format == "bzip2", bit


@pytest.mark.parametrize("garbage", [b"garbage", b"\0\0garbage", b"x", b"\xff" * 100_000])
def test_what_follows_a_gzip_file_raises_as_in_the_standard_module(tmp_path, garbage):
    path, data = tmp_path / "a.gz", gzip.compress(b"a branch")
    path.write_bytes(data + garbage)
    for refused in lambda: abz.decompress(data + garbage), lambda: read(path):
        with pytest.raises(gzip.BadGzipFile, match=r"offset \d+.*allow_garbage"):
            refused()
    assert abz.decompress(data + garbage, allow_garbage=True) == b"a branch"
    with abz.open(path, allow_garbage=True) as file:
        assert [*file] == [b"a branch"]
        assert file.garbage_at == len(data)


def test_what_follows_another_file_is_warned_of(tmp_path):
    path, data = tmp_path / "a.bz2", bz2.compress(b"a branch")
    path.write_bytes(data + b"garbage")
    with abz.open(path) as file:
        with pytest.warns(UserWarning, match=f"a.bz2: .*offset {len(data)}"):
            assert file.read() == b"a branch"
        assert file.garbage_at == len(data)
    with pytest.warns(UserWarning, match=f"offset {len(data)}"):
        assert abz.decompress(data + b"garbage") == b"a branch"


def test_zeros_after_a_file_are_padding(format):
    if format in ("lzma", "zlib", "zip"):
        pytest.skip("its decoder reads no further than its end")
    data = abz.compress(b"a branch", format=format)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abz.decompress(data + bytes(1000)) == b"a branch"
