# SPDX-License-Identifier: BSD-3-Clause
"""Parallel HDF5 under mpirun, and a C program that registers the filter by itself."""
import json
import os
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


@pytest.mark.skipif(not os.path.exists("/usr/lib/x86_64-linux-gnu/netcdf/mpi/libnetcdf.so"),
                    reason="libnetcdf-mpi-dev is not installed: parallel netCDF-4 is not tried")
@pytest.mark.parametrize("ranks", [1, 4])
def test_parallel_netcdf(shell, python, leeway, ranks):
    """Three ranks with rows and one without, through netCDF's own functions."""
    words = json.loads(leeway("filter", "--abs", "1e-3", "--json"))["cd_values"]
    netcdf = "/usr/lib/x86_64-linux-gnu/netcdf/mpi"
    shell("mpicc.openmpi", "-Wall", "-Wextra", "-Werror", ROOT / "tests/hosts/parallel_netcdf.c", f"-I{netcdf}/include", f"-L{netcdf}", "-lnetcdf", "-lm", "-o",
          "program")
    shell("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", ranks, "-x", "HDF5_PLUGIN_PATH", "./program", "out.nc", *words)
    python(f"""
import netCDF4, h5py, leeway.hdf5
with h5py.File("out.nc") as file:
    t, rows = file["t"], 16 * max({ranks} - 1, 1)
    i, j = np.meshgrid(np.arange(rows), np.arange(128), indexing="ij")
    assert "47310" in t._filters and t.id.get_storage_size() < t.size * 4 / 2
    assert 0 < np.abs(t[...] - np.sin(0.1 * i) * np.cos(0.07 * j)).max() <= 1.001e-3
""")
