# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of bound in every host, which sees one chunk at a time: it must hold for the whole array."""
import pytest

# Values of which the last chunks along every axis hold little more than padding, with zeros, NaN and a fill value among them.
FIELD = """
import leeway
def field(dtype="f4"):
    values = (wave((21, 49, 65), special=False) * 10).astype(dtype)
    values[values < -25] = 0
    values[3, 4, 5:9] = np.nan
    values[7, :9, 7] = -999.9
    return values
valid = np.isfinite(field()) & (field() != np.float32(-999.9))
span = float(field()[valid].max()) - float(field()[valid].min())
def judge(decoded, values, abs=np.inf, rel=np.inf, psnr=0, l2=np.inf, pointwise=np.inf):
    assert decoded.dtype == values.dtype
    assert (decoded[~valid].view("u4") == values[~valid].view("u4")).all()
    a, b = values[valid].astype("f8"), decoded[valid].astype("f8")
    error = np.abs(a - b)
    assert 0 < error.max() <= min(abs, rel * span)
    assert pointwise == np.inf or (error <= pointwise * np.abs(a)).all()
    assert np.sqrt((error ** 2).sum()) <= l2
    found = 20 * np.log10(span / np.sqrt((error ** 2).mean()))
    assert psnr <= found
    return found
BOUNDS = [dict(abs=0.1), dict(rel=1e-3), dict(psnr=50), dict(psnr=65), dict(l2=30.0), dict(pointwise=1e-2), dict(abs=0.05, psnr=50),
          dict(abs=0.5, rel=1e-2, psnr=55, l2=20.0)]
def told(bound):
    return bound | (dict(range=span) if {"rel", "psnr"} & set(bound) else {}) | (dict(values=field().size) if "l2" in bound else {})
"""


def test_hdf5(python):
    python(FIELD + """
import h5py, leeway.hdf5
with h5py.File("out.h5", "w") as file:
    for i, bound in enumerate(BOUNDS):
        for recipe in ["balanced", "small"]:
            name = f"{i} {recipe}"
            file.create_dataset(name, data=field(), chunks=(10, 24, 32), fillvalue=np.float32(-999.9),
                                **leeway.hdf5.filter(**told(bound), recipe=recipe))
            file.create_dataset(name + " zero", data=field(), chunks=(10, 24, 32), **leeway.hdf5.filter(**told(bound), fill=-999.9,
                                                                                                    recipe=recipe))
    for bound in BOUNDS[1:5] + BOUNDS[6:]:
        file.create_dataset(str(bound), data=field(), chunks=(10, 24, 32), **leeway.hdf5.filter_for(field(), **bound, fill=-999.9))
""")
    python(FIELD + """
import h5py, leeway.hdf5
with h5py.File("out.h5") as file:
    for i, bound in enumerate(BOUNDS):
        for recipe in ["balanced", "small"]:
            for end in ["", " zero"]:
                found = judge(file[f"{i} {recipe}{end}"][...], field(), **bound)
                # As good as asked, but not much better: the errors were measured.
                assert set(bound) != {"psnr"} or found < bound["psnr"] + 3, (found, bound)
    for bound in BOUNDS[1:5] + BOUNDS[6:]:
        judge(file[str(bound)][...], field(), **bound)
        said = leeway.hdf5.describe(file[str(bound)])
        assert said["max_error"] <= said["abs_bound"] and said["chunks"] == 27
""")


def test_zarr_and_numcodecs(python):
    python(FIELD + """
import numcodecs, zarr, leeway.numcodecs
from leeway.zarr import LeewayCodec
for i, bound in enumerate(BOUNDS):
    for recipe in ["balanced", "small"]:
        codec = LeewayCodec(**told(bound), recipe=recipe)
        assert LeewayCodec.from_dict(codec.to_dict()) == codec
        zarr.create_array(f"{i}{recipe}.zarr3", data=field(), chunks=(10, 24, 32), serializer=codec, compressors=None, fill_value=-999.9)
        zarr.create_array(f"{i}{recipe}.zarr2", data=field(), chunks=(10, 24, 32), zarr_format=2,
                          compressors=leeway.numcodecs.Leeway(**told(bound), recipe=recipe, fill=-999.9))
    zarr.create_array(f"{i}.shards", data=field(), chunks=(10, 24, 32), shards=(20, 48, 64), serializer=LeewayCodec(**told(bound)),
                      compressors=None, fill_value=-999.9)
""")
    python(FIELD + """
import json, zarr
for i, bound in enumerate(BOUNDS):
    for name in [f"{i}{recipe}.zarr{version}" for recipe in ["balanced", "small"] for version in [2, 3]] + [f"{i}.shards"]:
        judge(zarr.open_array(name)[...], field(), **bound)
said = json.load(open("2small.zarr3/zarr.json"))["codecs"][0]
assert said["name"] == "leeway" and said["configuration"] == {"psnr": 50, "range": span, "recipe": "small"}
""")


