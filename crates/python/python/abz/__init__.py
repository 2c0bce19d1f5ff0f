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
from typing import IO, Any, Literal, NoReturn, Optional, Union, overload

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
    "UnknownFormat",
    "Writer",
    "__version__",
    "compress",
    "decompress",
    "index",
    "open",
]

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
    """A file is empty, or of no known format. This is what each of the standard modules raises for a file of another format."""


class Reader(io.BufferedReader):
    """A compressed file that is read. `abz.open` makes it.

    It is an `io.BufferedReader` of the contents: it has `read`, `readinto`, `peek`, `readline`, iteration over lines, and
    `seek` and `tell` in bytes of the contents. A seek is quick in files that record where their blocks are, such as those of
    abz and most xz files, and in any file with an index. In other files it is quick to places that were read before, and
    otherwise reads up to the place.
    """

    raw: RawReader  # type: ignore[assignment]

    def read(self, size: Optional[int] = -1) -> bytes:
        """Reads that many bytes, or the rest."""
        if size is not None and size != -1:
            return super().read(size)
        # If the file below times out now, what is in the buffer must not be lost.
        start = super().read(self.raw.tell() - self.tell())
        try:
            rest = super().read()
        except (BlockingIOError, TimeoutError):
            if not start:
                raise
            return start
        return start + rest if start else rest

    @property
    def garbage_at(self) -> Optional[int]:
        """The offset in the file of bytes after its last member that are neither padding nor a member, if there are any.

        It is known once the end of the contents was read.
        """
        return self.raw.garbage_at

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.raw.__reduce__()


class Writer(io.BufferedWriter):
    """A compressed file that is written. `abz.open` makes it.

    It is an `io.BufferedWriter` of the contents. The file is complete after `close`, or at the end of a `with`.
    """

    raw: RawWriter  # type: ignore[assignment]
    _is_ending = False
    _begins_text = False

    def seekable(self) -> bool:
        """Returns False: what was written is compressed already."""
        # Text of UTF-16 begins with the mark of its byte order only in a file that seems to tell its position.
        return self._begins_text

    def flush(self) -> None:
        """Passes on all that was written, so that it can be read.

        Lines that are flushed one by one take no more bytes than with the modules `gzip` and `zstandard`. In xz, lzip and bzip2
        files each flush ends a block, so flush seldom there. A ".lzma" file cannot be flushed.
        """
        super().flush()
        if not self._is_ending:
            self.raw.flush()

    def close(self) -> None:
        """Completes the file. A file object that `abz.open` was given stays open.

        In a forked child of the process that opened the file, this writes nothing.
        """
        if self.raw.is_forked():
            self.raw.close()
        self._is_ending = True
        super().close()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.raw.__reduce__()


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
    file raises it again. Damage of a gzip file raises BadGzipFile, that of an xz file BadXzFile, and a file of no known format
    UnknownFormat; these are also what the modules `gzip`, `zlib` and `lzma` raise.
    """
    if not isinstance(mode, str):
        raise TypeError(f"expected a mode, found {mode!r}")
    kind = mode.replace("b", "").replace("t", "") or "r"
    if kind not in ("r", "w", "x", "a") or len(mode) > 2 or ("b" in mode and "t" in mode):
        raise ValueError(f"expected a mode of 'r', 'w', 'x' or 'a', with 'b' or 't' behind it, found {mode!r}")
    if "t" not in mode and any(setting is not None for setting in (encoding, errors, newline)):
        raise ValueError(f"expected a mode with 't' beside encoding, errors or newline, found {mode!r}")
    if isinstance(file, os.PathLike):
        file = os.fspath(file)
    if kind == "r":
        if any(setting is not None for setting in (format, level, block_size)):
            raise ValueError("expected no format, level and block_size for a file that is read")
        path = None if index is None else os.fsdecode(index)
        raw_reader = RawReader(
            file, threads=threads, memory_limit=memory_limit, index=path, allow_garbage=allow_garbage
        )
        reader = Reader(raw_reader, _READ_BUFFER)  # type: ignore[arg-type] # it has all that Python calls
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
    writer = Writer(raw, _WRITE_BUFFER)  # type: ignore[arg-type]
    if "t" not in mode:
        return writer
    writer._begins_text = True
    try:
        return _TextWriter(writer, encoding, errors, newline)
    finally:
        writer._begins_text = False


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
        file = os.fsdecode(file)
        path = file + ".abzi"
    elif index is None:
        raise ValueError("expected a path for the index of a file object")
    if index is not None:
        path = os.fsdecode(index)
    made = make_index(file, threads=threads)
    with io.open(path, "wb") as target:
        target.write(made)
    return path
