# SPDX-License-Identifier: BSD-3-Clause
"""Advice, reports, comparisons and promises in Python, and what they show in a notebook."""
import leeway
import numpy as np
import pytest


def field(shape=(3, 80, 100), noise=0.02):
    grid = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    smooth = 280 + 20 * np.sin(grid[-2] / 17) * np.cos(grid[-1] / 13 + grid[0])
    return (smooth + np.random.default_rng(5).normal(0, noise, shape)).astype("f4")


def test_advice():
    values = field()
    advice = leeway.advise(values)
    assert 0.01 <= advice.precision["noise"] <= 0.04 and advice.best in advice and advice.best.by == "noise"
    assert {s.by for s in advice} == {"quality", "information", "noise"} and len(advice) == 3
    assert np.abs(leeway.decompress(leeway.compress(values, **advice.best.bound)) - values).max() <= advice.best.value
    assert "data SSIM" in repr(advice) and "* noise" in repr(advice) and advice._repr_html_().startswith("<p>what is not smooth")
    assert leeway.advise(values, want="ratio=20").best.ratio >= 20
    assert leeway.advise(values, want=["dssim=0.999", "gradient=5%"]).best.dssim >= 0.999
    assert leeway.advise(values, want="ratio=1e9").best is None
    with pytest.raises(ValueError, match="there is no score 'beauty'"):
        leeway.advise(values, want="beauty=1")
    assert leeway.advise(np.round(values, 2).astype("f8")).precision["decimals"] == 2


def test_comparison():
    values = field()
    said = leeway.compare(values, values + np.float32(0.5))
    assert said.psnr == said["psnr"] and said.max_abs == pytest.approx(0.5, 1e-4)
    assert leeway.compare(values, values).dssim == 1 and said.dssim < 1
    assert "largest error" in repr(said) and "<table>" in said._repr_html_()
    with pytest.raises(AttributeError, match="there is no measure 'beauty'"):
        said.beauty


def test_report(tmp_path):
    values = field()
    stream = leeway.compress(values, abs=0.05, recipe="small")
    report = leeway.report(values, stream, name="t", units="K")
    assert report.bound == 0.05 and report.scores["max_abs"] <= 0.05 and report.scores["ratio"] == pytest.approx(leeway.inspect(stream).ratio)
    assert report.scores["psnr"] == pytest.approx(leeway.compare(values, stream).psnr, rel=1e-9)
    assert "dssim" in repr(report) and "<iframe srcdoc=" in report._repr_html_() and report.html.startswith("<!doctype html>")
    report.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == report.html
    again = leeway.report(values, leeway.decompress(stream), bound=0.05, rates=False)
    assert again.scores["dssim"] == report.scores["dssim"] and set(report.verdicts.values()) <= {"good", "look closer", "not good"}


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    values = field()
    report = leeway.report(values, leeway.compress(values, abs=0.05), rates=False)
    figure = report.plot()
    assert [ax.get_title() for ax in figure.axes[:3]] == ["original", "decoded", "decoded - original"]
    leeway.report(values[0], leeway.compress(values[0], abs=0.05), rates=False).plot()
    left, right = report.plot_errors().axes
    assert sum(bar.get_height() for bar in left.patches) == values.size and len(right.lines) == 3
    values[0, :5] = np.nan
    leeway.report(values, leeway.compress(values, abs=0.05), rates=False).plot_errors()


def test_promises():
    wind = {"u": field(), "v": field() / 50 - 5}
    made = leeway.compress_together(wind, ["sqrt(u^2+v^2)=abs:0.1", "mean(u,axis=0)=abs:1e-3"], abs={"u": 0.5, "v": 0.5})
    u, v = (leeway.decompress(made[name]).astype("f8") for name in "uv")
    a, b = (wind[name].astype("f8") for name in "uv")
    assert np.abs(np.hypot(u, v) - np.hypot(a, b)).max() <= made.promises[0].reached * (1 + 1e-12) <= 0.1
    assert np.abs((u - a).mean(axis=(1, 2))).max() <= 1e-3
    info = leeway.inspect(made["v"])
    assert info.variable == "v" and [text for text, _, _ in info.promises] == ["sqrt(u^2+v^2)=abs:0.1"]
    assert all(leeway.verify_together(made, wind)) and "reached" in repr(made)
    broken = leeway.verify_together(made, {"u": wind["u"], "v": wind["v"] + np.float32(30)})
    assert not broken[0] and broken[1]
    with pytest.raises(ValueError, match="there is no variable 'w'"):
        leeway.compress_together(wind, ["w^2=abs:1"])
    with pytest.raises(ValueError, match="arrays are missing"):
        leeway.verify_together({"u": made["u"]}, wind)


def test_advice_for_a_dataset():
    xr = pytest.importorskip("xarray")
    pytest.importorskip("h5py")
    import leeway.xarray

    ds = xr.Dataset({"t": (("time", "lat", "lon"), field()), "q": (("lat", "lon"), np.exp(np.log(field()[0] - 255) * 4 - 20)),
                     "lat_bnds": (("lat", "two"), np.zeros((80, 2)))}, coords={"lat": ("lat", np.arange(80.0), {"bounds": "lat_bnds"})})
    advice = leeway.xarray.advise(ds)
    assert set(advice) == {"t", "q"} and "lat_bnds" in advice.left_alone and advice["t"].startswith("abs:") and "ratio about" in repr(advice)
    encoding = leeway.xarray.encoding(ds, bounds=advice)
    assert set(encoding) == {"t", "q"} and encoding.attributes["t"]["lossy_compression_bound"] == advice["t"].replace(":", "=")
    assert set(leeway.xarray.advise(ds, exclude="q", want="ratio=10")) == {"t"}


