"""Threads, forks, signals and pickles."""

import copy
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import abz
from conftest import read, text


def run(program, *arguments, **options):
    """Runs a program of Python in a process of its own, for a minute at most."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, **options)


def together(count, work):
    """Calls `work` with each number, in threads, and raises what one of them raises."""
    errors = []

    def call(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_many_threads_have_files_of_their_own(tmp_path, contents):
    def work(number):
        path = tmp_path / f"{number}{['.gz', '.bz2', '.zst', '.xz'][number % 4]}"
        with abz.open(path, "wb", level=1) as file:
            file.write(contents)
        with abz.open(path) as file:
            assert file.read() == contents
        assert abz.decompress(abz.compress(contents)) == contents

    together(12, work)


def test_many_threads_share_a_file(tmp_path, contents):
    path, lines, lock = tmp_path / "a.gz", [], threading.Lock()

    def write(number):
        for _ in range(1000):
            file.write(b"%d\n" % number)

    with abz.open(path, "wb") as file:
        together(8, write)
    assert file.closed

    # CPython's own buffer may lose lines without a lock, as it does in a file of `gzip`.
    def read(number):
        while True:
            with lock:
                line = file.readline()
            if not line:
                return
            lines.append(line)

    with abz.open(path) as file:
        together(8, read)
    assert sorted(lines) == sorted(b"%d\n" % number for number in range(8) for _ in range(1000))


def test_other_threads_run_meanwhile(contents):
    many, counted, done = contents * 10, 0, threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        for call in (
            lambda: abz.compress(many),
            lambda: abz.open(io.BytesIO(), "wb", format="gzip", threads=1).write(many),
        ):
            before, began = counted, time.monotonic()
            call()
            # A call that holds the lock of the interpreter lets nobody count.
            assert counted - before > (time.monotonic() - began) * 20
    finally:
        done.set()
        thread.join()


FORKING = """
    import abz, os, sys, warnings

    warnings.simplefilter("ignore", DeprecationWarning)  # later versions of Python advise against forks beside threads
    path, data = sys.argv[1], os.urandom(1000) * 5000
    with abz.open(path, "wb") as file:  # threads are at work from here on
        file.write(data)
    reader, writer = abz.open(path), abz.open(path + ".more.gz", "wb")
    reader.read(10)
    writer.write(data)
    child = os.fork()
    if child == 0:
        for call in (lambda: reader.read(5_000_000), lambda: writer.write(data)):
            try:
                call()
            except RuntimeError as error:
                assert "before the process forked" in str(error), error
            else:
                os._exit(1)
        reader.close()
        writer.close()
        with abz.open(path) as file:
            assert file.read() == data
        assert abz.decompress(abz.compress(data, format="bzip2")) == data
        del reader, writer
        sys.exit(0)  # what is still open is closed
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert reader.read() == data[10:]
    reader.close()
    writer.close()
    with abz.open(path + ".more.gz") as file:
        assert file.read() == data
"""


def test_a_forked_child_has_files_of_its_own(tmp_path):
    done = run(FORKING, tmp_path / "a.gz")
    assert (done.returncode, done.stderr) == (0, "")


FORKING_AT_WORK = """
    import abz, io, os, random, signal, sys, threading, warnings

    warnings.simplefilter("ignore", DeprecationWarning)
    data, format, children = os.urandom(1000) * 100, sys.argv[1], int(sys.argv[2])
    compressed = abz.compress(data, format=format, level=1, block_size=20_000, threads=1)
    is_over = False

    def work():
        draw = random.Random()
        while not is_over:
            some = data[: draw.choice([100, 30_000, 100_000])]
            if draw.random() < 0.5:
                abz.compress(some, format=format, level=1, block_size=20_000)
                continue
            # The threads that encode must not enter the interpreter to write to a file object, or read one.
            with abz.open(io.BytesIO(), "wb", format=format, level=1, block_size=20_000) as file:
                file.write(some)
                file.flush()
                file.write(some)
            if draw.random() < 0.1:
                abz.index(io.BytesIO(compressed), os.devnull)

    # The first child is forked while the threads make their first calls.
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(children):
        child = os.fork()
        if child == 0:
            signal.alarm(50)  # it ends a child that hangs
            assert abz.decompress(abz.compress(data, format=format, level=1, block_size=20_000)) == data
            target = io.BytesIO()
            with abz.open(target, "wb", format=format, level=1) as file:
                file.write(data)
            assert abz.decompress(target.getvalue()) == data
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, number
    is_over = True
