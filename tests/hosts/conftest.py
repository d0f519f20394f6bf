# SPDX-License-Identifier: BSD-3-Clause
"""Other programs and libraries that leeway lives in. What one process has written, another one reads."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from conftest import BUILD

ERA = pathlib.Path(os.environ.get("LEEWAY_DATA", BUILD.parent.parent / "shared/data")) / "eraint_uvz.nc"


@pytest.fixture
def shell(tmp_path):
    """Runs a command that must succeed, with the plugin at hand; returns what it printed."""

    def run(*args, fails=False, env=None):
        done = subprocess.run([str(a) for a in args], cwd=tmp_path, capture_output=True, text=True, env=env, timeout=300)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    run.folder = tmp_path
    return run


@pytest.fixture
def python(tmp_path):
    """Runs Python code in a process of its own, in the same folder."""

    def run(code, fails=False, interpreter=sys.executable, env=None, timeout=300):
        code = "import sys; sys.path.insert(0, %r)\nimport numpy as np\nfrom hosts.field import check, wave, words_of\n%s" % (
            str(BUILD.parent / "tests"), textwrap.dedent(code))
        done = subprocess.run([str(interpreter), "-c", code], cwd=tmp_path, capture_output=True, text=True, env=env, timeout=timeout)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    run.folder = tmp_path
    return run
