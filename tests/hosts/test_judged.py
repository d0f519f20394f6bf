# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which test suites of others (scripts/judges.sh) have found faults."""
import pytest

WRITE = """
    import os, warnings
    import xarray as xr, leeway.xarray
    warnings.simplefilter("error")
    def write(ds, to, **bound):
        if to == "netcdf":
            ds.to_netcdf("out.nc", engine="h5netcdf", encoding=leeway.xarray.encoding(ds, **bound))
            return xr.open_dataset("out.nc", engine="h5netcdf")
        zarr_format = int(to[-1])
        encoding = leeway.xarray.encoding(ds, **bound, to="zarr", zarr_format=zarr_format)
        ds.to_zarr("out.zarr", mode="w", zarr_format=zarr_format, consolidated=False, encoding=encoding)
        return xr.open_zarr("out.zarr", consolidated=False)
"""


@pytest.mark.parametrize("to", ["netcdf", "zarr2", "zarr3"])
def test_none_in_an_encoding_says_something(python, to):
    """No fill value shall be written, and no list of coordinates."""
    python(WRITE + f"""
    ds = xr.Dataset(dict(t=(("z", "y", "x"), wave(special=False))), coords=dict(h=(("y", "x"), np.ones((48, 64)))))
    ds["t"].encoding["_FillValue"] = ds["t"].encoding["coordinates"] = None
    with write(ds, "{to}", abs=1e-3) as back:
        assert "_FillValue" not in back["t"].encoding and "coordinates" not in back["t"].encoding, back["t"].encoding
        check(back["t"].values, ds["t"].values, 1e-3)
    """)


@pytest.mark.parametrize("to", ["netcdf", "zarr2", "zarr3"])
def test_unsigned_numbers_stored_as_signed_ones(python, to):
    """They jump from the largest to the smallest: a bound can only be kept by keeping them as they are."""
    python(WRITE + f"""
    field = np.linspace(10, 35, 20_000)
    ds = xr.Dataset(dict(t=("x", field)))
    ds["t"].encoding = dict(dtype="i1", scale_factor=0.1, add_offset=10.0, _Unsigned="true", _FillValue=np.int8(-1))
    with write(ds, "{to}", abs=0.06) as back:
        assert back["t"].encoding["dtype"] == np.int8 and back["t"].encoding["_Unsigned"] == "true"
        assert 0.04 < np.abs(back["t"].values - field).max() <= 0.06
    for bound, message in [(dict(abs=0.04), "which alone costs"), (dict(rel=0.1), "give abs= or lossless=")]:
        try:
            write(ds, "{to}", **bound)
        except ValueError as error:
            assert message in str(error), error
        else:
            raise AssertionError(bound)
    """)


def test_what_else_an_encoding_may_hold(python):
    python(WRITE + """
    import json, zarr
    field = wave(special=False)
    ds = xr.Dataset(dict(t=(("z", "y", "x"), field)))
    ds["t"].encoding = dict(fletcher32=True, chunksizes=(10, 48, 64))
    with write(ds, "netcdf", abs=1e-3) as back:
        assert back["t"].encoding["fletcher32"]
        check(back["t"].values, field, 1e-3)
    ds["t"].encoding = dict(fill_value=-1.0, chunks=(10, 48, 64), chunk_key_encoding=dict(name="v2", separator="."))
    with write(ds, "zarr3", abs=1e-3) as back:
        check(back["t"].values, field, 1e-3)
        assert zarr.open_array("out.zarr/t").fill_value == -1 and os.path.exists("out.zarr/t/0.0.0")
    with write(ds.drop_encoding(), "zarr2", abs=1e-3) as back:
        check(back["t"].values, field, 1e-3)
    """)


def test_numcodecs_keeps_the_order_of_axes(python):
    """What is decoded has the shape and the order of what was encoded, also for whoever asks for neither."""
    python("""
        import numcodecs
        field = wave(special=False)[:, :30, :40].copy()
        for codec in [numcodecs.get_codec({"id": "leeway", "abs": 1e-3}), numcodecs.get_codec({"id": "leeway", "lossless": True})]:
            bound = codec.abs or 0
            for array in [field.copy(), np.asfortranarray(field), np.asfortranarray(field).astype(">f4"), field.T]:
                stream = codec.encode(array)
                decoded = codec.decode(stream)
                assert decoded.shape == array.shape and decoded.dtype == array.dtype
                assert decoded.flags.f_contiguous == array.flags.f_contiguous
                assert np.abs(decoded.astype("f8") - array).max() <= bound
                out = np.empty_like(array)
                codec.decode(stream, out=out)
                assert (out == decoded).all()
                in_memory = decoded.reshape(-1, order="A")
                order = "F" if array.flags.f_contiguous else "C"
                assert (in_memory.reshape(array.shape, order=order) == decoded).all()
        """)
