# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 and netCDF files read by reference: kerchunk and VirtualiZarr say where chunks are, Zarr decodes them without HDF5."""
import pytest

pytest.importorskip("kerchunk")
pytest.importorskip("virtualizarr")

KINDS = """
KINDS = dict(a={}, b=dict(dtype=">f4"), c=dict(fletcher32=True), d=dict(dtype=">f8", fletcher32=True), e=dict(fillvalue=np.float32(7)),
             f=dict(dtype="i2"))
"""
# What a reader has: the values that h5py gives, and no plugin.
READ = """
import os
os.environ["HDF5_PLUGIN_PATH"] = "/nonexistent"
expected = np.load("expected.npz")
def compare(read):
    for name in expected:
        found = read(name)
        assert found.dtype.newbyteorder("=") == expected[name].dtype.newbyteorder("="), (name, found.dtype)
        assert np.array_equal(found.astype("f8"), expected[name].astype("f8"), equal_nan=True), name
"""


@pytest.fixture
def file(python):
    python(KINDS + """
import h5py, leeway.hdf5
bounds = dict(a=dict(abs=1e-2), b=dict(abs=1e-2, recipe="small"), c=dict(pointwise=1e-3), d=dict(psnr=60, range=6.0), e=dict(abs=1e-2, fill=1e20),
              f=dict(abs=3, fill=-32768))
with h5py.File("out.h5", "w") as file:
    for name, kind in KINDS.items():
        dataset = file.create_dataset(name, shape=(21, 49, 65), chunks=(10, 24, 32), **({"dtype": "f4"} | kind),
                                      **leeway.hdf5.filter(**bounds[name]))
        values = wave((21, 49, 65), special=name != "f") * (100 if name == "f" else 1)
        dataset[:15] = values[:15].astype(dataset.dtype)
    file.create_dataset("g", data=wave((21, 49, 65)), chunks=(10, 24, 32), compression="gzip", shuffle=True)
with h5py.File("out.h5") as file:
    np.savez("expected.npz", **{name: file[name][...] for name in file})
""")


def test_kerchunk(python, file):
    python("""
import json, kerchunk.hdf
import leeway.references
with open("out.json", "w") as out:
    json.dump(kerchunk.hdf.SingleHdf5ToZarr("out.h5", inline_threshold=0, error="raise").translate(), out)
""")
    python(READ + """
import sys, zarr, xarray as xr
store = dict(engine="zarr", backend_kwargs={"consolidated": False, "storage_options": {"fo": "out.json"}}, mask_and_scale=False)
ds = xr.open_dataset("reference://", **store)
compare(lambda name: ds[name].values)
assert (ds["a"][3:5, 7, ::9].values == expected["a"][3:5, 7, ::9])[:, 1:].all()
assert "leeway.hdf5" not in sys.modules
""")


def test_virtualizarr(python, file):
    python(READ + """
import zarr
import leeway.references
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import HDFParser
registry = ObjectStoreRegistry({"file://": LocalStore()})
url = "file://" + os.path.abspath("out.h5")
group = zarr.open_group(HDFParser()(url, registry), mode="r")
compare(lambda name: group[name][...])
open_virtual_dataset(url, registry=registry, parser=HDFParser()).vz.to_kerchunk("out.json", format="json")
""")
    python(READ + """
import xarray as xr
store = dict(engine="zarr", backend_kwargs={"consolidated": False, "storage_options": {"fo": "out.json"}}, mask_and_scale=False)
ds = xr.open_dataset("reference://", **store)
compare(lambda name: ds[name].values)
""")


def test_files_of_the_tool(python, leeway):
    """A netCDF file with dimensions and packed variables, compressed on the command line."""
    python("""
import xarray as xr
ds = xr.Dataset({"t": (("z", "y", "x"), wave(), {"units": "K"}), "p": (("z", "y", "x"), 1000 + 50 * wave(special=False))},
                coords={"x": np.linspace(0, 1, 64)})
ds.to_netcdf("in.nc", encoding={"p": dict(dtype="i2", scale_factor=0.01, add_offset=1000.0, _FillValue=-32767)})
""")
    leeway("compress", "in.nc", "--rel", "1e-3", "--variable", "p=abs:0.05", "-o", "out.nc")
    python("""
import json, kerchunk.hdf, netCDF4, leeway.references, leeway.hdf5
with open("out.json", "w") as out:
    json.dump(kerchunk.hdf.SingleHdf5ToZarr("out.nc", inline_threshold=0, error="raise").translate(), out)
import xarray as xr
with xr.open_dataset("out.nc", engine="h5netcdf") as ds:
    np.savez("expected.npz", **{name: ds[name].values for name in ["t", "p", "x"]})
""")
    python(READ + """
import xarray as xr
ds = xr.open_dataset("reference://", engine="zarr", backend_kwargs={"consolidated": False, "storage_options": {"fo": "out.json"}})
compare(lambda name: ds[name].values)
assert 0 < np.abs(ds["p"].values - (1000 + 50 * wave(special=False))).max() <= 0.06
assert ds["t"].attrs["units"] == "K" and "install its" in ds["t"].attrs["lossy_compression_reader"]
""")


def test_other_filters_are_refused(python):
    said = python("""
import h5py, kerchunk.hdf, leeway.hdf5, leeway.references
with h5py.File("out.h5", "w") as file:
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((10, 48, 32))
    dcpl.set_filter(47310, 0, words_of(1e-3))
    dcpl.set_deflate(1)
    h5py.h5d.create(file.id, b"u", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((20, 48, 64)), dcpl)
    file["u"][...] = wave()
kerchunk.hdf.SingleHdf5ToZarr("out.h5", error="raise").translate()
""", fails=True)
    assert "/u has other filters beside leeway's (gzip)" in said