"""


@pytest.mark.parametrize("format, most", [("gzip", 200), ("bzip2", 30), ("xz", 30)])
def test_a_child_works_that_was_forked_while_threads_compress(format, most):
    for children in [most, *[4] * 4]:
        done = run(FORKING_AT_WORK, format, children)
        assert (done.returncode, done.stderr) == (0, "")


NO_THREADS = """
    import abz, io, os, resource, sys, threading

    data = os.urandom(1000) * 3000
    formats = ["gzip", "bzip2", "lzip", "xz", "zstd"]
    files = {format: abz.compress(data, format=format, level=1) for format in formats}
    open_threads = len(os.listdir("/proc/self/task"))
    if os.getuid() == 0:
        os.setgroups([]), os.setgid(65534), os.setuid(65534)  # the limit is none for root
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        pass
    else:
        print("threads can be made")
        sys.exit(0)
    for format in formats:
        assert abz.compress(data, format=format, level=1) == files[format]
        assert abz.decompress(files[format]) == data
        assert abz.open(io.BytesIO(files[format])).read() == data
        target = io.BytesIO()
        with abz.open(target, "wb", format=format, level=1) as file:
            file.write(data)
        assert target.getvalue() == files[format]
"""


# The pool has no threads there, since the threads of another pool belong to the process before.
@pytest.mark.skipif(sys.platform != "linux", reason="the limit holds for threads on Linux only")
@pytest.mark.parametrize("begun", [False, True])
def test_where_no_thread_can_be_made_the_caller_does_all(begun):
    program = NO_THREADS if begun else NO_THREADS.replace("format=format, level=1) for", "format=format, level=1, threads=1) for")
    done = run(program)
    if "threads can be made" in done.stdout:
        pytest.skip("the limit of processes does not hold here")
    assert (done.returncode, done.stderr) == (0, "")


ONE_THREAD = """
    import abz, io, os, sys

    data = os.urandom(1000) * 3000
    def count():
        return len(os.listdir("/proc/self/task"))

    class Counting(io.BytesIO):
        def write(self, data):
            assert count() == 1
            return super().write(data)

        def read(self, size=-1):
            assert count() == 1
            return super().read(size)

    for format in ["gzip", "bzip2", "lzip", "xz", "zstd", "zlib", "zip", "lzma"]:
        file = abz.compress(data, format=format, level=1, threads=1)
        assert abz.decompress(file, threads=1) == data
        target = Counting()
        with abz.open(target, "wb", format=format, level=1, threads=1) as writer:
            writer.write(data)
        with abz.open(Counting(target.getvalue()), threads=1) as reader:
            assert reader.read() == data
        abz.index(io.BytesIO(file), os.devnull, threads=1)
        assert count() == 1
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="this system does not say how many threads there are")
def test_one_thread_is_the_caller_s():
    done = run(ONE_THREAD)
    assert (done.returncode, done.stderr) == (0, "")


def length(path):
    with abz.open(path) as file:
        return len(file.read())


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pools_of_processes_work(method, tmp_path, contents):
    path = tmp_path / "a.gz"
    path.write_bytes(abz.compress(contents))
    with abz.open(path) as file:
        file.read(10)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map_async(length, [path] * 6).get(60) == [len(contents)] * 6


INTERRUPTED = """
    import abz, io, os, signal, sys, threading, time

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts programs in the background without one
    {setup}

    def interrupt():
        time.sleep(0.5)
        global sent
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        while True:
            {step}
    except KeyboardInterrupt:
        print(time.monotonic() - sent, flush=True)
        os._exit(0)
"""

