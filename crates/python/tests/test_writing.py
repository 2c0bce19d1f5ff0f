"""Files that are written."""

import array
import gc
import gzip
import io
import os
import subprocess
import sys
import zlib

import pytest

import abz


def test_contents_come_back(path, format, contents):
    with abz.open(path, "wb") as file:
        assert file.write(contents[:300_000]) == 300_000
        assert file.tell() == 300_000
    assert path.read_bytes() == abz.compress(contents[:300_000], format=format)
    with abz.open(path, "wb", level=1) as file:
        file.write(contents)
    assert path.read_bytes() == abz.compress(contents, format=format, level=1)
    assert abz.decompress(path.read_bytes()) == contents


def test_pieces_do_not_change_the_file(path, format, contents):
    with abz.open(path, "wb", level=1) as file:
        for start in range(0, len(contents), 99_991):
            file.write(contents[start : start + 99_991])
    assert path.read_bytes() == abz.compress(contents, format=format, level=1)


def test_text_does_not_change_the_file(path, format, contents):
    with abz.open(path, "wt", level=1, encoding="ascii", newline="") as file:
        file.write(contents.decode())
    assert path.read_bytes() == abz.compress(contents, format=format, level=1)


def test_a_file_without_contents_is_a_file(path):
    abz.open(path, "wb").close()
    assert abz.decompress(path.read_bytes()) == b""


def test_encodings_and_newlines_are_kept(path):
    with abz.open(path, "wt", encoding="utf-16-le", newline="\r\n") as file:
        print("Fluß", file=file)
    assert abz.decompress(path.read_bytes()) == "Fluß\r\n".encode("utf-16-le")


def test_flush_makes_it_readable(path, format):
    if format == "lzma":
        pytest.skip("a .lzma file cannot be flushed")
    with abz.open(path, "wb") as file:
        file.write(b"a branch")
        file.flush()
        so_far = path.read_bytes()
        file.write(b" of a river")
    command = [sys.executable, "-c", "import abz, sys; print(abz.open(sys.stdin.buffer).read(8))"]
    found = subprocess.run(command, input=so_far, stdout=subprocess.PIPE, check=True)
    assert found.stdout.strip() == b"b'a branch'"
    assert abz.decompress(path.read_bytes()) == b"a branch of a river"


def test_append_adds_to_the_contents(path, format):
    with abz.open(path, "w") as file:
        file.write(b"a branch")
    if format in ("lzma", "zlib", "zip"):
        with pytest.raises(ValueError, match="cannot be appended to"):
            abz.open(path, "a")
        return
    with abz.open(path, "at") as file:
        file.write(" of a river")
    assert abz.decompress(path.read_bytes()) == b"a branch of a river"


def test_x_makes_a_new_file(tmp_path):
    path = tmp_path / "notes.gz"
    abz.open(path, "x").close()
    with pytest.raises(FileExistsError) as caught:
        abz.open(path, "xt")
    assert caught.value.filename == str(path)


def test_paths_are_of_any_kind(tmp_path):
    for path in tmp_path / "a.gz", str(tmp_path / "a.gz"), os.fsencode(tmp_path / "a.gz"):
        with abz.open(path, "wb") as file:
            file.write(b"x")
            assert file.name == os.fspath(path)
        assert gzip.open(path).read() == b"x"


def test_the_name_says_the_format_unless_one_is_passed(tmp_path):
    with abz.open(tmp_path / "a.gz", "wb", format="xz") as file:
        file.write(b"x")
    assert (tmp_path / "a.gz").read_bytes().startswith(b"\xfd7zXZ")
    with pytest.raises(ValueError, match="expected a name that ends in one of .gz, .*found .*a.txt"):
        abz.open(tmp_path / "a.txt", "wb")
    assert not (tmp_path / "a.txt").exists()
    with pytest.raises(ValueError, match="found .*a.Z"):
        abz.open(tmp_path / "a.Z", "wb")


