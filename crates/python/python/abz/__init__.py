"""Reads and writes gzip, bzip2, lzip, xz and zstd files on all cores, with random access.

>>> import abz, os, tempfile
>>> name = os.path.join(tempfile.mkdtemp(), "notes.txt.xz")
>>> with abz.open(name, "wt") as file:
...     for number in range(1000):
...         print("line", number, file=file)
>>> with abz.open(name, "rt") as file:
...     file.readline()
'line 0\\n'

`open` gives a file that works wherever one of the module `gzip` does. It finds the format of a file that is read by its first
bytes, and that of a file that is written by its name. `compress` and `decompress` work in memory.

Threads that read one file need a lock around their calls, as with any buffered file of Python. A process that was forked opens
its own files: it cannot use those of its parent.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import IO, Any, Iterable, Iterator, List, Literal, NoReturn, Optional, TypeVar, Union, overload

from abz._abz import BadFile, RawReader, RawWriter, __version__, compress, decompress, make_index

try:
    from lzma import LZMAError
except ImportError:  # some builds of Python leave it out

    class LZMAError(Exception):  # type: ignore[no-redef]
        """Stands in for the class of a module that is not there."""


__all__ = [
    "BadFile",
    "BadGzipFile",
    "BadXzFile",
    "Reader",
    "ShortFile",
    "UnknownFormat",
    "Writer",
    "__version__",
    "compress",
    "decompress",
    "index",
    "open",
]

_Self = TypeVar("_Self", bound="_File")
_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

# The sizes of the buffers in bytes. A seek decodes a buffer full, so that of readers is the smaller one.
_READ_BUFFER = 32 << 10
_WRITE_BUFFER = 64 << 10


class BadGzipFile(BadFile, gzip.BadGzipFile, zlib.error):
    """A gzip file is damaged.

    The module `gzip` raises `gzip.BadGzipFile` for some damage and `zlib.error` for other, and this is both. It is raised, too, if
    what follows the last member is neither padding nor a member, unless `allow_garbage` is set.
    """


class BadXzFile(BadFile, LZMAError):
    """An xz file is damaged. This is a `lzma.LZMAError`, too."""


class UnknownFormat(BadGzipFile, BadXzFile):
    """A file is of no known format. This is what each of the standard modules raises for a file of another format."""


class ShortFile(UnknownFormat, EOFError, ValueError):
    """A file is empty, or ends within the first bytes of a known format.

    This is what each of the standard modules raises for such a file. One that is empty and has the name of a gzip file has no
    contents, as in the module `gzip`.
    """


class _CutBzip2File(EOFError, ValueError):
    """The end of a bzip2 file is missing: `bz2.open` raises the one, and `bz2.decompress` the other."""


class _CutXzFile(EOFError, LZMAError):
    """The end of an xz file is missing: `lzma.open` raises the one, and `lzma.decompress` the other."""


class _File:
    """What both kinds of files share: they pass calls on to a buffer of Python, as those of the module `gzip` do.

    They are no `io.BufferedReader` and no `io.BufferedWriter` themselves. In place of a method of these, numpy uses the file that
    `fileno` tells, and so would read and write what is compressed. They only count as `io.BufferedIOBase`, which calls `close` of
    a file that is collected. Python would handle Ctrl-C there, and ignore its exception. The buffer closes itself.
    """

    raw: Union[RawReader, RawWriter]
    _buffer: Union[io.BufferedReader, io.BufferedWriter]

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self.raw.closed

    @property
    def name(self) -> Any:
        """The path as it was passed, or the name of the file object."""
        return self.raw.name

    @property
    def mode(self) -> str:
        """The mode of a file that is read is "rb", and that of others "wb"."""
        return self.raw.mode

    def fileno(self) -> int:
        """The number of the file below, as in the modules `gzip` and `bz2`. What is read and written there is compressed."""
        return self.raw.fileno()

    def readable(self) -> bool:
        """Whether the file is read."""
        return self.raw.readable()

    def writable(self) -> bool:
        """Whether the file is written."""
        return self.raw.writable()

    def seekable(self) -> bool:
        """Whether the file can be read at any position."""
        return self.raw.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Moves to a position in the contents, in bytes from the start (0), the position (1) or the end (2), and returns it."""
        return self._buffer.seek(offset, whence)

    def tell(self) -> int:
        """The position in the contents, in bytes."""
        return self._buffer.tell()

    def truncate(self, size: Optional[int] = None) -> int:
        """Raises io.UnsupportedOperation."""
        return self._buffer.truncate(size)

    def isatty(self) -> bool:
        """Returns False."""
        return self.raw.isatty()

    def detach(self) -> NoReturn:
        """Raises io.UnsupportedOperation."""
        raise io.UnsupportedOperation("detach")

    def flush(self) -> None:
        """Passes on all that was written."""
        self._buffer.flush()

    def close(self) -> None:
        """Closes the file. A file object that `abz.open` was given stays open."""
        self._buffer.close()

    def _dealloc_warn(self, above: object) -> None:
        self.raw._dealloc_warn(above)

    def __enter__(self: _Self) -> _Self:
        self._buffer.__enter__()  # raises ValueError if this is closed
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<abz.{type(self).__name__} name={getattr(self, 'name', None)!r}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.raw.__reduce__()


