# SPDX-License-Identifier: BSD-3-Clause
"""`leeway report`: every score against an independent computation, and what the page and the exit codes promise."""
import json
import re

import netCDF4
import numpy as np
import pytest
from scipy import ndimage, special, stats


def fields(shape, seed=3, holes=True):
    """A smooth field with noise, NaN and fill values, and the same with errors that hang together."""
    random = np.random.default_rng(seed)
    x = ndimage.gaussian_filter(random.standard_normal(shape), [1, 3, 3][-len(shape):]) * 40 + 7
    y = x + ndimage.gaussian_filter(random.uniform(-1, 1, shape), 0.6) * 0.02
    x, y = x.astype("f4"), y.astype("f4")
    if holes:
        flat, other = x.reshape(-1), y.reshape(-1)
        for value, count in ((np.nan, 37), (np.float32(1e20), 41), (np.inf, 2)):
            at = random.choice(x.size, count, replace=False)
            flat[at] = other[at] = value
    return x, y


@pytest.fixture(params=[(6, 40, 57), (30, 64), (900,)], ids=["maps", "map", "line"])
def pair(request, leeway):
    x, y = fields(request.param)
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    report, = leeway.json("report", "x.npy", "y.npy")
    valid = np.isfinite(x) & (x != np.float32(1e20))
    return report, x.astype("f8"), y.astype("f8"), valid


def close(found, expected, rel=1e-9):
    assert found == pytest.approx(expected, rel=rel, abs=1e-300)


def test_scores_of_values(pair):
    report, x, y, valid = pair
    s, a, b = report["scores"], x[valid].astype(np.longdouble), y[valid].astype(np.longdouble)
    e, span = a - b, a.max() - a.min()
    assert report["compared"] == valid.sum() and s["values"] == x.size and s["special_mismatches"] == 0
    assert report["special"]["original"] == report["special"]["decoded"] | {"negative": int((a < 0).sum())}
    assert report["special"]["original"]["nan"] == np.isnan(x).sum() and report["special"]["original"]["fill"] == (x == np.float32(1e20)).sum()
    assert s["new_negative"] == ((b < 0) & (a >= 0)).sum()
    for name, expected in dict(max_abs=abs(e).max(), max_rel=abs(e).max() / span, max_pointwise=(abs(e) / abs(a)).max(), min=a.min(), max=a.max(),
                               mean=a.mean(), std=a.std(), bias=e.mean(), rmse=np.sqrt((e**2).mean()), nrmse=np.sqrt((e**2).mean()) / span,
                               psnr=20 * np.log10(span / np.sqrt((e**2).mean())), error_std=e.std(), sre=100 * (abs(e) > 1e-4 * abs(a)).mean()).items():
        close(s[name], float(expected))
    assert tuple(report["max_at"]) == np.unravel_index(np.argmax(np.where(valid, abs(x - y), -1)), x.shape)
    close(s["skewness"], stats.skew((x - y)[valid])), close(s["kurtosis"], stats.kurtosis((x - y)[valid], fisher=False))
    ca, cb = a - a.mean(), b - b.mean()
    gap = 1 - (ca * cb).sum() / np.sqrt((ca**2).sum() * (cb**2).sum())  # in long double
    close(s["pearson_gap"], float(gap)), close(s["r2_gap"], float(gap * (2 - gap)))
    close(s["r2"], stats.linregress(x[valid], y[valid]).rvalue**2), close(s["pearson"], stats.pearsonr(x[valid], y[valid]).statistic)


def test_scores_of_distributions(pair):
    report, x, y, valid = pair
    s, a, b = report["scores"], x[valid], y[valid]
    close(s["wasserstein"], stats.wasserstein_distance(a, b)), close(s["ks"], stats.ks_2samp(a, b).statistic)
    close(s["ks_p"], special.kolmogorov(s["ks"] * np.sqrt(a.size / 2)))
    assert report["sample_step"] == 1
    close(report["quantiles"]["original"], np.quantile(a, report["quantiles"]["at"]))
    close(report["quantiles"]["decoded"], np.quantile(b, report["quantiles"]["at"]))


