# SPDX-License-Identifier: BSD-3-Clause
"""The build backend says what is missing; it installs nothing."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.fixture
def programs(tmp_path):
    """A folder in the place of PATH, whose programs write down that they were called."""
    def add(name, status=0):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $* >> {tmp_path}/calls\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    add.folder = tmp_path
    return add


def build(programs, settings=None):
    pytest.importorskip("scikit_build_core")
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import backend; backend.build_wheel('nowhere', {settings!r})"
    env = {key: value for key, value in os.environ.items() if key != "CXX"} | {"PATH": str(programs.folder)}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=programs.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    return done.stderr


def test_nothing_is_installed(programs):
    for name in ["apt-get", "apt", "sudo", "bash", "dpkg-query", "c++"]:
        programs(name)
    programs("pkg-config", 1)
    assert ("sudo apt-get install libzstd-dev libdeflate-dev liblz4-dev libxxhash-dev libhwy-dev libhdf5-dev libcli11-dev libfmt-dev "
            "nlohmann-json3-dev libnetcdf-dev. Without" in build(programs))
    called = {line.split()[0] for line in (programs.folder / "calls").read_text().splitlines()}
    assert called == {"pkg-config"}


def test_programs_are_named_too(programs):
    assert "leeway needs pkg-config, c++ to be built. On Debian and Ubuntu: sudo apt-get install pkg-config g++" in build(programs)


@pytest.mark.parametrize("settings, rest", [
    ({"cmake.define.LEEWAY_TOOLS": "OFF"}, " libhdf5-dev"), ({"cmake.define.LEEWAY_TOOLS": "OFF", "skbuild.cmake.define.LEEWAY_HDF5": "0"}, ""),
    ({"cmake.define.LEEWAY_TOOLS_HDF5": "off"}, " libhdf5-dev libcli11-dev libfmt-dev nlohmann-json3-dev"),
    ({"cmake.define.LEEWAY_HDF5": "OFF"}, " libcli11-dev libfmt-dev nlohmann-json3-dev")])
def test_what_is_left_out_needs_nothing(programs, settings, rest):
    programs("c++")
    programs("pkg-config", 1)
    assert f"libzstd-dev libdeflate-dev liblz4-dev libxxhash-dev libhwy-dev{rest}. Without" in build(programs, settings)