class Reader(_File):
    """A compressed file that is read. `abz.open` makes it.

    It has what an `io.BufferedReader` of the contents has: `read`, `readinto`, `peek`, `readline`, iteration over lines, and
    `seek` and `tell` in bytes of the contents. A seek is quick in files that record where their blocks are, such as those of
    abz and most xz files, and in any file with an index. In other files it is quick to places that were read before, and
    otherwise reads up to the place.
    """

    raw: RawReader
    _buffer: io.BufferedReader

    def __init__(self, raw: RawReader) -> None:
        self.raw = raw
        self._buffer = io.BufferedReader(raw, _READ_BUFFER)  # type: ignore[arg-type] # it has all that Python calls

    def read(self, size: Optional[int] = -1) -> bytes:
        """Reads that many bytes, or the rest."""
        if size is not None and size != -1:
            return self._buffer.read(size)
        # If the file below times out now, what is in the buffer must not be lost.
        start = self._buffer.read(self.raw.tell() - self.tell())
        try:
            rest = self._buffer.read()
        except (BlockingIOError, TimeoutError):
            if not start:
                raise
            return start
        return start + rest if start else rest

    def read1(self, size: int = -1) -> bytes:
        """Reads up to that many bytes, those that are there."""
        return self._buffer.read1(size)

    def readinto(self, buffer: Any) -> int:
        """Reads into a buffer, and returns how many bytes."""
        return self._buffer.readinto(buffer)

    def readinto1(self, buffer: Any) -> int:
        """Reads into a buffer what is there, and returns how many bytes."""
        return self._buffer.readinto1(buffer)

    def peek(self, size: int = 0) -> bytes:
        """The next bytes, at least one before the end. The position does not change."""
        return self._buffer.peek(size)

    def readline(self, size: Optional[int] = -1) -> bytes:
        """Reads a line, or that many bytes of it."""
        return self._buffer.readline(size)

    def readlines(self, hint: Optional[int] = -1) -> List[bytes]:
        """Reads lines, until they have as many bytes as `hint`."""
        return self._buffer.readlines(-1 if hint is None else hint)

    def __iter__(self) -> Iterator[bytes]:
        self._buffer.__iter__()  # raises ValueError if this is closed
        return self._lines()

    def _lines(self) -> Iterator[bytes]:
        # The buffer finds the lines, which is quicker than a call of `readline` for each. `yield from` would close it in the end.
        for line in self._buffer:
            yield line

    def __next__(self) -> bytes:
        return next(self._buffer)

    def write(self, data: Any) -> NoReturn:
        """Raises io.UnsupportedOperation."""
        raise io.UnsupportedOperation("write")

    def writelines(self, lines: Any) -> NoReturn:
        """Raises io.UnsupportedOperation."""
        raise io.UnsupportedOperation("write")

    @property
    def garbage_at(self) -> Optional[int]:
        """The offset in the file of bytes after its last member that are neither padding nor a member, if there are any.

        It is known once the end of the contents was read.
        """
        return self.raw.garbage_at


