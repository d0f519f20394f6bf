# SPDX-License-Identifier: BSD-3-Clause
"""Promises of what is calculated from decoded values, calculated again with NumPy."""
import numpy as np
import pytest

from conftest import ROOT

SHARED = "../shared/data/eraint_uvz.nc"


def wind(shape=(2, 60, 80), seed=3):
    rng = np.random.default_rng(seed)
    t, y, x = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    u = 20 + 15 * np.sin(y / 9 + t) + rng.normal(0, 0.05, shape)
    v = 5 * np.cos(x / 11) * np.sin(y / 7) + rng.normal(0, 0.05, shape)
    return u.astype("f4"), v.astype("f4")


def decoded(leeway, name):
    leeway("decompress", name, "-o", name + ".npy", "--force")
    return np.load(leeway.folder / (name + ".npy"))


def compress_wind(leeway, *promises, own="0.5"):
    for name, values in zip("uv", wind()):
        np.save(leeway.folder / f"{name}.npy", values)
    given = [item for promise in promises for item in ("--qoi", promise)]
    said = leeway.json("compress", "u=u.npy", "v=v.npy", "--abs", own, *given, "-o", "out", "--force")
    return said, decoded(leeway, "out/u.lwy").astype("f8"), decoded(leeway, "out/v.lwy").astype("f8")


def test_wind_speed(leeway):
    said, u, v = compress_wind(leeway, "sqrt(u^2+v^2)=abs:0.1")
    a, b = (values.astype("f8") for values in wind())
    error = np.abs(np.hypot(u, v) - np.hypot(a, b)).max()
    promise = said["promises"][0]
    assert error <= promise["reached"] * (1 + 1e-12) <= 0.1 and error > 0.05
    assert np.abs(u - a).max() <= 0.5 and np.abs(v - b).max() <= 0.5 and promise["beyond"] == 0
    text = leeway("verify", "out/u.lwy", "out/v.lwy", "--against", "u.npy", "--against", "v.npy")
    assert "promise kept: sqrt(u^2+v^2)=abs:0.1: largest error" in text
    assert "not checked, the other streams" in leeway("verify", "out/u.lwy", "--against", "u.npy")
    stated = leeway.json("inspect", "out/u.lwy")
    assert stated["variable"] == "u" and stated["promises"] == [{"promise": "sqrt(u^2+v^2)=abs:0.1", "bound": 0.1, "reached": promise["reached"]}]
    # Against other originals it is broken, and said so.
    np.save(leeway.folder / "w.npy", wind()[1] + np.float32(0.4))
    done = leeway.run("verify", "out/u.lwy", "out/v.lwy", "--against", "u.npy", "--against", "w.npy")
    assert done.returncode == 3 and b"is not kept" in done.stderr
    # The components alone, so that the speed follows, take more room.
    for name in "uv":
        leeway("compress", f"{name}.npy", "--abs", 0.1 / np.sqrt(2), "--preset", "small", "-o", f"{name}.lwy")
    alone, together = (sum((leeway.folder / folder / f"{name}.lwy").stat().st_size for name in "uv") for folder in (".", "out"))
    assert alone > 1.2 * together


def test_differences(leeway):
    _, u, v = compress_wind(leeway, "vorticity(u,v,2,0.5)=abs:0.02", "divergence(u,v)=abs:0.05", "gradient(u)=rel:0.001", "d(v,0)=abs:0.01")
    a, b = (values.astype("f8") for values in wind())
    d = lambda f, axis, h=1: np.gradient(f, h, axis=axis)
    quantities = [(lambda u, v: d(v, -1, 2) - d(u, -2, 0.5), 0.02), (lambda u, v: d(u, -1) + d(v, -2), 0.05), (lambda u, v: d(v, 0), 0.01)]
    for quantity, bound in quantities:
        assert 0 < np.abs(quantity(u, v) - quantity(a, b)).max() <= bound * (1 + 1e-12)
    size = lambda u: np.hypot(d(u, -1), d(u, -2))
    assert np.abs(size(u) - size(a)).max() <= 0.001 * np.ptp(size(a)) * (1 + 1e-12)


def test_means(leeway):
    promises = ["mean(u)=abs:1e-5", "mean(u,axis=0)=abs:2e-5", "mean(v,axis=1)=abs:1e-3", "mean(u*v,block=16)=abs:0.05",
                "sum(v,region=0,10:30,:)=abs:0.5"]
    _, u, v = compress_wind(leeway, *promises, own="0.05")
    a, b = (values.astype("f8") for values in wind())
    assert abs((u - a).mean()) <= 1e-5 and np.abs((u - a).mean(axis=(1, 2))).max() <= 2e-5 and np.abs((v - b).mean(axis=(0, 2))).max() <= 1e-3
    assert abs((v - b)[0, 10:30].sum()) <= 0.5
    flux = u * v - a * b
    assert max(abs(flux[t, i : i + 16, j : j + 16].mean()) for t in range(2) for i in range(0, 60, 16) for j in range(0, 80, 16)) <= 0.05