def test_a_wrong_setting_empties_no_file(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"there")
    with pytest.raises(ValueError, match="level"):
        abz.open(path, "wb", level=77)
    assert path.read_bytes() == b"there"


def test_wrong_modes_are_told(tmp_path):
    path = tmp_path / "a.gz"
    for mode in "rw", "bt", "q", "rbt", "w+":
        with pytest.raises(ValueError, match="expected a mode"):
            abz.open(path, mode)
    with pytest.raises(ValueError, match="encoding"):
        abz.open(path, "wb", encoding="utf-8")
    with pytest.raises(ValueError, match="index"):
        abz.open(path, "wb", index="x")
    with pytest.raises(ValueError, match="level"):
        abz.open(path, "rb", level=3)
    with pytest.raises(TypeError, match="expected a path or a file object with a method write, found int"):
        abz.open(1, "wb")


def test_it_has_what_a_buffered_writer_has(tmp_path):
    file = abz.open(tmp_path / "a.gz", "wb")
    # numpy would write to the file below what is not compressed.
    assert isinstance(file, io.BufferedIOBase) and not isinstance(file, io.BufferedWriter)
    for name in dir(io.BufferedWriter):
        assert name.startswith("_") or hasattr(file, name), name
    assert os.fstat(file.fileno()).st_ino == os.stat(tmp_path / "a.gz").st_ino
    assert file.writable() and not file.readable() and not file.seekable() and not file.isatty()
    assert file.mode == "wb"
    for operation in lambda: file.seek(0), file.read:
        with pytest.raises(io.UnsupportedOperation):
            operation()
    file.write(array.array("i", [1]))
    assert not file.closed
    file.close()
    file.close()
    assert file.closed
    for operation in file.flush, lambda: file.write(b""), file.tell, file.fileno:
        with pytest.raises(ValueError, match="closed"):
            operation()


def test_a_file_that_is_not_closed_is_complete_when_it_is_collected(tmp_path):
    path = tmp_path / "a.gz"
    file = abz.open(path, "wb")
    file.write(b"x" * 10)
    with pytest.warns(ResourceWarning):
        del file
        gc.collect()
    assert gzip.open(path).read() == b"x" * 10


def test_settings_take_effect(tmp_path, contents):
    sizes = []
    for settings in {"level": 1}, {"level": 9}, {"level": 1, "block_size": 10_000}:
        with abz.open(tmp_path / "a.gz", "wb", threads=2, memory_limit=1 << 30, **settings) as file:
            file.write(contents)
        sizes.append((tmp_path / "a.gz").stat().st_size)
    assert sizes[1] < sizes[0] < sizes[2]
    with pytest.raises(MemoryError, match="memory limit"):
        abz.open(tmp_path / "a.xz", "wb", memory_limit=1000)


def test_a_file_system_without_room_is_an_error_of_the_system():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    file = abz.open("/dev/full", "wb", format="gzip")
    file.write(b"x")
    with pytest.raises(OSError, match="/dev/full") as caught:
        file.close()
    assert caught.value.errno == 28




def test_lines_that_are_flushed_one_by_one_take_little_and_can_be_read_at_once():
    lines = [b"2024-05-07T12:%05d the river %d joins the main stream\n" % (n, n * n % 97) for n in range(4000)]
    ours, theirs = io.BytesIO(), io.BytesIO()
    decoder, found = zlib.decompressobj(wbits=31), b""
    with abz.open(ours, "wb", format="gzip") as file, gzip.open(theirs, "wb") as other:
        for number, line in enumerate(lines, 1):
            taken = len(ours.getvalue())
            file.write(line)
            file.flush()
            other.write(line)
            other.flush()
            found += decoder.decompress(ours.getvalue()[taken:])
            if number % 500 == 0:
                assert len(found) == sum(map(len, lines[:number]))
    assert found == b"".join(lines) == gzip.decompress(ours.getvalue())
    assert len(ours.getvalue()) < 1.1 * len(theirs.getvalue())
