# SPDX-License-Identifier: BSD-3-Clause
"""The plugin in a program with a static HDF5 whose functions it cannot find: reading, and writing with stored parameters."""
import json
import os
import re
import subprocess

import pytest

from conftest import ROOT

ARCHIVE = "/usr/lib/x86_64-linux-gnu/hdf5/serial/libhdf5.a"
pytestmark = pytest.mark.skipif(not os.path.exists(ARCHIVE), reason="there is no static HDF5 here: a program that hides it is not tried")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("hidden") / "program"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", ROOT / "tests/hosts/hidden_hdf5.c", "-I/usr/include/hdf5/serial", ARCHIVE, "-l:libsz.so.2", "-lz",
                    "-ldl", "-lcrypto", "-lcurl", "-pthread", "-lm", "-o", path], check=True)
    exported = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    assert "H5" not in exported
    return path


def test_reads_what_others_write(program, shell, python):
    python("""
import h5py, leeway.hdf5
i, j = np.meshgrid(np.arange(64, dtype="f4"), np.arange(64, dtype="f4"), indexing="ij")
with h5py.File("out.h5", "w") as file:
    file.create_dataset("t", data=(np.sin(np.float32(0.1) * i) * np.cos(np.float32(0.07) * j)).astype("f4"), chunks=(32, 32), **leeway.hdf5.filter(abs=1e-3))
""")
    error = float(re.search(r"largest error (\S+)", shell(program, "read", "out.h5"))[1])
    assert 0 < error <= 1e-3 + 1e-6


def test_writes_with_stored_parameters(program, shell, python, leeway):
    words = json.loads(leeway("filter", "--abs", "1e-3", "--stored", "--dtype", "f32", "--chunk", "32x32", "--json"))["cd_values"]
    shell(program, "write", "out.h5", *words)
    assert 0 < float(re.search(r"largest error (\S+)", shell(program, "read", "out.h5"))[1]) <= 1e-3
    python("""
import h5py, leeway.hdf5
with h5py.File("out.h5") as file:
    assert "47310" in file["t"]._filters and file["t"].id.get_storage_size() < 64 * 64 * 4 / 2
    i, j = np.meshgrid(np.arange(64), np.arange(64), indexing="ij")
    assert np.abs(file["t"][...] - np.sin(0.1 * i) * np.cos(0.07 * j)).max() <= 1.001e-3
""")
    # Without them nothing can be asked about the dataset: it fails, and writes nothing wrong.
    shell(program, "write", "no.h5", *json.loads(leeway("filter", "--abs", "1e-3", "--json"))["cd_values"], fails=True)


def test_stored_parameters_need_the_dataset(leeway):
    assert "--stored needs --dtype and --chunk" in leeway.fails(2, "filter", "--abs", "1e-3", "--stored")
    assert "go with --stored" in leeway.fails(2, "filter", "--abs", "1e-3", "--dtype", "f32")