def test_xarray(python):
    python(FIELD + """
import xarray as xr, leeway.xarray
names = [f"v{i}" for i in range(len(BOUNDS))]
plain = field
field = lambda: np.where(np.isnan(plain()), np.float32(-999.9), plain())  # as xarray stores it
ds = xr.Dataset({name: (("z", "y", "x"), field(), {}, {"_FillValue": np.float32(-999.9)}) for name in names})
given = {kind: {name: bound[kind] for name, bound in zip(names, BOUNDS) if kind in bound} for kind in ["abs", "rel", "psnr", "l2", "pointwise"]}
for to, options in [("netcdf", {}), ("zarr", {}), ("zarr", {"zarr_format": 2})]:
    encoding = leeway.xarray.encoding(ds, **given, to=to, **options)
    for name in names:
        encoding[name]["chunksizes" if to == "netcdf" else "chunks"] = (10, 24, 32)
    described = encoding.describe(ds)
    if to == "netcdf":
        described.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)
    else:
        described.to_zarr(f"out{len(options)}.zarr", encoding=encoding, consolidated=False, **(options or {"zarr_format": 3}))
said = [encoding.attributes[name]["lossy_compression_bound"] for name in names]
assert said[0] == "abs=0.1" and said[2] == "psnr=50.0" and said[5] == "pointwise=0.01" and said[6] == "abs=0.05,psnr=50.0"
""")
    python(FIELD + """
import xarray as xr, leeway.xarray
plain = field
field = lambda: np.where(np.isnan(plain()), np.float32(-999.9), plain())
for source in [xr.open_dataset("out.nc", engine="h5netcdf", mask_and_scale=False),
               *(xr.open_zarr(f"out{i}.zarr", consolidated=False, mask_and_scale=False) for i in range(2))]:
    for i, bound in enumerate(BOUNDS):
        variable = source[f"v{i}"]
        judge(variable.values, field(), **bound)
        assert "install its" in variable.attrs["lossy_compression_reader"]
""")


PACKED = """
import pytest, xarray as xr, leeway.xarray
pressure = 101325 + 500 * wave(special=False).astype("f8")
ds = xr.Dataset({"p": (("z", "y", "x"), pressure)})
span = float(np.ptp(pressure))
def written(packing, **bound):
    ds["p"].encoding = packing
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, **bound))
    with xr.open_dataset("out.nc", engine="h5netcdf") as back:
        return np.abs(back["p"].values.astype("f8") - pressure)
packed = dict(dtype="int16", scale_factor=0.1, add_offset=101325.0, _FillValue=-32767)
"""


def test_xarray_packed(python):
    """Errors of packing count: the bound is that of what a reader sees."""
    python(PACKED + """
error = written(packed, l2=100.0)
assert 10 < np.sqrt((error ** 2).sum()) <= 100
""")
    python(PACKED + """
error = written(packed, psnr=70)
assert 0.05 < error.max() and 70 <= 20 * np.log10(span / np.sqrt((error ** 2).mean())) < 85
error = written(dict(dtype="float32"), psnr=70)
assert 70 <= 20 * np.log10(span / np.sqrt((error ** 2).mean())) < 72
with pytest.raises(ValueError, match="cannot be kept"):
    written(packed, psnr=100)
with pytest.raises(ValueError, match="'p' is stored as int16"):
    written(packed, pointwise=1e-3)
with pytest.raises(ValueError, match="pointwise bound refers to what is stored"):
    written(packed | dict(dtype="float32"), pointwise=1e-3)
# Values that a scale alone packs without error are bounded as they are.
exact = np.rint(np.exp(wave(special=False)) * 100).astype("i4") * np.float64(0.5)
ds = xr.Dataset({"p": (("z", "y", "x"), exact, {}, dict(dtype="float64", scale_factor=0.5, _FillValue=-1.0))})
ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, pointwise=0.05))
with xr.open_dataset("out.nc", engine="h5netcdf") as back:
    error = np.abs(back["p"].values - exact)
    assert error.max() > 0.5 and (error <= 0.05 * np.abs(exact)).all()
""")


