# SPDX-License-Identifier: BSD-3-Clause
"""dask: chunks compressed side by side, by threads and by the processes of a local cluster."""
import os


def test_threads_and_processes(python):
    (python.folder / "job.py").write_text("""
import sys
sys.path.insert(0, %r)
import dask.array as da
import numpy as np
import xarray as xr
import leeway, leeway.xarray
from distributed import Client, LocalCluster
from hosts.field import check, wave

def job():
    field = wave((40, 48, 64))
    array = da.from_array(field, chunks=(10, 48, 64))
    encoded = [leeway.compress(np.asarray(block), abs=1e-3, threads=1) for block in array.blocks]
    sizes = array.map_blocks(lambda block: np.array([[[len(leeway.compress(block, abs=1e-3, threads=1))]]]),
                             chunks=(1, 1, 1), dtype=int).compute()
    assert sizes.ravel().tolist() == [len(stream) for stream in encoded]
    ds = xr.Dataset({"t": (("z", "y", "x"), array)})
    encoding = leeway.xarray.encoding(ds, abs=1e-3, to="zarr")
    ds.to_zarr("out.zarr", mode="w", encoding=encoding, consolidated=False)
    back = xr.open_zarr("out.zarr", consolidated=False)["t"]
    check(back.compute().values, field, 1e-3)
    assert float(abs(back - ds["t"]).where(np.isfinite(ds["t"])).max().compute()) <= 1e-3

if __name__ == "__main__":
    job()  # threads
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster):
        job()
""" % str(__import__("conftest").ROOT / "tests"))
    python("""
        import subprocess, sys
        subprocess.run([sys.executable, "job.py"], check=True)
        """)


def test_workers_find_the_plugin(python):
    """Those of a cluster that is started by whoever has imported leeway.xarray, and those that are told to load leeway.hdf5."""
    (python.folder / "job.py").write_text("""
import sys
sys.path.insert(0, %r)
import os
import xarray as xr
from distributed import Client, LocalCluster
from hosts.field import check, wave

def cluster(**options):
    return LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, **options)

def read():
    for engine in ["h5netcdf", "netcdf4"]:
        with xr.open_dataset("out.nc", engine=engine, chunks={"z": 10}) as ds:
            check(ds["t"].compute().values, wave(special=False), 1e-3)

if __name__ == "__main__":
    assert "HDF5_PLUGIN_PATH" not in os.environ
    with cluster(preload="leeway.hdf5") as told:  # it was started before anybody here knew of leeway
        import leeway.xarray
        ds = xr.Dataset({"t": (("z", "y", "x"), wave(special=False))})
        ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs=1e-3))
        with Client(told):
            read()
    with cluster() as later, Client(later):
        read()
""" % str(__import__("conftest").ROOT / "tests"))
    clean = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    python("""
        import subprocess, sys
        subprocess.run([sys.executable, "job.py"], check=True)
        """, env=clean)


def test_forked_processes(python):
    (python.folder / "fork.py").write_text("""
import multiprocessing
import numpy as np
import leeway

def work(seed):
    field = np.random.default_rng(seed).normal(size=(60, 70, 80)).cumsum(axis=2)
    return leeway.compress(field, rel=1e-3, threads=2)

if __name__ == "__main__":
    here = [work(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(work, range(4)) == here
""")
    python("""
        import subprocess, sys
        subprocess.run([sys.executable, "fork.py"], check=True, timeout=120)
        """)
