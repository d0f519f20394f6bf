# SPDX-License-Identifier: BSD-3-Clause
"""xarray: to_netcdf through h5netcdf, to_zarr, and back through every engine, in other processes."""
import pytest

MAKE = """
    import xarray as xr, leeway.xarray
    def make():
        t, q = wave(), wave(special=False) * 1e-3
        ds = xr.Dataset({"t": (("z", "y", "x"), t, {"units": "K"}), "q": (("z", "y", "x"), q), "n": ("z", np.arange(20))},
                        coords={"x": np.linspace(0, 1, 64)})
        ds["t"].encoding["_FillValue"] = np.float32(9.96921e36)
        return ds
    def original(name):
        field = make()[name].values
        return np.where(np.isclose(field, 9.96921e36), np.nan, field)  # what xarray makes of fill values
"""


def test_netcdf(python):
    python(MAKE + """
    ds = make()
    encoding = leeway.xarray.encoding(ds, abs={"t": 0.01}, rel={"q": 1e-4}, recipe={"q": "small"})
    assert set(encoding) == {"t", "q"}
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)
    """)
    for engine in ["h5netcdf", "netcdf4"]:
        python(MAKE + f"""
    import leeway.hdf5
    with xr.open_dataset("out.nc", engine="{engine}") as ds:
        check(ds["t"].values, original("t"), 0.01)
        q = original("q")
        check(ds["q"].values, q, 1e-4 * (q.max() - q.min()))
        assert ds["t"].attrs["units"] == "K" and ds["t"].attrs["lossy_compression_bound"] == "abs=0.01"
        assert "leeway" in ds["t"].attrs["lossy_compression"] and (ds["n"] == np.arange(20)).all()
        assert (ds["x"] == np.linspace(0, 1, 64)).all()
    """)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr(python, zarr_format):
    python(MAKE + f"""
    ds = make().chunk({{"z": 5}})
    encoding = leeway.xarray.encoding(ds, abs=0.01, to="zarr", zarr_format={zarr_format})
    assert set(encoding) == {{"t", "q"}}
    ds.to_zarr("out.zarr", zarr_format={zarr_format}, encoding=encoding, consolidated=False)
    """)
    python(MAKE + """
    with xr.open_zarr("out.zarr", consolidated=False) as ds:
        check(ds["t"].values, original("t"), 0.01)
        check(ds["q"].values, original("q"), 0.01)
        assert ds["t"].attrs["lossy_compression_bound"] == "abs=0.01"
    """)


def test_packed_integers(python):
    """What is packed stays packed; the bound is in the unit of the numbers, beside what packing itself costs."""
    python(MAKE + """
    ds = make()[["q"]]
    ds["q"].encoding = {"dtype": "int16", "scale_factor": 1e-7, "add_offset": 0.0, "_FillValue": np.int16(-32768)}
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs=1e-5))
    """)
    python(MAKE + """
    with xr.open_dataset("out.nc", engine="h5netcdf") as ds:
        assert ds["q"].encoding["dtype"] == np.int16
        error = np.abs(ds["q"].values - original("q")).max()
        assert 5e-6 < error <= 1e-5 + 0.5e-7 + 1e-9, error
    """)


def test_complaints(python):
    assert "no variable 'nosuch'" in python(MAKE + """
    leeway.xarray.encoding(make(), abs={"nosuch": 1})
    """, fails=True)
    assert "no variable is chosen" in python(MAKE + """
    leeway.xarray.encoding(make())
    """, fails=True)
