"""File objects below readers and writers, also ones that fail or give little."""

import io
import os
import socket
import tempfile
import threading

import pytest

import abz


class Reluctant(io.RawIOBase):
    """Gives and takes a few bytes at a time, and cannot seek."""

    def __init__(self, data=b""):
        self.left, self.taken = data, b""

    def readable(self):
        return True

    def read(self, size=-1):
        some, self.left = self.left[: min(size, 7)], self.left[min(size, 7) :]
        return some

    def write(self, data):
        self.taken += data[:1000]
        return len(data[:1000])


def test_contents_come_back(format, contents):
    target = io.BytesIO()
    with abz.open(target, "wb", format=format, level=1) as file:
        file.write(contents)
    assert not target.closed
    assert target.getvalue() == abz.compress(contents, format=format, level=1)
    target.seek(0)
    with abz.open(target) as file:
        assert file.read() == contents
        file.seek(1000)
        assert file.read(1000) == contents[1000:2000]
    assert not target.closed


def test_short_reads_and_writes_are_no_ends(format, contents):
    contents = contents[:300_000]
    target = Reluctant()
    with abz.open(target, "wb", format=format) as file:
        file.write(contents)
    assert abz.decompress(target.taken) == contents
    with abz.open(Reluctant(target.taken)) as file:
        assert not file.seekable()
        with pytest.raises(io.UnsupportedOperation):
            file.seek(5)
        assert file.read() == contents
        assert file.tell() == len(contents)


def test_its_name_says_the_format(tmp_path):
    with open(tmp_path / "a.xz", "wb") as target, abz.open(target, "wb") as file:
        assert file.name == str(tmp_path / "a.xz")
    assert (tmp_path / "a.xz").read_bytes().startswith(b"\xfd7zXZ")
    with tempfile.TemporaryFile() as target:
        abz.open(target, "wb").close()
        target.seek(0)
        assert target.read(2) == b"\x1f\x8b"


def test_one_that_says_nothing_has_taken_all():
    class Silent:
        taken = b""

        def write(self, data):
            self.taken += data

    target = Silent()
    with abz.open(target, "wt", format="bzip2") as file:
        file.write("a branch")
    assert abz.decompress(target.taken) == b"a branch"


class Failing:
    """Raises after some bytes."""

    def __init__(self, data, error, after):
        self.inner, self.error, self.after = io.BytesIO(data), error, after

    def read(self, size):
        if self.inner.tell() >= self.after:
            raise self.error
        return self.inner.read(min(size, self.after - self.inner.tell()))

    def write(self, data):
        if self.inner.tell() >= self.after:
            raise self.error
        return self.inner.write(data[: self.after - self.inner.tell()])


@pytest.mark.parametrize("error", [KeyError("mine"), ConnectionResetError(104, "gone"), KeyboardInterrupt()])
def test_its_exceptions_arrive_as_they_are(format, contents, error):
    data = abz.compress(contents, format=format, level=1)
    found = b""
    with pytest.raises(type(error)) as caught, abz.open(Failing(data, error, len(data) // 2)) as file:
        while True:
            some = file.read(1000)
            assert some
            found += some
    assert caught.value is error
    assert contents.startswith(found)

    target = Failing(b"", error, 1000)
    file = abz.open(target, "wb", format=format, level=1)
    with pytest.raises(type(error)) as caught:
        file.write(contents)
        file.close()
    assert caught.value is error
    with pytest.raises((type(error), ValueError)):
        file.write(contents)


def test_wrong_ones_are_told():
    class Wrong:
        def __init__(self, result):
            self.result = result

        def read(self, size):
            return self.result(size)

        def write(self, data):
            return self.result(len(data))

    for result, error, message in [
        (lambda size: "text", TypeError, "found str: open it in binary mode"),
        (lambda size: None, BlockingIOError, "no data at the moment"),
        (lambda size: bytes(size + 1), ValueError, "bytes or fewer"),
        (lambda size: 1.5, TypeError, "float"),
    ]:
        with pytest.raises(error, match=message):
            abz.open(Wrong(result)).read()
    with pytest.raises(ValueError, match="or less from write"):
        with abz.open(Wrong(lambda size: size + 1), "wb") as file:
            file.write(b"x")
    with pytest.raises(TypeError):
        abz.open(io.StringIO(), "wb").close()


def test_it_may_not_use_the_file_that_uses_it():
    class Curious(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 1000:
                file.raw.readall()
            return super().read(min(size, 500))

    file = abz.open(Curious(abz.compress(os.urandom(10_000))))
    with pytest.raises(RuntimeError, match="within another call"):
        file.raw.readall()


def test_what_a_socket_has_sent_is_read_before_more_comes():
    ours, theirs = socket.socketpair()
    ours.settimeout(30)
    with ours, theirs, ours.makefile("rb") as source, theirs.makefile("wb", 0) as target:
        writer = abz.open(target, "wb")
        writer.write(b"a branch\n")
        writer.flush()
        file = abz.open(source)
        assert file.readline() == b"a branch\n"
        writer.write(b"of a river\n")
        writer.close()
        theirs.shutdown(socket.SHUT_WR)
        assert file.read() == b"of a river\n"


def test_a_pipe_is_read(tmp_path, contents):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def fill():
        with open(pipe, "wb") as target:
            target.write(abz.compress(contents))

    thread = threading.Thread(target=fill)
    thread.start()
    with abz.open(pipe) as file:
        assert not file.seekable()
        assert file.read() == contents
    thread.join()