def rain():
    rng = np.random.default_rng(4)
    y, x = np.mgrid[:100, :120]
    values = np.maximum(0, np.sin(y / 9) * np.cos(x / 13)) * np.exp(rng.normal(0, 1, (100, 120)) - 3)
    values[values < 1e-3] = 0
    values = values.astype("f4")
    values[5, :7], values[9, 9] = 1e20, np.nan
    return values


def test_rain(leeway):
    np.save(leeway.folder / "rain.npy", rain())
    leeway("compress", "rain.npy", "--abs", "0.01", "--keep", "zeros,sign", "--min", "0", "--qoi", "mean(x)=abs:1e-6", "--fill", "1e20")
    before, after = rain().astype("f8"), decoded(leeway, "rain.lwy").astype("f8")
    valid = np.isfinite(before) & (before < 1e19)
    assert (after[~valid] == before[~valid]).sum() == 7 and np.isnan(after[9, 9])
    a, b = before[valid], after[valid]
    assert 0 < np.abs(a - b).max() <= 0.01 and ((a == 0) == (b == 0)).all() and b.min() >= 0 and abs((a - b).mean()) <= 1e-6
    leeway("verify", "rain.lwy", "--against", "rain.npy")
    leeway("compress", "rain.npy", "--abs", "0.01", "--max", "0.5", "-o", "capped.lwy")
    b = decoded(leeway, "capped.lwy")[valid]
    assert (b[a <= 0.5] <= 0.5).all() and (b[a > 0.5] == a[a > 0.5]).all()
    # Without promises, and without the range that presets keep, there are negative values.
    leeway("compress", "rain.npy", "--abs", "0.01", "--recipe", "pyramid+linear+rans", "-o", "free.lwy")
    assert decoded(leeway, "free.lwy")[valid].min() < 0


def test_logarithms_of_what_may_be_zero(leeway):
    np.save(leeway.folder / "rain.npy", rain())
    leeway("compress", "rain.npy", "--rel", "0.01", "--qoi", "log(x)=abs:0.05", "--fill", "1e20")
    before, after = rain().astype("f8"), decoded(leeway, "rain.lwy").astype("f8")
    valid = (before > 0) & (before < 1e19)
    assert np.abs(np.log(after[valid]) - np.log(before[valid])).max() <= 0.05 * (1 + 1e-12) and (after[before == 0] == 0).all()


def test_what_makes_no_sense(leeway):
    u, v = wind()
    for name, values in (("u", u), ("v", v[:, :50]), ("i", np.arange(12, dtype="i8"))):
        np.save(leeway.folder / f"{name}.npy", values)

    def complaint(*args):
        return leeway.fails(2, "compress", *args, "-o", "no.lwy")

    assert "needs a bound" in complaint("u.npy", "--qoi", "x^2=0.1")
    assert "promises nothing" in complaint("u.npy", "--qoi", "x^2")
    assert "there is no variable 'w'; there are x" in complaint("u.npy", "--qoi", "x+w=abs:1")
    assert "character 3" in complaint("u.npy", "--qoi", "x+=abs:1")
    assert "there is no function 'sin'" in complaint("u.npy", "--qoi", "sin(x)=abs:1")
    assert "there is no axis 5" in complaint("u.npy", "--qoi", "d(x,5)=abs:1")
    assert "there is no region" in complaint("u.npy", "--qoi", "mean(x,region=0:9,:,:)=abs:1")
    assert "not 'ones'" in complaint("u.npy", "--keep", "ones")
    assert "64 bits" in complaint("i.npy", "--min", "0")
    assert "needs the name" in complaint("u.npy", "v.npy", "--qoi", "u+v=abs:1")
    assert "together for --qoi" in complaint("u=u.npy", "v=v.npy", "--abs", "1")
    assert "has the shape" in leeway.run("compress", "u=u.npy", "v=v.npy", "--qoi", "u+v=abs:1", "-o", ".").stderr.decode()
    assert "not psnr" in complaint("u.npy", "--psnr", "60", "--min", "0")
    assert "do not go together" in complaint("u.npy", "--abs", "1", "--min", "0", "--brief")
    leeway("compress", "u.npy", "--abs", "1", "--min", "0", "-o", "u.lwy")
    assert "cannot be updated" in leeway.fails(2, "update", "u.lwy", "u.npy", "--region", ":,:,:")


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_bytes_on_any_number_of_threads(leeway, threads, tmp_path_factory):
    u, v = wind()
    np.save(leeway.folder / "u.npy", u), np.save(leeway.folder / "v.npy", v)
    leeway("compress", "u=u.npy", "v=v.npy", "--qoi", "vorticity(u,v)=abs:0.05", "--qoi", "mean(u*v,block=8)=abs:0.01", "--abs", "0.1",
           "--threads", threads, "-o", ".")
    kept = tmp_path_factory.getbasetemp() / "same_bytes"
    found = (leeway.folder / "u.lwy").read_bytes() + (leeway.folder / "v.lwy").read_bytes()
    if kept.exists():
        assert kept.read_bytes() == found
    kept.write_bytes(found)