SLOW = {
    "compress": ("data = os.urandom(64 << 20)", "abz.compress(data, format='xz', level=9)"),
    "decompress": ("data = abz.compress(bytes(1 << 30), level=1)", "abz.decompress(data)"),
    "write gzip": ("data = os.urandom(1 << 20); file = abz.open(io.BytesIO(), 'wb', level=9)", "file.write(data)"),
    "write xz": ("data = os.urandom(4 << 20); file = abz.open(os.devnull, 'wb', format='xz', level=9)", "file.write(data)"),
    "close xz": (
        "file = abz.open(os.devnull, 'wb', format='xz', level=9, block_size=30 << 20); file.write(os.urandom(29 << 20))",
        "file.close()",
    ),
    "read": (
        "data = abz.compress(bytes(1 << 28), level=1)",
        "file = abz.open(io.BytesIO(data)); [None for _ in iter(lambda: file.read(1 << 20), b'')]",
    ),
    "read all": ("data = abz.compress(bytes(1 << 29), level=1)", "abz.open(io.BytesIO(data)).read()"),
    "read a pipe": ("source, target = os.pipe()", "abz.open(f'/dev/fd/{source}').read()"),
    "open a pipe that nobody writes": ("os.mkfifo(sys.argv[1])", "abz.open(sys.argv[1])"),
    "open a pipe that nobody reads": ("os.mkfifo(sys.argv[1])", "abz.open(sys.argv[1], 'wb', format='gzip')"),
    "compress with one thread": ("data = os.urandom(64 << 20)", "abz.compress(data, threads=1)"),
    "read a file object": ("source, target = os.pipe(); file = os.fdopen(source, 'rb')", "abz.open(file).read()"),
}


@pytest.mark.parametrize("work", SLOW)
def test_ctrl_c_ends_it_at_once(work, tmp_path):
    setup, step = SLOW[work]
    done = run(INTERRUPTED.format(setup=setup, step=step), tmp_path / "pipe")
    assert (done.returncode, done.stderr) == (0, "")
    # Far below the seconds that the whole takes, and above what a busy machine needs.
    assert float(done.stdout) < 1.5


def test_a_handler_that_raises_nothing_ends_nothing(contents):
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        while len(calls) < 20:
            target = io.BytesIO()
            with abz.open(target, "wb", level=1) as file:
                file.write(contents)
            target.seek(0)
            with abz.open(target) as file:
                assert file.read() == contents
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_open_files_cannot_be_pickled_or_copied(tmp_path):
    path = tmp_path / "a.gz"
    writer = abz.open(path, "wb")
    files = [writer, writer.raw]
    path.write_bytes(abz.compress(b"x"))
    reader = abz.open(path)
    lines = abz.open(path, "rt")
    files += [reader, reader.raw, lines]
    for file in files:
        for operation in pickle.dumps, copy.copy, copy.deepcopy:
            with pytest.raises(TypeError, match="cannot pickle"):
                operation(file)
    for file in writer, reader, lines:
        file.close()


def test_its_errors_can_be_pickled():
    for kind in abz.BadFile, abz.BadGzipFile, abz.BadXzFile, abz.UnknownFormat, abz.ShortFile:
        error = pickle.loads(pickle.dumps(kind("a.gz: damaged")))
        assert (type(error), str(error)) == (kind, "a.gz: damaged")


def test_files_that_are_left_open_end_with_the_process(tmp_path):
    path = tmp_path / "a.gz"
    done = run("import abz, sys; file = abz.open(sys.argv[1], 'wt'); file.write('a branch')", path)
    assert (done.returncode, "unclosed file" in done.stderr) == (0, True)
    assert read(path) == b"a branch"


def test_many_open_files_cost_few_threads(tmp_path):
    if not os.path.exists("/proc/self/task"):
        pytest.skip("this system does not say how many threads there are")
    path = tmp_path / "a.gz"
    path.write_bytes(abz.compress(text(10_000)))
    files = [abz.open(path) for _ in range(200)]
    before = len(os.listdir("/proc/self/task"))
    for file in files:
        file.read(100)
    assert len(os.listdir("/proc/self/task")) <= before + (os.cpu_count() or 1)
    for file in files:
        file.close()
