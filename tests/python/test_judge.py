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
    figure = leeway.report(values, leeway.compress(values, abs=0.05), rates=False).plot()
    assert [ax.get_title() for ax in figure.axes[:3]] == ["original", "decoded", "decoded - original"]
    leeway.report(values[0], leeway.compress(values[0], abs=0.05), rates=False).plot()


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
    broken = leeway.verify_together(made, {"u": wind["u"], "v": wind["v"] + np.float32(3)})
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