@pytest.mark.skipif(not (ROOT / SHARED).exists(), reason=f"{SHARED} is not here")
def test_real_wind(leeway):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(ROOT / SHARED) as file:
        file.set_auto_mask(False)
        for name in "uv":
            np.save(leeway.folder / f"{name}.npy", np.asarray(file[name][...], "f4"))
    leeway("compress", "u=u.npy", "v=v.npy", "--abs", "0.5", "--qoi", "sqrt(u^2+v^2)=abs:0.1", "-o", "out")
    a, b = (np.load(leeway.folder / f"{name}.npy").astype("f8") for name in "uv")
    u, v = (decoded(leeway, f"out/{name}.lwy").astype("f8") for name in "uv")
    assert np.abs(np.hypot(u, v) - np.hypot(a, b)).max() <= 0.1
    for name in "uv":
        leeway("compress", f"{name}.npy", "--abs", 0.1 / np.sqrt(2), "--preset", "small", "-o", f"{name}.lwy")
    alone, together = (sum((leeway.folder / folder / f"{name}.lwy").stat().st_size for name in "uv") for folder in (".", "out"))
    assert alone > 1.28 * together  # 1.300 when this was written


def test_rules_in_files(leeway):
    """Zeros, signs and limits hold in netCDF files, too, chunk by chunk."""
    netCDF4 = pytest.importorskip("netCDF4")
    rng = np.random.default_rng(3)
    fields = {"pr": rain(), "w": (np.sin(np.mgrid[:100, :120][1] / 9) + rng.normal(0, 0.01, (100, 120))).astype("f4")}
    fields["pr"] = np.where(np.isfinite(fields["pr"]) & (fields["pr"] < 1e19), fields["pr"], np.float32(1e20))
    fields["w"][np.abs(fields["w"]) < 0.02] = 0
    with netCDF4.Dataset(leeway.folder / "run.nc", "w") as file:
        file.createDimension("y", 100), file.createDimension("x", 120)
        for name, values in fields.items():
            variable = file.createVariable(name, "f4", ("y", "x"), fill_value=np.float32(1e20))
            variable.set_auto_mask(False)
            variable[...] = values
        packed = file.createVariable("packed", "i2", ("y", "x"))
        packed.scale_factor, packed.add_offset = 0.01, 20.0
        packed[...] = 20 + 30 * fields["w"]
    leeway("compress", "run.nc", "--variable", "pr=abs:0.01,keep:zeros,keep:sign,min:0", "--variable", "w=abs:0.05,keep:zeros,keep:sign,max:0.9",
           "--variable", "packed=abs:0.5,min:0,max:40", "-o", "small.nc")
    leeway("decompress", "small.nc", "-o", "plain.nc")
    with netCDF4.Dataset(leeway.folder / "plain.nc") as file, netCDF4.Dataset(leeway.folder / "run.nc") as before:
        for name, values in fields.items():
            file[name].set_auto_mask(False)
            found, valid = file[name][...], values < 1e19
            assert 0 < np.abs(found - values)[valid].max() <= {"pr": 0.01, "w": 0.05}[name]
            assert (np.sign(found) == np.sign(values))[valid].all() and (found == values)[~valid].all()
        assert (found <= 0.9)[fields["w"] <= 0.9].all() and (found == fields["w"])[fields["w"] > 0.9].all()
        a, b = before["packed"][...], file["packed"][...]
        assert 0 < np.abs(a - b).max() <= 0.5 + 1e-9 and b[a >= 0].min() >= 0 and b[a <= 40].max() <= 40
    with netCDF4.Dataset(leeway.folder / "small.nc") as file:
        assert file["pr"].lossy_compression_rules == "keep=zeros,sign min=0"
    assert "keep=zeros,sign min=0 kept" in leeway("verify", "small.nc", "--against", "run.nc")
    # A file that breaks them is told.
    with netCDF4.Dataset(leeway.folder / "run.nc", "a") as file:
        file["pr"][50, 60:70] = 0
        file["pr"][20, 60:70] = -1e-4
    done = leeway.run("verify", "small.nc", "--against", "run.nc")
    assert done.returncode == 3 and b"values break keep=zeros,sign min=0" in done.stderr
    assert "packed with an offset" in leeway.fails(2, "compress", "run.nc", "--variable", "packed=abs:0.5,keep:zeros", "-o", "no.nc")
    leeway("compress", "run.nc:w", "--abs", "0.05", "--keep", "sign", "-o", "w.nc")
    assert "keep=sign kept" in leeway("verify", "w.nc", "--against", "run.nc")
    (leeway.folder / "bounds.toml").write_text('[variables]\npr = { abs = 0.01, keep = "zeros", min = 0 }\nw = "abs:0.05,keep:sign"\n')
    leeway("compress", "run.nc", "--bounds-file", "bounds.toml", "-o", "again.nc")
    with netCDF4.Dataset(leeway.folder / "again.nc") as file:
        assert file["pr"].lossy_compression_rules == "keep=zeros min=0" and file["w"].lossy_compression_rules == "keep=sign"
