"""Builds the wheel: by maturin, with the command abz inside, as a program of its own.

With the setting "profile", which is a profile of cargo, such as `pip wheel -C profile=dev crates/python`, both are built by
that profile. The setting "build-args" has more arguments of maturin.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import maturin

HERE = Path(__file__).parent
SCRIPTS = HERE / "abz.data" / "scripts"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    profile = settings.get("profile", "release")
    build_command(profile)
    settings = {"build-args": f"--profile {profile} {settings.get('build-args', '')}"}
    return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_command(profile):
    """Builds the command, and puts it where maturin finds what goes on the path."""
    command = ["cargo", "build", "--locked", "--profile", profile, "--package", "abz", "--bin", "abz"]
    command += ["--manifest-path", str(HERE / ".." / ".." / "Cargo.toml")]
    command += ["--message-format", "json-render-diagnostics"]
    messages = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    [built] = [path for path in map(executable, messages) if path]
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, SCRIPTS / os.path.basename(built))


def executable(message):
    """The file that a message of cargo names, if it says that a program was built."""
    return json.loads(message).get("executable")
