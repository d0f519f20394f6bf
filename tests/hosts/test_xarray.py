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


FILLS = [
    ("f4", -999.9, {}), ("f4", -99.9, {}), ("f4", 20.0, {}), ("f4", -9999.0, {}), ("f4", 1e20, {}),
    ("i2", -32767, dict(scale_factor=0.001, add_offset=1.5)), ("i2", 9999, dict(scale_factor=0.001, add_offset=1.5)),
]


@pytest.mark.parametrize("key", ["_FillValue", "missing_value"])
@pytest.mark.parametrize("dtype, fill, packing", FILLS)
@pytest.mark.parametrize("write", [
    "ds.to_netcdf('out', engine='h5netcdf', encoding=leeway.xarray.encoding(ds, {bound}))",
    "ds.to_zarr('out', zarr_format=2, consolidated=False, encoding=leeway.xarray.encoding(ds, {bound}, to='zarr', zarr_format=2))",
    "ds.to_zarr('out', zarr_format=3, consolidated=False, encoding=leeway.xarray.encoding(ds, {bound}, to='zarr'))"])
def test_missing_values_stay_missing(python, key, dtype, fill, packing, write):
    """In the units in which they are stored, and also a single one in a chunk."""
    engine = "h5netcdf" if "netcdf" in write else "zarr"
    for bound in ["abs=0.013", "rel=2e-3"]:
        python(f"""
        import shutil, warnings
        import xarray as xr, leeway.xarray
        warnings.simplefilter("ignore")
        field = wave((40, 48, 64), special=False) + np.float32(3)
        field[0, 0, 0] = field[20:, :20, 5] = np.nan
        ds = xr.Dataset({{"t": (("z", "y", "x"), field)}})
        ds["t"].encoding = dict({packing!r}, dtype="{dtype}", **{{"{key}": np.array({fill}).astype("{dtype}")}})
        if "{key}" != "_FillValue" and "{dtype}" == "f4":
            ds["t"].encoding["_FillValue"] = None
        {write.format(bound=bound)}
        with xr.open_dataset("out", engine="{engine}", **({{}} if "{engine}" == "h5netcdf" else {{"consolidated": False}})) as back:
            read = back["t"].values
        assert (np.isnan(read) == np.isnan(field)).all(), (np.isnan(read).sum(), np.isnan(field).sum())
        error = np.nanmax(np.abs(read.astype("f8") - field))
        assert 0.004 < error <= 0.0131, error
        """)
        import shutil
        (shutil.rmtree if (python.folder / "out").is_dir() else lambda path: path.unlink())(python.folder / "out")


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


CF = """
import netCDF4
def make(path):
    "What CF and UGRID say must not be touched, of every kind."
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in dict(time=20, y=48, x=64, two=2, node=5000).items():
            file.createDimension(name, extent)
        def add(name, dims, scale=1.0, dtype="f8", **attributes):
            variable = file.createVariable(name, dtype, dims)
            variable.setncatts(attributes)
            shape = tuple(file.dimensions[dim].size for dim in dims)
            variable[...] = (wave((20, 48, 64), special=False).ravel()[:np.prod(shape, dtype=int)].reshape(shape) + 3.7) * scale
        add("time", ("time",), 24.0, units="hours since 1970-01-01", bounds="time_bnds", climatology="time_clim")
        add("time_bnds", ("time", "two"), 1e4)
        add("time_clim", ("time", "two"), 1e4)
        add("reference", ("time",), 1e4, units="hours since 1970-01-01")
        add("nav_lat", ("y", "x"), 10.0, units="degrees_north")
        add("nav_lon", ("y", "x"), 10.0, standard_name="longitude")
        add("height", ("y", "x"), 10.0)
        add("sigma", ("y",), 0.1)
        add("s", ("time",), 0.1, standard_name="atmosphere_sigma_coordinate", formula_terms="sigma: sigma ps: ps ptop: ptop")
        add("ps", ("time", "y", "x"), 1e5)
        add("area", ("y", "x"), 1e6)
        add("quality", ("time", "y", "x"), flag_values=np.array([0.0, 1.0]), flag_meanings="bad good")
        add("error", ("time", "y", "x"))
        add("level", ("y",), axis="Z")
        add("node_x", ("node",), 10.0)
        add("node_y", ("node",), 10.0)
        file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        mesh = file.createVariable("mesh", "i4", ())
        mesh.setncatts(dict(cf_role="mesh_topology", node_coordinates="node_x node_y"))
        add("t", ("time", "y", "x"), coordinates="nav_lat nav_lon height", cell_measures="area: area", grid_mapping="crs: x y",
            ancillary_variables="quality error", units="K")
        add("q", ("time", "y", "x"), 1e-3)
UNTOUCHED = ["time", "time_bnds", "time_clim", "reference", "nav_lat", "nav_lon", "height", "sigma", "s", "ps", "area", "quality",
             "error", "level", "node_x", "node_y"]
def values(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: file[name][...] for name in file.variables}
def compare(before, after, bounds):
    for name in UNTOUCHED:
        assert name in bounds or (before[name] == after[name]).all(), (name, np.abs(before[name] - after[name]).max())
    for name, bound in bounds.items():
        check(after[name], before[name], bound)
"""


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_what_describes_other_variables_is_left_alone(python, engine):
    python(CF + f"""
import leeway.xarray, xarray as xr
make("in.nc")
ds = xr.open_dataset("in.nc", engine="{engine}")
encoding = leeway.xarray.encoding(ds, rel=1e-3)
assert set(encoding) == {{"t", "q"}}, set(encoding)
assert "bounds" in encoding.left_alone["time_bnds"] and set(UNTOUCHED) - set(ds.coords) == set(encoding.left_alone)
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
    kept = dict(grid_mapping="crs", coordinates="x", cell_measures="area: crs", ancillary_variables="n")
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
    """By whoever imports leeway.xarray, and by whoever opens a file with xarray."""
    import os
    clean = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    python(MAKE + """
    ds = make()
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, abs={"t": 0.01}))
    """, env=clean)
    python("""
    import leeway.xarray, h5py
    check(h5py.File("out.nc")["t"][...], wave(), 0.01)
    """, env=clean)
    python(MAKE.replace(", leeway.xarray", "") + """
    assert "leeway" not in sys.modules
    check(xr.open_dataset("out.nc", engine="h5netcdf")["t"].values, original("t"), 0.01)
    """, env=clean)


def test_complaints(python):
    assert "no variable 'nosuch'" in python(MAKE + """
    leeway.xarray.encoding(make(), abs={"nosuch": 1})
    """, fails=True)
    assert "no variable is chosen" in python(MAKE + """
    leeway.xarray.encoding(make())
    """, fails=True)
