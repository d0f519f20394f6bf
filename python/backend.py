# SPDX-License-Identifier: BSD-3-Clause
"""The build backend: scikit-build-core, after a look whether the libraries leeway is built with are there."""
import os
import pathlib
import shutil
import subprocess

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403  the hooks that need no libraries

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = ["libzstd", "libdeflate", "liblz4", "libxxhash", "libhwy", "hdf5-serial"]


def _missing():
    if not shutil.which("pkg-config") or not shutil.which("g++"):
        return ["pkg-config", "g++"]
    return [name for name in LIBRARIES if subprocess.run(["pkg-config", "--exists", name]).returncode != 0]


def _install_libraries():
    """On Debian as root, what is missing is installed; elsewhere an error says what to install."""
    missing = _missing()
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["bash", ROOT / "scripts/setup.sh", "build"], check=True)
        missing = _missing()
    if missing:
        raise SystemExit(f"leeway needs {', '.join(missing)} to be built. On Debian: sudo scripts/setup.sh build")


def build_wheel(*args, **kwargs):
    _install_libraries()
    return _build.build_wheel(*args, **kwargs)


def build_editable(*args, **kwargs):
    _install_libraries()
    return _build.build_editable(*args, **kwargs)
