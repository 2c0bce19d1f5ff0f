"""Small buffers and small files."""

import gzip
import os
import timeit

import abz
from conftest import text


#: How many times as long as `gzip` may take. A release build takes 0.7 to 1.3 times as long; one that is not optimised tells little.
LIMIT = 1.5 if os.environ.get("ABZ_PROFILE") == "release" else 6


def ratio(ours, standard, times):
    """How much longer `ours` takes than `standard`: the least time of many tries of each, in turn."""
    tries = [(timeit.timeit(ours, number=times), timeit.timeit(standard, number=times)) for _ in range(40)]
    return min(ours for ours, _ in tries) / min(standard for _, standard in tries)


# A new encoder and a count of the cores made these 8 and 4 times as slow as the module `gzip`.
def test_compressing_little_makes_no_encoder_and_counts_no_cores():
    data = text(350)
    assert ratio(lambda: abz.compress(data), lambda: gzip.compress(data), 50) < LIMIT
    small = gzip.compress(data)
    assert ratio(lambda: abz.decompress(small), lambda: gzip.decompress(small), 50) < 2 * LIMIT


def test_writing_small_files_makes_no_encoders(tmp_path):
    data = text(2000)

    def write(opener, name):
        with opener(tmp_path / name, "wb") as file:
            file.write(data)

    assert ratio(lambda: write(abz.open, "a.gz"), lambda: write(gzip.open, "b.gz"), 20) < LIMIT
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == data


def test_reading_small_files_makes_little(tmp_path):
    data = text(2000)
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))

    def read(opener):
        with opener(tmp_path / "a.gz") as file:
            assert file.read() == data

    assert ratio(lambda: read(abz.open), lambda: read(gzip.open), 20) < LIMIT


def test_kept_encoders_keep_nothing_of_the_file_before():
    for number in range(200):
        data, level = text(number * 17 % 900, seed=number), number % 12 + 1
        for format in ("gzip", "zlib", "zip"):
            file = abz.compress(data, format=format, level=level)
            assert abz.decompress(file) == data
            assert file == abz.compress(data, format=format, level=level, threads=1)