@pytest.mark.parametrize("code, message", [
    ("leeway.xarray.encoding(ds, abs=1, region_bounds={'t': [(np.s_[:3], 0)]})", "leeway.hdf5.write(dataset"),
    ("leeway.xarray.encoding(ds, abs=1, region_bounds={'t': [(np.s_[:3], 0)]}, to='zarr', zarr_format=2)", "zarr_format=3 can"),
    ("zarr.create_array({}, data=t, chunks=(10, 48, 64), serializer=LeewayCodec(abs=1, region_bounds=[(np.s_[:3], 0)]), compressors=None)",
     "chunks=(20, 48, 64)"),
    ("zarr.create_array({}, data=t, chunks=(10, 48, 64), shards=(20, 48, 64), compressors=None,"
     " serializer=LeewayCodec(abs=1, region_bounds=[(np.s_[:3], 0)]))", "do not go with shards"),
    ("zarr.create_array({}, data=t, chunks=t.shape, serializer=LeewayCodec(abs=1, region_bounds=[(np.s_[:3], 0)]), compressors=None)"
     ".resize((40, 48, 64))", "arrays of one chunk"),
    ("LeewayCodec(abs=1, region_bounds=[(np.s_[::2], 0)])", "slices of step 1"),
    ("leeway.numcodecs.Leeway(abs=1, region_bounds=[(np.s_[:3], 0)])", "region_bounds"),
    ("LeewayCodec(psnr=60)", "give range="), ("LeewayCodec(l2=1)", "give values="), ("leeway.numcodecs.Leeway(rel=1e-3)", "give range="),
    ("LeewayCodec(abs='1e-3')", "abs= is a number, not '1e-3'"),
])
def test_what_cannot_be_kept_is_refused(python, code, message):
    assert message in python(f"""
import xarray as xr, zarr, leeway.xarray, leeway.numcodecs
from leeway.zarr import LeewayCodec
t = wave(special=False)
ds = xr.Dataset({{"t": (("z", "y", "x"), t)}})
{code}
""", fails=True)


def test_regions_of_a_single_chunk(python):
    """Which Zarr 3 can tell the codec."""
    python("""
import xarray as xr, zarr, leeway.xarray
from leeway.zarr import LeewayCodec
t = wave(special=False)
regions = [(np.s_[-2:, ..., 3], 1e-5), (7, 0)]
zarr.create_array("larger.zarr", data=t, chunks=(32, 64, 64), compressors=None,
                  serializer=LeewayCodec(abs=0.1, region_bounds=regions, recipe="lorenzo+elementwise+huffman+zstd"))
ds = xr.Dataset({"t": (("z", "y", "x"), t)})
encoding = leeway.xarray.encoding(ds, abs=0.1, region_bounds={"t": regions}, to="zarr", recipe="lorenzo+elementwise+huffman+zstd")
ds.to_zarr("x.zarr", encoding=encoding, consolidated=False)
""")
    python("""
import zarr
t = wave(special=False)
for name in ["larger.zarr", "x.zarr/t"]:
    error = np.abs(zarr.open_array(name)[...].astype("f8") - t)
    assert error.max() <= 0.1 and error[3].max() > 1e-2
    assert error[-2:, :, 3].max() <= 1e-5 and error[7].max() == 0
""")


def test_chunks_rewritten_in_part(python):
    """What was written before keeps its bits; measured bounds cannot be shared with it, so that the new values are exact."""
    python(FIELD + """
import h5py, leeway.hdf5, zarr
from leeway.zarr import LeewayCodec
t = field()
with h5py.File("out.h5", "w") as file:
    file.create_dataset("t", data=t, chunks=(21, 49, 65), **leeway.hdf5.filter_for(t, psnr=50, fill=-999.9, recipe="small"))
array = zarr.create_array("out.zarr", data=t, chunks=(21, 49, 65), compressors=None, fill_value=-999.9,
                          serializer=LeewayCodec(psnr=50, range=span, recipe="small"))
for step in range(3):
    for open_one in [lambda: h5py.File("out.h5", "r+")["t"], lambda: zarr.open_array("out.zarr", mode="r+")]:
        one = open_one()
        before = one[...]
        one[step * 3:step * 3 + 2] = t[step * 3:step * 3 + 2]
        if hasattr(one, "file"):
            one.file.close()
            with h5py.File("out.h5") as file:
                assert leeway.hdf5.describe(file["t"])["max_error"] > 0  # that of the others is not forgotten
        now = open_one()[...]
        written = np.zeros(t.shape, bool)
        written[step * 3:step * 3 + 2] = True
        assert (now[~written].view("u4") == before[~written].view("u4")).all()
        assert np.array_equal(now[written], t[written], equal_nan=True)
judge(now, t, psnr=50)
""")
