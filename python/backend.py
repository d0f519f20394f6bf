# SPDX-License-Identifier: BSD-3-Clause
"""The build backend: scikit-build-core, after a look whether the libraries leeway is built with are there."""
import os
import shutil
import subprocess

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403  the hooks that need no libraries

# What pkg-config calls a library, and the Debian package that has it, by the option of CMake that needs it.
LIBRARIES = {
    "": {"libzstd": "libzstd-dev", "libdeflate": "libdeflate-dev", "liblz4": "liblz4-dev", "libxxhash": "libxxhash-dev",
         "libhwy": "libhwy-dev"},
    "LEEWAY_HDF5": {"hdf5": "libhdf5-dev"},
    "LEEWAY_TOOLS": {"CLI11": "libcli11-dev", "fmt": "libfmt-dev", "nlohmann_json": "nlohmann-json3-dev"},
    "LEEWAY_TOOLS_HDF5": {"netcdf": "libnetcdf-dev"},
}
NEEDS = {"LEEWAY_TOOLS_HDF5": {"LEEWAY_TOOLS", "LEEWAY_HDF5"}}
PROGRAMS = {"pkg-config": "pkg-config", (os.environ.get("CXX") or "c++").split()[0]: "g++"}


def _needed(settings):
    """The libraries of what is not left out by -C cmake.define.OPTION=OFF."""
    off = {option for option in LIBRARIES for prefix in ("", "skbuild.")
           if str((settings or {}).get(f"{prefix}cmake.define.{option}", "ON")).upper() in ("OFF", "0", "FALSE", "NO")}
    return {name: package for option, libraries in LIBRARIES.items() if not off & ({option} | NEEDS.get(option, set()))
            for name, package in libraries.items()}


def _missing(settings):
    missing = {name: package for name, package in PROGRAMS.items() if not shutil.which(name)}
    if "pkg-config" in missing:
        return missing  # without pkg-config the libraries cannot be looked for
    return missing | {name: package for name, package in _needed(settings).items()
                      if not _exists(name) and not _exists(f"{name}-serial")}


def _exists(name):
    return subprocess.run(["pkg-config", "--exists", name]).returncode == 0


def _check_libraries(settings):
    """Nothing is installed from here: what is missing is named, with the command that installs it."""
    if missing := _missing(settings):
        raise SystemExit(f"leeway needs {', '.join(missing)} to be built. On Debian and Ubuntu: "
                         f"sudo apt-get install {' '.join(missing.values())}. Without the command line tool "
                         "(-C cmake.define.LEEWAY_TOOLS=OFF) or without HDF5 (-C cmake.define.LEEWAY_HDF5=OFF) it needs less.")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _check_libraries(config_settings)
    return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _check_libraries(config_settings)
    return _build.build_editable(wheel_directory, config_settings, metadata_directory)