def test_a_report_of_a_data_array():
    xarray = pytest.importorskip("xarray")
    values, lat = field(), np.linspace(-79, 79, 80)
    array = xarray.DataArray(values, dims=("time", "lat", "lon"), coords={"lat": ("lat", lat, {"units": "degrees_north"})}, name="tas",
                             attrs={"units": "K", "long_name": "temperature"})
    report = leeway.report(array, leeway.compress(array, abs=0.05), profile="climate", rates=False)
    weights = np.broadcast_to(np.cos(np.radians(lat))[:, None], values.shape)
    assert report.scores["area_mean"] == pytest.approx(np.average(values.astype("f8"), weights=weights), rel=1e-12)
    assert ">tas<" in report.html and "0.05 K" in report.html and "lat -79" in report.html
    assert [f["level"] for f in report.features if f["what"] == "Values above"] == [273.15, 298.15]
    assert leeway.report(values, values, levels=[280], rates=False).features[0]["original"] == (values > 280).sum()


def rain():
    rng = np.random.default_rng(4)
    y, x = np.mgrid[:90, :110]
    values = np.maximum(0, np.sin(y / 9) * np.cos(x / 13)) * np.exp(rng.normal(0, 1, (90, 110)) - 3)
    return np.where(values < 1e-3, 0, values).astype("f4")


def keeps(found, values, bound=0.01):
    return np.abs(found - values).max() <= bound and (np.sign(found) == np.sign(values)).all() and found.max() <= max(0.2, values.max())


def test_rules():
    values = rain()
    stream = leeway.compress(values, abs=0.01, keep="zeros,sign", min=0, max=0.2, recipe="small")
    found = leeway.decompress(stream)
    assert keeps(found, values) and (found <= 0.2)[values <= 0.2].all() and (found == values)[values > 0.2].all()
    assert {text for text, _, _ in leeway.inspect(stream).promises} == {"zeros({x})", "sign({x})", "{x}>=0", "{x}<=0.2"}
    assert leeway.verify(stream, values)
    other = values.copy()
    other[values == 0] = 0.005
    assert any("is not kept" in complaint for complaint in leeway.verify(stream, other).complaints)
    similar = leeway.compress(field(), ssim=0.9995)
    assert leeway.compare(field(), similar).dssim >= 0.9995 and leeway.verify(similar, field())
    assert any("data SSIM" in complaint for complaint in leeway.verify(similar, field(noise=1)).complaints)
    with pytest.raises(ValueError, match="not 'ones'"):
        leeway.compress(values, abs=1, keep="ones")
    with pytest.raises(ValueError, match="go together with"):
        leeway.compress(values, psnr=60, min=0)


@pytest.mark.parametrize("mixed", [False, True])
def test_rules_of_chunks(mixed, tmp_path):
    values = rain()
    if mixed:  # values next to zero on both sides: bounds value by value are needed
        values[40:] -= np.float32(0.05)
        values[np.abs(values) < 2e-3] = 0
    numcodecs, h5py = pytest.importorskip("leeway.numcodecs"), pytest.importorskip("h5py")
    import leeway.hdf5
    codec = numcodecs.Leeway(abs=0.01, keep="zeros,sign", max=0.2)
    assert keeps(codec.decode(codec.encode(values)), values) and numcodecs.Leeway(**{k: v for k, v in codec.get_config().items() if k != "id"}) == codec
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("pr", data=values, chunks=(45, 55), **leeway.hdf5.filter(abs=0.01, keep="zeros,sign", max=0.2))
        assert keeps(file["pr"][...], values) and keeps(leeway.hdf5.read(file["pr"]), values) and (file["pr"][...] != values).any()
        leeway.hdf5.write(file["pr"], values)
        assert keeps(file["pr"][...], values)
        file["pr"][3:7] = values[3:7]  # in part: what was decoded keeps its bits
        assert keeps(file["pr"][...], values)
    zarr = pytest.importorskip("zarr")
    if zarr.__version__.startswith("3"):
        import leeway.zarr
        array = zarr.create_array(tmp_path / "z", data=values, chunks=(45, 55), compressors=None,
                                  serializer=leeway.zarr.LeewayCodec(abs=0.01, keep="zeros,sign", max=0.2))
        assert keeps(zarr.open_array(tmp_path / "z")[...], values) and array.dtype == "f4"


def test_rules_of_variables(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    import leeway.xarray
    ds = xarray.Dataset({"pr": (("y", "x"), rain()), "t": (("y", "x"), field((90, 110)))})
    ds["packed"] = 10 + ds["pr"] * 20
    ds["packed"].encoding = {"dtype": "i2", "scale_factor": -0.01, "add_offset": 10.0}
    for said in (dict(abs={"pr": 0.01, "t": 0.05, "packed": 0.2}, keep={"pr": "zeros,sign"}, min={"pr": 0, "packed": 10}),
                 dict(bounds={"pr": "abs:0.01,keep:zeros,keep:sign,min:0", "t": "abs:0.05", "packed": {"abs": 0.2, "min": 10}})):
        encoding = leeway.xarray.encoding(ds, **said)
        encoding.describe(ds).to_netcdf(tmp_path / "f.nc", engine="h5netcdf", encoding=encoding)
        back = xarray.open_dataset(tmp_path / "f.nc", engine="h5netcdf").load()
        assert keeps(back["pr"].values, ds["pr"].values) and back["pr"].attrs["lossy_compression_rules"] == "keep=zeros,sign min=0.0"
        assert back["packed"].values.min() >= 10 - 1e-6 and "lossy_compression_rules" not in back["t"].attrs
        back.close()
    with pytest.raises(ValueError, match="packed with an offset"):
        leeway.xarray.encoding(ds, abs={"packed": 0.2}, keep="zeros")
