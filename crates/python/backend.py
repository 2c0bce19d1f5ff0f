"""Builds the wheel: by maturin, with the command abz inside, as a program of its own.

With the setting "profile", which is a profile of cargo, such as `pip wheel -C profile=dev crates/python`, both are built by
that profile. The setting "build-args" has more arguments of maturin.

The command is a program of the same package as the module, so what both need is compiled once. (maturin sets variables that let PyO3 be
compiled twice.) A source distribution and a package that can be edited (`pip install -e`) are built in the same way.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import maturin

HERE = Path(__file__).resolve().parent

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with settings_of(config_settings) as settings:
        return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with settings_of(config_settings) as settings:
        return maturin.build_editable(wheel_directory, settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Builds the source distribution: that of maturin, with this file where it is looked for, and with the command."""
    name = maturin.build_sdist(sdist_directory, config_settings)
    path = Path(sdist_directory, name)
    top, parts = name[: -len(".tar.gz")], []
    # maturin leaves out a program whose source is in the folder of another package.
    manifest = (HERE / "Cargo.toml").read_bytes()
    command = manifest[manifest.index(b"[[bin]]") : manifest.index(b"[dependencies]")]
    with tarfile.open(path) as given:
        for member in given.getmembers():
            data = given.extractfile(member).read() if member.isfile() else b""
            if member.name == f"{top}/pyproject.toml":
                data = data.replace(b'backend-path = ["."]', b'backend-path = ["python"]')
            if member.name == f"{top}/python/Cargo.toml":
                data = data.replace(b"[dependencies]", command + b"[dependencies]", 1)
            member.size = len(data)
            parts.append((member, data))
    with tarfile.open(path, "w:gz") as target:
        for member, contents in parts:
            target.addfile(member, io.BytesIO(contents))
    return name


@contextlib.contextmanager
def settings_of(config_settings):
    """Builds the command, and yields the settings for maturin, with the target folder that both share."""
    given = config_settings or {}
    profile = given.get("profile", "release")
    before = os.environ.get("CARGO_TARGET_DIR")
    # Cargo's own setting, such as one in its configuration, holds for both too.
    os.environ["CARGO_TARGET_DIR"] = before or str(HERE / "target")
    try:
        build_command(profile)
        yield {"build-args": f"--profile {profile} {given.get('build-args', '')}"}
    finally:
        if before is None:
            del os.environ["CARGO_TARGET_DIR"]


def build_command(profile):
    """Builds the command, and puts it where maturin finds what goes on the path."""
    print(f"abz: building the command, then the module, by the profile {profile}", flush=True)
    command = ["cargo", "build", "--profile", profile, "--bin", "abz", "--locked", "--manifest-path", str(HERE / "Cargo.toml")]
    command += ["--message-format", "json-render-diagnostics"]
    messages = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    [built] = [path for path in map(executable, messages) if path]
    scripts = Path.cwd() / "abz.data" / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, scripts / os.path.basename(built))


def executable(message):
    """The file that a message of cargo names, if it says that a program was built."""
    return json.loads(message).get("executable")