class Writer(_File):
    """A compressed file that is written. `abz.open` makes it.

    It has what an `io.BufferedWriter` of the contents has. The file is complete after `close`, or at the end of a `with`.
    """

    raw: RawWriter
    _buffer: io.BufferedWriter
    _is_ending = False
    _begins_text = False

    def __init__(self, raw: RawWriter) -> None:
        self.raw = raw
        self._buffer = io.BufferedWriter(raw, _WRITE_BUFFER)  # type: ignore[arg-type]

    def write(self, data: Any) -> int:
        """Writes bytes, and returns how many."""
        return self._buffer.write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Writes one after the other."""
        self._buffer.writelines(lines)

    def read(self, size: Optional[int] = -1) -> NoReturn:
        """Raises io.UnsupportedOperation."""
        raise io.UnsupportedOperation("read")

    read1 = readinto = readinto1 = peek = readline = readlines = __iter__ = __next__ = read

    def seekable(self) -> bool:
        """Returns False: what was written is compressed already."""
        # Text of UTF-16 begins with the mark of its byte order only in a file that seems to tell its position.
        return self._begins_text

    def flush(self) -> None:
        """Passes on all that was written, so that it can be read.

        Lines that are flushed one by one take no more bytes than with the modules `gzip` and `zstandard`. In xz, lzip and bzip2
        files each flush ends a block, so flush seldom there. A ".lzma" file cannot be flushed.
        """
        self._buffer.flush()
        if not self._is_ending:
            self.raw.flush()

    def close(self) -> None:
        """Completes the file. A file object that `abz.open` was given stays open.

        In a forked child of the process that opened the file, this writes nothing.
        """
        if self.raw.is_forked():
            self.raw.close()
        super().close()


io.BufferedIOBase.register(_File)


class _TextWriter(io.TextIOWrapper):
    """Text that is written to a `Writer`."""

    def close(self) -> None:
        if not self.closed:
            # This flushes, but the end of the file is behind that: no block has to end here.
            writer = self.buffer
            if isinstance(writer, Writer):
                writer._is_ending = True
        super().close()


_Format = Literal["gzip", "bzip2", "lzip", "xz", "zstd", "zlib", "zip", "lzma"]
_ReadBytes = Literal["r", "rb"]
_WriteBytes = Literal["w", "wb", "x", "xb", "a", "ab"]
_Text = Literal["rt", "wt", "xt", "at"]


@overload
def open(
    file: Union[_Path, IO[bytes]],
    mode: _ReadBytes = "rb",
    compresslevel: Optional[int] = None,
    *,
    threads: Optional[int] = None,
    memory_limit: Optional[int] = None,
    index: Optional[_Path] = None,
    allow_garbage: bool = False,
) -> Reader: ...
@overload
def open(
    file: Union[_Path, IO[bytes]],
    mode: _WriteBytes,
    compresslevel: Optional[int] = None,
    *,
    format: Optional[_Format] = None,
    level: Optional[int] = None,
    threads: Optional[int] = None,
    block_size: Optional[int] = None,
    memory_limit: Optional[int] = None,
    mtime: Optional[float] = None,
) -> Writer: ...
@overload
def open(
    file: Union[_Path, IO[bytes]],
    mode: _Text,
    compresslevel: Optional[int] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    newline: Optional[str] = None,
    *,
    format: Optional[_Format] = None,
    level: Optional[int] = None,
    threads: Optional[int] = None,
    block_size: Optional[int] = None,
    memory_limit: Optional[int] = None,
    index: Optional[_Path] = None,
    allow_garbage: bool = False,
    mtime: Optional[float] = None,
) -> io.TextIOWrapper: ...
@overload
def open(
    file: Union[_Path, IO[bytes]],
    mode: str,
    compresslevel: Optional[int] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    newline: Optional[str] = None,
    *,
    format: Optional[str] = None,
    level: Optional[int] = None,
    threads: Optional[int] = None,
    block_size: Optional[int] = None,
    memory_limit: Optional[int] = None,
    index: Optional[_Path] = None,
    allow_garbage: bool = False,
    mtime: Optional[float] = None,
) -> Union[Reader, Writer, io.TextIOWrapper]: ...
def open(
    file: Union[_Path, IO[bytes]],
    mode: str = "rb",
    compresslevel: Optional[int] = None,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
    newline: Optional[str] = None,
    *,
    format: Optional[str] = None,
    level: Optional[int] = None,
    threads: Optional[int] = None,
    block_size: Optional[int] = None,
    memory_limit: Optional[int] = None,
    index: Optional[_Path] = None,
    allow_garbage: bool = False,
    mtime: Optional[float] = None,
) -> Union[Reader, Writer, io.TextIOWrapper]:
    """Opens a compressed file.

    `file` is a path, or a binary file object that has `read` or `write`. A file object stays open when the file is closed.

    `mode` is "r" to read, "w" to write, "x" to write a new file, or "a" to append, with "b" for bytes (the default) or "t" for
    text. `encoding`, `errors` and `newline` are those of Python's `open`, for text. These arguments are those of `gzip.open` and
    `bz2.open`, in their order.

    >>> import abz, io
    >>> target = io.BytesIO()
    >>> with abz.open(target, "wb", format="zstd", level=9) as file:
    ...     file.write(b"a branch of a river\\n" * 1000)
    20000
    >>> with abz.open(io.BytesIO(target.getvalue())) as file:
    ...     file.seek(19991)
    ...     file.read()
    19991
    b' a river\\n'

    These are for files that are written:

    - `format` is "gzip", "bzip2", "lzip", "xz", "zstd", "zlib", "zip" or "lzma". Without it, the name says which; a file object
      without such a name gets "gzip".
    - `level` is the format's default without it. `compresslevel` is the same; a gzip file takes the 0 and -1 of the module `gzip`, too.
    - `mtime` is the time in seconds since 1970 that a gzip or zip file records. Without it, they record none.
    - `block_size` is in bytes. Blocks are compressed, and decompressed, independently of each other.

    These are for both:

    - `threads` is how many blocks are processed at a time. It is the number of cores without it. With 1, no thread is made, and
      Ctrl-C ends a call after the block that is processed.
    - `memory_limit` is in bytes, approximately. Fewer blocks are processed at a time if they need more. A zstd file with a window
      above 128 MiB is read if this is set to more than its window.

    And these for a file that is read:

    - `index` is the path of a file that the function `index`, or `abz --index`, has made of this one.
    - `allow_garbage` ignores bytes after the last member that no member begins with; `Reader.garbage_at` says where they are.
      Without it, they raise BadGzipFile in a gzip file, as in the module `gzip`, and give a UserWarning in others. Zeros there
      are padding, and the start of another member is always read as one.

    Raises OSError, as `open` does; ValueError if a setting is wrong; and reading the file raises BadFile if it is damaged or not
    compressed, EOFError if its end is missing, and MemoryError if it needs more memory. After such an exception, every call of the
    file raises it again. Damage of a gzip file raises BadGzipFile, that of an xz file BadXzFile, a file of no known format
    UnknownFormat, and one that is too short to have one ShortFile; these are also what the standard modules raise. An empty file
    whose name is that of a gzip file has no contents.
    """
    if not isinstance(mode, str):
        raise TypeError(f"expected a mode, found {mode!r}")
    kind = mode.replace("b", "").replace("t", "") or "r"
    if kind not in ("r", "w", "x", "a") or len(mode) > 2 or ("b" in mode and "t" in mode):
        raise ValueError(f"expected a mode of 'r', 'w', 'x' or 'a', with 'b' or 't' behind it, found {mode!r}")
    if "t" not in mode and any(setting is not None for setting in (encoding, errors, newline)):
        raise ValueError(f"expected a mode with 't' beside encoding, errors or newline, found {mode!r}")
    if isinstance(file, (str, bytes, os.PathLike)):
        file = _checked(file)
    if kind == "r":
        if any(setting is not None for setting in (format, level, block_size)):
            raise ValueError("expected no format, level and block_size for a file that is read")
        path = None if index is None else os.fsdecode(index)
        raw_reader = RawReader(
            file, threads=threads, memory_limit=memory_limit, index=path, allow_garbage=allow_garbage
        )
        reader = Reader(raw_reader)
        return reader if "t" not in mode else io.TextIOWrapper(reader, encoding, errors, newline)
    if index is not None or allow_garbage:
        raise ValueError("expected no index and no allow_garbage for a file that is written")
    raw = RawWriter(
        file,
        kind,
        format=format,
        level=level,
        compresslevel=compresslevel,
        threads=threads,
        block_size=block_size,
        memory_limit=memory_limit,
        mtime=mtime,
    )
    writer = Writer(raw)
    if "t" not in mode:
        return writer
    writer._begins_text = True
    try:
        return _TextWriter(writer, encoding, errors, newline)
    finally:
        writer._begins_text = False


def _checked(path: _Path) -> Union[str, bytes]:
    """The path as a string or as bytes. One that no file can have is a ValueError, as for Python's `open`."""
    plain = os.fspath(path)
    if 0 in os.fsencode(plain):
        raise ValueError("embedded null byte")
    return plain


