"""What the tests share: contents, files of each format, and the packages that may be missing."""

import bz2
import gzip
import importlib
import io
import lzma
import random

import pytest

import abz

#: The formats that are written, with the suffixes of their names.
SUFFIXES = {
    "gzip": ".gz",
    "bzip2": ".bz2",
    "lzip": ".lz",
    "xz": ".xz",
    "zstd": ".zst",
    "zlib": ".zz",
    "zip": ".zip",
    "lzma": ".lzma",
}

#: The modules that write the formats of the standard library.
STANDARD = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}

missing = set()


def have(name):
    """The package of that name. Without it, the test is left out, and the last line says so."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing.add(name)
        pytest.skip(f"{name} is not installed")


def pytest_terminal_summary(terminalreporter):
    if missing:
        terminalreporter.write_line(f"left out what needs these packages: {', '.join(sorted(missing))}")


def read(path, **settings):
    """The contents of a compressed file."""
    with abz.open(path, **settings) as file:
        return file.read()


class Plain(io.BytesIO):
    """Contents in memory. A place after their end is the end, as in the standard modules."""

    def seek(self, offset, whence=0):
        return super().seek(min(super().seek(offset, whence), len(self.getbuffer())))


def text(size, seed=0):
    """Words in lines, of that many bytes."""
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=draw.randint(1, 12))) for _ in range(2000)]
    lines = bytearray()
    while len(lines) < size:
        lines += b" ".join(draw.choices(words, k=12)) + b"\n"
    return bytes(lines[:size])


@pytest.fixture(scope="session")
def contents():
    """Contents of several blocks in each format but xz and lzip, whose blocks are large."""
    return text(3 << 19)


@pytest.fixture(params=SUFFIXES)
def format(request):
    return request.param


@pytest.fixture
def path(tmp_path, format):
    return tmp_path / f"notes.txt{SUFFIXES[format]}"


@pytest.fixture
def written(path, format, contents):
    """A file of each format."""
    path.write_bytes(abz.compress(contents, format=format, level=1))
    return path