def data_ssim(a, b):
    """The data SSIM of one map, written out from its definition in ldcpy, window by window."""
    offset = np.arange(-5, 6)
    weight = np.exp(-offset**2 / (2 * 1.5**2))
    weight = np.outer(weight, weight)
    low, high = min(np.nanmin(a), np.nanmin(b)), max(np.nanmax(a), np.nanmax(b))
    a, b = (np.round((v - low) / (high - low) * 255) / 255 for v in (a, b))
    scores = []
    for i in range(5, a.shape[0] - 5):
        for j in range(5, a.shape[1] - 5):
            if np.isnan(a[i, j]):
                continue
            p, q = a[i - 5:i + 6, j - 5:j + 6], b[i - 5:i + 6, j - 5:j + 6]
            w = np.where(np.isnan(p), 0, weight)
            p, q = np.nan_to_num(p).astype(np.longdouble), np.nan_to_num(q).astype(np.longdouble)
            mean = lambda v: (w * v).sum() / w.sum()
            mp, mq = mean(p), mean(q)
            vp, vq, cov = mean(p * p) - mp * mp, mean(q * q) - mq * mq, mean(p * q) - mp * mq
            scores.append((2 * mp * mq + 1e-8) / (mp * mp + mq * mq + 1e-8) * (2 * cov + 1e-8) / (vp + vq + 1e-8))
    return np.mean(scores)


def test_data_ssim(pair):
    report, x, y, valid = pair
    if x.ndim == 1:
        assert report["scores"]["dssim"] == "nan"
        return
    a, b = (np.where(valid, v, np.nan).reshape(-1, *v.shape[-2:]) for v in (x, y))
    maps = [data_ssim(p, q) for p, q in zip(a, b)]
    close(report["scores"]["dssim"], min(maps)), close(report["scores"]["dssim_mean"], np.mean(maps))


def test_data_ssim_of_coarse_maps(leeway):
    """Where it differs visibly from 1."""
    x, _ = fields((40, 50), holes=False)
    y = (np.round(x / 8) * 8).astype("f4")
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    s = leeway.json("report", "x.npy", "y.npy")[0]["scores"]
    close(s["dssim"], data_ssim(x.astype("f8"), y.astype("f8")))
    assert s["dssim"] < 0.95


def spectra(maps, weights):
    power, count = 0, 0
    rows, columns = maps[0].shape
    bins = min(256, (min(rows, columns) if rows > 1 else columns) // 2)
    radius = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.fftfreq(columns)[None])
    bin_of = (radius * 2 * bins).astype(int)
    for m, valid in zip(maps, weights):
        p = abs(np.fft.fft2(np.where(valid, m - m[valid].mean(), 0)))**2 / m.size
        p[0, 0] = 0
        use = (bin_of < bins) & (radius > 0)
        power = power + np.bincount(bin_of[use], p[use], bins)
        count = count + np.bincount(bin_of[use], minlength=bins)
    return power / np.maximum(count, 1)


def test_spectra(pair):
    report, x, y, valid = pair
    shape = (-1, *x.shape[-2:]) if x.ndim > 1 else (1, 1, x.size)
    maps, weights = {"original": x, "decoded": y, "error": x - y}, valid.reshape(shape)
    for name, values in maps.items():
        close(report["spectra"][name], spectra(np.where(valid, values, 0).reshape(shape), weights))


