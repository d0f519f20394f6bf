# SPDX-License-Identifier: BSD-3-Clause
"""The command line tool as the tests call it."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("LEEWAY_BUILD", ROOT / "build"))
PLUGINS = BUILD / "plugins"
# HDF5 libraries look for it when they are loaded.
os.environ["HDF5_PLUGIN_PATH"] = f"{PLUGINS}:/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins"


class Tool:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *args, stdin=None, env=None):
        """Returns the finished process; output is bytes."""
        return subprocess.run([str(BUILD / "leeway"), *map(str, args)], cwd=self.folder, input=stdin,
                              capture_output=True, env={**os.environ, **(env or {})}, timeout=300)

    def __call__(self, *args, **options):
        done = self.run(*args, **options)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def json(self, *args):
        return json.loads(self(*args, "--json"))

    def fails(self, code, *args, **options):
        """Fails with this exit code, one clear line, and no file left behind; returns the line."""
        before = sorted(self.folder.iterdir())
        done = self.run(*args, **options)
        message = done.stderr.decode()
        assert done.returncode == code, (done.returncode, message)
        assert message.startswith("leeway: ") and message.count("\n") == 1, message
        assert sorted(self.folder.iterdir()) == before
        return message


@pytest.fixture
def leeway(tmp_path):
    return Tool(tmp_path)
