# SPDX-License-Identifier: BSD-3-Clause
"""The build backend: scikit-build-core, after a look whether the libraries leeway is built with are there."""
import os
import shutil
import subprocess

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403  the hooks that need no libraries

# What pkg-config calls a library, and the Debian package that has it.
LIBRARIES = {"libzstd": "libzstd-dev", "libdeflate": "libdeflate-dev", "liblz4": "liblz4-dev", "libxxhash": "libxxhash-dev",
             "libhwy": "libhwy-dev", "hdf5": "libhdf5-dev"}
PROGRAMS = {"pkg-config": "pkg-config", (os.environ.get("CXX") or "c++").split()[0]: "g++"}


def _missing():
    missing = {name: package for name, package in PROGRAMS.items() if not shutil.which(name)}
    if "pkg-config" in missing:
        return missing  # nobody can be asked for the others
    return missing | {name: package for name, package in LIBRARIES.items() if not _exists(name) and not _exists(f"{name}-serial")}


def _exists(name):
    return subprocess.run(["pkg-config", "--exists", name]).returncode == 0


def _check_libraries():
    """Nothing is installed from here: what is missing is named, with the command that installs it."""
    if missing := _missing():
        raise SystemExit(f"leeway needs {', '.join(missing)} to be built. On Debian and Ubuntu: "
                         f"sudo apt-get install {' '.join(missing.values())}")


def build_wheel(*args, **kwargs):
    _check_libraries()
    return _build.build_wheel(*args, **kwargs)


def build_editable(*args, **kwargs):
    _check_libraries()
    return _build.build_editable(*args, **kwargs)