def test_differences_and_autocorrelation(pair):
    report, x, y, valid = pair
    shape = (-1, *x.shape[-2:]) if x.ndim > 1 else (1, 1, x.size)
    x, y, valid = (v.reshape(shape) for v in (np.where(valid, x, 0), np.where(valid, y, 0), valid))
    s, e = report["scores"], np.where(valid, x - y, 0)
    mean, variance = e[valid].mean(), e[valid].var()
    for name, axis in (("rows", 2), ("columns", 1)):
        for lag in range(1, min(11, x.shape[axis])):
            a, b = [slice(None)] * 3, [slice(None)] * 3
            a[axis], b[axis] = slice(None, -lag), slice(lag, None)
            both = valid[tuple(a)] & valid[tuple(b)]
            expected = ((e[tuple(a)] - mean) * (e[tuple(b)] - mean))[both].mean() / variance
            assert report["error_autocorrelation"][name][lag - 1] == pytest.approx(expected, abs=1e-10)
    pairs = flipped = flat = 0
    for axis in (1, 2):
        both = np.logical_and(*(np.take(valid, range(k, x.shape[axis] - 1 + k), axis) for k in (0, 1)))
        a, b = np.diff(x, axis=axis)[both], np.diff(y, axis=axis)[both]
        pairs, flipped, flat = pairs + (a != 0).sum(), flipped + (a * b < 0).sum(), flat + ((a != 0) & (b == 0)).sum()
    close(s["flipped"], 100 * flipped / pairs), close(s["flattened"], 100 * flat / pairs)
    if x.shape[1] == 1:
        both = valid[..., 1:] & valid[..., :-1]
        before, after = (abs(np.diff(v, axis=2))[both] for v in (x, y))
    else:
        both = valid[:, :-1, :-1] & valid[:, :-1, 1:] & valid[:, 1:, :-1]
        before, after = (np.hypot(np.diff(v, axis=2)[:, :-1], np.diff(v, axis=1)[:, :, :-1])[both] for v in (x, y))
    close(s["gradient"], 100 * np.sqrt(((before - after)**2).mean() / (before**2).mean()))
    close(s["gradient_gap"], 1 - np.corrcoef(before.astype("f8"), after.astype("f8"))[0, 1], rel=1e-6)


def test_time(leeway):
    x, y = fields((12, 20, 30), holes=False)
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    report, = leeway.json("report", "x.npy", "y.npy")
    x, y = x.astype("f8"), y.astype("f8")
    for name, v in (("original", x), ("decoded", y)):
        close(report["slice_means"][name], v.mean(axis=(1, 2)))
    def lag_1(v):
        d = v - v.mean(axis=0)
        return (d[1:] * d[:-1]).sum(axis=0) / (d**2).sum(axis=0)
    close(report["scores"]["lag1_change"], abs(lag_1(x) - lag_1(y)).max(), rel=1e-8)
    close(report["scores"]["time_variance"], np.diff(y, axis=0).var(axis=0).sum() / np.diff(x, axis=0).var(axis=0).sum())


def test_what_is_wrong_is_told(leeway):
    x = np.abs(fields((20, 30), holes=False)[0])
    y = x.copy()
    x[3, 4], x[5, 6], y[7, 8], x[1, 1] = np.nan, 0, -1, 1e20
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    report, = leeway.json("report", "x.npy", "y.npy")
    s = report["scores"]
    assert s["special_mismatches"] == 1 and s["new_negative"] == 1 and s["lost_zeros"] == 1  # a single 1e20 is a value
    assert report["chips"]["special_mismatches"] == "not good" and report["chips"]["new_negative"] == "look closer"


def test_requirements(leeway):
    x, y = fields((20, 30))
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    leeway("report", "x.npy", "y.npy", "--require", "r2>0.9,max_abs<=0.5", "--require", "special_mismatches<=0")
    done = leeway.run("report", "x.npy", "y.npy", "--require", "r2>0.9,max_abs<=1e-9", "-o", "r.html")
    assert done.returncode == 3 and b"NOT met by x: max_abs<=1e-9 (it is 0.0" in done.stderr and (leeway.folder / "r.html").exists()
    assert "there is no score 'r3'" in leeway.fails(2, "report", "x.npy", "y.npy", "--require", "r3>1")
    assert "is no requirement" in leeway.fails(2, "report", "x.npy", "y.npy", "--require", "r2=1")
    assert "differ in shape" in leeway.fails(2, "report", "x.npy", "r.npy", "--json") if np.save(leeway.folder / "r.npy", x[:3]) is None else True


