#!/usr/bin/env bash
# Lets each system call of abz fail once, and checks that nothing is lost.
#
#     cargo build --release -p abz && scripts/inject.sh [--only NAME] [target/release/abz]
#
# It needs strace and Python. For each action it counts the calls of a run, and then repeats the run, so that the first, the second
# and each further call of every kind fails in turn. After each run either the input or the whole output is there, no output
# has its name and only a part of its contents, and a run that ends with an error has said why. It takes 10 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
only=
if [ "${1:-}" = --only ]; then
    only=$2
    shift 2
fi
exec python3 - "$(realpath "${1:-target/release/abz}")" "$only" <<'END'
import collections, gzip, os, re, shutil, subprocess, sys, tarfile, tempfile

ABZ, ONLY = sys.argv[1:]
TEXT = b"".join(b"%d: a branch of a river\n" % n for n in range(20000))

# The errors with which the calls fail. Others, as for memory or time, do not touch files.
ERRORS = {
    "close": "EDQUOT", "write": "ENOSPC", "pwrite64": "ENOSPC", "writev": "ENOSPC", "ftruncate": "EFBIG", "fallocate": "ENOSPC",
    "copy_file_range": "EIO", "read": "EIO", "pread64": "EIO", "openat": "EMFILE", "lseek": "EIO", "statx": "EIO",
    "newfstatat": "EIO", "fstat": "EIO", "rename": "EIO", "renameat2": "EINVAL", "linkat": "EPERM", "unlink": "EIO", "unlinkat": "EIO",
    "fchmod": "EPERM", "fchmodat": "EPERM", "fchown": "EPERM", "utimensat": "EPERM", "mkdir": "ENOSPC", "symlink": "EPERM",
    "symlinkat": "EPERM", "fsync": "EIO", "getdents64": "EIO", "readlink": "EIO",
}
# With these, every call fails from the given one on.
FOR_GOOD = {"renameat2", "linkat"}

def tar(path):
    with tarfile.open(path, "w:gz") as archive:
        for name in ("a", "b"):
            member = tarfile.TarInfo("in/" + name)
            member.size = len(TEXT)
            import io
            archive.addfile(member, io.BytesIO(TEXT))

def make(folder):
    os.chdir(folder)
    open("x", "wb").write(TEXT)
    open("y.gz", "wb").write(gzip.compress(TEXT))
    os.mkdir("in"), open("in/a", "wb").write(TEXT), open("in/b", "wb").write(TEXT)
    tar("t.tgz"), os.mkdir("to")

def unzipped(path):
    try:
        return subprocess.run(["gzip", "-dc", path], capture_output=True).stdout if os.path.exists(path) else None
    except OSError:
        return None

def read(path):
    return open(path, "rb").read() if os.path.exists(path) else None

def whole(found, what):
    "An output is whole, or not there."
    assert found in (None, TEXT), what + " has a part of the contents"
    return found is not None

def compressed(status, out):
    done = whole(unzipped("x.gz"), "x.gz")
    assert done or read("x") == TEXT, "both are lost"
    assert status or done, "status 0 without output"
    assert status or read("x") is None, "status 0, and the input is there"

def decompressed(status, out):
    done = whole(read("y"), "y")
    assert done or unzipped("y.gz") == TEXT, "both are lost"
    assert status or done, "status 0 without output"

def to_stdout(status, out):
    assert read("x") == TEXT
    assert status or subprocess.run(["gzip", "-dc"], input=out, capture_output=True).stdout == TEXT, "status 0, and a part"

def to_file(status, out):
    done = whole(unzipped("o"), "o")
    assert read("x") == TEXT and (status or done)

def checksum(status, out):
    compressed(status, out)
    assert status or read("x.sha256"), "status 0 without a checksum"
    assert read("x") == TEXT or read("x.sha256"), "the input is removed, and there is no checksum"

def archived(status, out):
    if not os.path.exists("o.tgz"):
        return check(status, "status 0 without output")
    listed = subprocess.run(["tar", "-tzf", "o.tgz"], capture_output=True, text=True)
    assert listed.returncode == 0, "a part of the archive"
    assert status or {"in/a", "in/b"} <= set(listed.stdout.split()), "status 0, and members are missing"

def check(condition, text):
    assert condition, text

def extracted(status, out):
    done = [whole(read("to/in/" + name), name) for name in "ab"]
    assert os.path.exists("t.tgz") and (status or all(done)), "status 0, and members are missing"

ACTIONS = {
    "compress": (["x"], compressed),
    "decompress": (["-d", "y.gz"], decompressed),
    "stdout": (["-c", "x"], to_stdout),
    "output": (["-o", "o", "x"], to_file),
    "sync": (["--sync", "x"], compressed),
    "checksum": (["--checksum", "x"], checksum),
    "archive": (["--archive", "o.tgz", "in"], archived),
    "extract": (["--extract", "-C", "to", "t.tgz"], extracted),
}

def run(arguments, *strace):
    folder = tempfile.mkdtemp()
    make(folder)
    with open("out", "wb") as out:
        done = subprocess.run(["strace", "-f", "-qq", "-o", "log", *strace, ABZ, "-p1", *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
    return folder, done.returncode, read("out"), done.stderr.decode(errors="replace")

runs, faults = 0, 0
for action, (arguments, judge) in ACTIONS.items():
    if ONLY not in ("", action):
        continue
    folder, status, out, said = run(arguments, "-e", "trace=" + ",".join("?" + name for name in ERRORS))
    assert status == 0, f"{action}: {said}"
    judge(status, out)
    # The loader's calls come before the program's first one.
    counts = collections.Counter(re.findall(r"^\d+\s+(\w+)\(", open("log").read(), re.M))
    os.chdir("/"), shutil.rmtree(folder)
    for name, count in counts.items():
        for number in range(1, min(count, 120) + 1):
            when = f"{number}+" if name in FOR_GOOD else number
            folder, status, out, said = run(arguments, "-e", f"trace={name}", "-e", f"inject={name}:error={ERRORS[name]}:when={when}")
            runs += 1
            call = [line for line in open("log") if "INJECTED" in line]
            try:
                judge(status, out)
                check(status >= 0, f"signal {-status}")
                check(status == 0 or said, "an error without a message")
                # The standard library panics if a folder cannot be closed, which no file system reports.
                check("panicked" not in said or "closedir" in said, "a panic")
                left = [name for name in os.listdir(".") if name.startswith(".abz-")]
                check(not left or name.startswith("unlink"), f"{left} is left")
            except AssertionError as fault:
                faults += 1
                print(f"{action}: {name} number {number}: {fault} (status {status}) {said.strip()[:200]}\n    {''.join(call).strip()[:200]}", flush=True)
            os.chdir("/"), shutil.rmtree(folder)
    print(f"{action}: {sum(min(count, 120) for count in counts.values())} calls failed in turn", flush=True)
print(f"{runs} runs, {faults} faults")
sys.exit(faults > 0)
END
