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
    encoding.describe(ds).to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)
    assert ds["t"].attrs == {"units": "K"}  # the caller's dataset stays as it was
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
    encoding.describe(ds).to_zarr("out.zarr", zarr_format={zarr_format}, encoding=encoding, consolidated=False)
    """)
    python(MAKE + """
    with xr.open_zarr("out.zarr", consolidated=False) as ds:
        check(ds["t"].values, original("t"), 0.01)
        check(ds["q"].values, original("q"), 0.01)
        assert ds["t"].attrs["lossy_compression_bound"] == "abs=0.01"
    """)


def test_packed_integers(python):
    """What is packed stays packed; the bound is in the unit of the numbers, and what packing itself costs is part of it."""
    python(MAKE + """
    ds = make()[["q"]]
    ds["q"].encoding = {"dtype": "int16", "scale_factor": 1e-7, "add_offset": 0.0, "_FillValue": np.int16(-32768)}
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs=1e-5))
    """)
    python(MAKE + """
    with xr.open_dataset("out.nc", engine="h5netcdf") as ds:
        assert ds["q"].encoding["dtype"] == np.int16
        error = np.abs(ds["q"].values - original("q")).max()
        assert 5e-6 < error <= 1e-5, error
    """)


@pytest.mark.parametrize("to", ["netcdf", "zarr2", "zarr3"])
def test_missing_values_stay_missing(python, to):
    """In the units in which they are stored, whichever attribute tells them, and also a single one in a chunk."""
    python(f"""
        import itertools, os, shutil, warnings
        import xarray as xr, leeway.xarray
        warnings.simplefilter("ignore")
        field = wave((40, 48, 64), special=False) + np.float32(3)
        field[0, 0, 0] = field[20:, :20, 5] = np.nan
        packing = dict(scale_factor=0.001, add_offset=1.5)
        fills = [("f4", -999.9, dict()), ("f4", -99.9, dict()), ("f4", 20.0, dict()), ("f4", -9999.0, dict()), ("f4", 1e20, dict()),
                 ("i2", -32767, packing), ("i2", 9999, packing)]
        def write(ds, **bound):
            if "{to}" == "netcdf":
                ds.to_netcdf("out", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, **bound))
                return xr.open_dataset("out", engine="h5netcdf")
            zarr_format = int("{to}"[-1])
            encoding = leeway.xarray.encoding(ds, **bound, to="zarr", zarr_format=zarr_format)
            encoding["t"]["chunks"] = (20, 24, 32)
            ds.to_zarr("out", mode="w", zarr_format=zarr_format, consolidated=False, encoding=encoding)
            return xr.open_zarr("out", consolidated=False)
        for key, (dtype, fill, packed), bound in itertools.product(["_FillValue", "missing_value"], fills, [dict(abs=0.013), dict(rel=2e-3)]):
            ds = xr.Dataset(dict(t=(("z", "y", "x"), field)))
            ds["t"].encoding = dict(packed, dtype=dtype)
            if dtype == "f4":
                ds["t"].encoding["_FillValue"] = None
            ds["t"].encoding[key] = np.dtype(dtype).type(fill)
            with write(ds, **bound) as back:
                read = back["t"].values
            what = key, dtype, fill, bound
            assert (np.isnan(read) == np.isnan(field)).all(), (what, np.isnan(read).sum(), np.isnan(field).sum())
            assert 0.004 < np.nanmax(np.abs(read.astype("f8") - field)) <= 0.013, what
        """)


@pytest.mark.parametrize("chunks", ["{}", "{'z': 1}"])
@pytest.mark.parametrize("to", ["netcdf", "zarr"])
def test_relative_to_the_range_of_valid_values(python, to, chunks):
    """1e20 for land, of which no attribute tells; in one chunk there is a single one."""
    python(f"""
        import xarray as xr, leeway.xarray
        field = wave(special=False)
        field[0, 0, 0] = field[10:, :20, 5] = 1e20
        ds = xr.Dataset({{"t": (("z", "y", "x"), field)}}).chunk({chunks})
        encoding = leeway.xarray.encoding(ds, rel=1e-3, to="{to}")
        valid = field < 1e19
        bound = 1e-3 * (float(field[valid].max()) - float(field[valid].min()))
        stated = float(encoding.attributes["t"]["lossy_compression_bound"].removeprefix("abs="))
        assert 0.999 * bound < stated <= bound, (stated, bound)
        if "{to}" == "zarr":
            ds.to_zarr("out", encoding=encoding, consolidated=False)
            back = xr.open_zarr("out", consolidated=False, mask_and_scale=False)
        else:
            ds.to_netcdf("out", engine="h5netcdf", encoding=encoding)
            back = xr.open_dataset("out", engine="h5netcdf", mask_and_scale=False)
        read = back["t"].values
        assert (read[~valid] == np.float32(1e20)).all()
        check(read[valid], field[valid], bound)
        """)


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_what_describes_other_variables_is_left_alone(python, engine):
    python(f"""