def test_all_kinds_of_files(leeway):
    x, y = fields((8, 30, 40))
    np.save(leeway.folder / "x.npy", x), x.tofile(leeway.folder / "x_8x30x40.f32")
    leeway("compress", "x.npy", "--abs", "0.01", "-o", "x.lwy")
    leeway("decompress", "x.lwy", "-o", "y.npy")
    with netCDF4.Dataset(leeway.folder / "run.nc", "w") as file:
        for name, extent in zip("zyx", x.shape):
            file.createDimension(name, extent)
        for name in "tu":
            variable = file.createVariable(name, "f4", ("z", "y", "x"), fill_value=np.float32(1e20))
            variable.units, variable[...] = "K", x
    leeway("compress", "run.nc", "--abs", "0.01", "-o", "small.nc")
    expected = leeway.json("report", "x.npy", "y.npy")[0]["scores"]
    assert 0 < expected["max_abs"] <= 0.01
    for pair in (("x.npy", "x.lwy"), ("x_8x30x40.f32", "x.lwy"), ("run.nc:t", "x.lwy"), ("run.nc:t", "small.nc:t"), ("x.npy", "small.nc:u"),
                 ("run.nc:t", "small.nc:u")):
        found = leeway.json("report", *pair)[0]["scores"]
        for name in ("max_abs", "rmse", "dssim", "pearson_gap", "spectrum", "gradient"):
            close(found[name], expected[name]), pair
    both = leeway.json("report", "run.nc", "small.nc")
    assert [entry["variable"] for entry in both] == ["t", "u"] and both[0]["bound"] == 0.01 and both[0]["units"] == "K"
    assert both[0]["scores"]["ratio"] > 2
    assert "name the variable" in leeway.fails(2, "report", "run.nc", "x.lwy", "--json")


def test_the_page(leeway):
    x, y = fields((8, 30, 40))
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    leeway("report", "x.npy", "y.npy", "-o", "a.html", "--json-file", "a.json", "--threads", "1")
    leeway("report", "x.npy", "y.npy", "-o", "b.html", "--threads", "2")
    page = (leeway.folder / "a.html").read_text()
    assert page == (leeway.folder / "b.html").read_text()  # the same bytes, for any number of threads
    assert len(page) < 2e6 and "<script" not in page and not re.search(r"(src|href)=\"?https?:", page)
    assert page.count("<img") == page.count("alt=") and "Original less decoded" in page and "lang=en" in page
    assert json.loads((leeway.folder / "a.json").read_text())[0]["libpressio"]["error_stat:psnr"] > 50
    leeway.fails(1, "report", "x.npy", "y.npy", "-o", "a.html")  # nothing is replaced without --force


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 7), (3, 1, 2, 1), (0, 5)])
def test_odd_shapes(leeway, shape):
    x = np.arange(np.prod(shape, dtype=int), dtype="f8").reshape(shape) + 0.5
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", x + 0.25)
    leeway("report", "x.npy", "y.npy", "-o", "r.html")
    s = leeway.json("report", "x.npy", "y.npy")[0]["scores"]
    assert s["values"] == x.size and s["max_abs"] == (0.25 if x.size else 0)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2"])
def test_types(leeway, dtype):
    x = (np.arange(600).reshape(20, 30) % 100).astype(dtype)
    y = x.copy()
    y[5, 7] += 3
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    s = leeway.json("report", "x.npy", "y.npy")[0]["scores"]
    assert s["max_abs"] == 3 and s["special_mismatches"] == 0
    close(s["rmse"], 3 / np.sqrt(600))