def index(file: Union[_Path, IO[bytes]], index: Optional[_Path] = None, *, threads: Optional[int] = None) -> str:
    """Makes the index of a compressed file, with which `open` seeks in it quickly, and returns the path of the index.

    Without `index`, the path is that of the file with ".abzi" behind it, as for the command `abz --index`; a file object needs one.
    This decompresses all of the file. One thread does that for gzip files of other programs. An index of these has a place to
    begin for each MiB of the contents, and up to 32 KiB for each place.

    >>> import abz, gzip, os, tempfile
    >>> name = os.path.join(tempfile.mkdtemp(), "notes.gz")
    >>> with gzip.open(name, "wb") as file:
    ...     for number in range(1_000_000):
    ...         _ = file.write(b"line %d\\n" % number)
    >>> with abz.open(name, index=abz.index(name)) as file:
    ...     file.seek(-12, 2)
    ...     file.read()
    11888878
    b'line 999999\\n'

    Raises what `open` and reading the file raise.
    """
    if isinstance(file, (str, bytes, os.PathLike)):
        file = os.fsdecode(_checked(file))
        path = file + ".abzi"
    elif index is None:
        if not hasattr(file, "read"):
            raise TypeError(f"expected a path or a file object with a method read, found {type(file).__name__}")
        raise ValueError("expected a path for the index of a file object")
    if index is not None:
        path = os.fsdecode(index)
    made = make_index(file, threads=threads)
    with io.open(path, "wb") as target:
        target.write(made)
    return path
