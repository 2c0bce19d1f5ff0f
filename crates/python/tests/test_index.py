"""Indices of files."""

import gzip
import io
import random
import shutil
import subprocess
import sysconfig

import pytest

import abz
from conftest import text


@pytest.fixture(scope="module")
def large():
    return text(12 << 20, seed=2)


def test_reads_with_an_index_are_those_without(written, contents):
    index = abz.index(written)
    assert index == f"{written}.abzi"
    plain, draw = io.BytesIO(contents), random.Random(1)
    with abz.open(written, index=index) as file:
        for _ in range(50):
            position = draw.randrange(len(contents) + 100)
            file.seek(position)
            plain.seek(position)
            assert file.read(4096) == plain.read(4096)
        file.seek(0)
        assert file.read() == contents


def test_it_is_that_of_the_command(tmp_path, large):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(large))
    assert abz.index(path, tmp_path / "ours") == str(tmp_path / "ours")
    command = shutil.which("abz", path=sysconfig.get_path("scripts"))
    subprocess.run([command, "--index", "--index-every=256K", path], check=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "a.gz.abzi").read_bytes()
    with open(path, "rb") as file:
        abz.index(file, tmp_path / "again")
        with pytest.raises(ValueError, match="expected a path for the index"):
            abz.index(file)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "again").read_bytes()


def test_an_index_of_another_file_is_told(tmp_path, large):
    path, other = tmp_path / "a.gz", tmp_path / "b.gz"
    path.write_bytes(gzip.compress(large))
    other.write_bytes(gzip.compress(large[1:]))
    index = abz.index(other)
    with pytest.raises((ValueError, OSError)), abz.open(path, index=index) as file:
        file.seek(10_000_000)
    with pytest.raises(FileNotFoundError) as caught:
        abz.open(path, index=tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
    (tmp_path / "none").write_bytes(b"no index")
    with pytest.raises(OSError, match=f"^{tmp_path}/none: "):
        abz.open(path, index=tmp_path / "none")


def test_what_cannot_be_read_has_no_index(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        abz.index(tmp_path / "a.gz")
    assert caught.value.filename == str(tmp_path / "a.gz")
    (tmp_path / "a.gz").write_bytes(b"a branch of a river")
    with pytest.raises(abz.BadFile, match="a.gz"):
        abz.index(tmp_path / "a.gz")