def run_file(leeway, seed=5):
    """A netCDF file with coordinates, and one that is a little off."""
    rng = np.random.default_rng(seed)
    lat, lon = np.linspace(-87.5, 87.5, 36), np.arange(0, 360, 7.5)
    shape = (4, lat.size, lon.size)
    values = {"u": 10 + ndimage.gaussian_filter(rng.normal(0, 40, shape), (1, 2, 2)), "v": ndimage.gaussian_filter(rng.normal(0, 40, shape), (1, 2, 2)),
              "pr": np.maximum(0, ndimage.gaussian_filter(rng.normal(0, 1, shape), (1, 2, 2))) * 1e-3}
    for name, noise in (("run.nc", 0), ("off.nc", 1)):
        with netCDF4.Dataset(leeway.folder / name, "w") as file:
            for dim, coordinates, units in (("time", np.arange(4) * 6.0, "hours since 2000-01-01"), ("lat", lat, "degrees_north"),
                                            ("lon", lon, "degrees_east")):
                file.createDimension(dim, coordinates.size)
                variable = file.createVariable(dim, "f8", (dim,))
                variable.units, variable[...] = units, coordinates
            for key, field in values.items():
                variable = file.createVariable(key, "f4", ("time", "lat", "lon"))
                variable.units = "kg m-2 s-1" if key == "pr" else "m s-1"
                variable[...] = field + noise * rng.uniform(-1, 1, shape) * (1e-5 if key == "pr" else 0.05)
    read = lambda name: {key: np.asarray(netCDF4.Dataset(leeway.folder / name)[key][...], "f8") for key in values}
    return lat, lon, read("run.nc"), read("off.nc")


def test_coordinates(leeway):
    lat, lon, before, after = run_file(leeway)
    said = {entry["variable"]: entry for entry in leeway.json("report", "run.nc", "off.nc")}
    weights = np.broadcast_to(np.cos(np.radians(lat))[:, None], before["u"].shape)
    s = said["u"]["scores"]
    close(s["area_mean"], np.average(before["u"], weights=weights))
    close(s["area_bias"], np.average(before["u"] - after["u"], weights=weights), rel=1e-8)
    t, y, x = said["u"]["max_at"]
    assert said["u"]["max_place"] == f"[{t}, {y}, {x}] (time {6 * t}, lat {lat[y]:g}, lon {lon[x]:g})"
    assert np.unravel_index(np.argmax(abs(before["u"] - after["u"])), before["u"].shape) == (t, y, x)


def test_derived_quantities(leeway):
    _, _, before, after = run_file(leeway)
    d = lambda f, axis: np.gradient(f, axis=axis)
    quantities = {"vorticity(u,v)": lambda f: d(f["v"], 2) - d(f["u"], 1), "divergence(u,v)": lambda f: d(f["u"], 2) + d(f["v"], 1)}
    asked = {"sqrt(u^2+v^2)": lambda f: np.hypot(f["u"], f["v"]), "d(u,0)*pr": lambda f: d(f["u"], 0) * f["pr"]}
    for args, expected in (((), quantities), (("--derive", *asked), asked)):
        said = {entry["variable"]: entry["scores"] for entry in leeway.json("report", "run.nc", "off.nc", *args)}
        assert set(said) == {"u", "v", "pr", *expected}
        for text, of in expected.items():
            x, y = of(before), of(after)
            close(said[text]["max_abs"], abs(x - y).max()), close(said[text]["rmse"], np.sqrt(((x - y)**2).mean()))
            close(said[text]["mean"], x.mean(), rel=1e-8), close(said[text]["std"], x.std())
    assert "there is no variable 'w'" in leeway.fails(2, "report", "run.nc", "off.nc", "--json", "--derive", "u+w")
    x, y = fields((20, 30), holes=False)
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    entry = leeway.json("report", "x.npy", "y.npy", "--derive", "gradient(x)")[1]
    size = lambda f: np.hypot(d(f.astype("f8"), 0), d(f.astype("f8"), 1))
    close(entry["scores"]["rmse"], np.sqrt(((size(x) - size(y))**2).mean()))


def contours(f, level, valid):
    above = f > level
    return sum(((np.diff(above.astype("i1"), axis=axis) != 0) & np.take(valid, range(1, f.shape[axis]), axis)
                & np.take(valid, range(f.shape[axis] - 1), axis)).sum() for axis in (1, 2))


