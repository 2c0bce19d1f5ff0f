"""The package itself: its examples, its types, and the command in it."""

import doctest
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

import abz
import abz._abz
from conftest import have, read

HERE = pathlib.Path(__file__).parent


def test_examples_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module in abz, abz._abz:
        results = doctest.testmod(module)
        assert results.failed == 0
        assert results.attempted > 4
    readme = doctest.testfile(str(HERE.parent / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert readme.failed == 0 and readme.attempted > 10


def test_everything_public_is_documented():
    names = list(abz.__all__)
    for name in names:
        assert name == "__version__" or getattr(abz, name).__doc__, name
    for kind in abz._abz.RawReader, abz._abz.RawWriter:
        for name in vars(kind):
            assert name.startswith("__") or getattr(kind, name).__doc__, name


def test_types_are_right(tmp_path):
    have("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import io\n"
        "import abz\n"
        "def number(reader: abz.Reader) -> int:\n"
        "    return reader.seek(1)\n"
        "number(abz.open('a.gz'))\n"
        "number(abz.open(io.BytesIO(), 'rb', threads=2, index='a.gz.abzi'))\n"
        "writer: abz.Writer = abz.open(b'a.gz', 'wb', format='xz', level=3)\n"
        "text: io.TextIOWrapper = abz.open('a.gz', 'rt', encoding='utf-8')\n"
        "contents: bytes = abz.decompress(abz.compress(memoryview(b'')))\n"
        "try:\n    text.read()\nexcept abz.BadFile as error:\n    print(error.errno)\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import abz\nabz.open(3)\nabz.compress('text')\nabz.open('a.gz').read('x')\n")

    def check(*arguments):
        command = [sys.executable, "-m", *map(str, arguments)]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)

    for arguments in (
        ("mypy", "--strict", program),
        ("mypy", "--strict", "-p", "abz"),
        ("mypy.stubtest", "abz._abz"),
    ):
        done = check(*arguments)
        assert done.returncode == 0, done.stdout
    found = check("mypy", "--strict", wrong)
    assert "Found 3 errors" in found.stdout, found.stdout


def test_the_command_is_on_the_path(tmp_path, contents):
    scripts = sysconfig.get_path("scripts")
    command = shutil.which("abz", path=scripts)
    assert command, f"no abz in {scripts}"
    version = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert abz.__version__ in version
    path = tmp_path / "notes"
    path.write_bytes(contents)
    subprocess.run([command, "-k", path], check=True)
    assert read(tmp_path / "notes.gz") == contents
    with open(tmp_path / "again.gz", "wb") as again:
        subprocess.run([command, "-n", "--stdout", path], check=True, stdout=again)
    assert (tmp_path / "again.gz").read_bytes() == abz.compress(contents)