import leeway.xarray, netCDF4, xarray as xr
from hosts.described import UNTOUCHED, compare, make, values
make("in.nc")
ds = xr.open_dataset("in.nc", engine="{engine}", decode_times=False)  # xarray itself rounds times to nanoseconds
encoding = leeway.xarray.encoding(ds, rel=1e-3)
assert set(encoding) == {{"t", "q"}}, set(encoding)
assert set(encoding.left_alone) == {{name for name in UNTOUCHED if name in ds.data_vars and ds[name].dtype.kind == "f"}}
assert encoding.left_alone["area"] == "'cell_measures' of t names it" and "time_bnds" in encoding.left_alone
ds.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)
before, after = values("in.nc"), values("out.nc")
span = lambda name: float(before[name].max()) - float(before[name].min())
compare(before, after, {{name: 1e-3 * span(name) for name in ["t", "q"]}})
with netCDF4.Dataset("out.nc") as file:
    assert file["t"].grid_mapping == "crs: x y" and file["t"].cell_measures == "area: area"
    assert file["t"].ancillary_variables == "quality error" and "nav_lat" in file["t"].coordinates

named = leeway.xarray.encoding(ds, abs={{"ps": 10, "t": 1e-3}})
assert set(named) == {{"ps", "t"}}
ds.to_netcdf("named.nc", engine="h5netcdf", encoding=named)
compare(before, values("named.nc"), dict(ps=10, t=1e-3))
assert set(leeway.xarray.encoding(ds, abs=1e-4, exclude=["t*"])) == {{"q"}}
""")


def test_other_encodings_are_kept(python):
    """What xarray keeps there of a file that it has read: links to other variables, chunks, shards."""
    python(MAKE + """
    ds = make()
    ds["crs"] = 0
    kept = dict(grid_mapping="crs", cell_measures="area: crs")
    ds["t"].encoding.update(kept, chunks=(5, 48, 32), shards=(10, 48, 64))
    before = ds.copy(deep=True)
    for to in ["netcdf", "zarr"]:
        encoding = leeway.xarray.encoding(ds, abs=1e-3, to=to)
        for key, value in kept.items():
            assert encoding["t"][key] == value
    assert encoding["t"]["chunks"] == (5, 48, 32) and encoding["t"]["shards"] == (10, 48, 64)
    assert ds.identical(before) and ds["t"].encoding == before["t"].encoding
    ds.to_zarr("out.zarr", encoding=encoding, consolidated=False)
    import zarr
    array = zarr.open_array("out.zarr/t")
    assert array.chunks == (5, 48, 32) and array.shards == (10, 48, 64)
    check(xr.open_zarr("out.zarr", consolidated=False)["t"].values, original("t"), 1e-3)
    described = encoding.describe(ds)
    assert described["t"].attrs["lossy_compression_bound"] == "abs=0.001" and "lossy_compression" not in ds["t"].attrs
    """)


def test_chunks_of_another_shape_are_not_kept(python):
    """Open, take a part, write: what the file had does not fit any more."""
    python(MAKE + """
    ds = make()
    ds.to_netcdf("in.nc", engine="h5netcdf", encoding={name: {"chunksizes": (20, 24, 64)} for name in "tq"})
    ds.to_netcdf("thin.nc", engine="h5netcdf", unlimited_dims=["z"], encoding={name: {"chunksizes": (1, 1, 64)} for name in "tq"})
    with xr.open_dataset("in.nc", engine="h5netcdf") as ds:
        assert leeway.xarray.encoding(ds, abs=1e-4)["t"]["chunksizes"] == (20, 24, 64)
        part = ds.isel(z=slice(0, 5), y=slice(0, 10))
        part.to_netcdf("part.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(part, abs=1e-4))
        mean = ds.mean("z")
        mean.to_netcdf("mean.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(mean, abs=1e-4))
    check(xr.open_dataset("part.nc", engine="h5netcdf")["q"].values, original("q")[:5, :10], 1e-4)
    with xr.open_dataset("thin.nc", engine="h5netcdf") as ds:
        assert leeway.xarray.encoding(ds, abs=1e-4)["t"]["chunksizes"] == (20, 48, 64)
    """)


def test_chunks_hold_whole_maps(python):
    """Unless dask or a file has said otherwise; larger maps are cut along one axis only."""
    python("""
    import xarray as xr, leeway.xarray, h5py, zarr
    field = wave((150, 90, 180), special=False)
    ds = xr.Dataset({"t": (("time", "lat", "lon"), field)})
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs=1e-3))
    assert h5py.File("out.nc")["t"].chunks == (50, 90, 180)
    check(h5py.File("out.nc")["t"][...], field, 1e-3)
    for zarr_format in [2, 3]:
        def write(ds):
            encoding = leeway.xarray.encoding(ds, abs=1e-3, to="zarr", zarr_format=zarr_format)
            ds.to_zarr("out.zarr", mode="w", zarr_format=zarr_format, consolidated=False, encoding=encoding)
            return zarr.open_array("out.zarr/t")
        array = write(ds)
        assert array.chunks == (50, 90, 180)
        check(array[...], field, 1e-3)
        assert write(ds.chunk({"time": 10, "lat": 45})).chunks == (10, 45, 180)
        ds["t"].encoding["chunks"] = (75, 30, 180)
        assert write(ds).chunks == (75, 30, 180)
        ds["t"].encoding.clear()
    wide = xr.Dataset({"t": (("time", "lat", "lon"), np.ones((2, 1500, 3000), "f4"))})
    for to, key in [("netcdf", "chunksizes"), ("zarr", "chunks")]:
        assert leeway.xarray.encoding(wide, abs=1e-3, to=to)["t"][key] == (1, 300, 3000)
    """)


def test_the_bound_is_that_of_what_a_reader_sees(python):
    """Packing and smaller types cost something; that is taken off, or the bound refused."""
    python(MAKE + """
    import pytest
    pressure = 101325 + 500 * wave(special=False).astype("f8")
    ds = xr.Dataset({"p": (("z", "y", "x"), pressure)})
    def worst(**encoding):
        ds["p"].encoding = encoding
        ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs=bound))
        with xr.open_dataset("out.nc", engine="h5netcdf") as back:
            return np.abs(back["p"].values.astype("f8") - pressure).max()
    bound = 0.02
    assert 0.01 < worst(dtype="float32") <= bound
    bound = 0.5
    assert 0.25 < worst(dtype="int16", scale_factor=0.1, add_offset=101325.0, _FillValue=-32767) <= bound
    bound = 0.02
    with pytest.raises(ValueError, match="alone costs 0.05"):
        worst(dtype="int16", scale_factor=0.1, add_offset=101325.0, _FillValue=-32767)
    bound = 1e-3
    with pytest.raises(ValueError, match="alone costs"):
        worst(dtype="float32")
    with pytest.raises(ValueError, match="not lossless"):
        leeway.xarray.encoding(ds, lossless=True)
    # Numbers too large for the type wrap around: that costs everything.
    bound = 10
    with pytest.raises(ValueError, match="alone costs"):
        worst(dtype="int16", scale_factor=0.01, add_offset=101325.0, _FillValue=-32767)
    # What comes from a packed file costs nothing more.
    ds["p"].encoding = dict(dtype="int16", scale_factor=0.1, add_offset=101325.0, _FillValue=-32767)
    ds.to_netcdf("packed.nc", engine="h5netcdf")
    with xr.open_dataset("packed.nc", engine="h5netcdf") as packed:
        packed.to_netcdf("again.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(packed, abs=0.02))
        with xr.open_dataset("again.nc", engine="h5netcdf") as again:
            assert (again["p"].values == packed["p"].values).all()
    """)


def test_a_bound_that_leaves_nothing_is_a_warning(python):
    python(MAKE + """
    import pytest, warnings
    ds = make()
    with pytest.warns(UserWarning, match="'q': the bound 0.01 is larger than the range"):
        leeway.xarray.encoding(ds, abs=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leeway.xarray.encoding(ds, abs={"t": 0.01, "q": 1e-5})
        leeway.xarray.encoding(xr.Dataset({"c": ("x", np.full(1000, 3.5))}), abs=0.01)
    """)


def test_the_plugin_is_found(python):
    """By whoever imports leeway.xarray."""
    import os
    clean = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    python(MAKE + """
    ds = make()
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs={"q": 1e-5}))
    """, env=clean)
    python("""
    import leeway.xarray, h5py
    check(h5py.File("out.nc")["q"][...], wave(special=False) * 1e-3, 1e-5)
    """, env=clean)


def test_complaints(python):
    assert "no variable 'nosuch'" in python(MAKE + """
    leeway.xarray.encoding(make(), abs={"nosuch": 1})
    """, fails=True)
    assert "no variable is chosen" in python(MAKE + """
    leeway.xarray.encoding(make())
    """, fails=True)
    assert "no variable 'nosuch'" in python(MAKE + """
    assert set(leeway.xarray.encoding(make(), abs=1e-5, exclude="t*")) == {"q"}
    assert set(leeway.xarray.encoding(make(), abs=1e-5, exclude=iter(["z*", "q"]))) == {"t"}
    leeway.xarray.encoding(make(), abs=1e-5, exclude=["nosuch"])
    """, fails=True)


def test_exclude_counts_more_than_bounds(python):
    python(MAKE + """
    import pytest
    bounds = {"t": "abs:0.01", "q": "abs:1e-5"}
    assert set(leeway.xarray.encoding(make(), bounds=bounds, exclude="t")) == {"q"}
    assert set(leeway.xarray.encoding(make(), bounds=bounds, exclude=["q*"])) == {"t"}
    assert set(leeway.xarray.encoding(make(), bounds=bounds, abs={"t": 0.02}, exclude=["t*"])) == {"t", "q"}
    with pytest.raises(ValueError, match="'t' is asked for and excluded"):
        leeway.xarray.encoding(make(), abs={"t": 0.02}, exclude=["t"])
    """)


def test_names_that_mean_nothing_are_told(python):
    python(MAKE + """
    import pytest
    with pytest.warns(UserWarning, match="bounds: no variable of the dataset is meant by 'tt', 'w\\*'"):
        assert set(leeway.xarray.encoding(make(), bounds={"t": "abs:0.01", "tt": "abs:1", "w*": "abs:1"})) == {"t"}
    with pytest.warns(UserWarning, match="exclude: no variable of the dataset is meant by 'zz\\*'"):
        assert set(leeway.xarray.encoding(make(), abs={"t": 0.01}, exclude="zz*")) == {"t"}
    with pytest.raises(ValueError, match="no variable is chosen: .* is meant by 'tt'"):
        leeway.xarray.encoding(make(), bounds={"tt": "abs:0.01"})
    """)


def test_an_earlier_bound_stays_stated(python):
    python(MAKE + """
    ds = make()
    ds["t"].attrs |= dict(lossy_compression_bound="abs=0.01", lossy_compression_maximum_error=0.009)
    again = leeway.xarray.encoding(ds, abs={"t": 0.02}).describe(ds)["t"].attrs
    assert again["lossy_compression_bound"] == "abs=0.01; then abs=0.02" and "lossy_compression_maximum_error" not in again
    exact = leeway.xarray.encoding(ds, lossless=["t"]).describe(ds)["t"].attrs
    assert exact["lossy_compression_bound"] == "abs=0.01" and exact["lossy_compression_maximum_error"] == 0.009
    assert exact["lossy_compression"] == "leeway: error-bounded compression" and ds["t"].attrs["lossy_compression_maximum_error"] == 0.009
    """)


def test_values_too_large_for_the_type_they_are_written_as(python):
    said = python(MAKE + """
    ds = xr.Dataset({"t": ("x", np.array([0.5, 1e300, 0.25]), {}, {"dtype": "f4"})})
    leeway.xarray.encoding(ds, abs=1e-3)
    """, fails=True)
    assert "alone costs inf" in said


def test_a_pointwise_bound_of_one_variable_beside_a_general_one(python):
    """What is stated is what holds."""
    python("""
        import leeway.xarray, pytest, xarray as xr
        rng = np.random.default_rng(3)
        ds = xr.Dataset({name: (("y", "x"), (rng.random((40, 50)) * 1000).astype("f4")) for name in ["pr", "tas"]})
        encoding = leeway.xarray.encoding(ds, abs=0.01, pointwise={"pr": 1e-3})
        encoding.describe(ds).to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)
        with xr.open_dataset("out.nc", engine="h5netcdf") as read:
            assert read.pr.lossy_compression_bound == "pointwise=0.001" and read.tas.lossy_compression_bound == "abs=0.01"
            assert (np.abs(read.pr.astype("f8") - ds.pr) <= 1e-3 * np.abs(ds.pr)).all()
            assert np.abs(read.tas.astype("f8") - ds.tas).max() <= 0.01
        with pytest.raises(ValueError, match="stands alone"):
            leeway.xarray.encoding(ds, abs={"pr": 0.01}, pointwise={"pr": 1e-3})
        """)