def test_features(leeway):
    x, y = fields((6, 40, 57))
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    valid = np.isfinite(x) & (x != np.float32(1e20))
    x, y = (np.where(valid, v, 0).astype("f8") for v in (x, y))
    of = lambda *args: {(f["what"], f["level"]): (f["original"], f["decoded"]) for f in leeway.json("report", "x.npy", "y.npy", *args)[0]["features"]}
    found = of("--level", "3.5,9")
    for level in (3.5, 9):
        assert found["Values above", level] == tuple(((v > level) & valid).sum() for v in (x, y))
        assert found["Values that changed sides of", level][1] == (((x > level) != (y > level)) & valid).sum()
        assert found["Length of contours at", level] == tuple(contours(v, level, valid) for v in (x, y))
    found = of("--profile", "turbulence")
    for r in (1, 2, 4, 8):
        both = valid[..., r:] & valid[..., :-r]
        steps = [(v[..., r:] - v[..., :-r])[both] for v in (x, y)]
        apart = f" of differences over {r} grid point" + "s" * (r > 1)
        for name, moment in (("Mean square", lambda a: (a**2).mean()), ("Skewness", lambda a: (a**3).mean() / (a**2).mean()**1.5),
                             ("Flatness", lambda a: (a**4).mean() / (a**2).mean()**2)):
            for side, expected in zip(found[name + apart, "nan"], map(moment, steps)):
                close(side, expected)
    found = of("--profile", "cosmology", "--level", "12")
    peak = lambda v: v == ndimage.maximum_filter(v, (1, 3, 3))
    inner = ndimage.minimum_filter(valid.astype("i1"), (1, 3, 3), mode="constant") > 0
    assert found["Peaks above", 12] == tuple((peak(v) & inner & (v > 12)).sum() for v in (x, y))
    for side, v in zip(found["Sum of values above", 12], (x, y)):
        close(side, v[(v > 12) & valid].sum())
    assert "there is no profile 'x'; there are generic" in leeway.fails(2, "report", "x.npy", "y.npy", "--json", "--profile", "x")


def test_features_of_particles_and_images(leeway):
    rng = np.random.default_rng(2)
    x = np.cumsum(rng.normal(0, 1, (5, 300, 3)), axis=0)
    y = x + rng.uniform(-0.1, 0.1, x.shape)
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    said, = leeway.json("report", "x.npy", "y.npy", "--profile", "particles")
    for name, v in (("original", x), ("decoded", y)):
        close(said["displacement"][name][1:], ((v - v[0])**2).mean(axis=(1, 2))[1:])
        i, j = np.tril_indices(300, -1)
        apart = np.sqrt(((v[0][i] - v[0][j])**2).sum(axis=1))
        counts, _ = np.histogram(apart[apart < said["pair_distances"]["largest"]], 64, (0, said["pair_distances"]["largest"]))
        assert said["pair_distances"][name] == counts.tolist()
    x = rng.integers(0, 256, (30, 40)).astype("u1")
    y = np.clip(x.astype(int) + rng.integers(-1, 2, x.shape), 0, 255).astype("u1")
    np.save(leeway.folder / "x.npy", x), np.save(leeway.folder / "y.npy", y)
    found = {(f["what"], f["level"]): (f["original"], f["decoded"]) for f in leeway.json("report", "x.npy", "y.npy", "--profile", "image")[0]["features"]}
    assert found["Values equal to", 255] == ((x == 255).sum(), (y == 255).sum()) and found["Values that changed", "nan"][1] == (x != y).sum()


def test_wet_days(leeway):
    _, _, before, after = run_file(leeway)
    said = {entry["variable"]: entry for entry in leeway.json("report", "run.nc:pr", "off.nc:pr", "--profile", "climate")}
    wet = said["pr"]["features"][0]
    assert wet["what"] == "Values above" and wet["level"] == pytest.approx(1 / 86400)
    assert (wet["original"], wet["decoded"]) == ((before["pr"] > wet["level"]).sum(), (after["pr"] > wet["level"]).sum())
