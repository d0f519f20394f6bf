# SPDX-License-Identifier: BSD-3-Clause
"""Parallel HDF5 under mpirun, and a C program that registers the filter by itself."""
import re

import pytest

from conftest import BUILD, ROOT

LIBRARY = "/usr/lib/x86_64-linux-gnu/hdf5"


@pytest.mark.parametrize("rows", [64, 48])  # chunks of one rank each, and chunks that ranks share
def test_four_ranks(shell, python, rows):
    shell("mpicc", ROOT / "examples/parallel_hdf5.c", "-I/usr/include/hdf5/openmpi", f"-L{LIBRARY}/openmpi", "-lhdf5", "-lm", "-o", "program")
    said = shell("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", "-x", "HDF5_PLUGIN_PATH", "./program", "out.h5", rows)
    assert "4 ranks" in said
    sizes = re.search(r"(\d+) -> (\d+) bytes", said)
    assert int(sizes[2]) < int(sizes[1]) / 3
    # A serial library, in another process, reads the same.
    python("""
        import h5py
        with h5py.File("out.h5") as file:
            i, j, k = np.meshgrid(np.arange(256, dtype="f4"), np.arange(128, dtype="f4"), np.arange(128, dtype="f4"), indexing="ij")
            truth = np.sin(np.float32(0.02) * i + np.float32(0.05) * j) * np.cos(np.float32(0.03) * k)
            check(file["field"][...], truth, 1e-3 + 1e-6)
        """)


def test_registered_by_the_program(shell):
    """Without any plugin: the environment leads nowhere."""
    import os
    shell("cc", ROOT / "examples/hello_hdf5.c", "-I", ROOT, "-I/usr/include/hdf5/serial", f"-L{LIBRARY}/serial", "-lhdf5",
          f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-lm", "-o", "program")
    said = shell("./program", "out.h5", env={**os.environ, "HDF5_PLUGIN_PATH": str(shell.folder)})
    assert "largest error" in said
    assert "FILTER_ID 47310" in shell("h5dump", "-pH", "out.h5")
