# SPDX-License-Identifier: BSD-3-Clause
"""The command line on HDF5 and netCDF files."""
import json
import os
import shutil
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest


from conftest import BUILD, PLUGINS
from hosts import described
from hosts.field import check, wave


@pytest.fixture
def netcdf(leeway):
    """Groups, scales, an unlimited axis, fill values, packed integers, strings: what such files hold."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.title = "a run"
        file.createDimension("time", None)
        file.createDimension("y", 48)
        file.createDimension("x", 64)
        x = file.createVariable("x", "f8", ("x",))
        x[:] = np.linspace(0, 1, 64)
        t = file.createVariable("t", "f4", ("time", "y", "x"), fill_value=np.float32(-999))
        t.units = "K"
        t[...] = np.ma.masked_array(wave(), mask=False)
        t[7, 8:10, :] = np.ma.masked
        p = file.createVariable("p", "i2", ("time", "y", "x"))
        p.scale_factor, p.add_offset = 0.01, 5.0
        p.set_auto_scale(False)
        p[...] = (wave(special=False) * 1000).astype("i2")
        file.createVariable("name", str, ("y",))[:] = np.array([f"row {i}" for i in range(48)], dtype=object)
        ocean = file.createGroup("ocean")
        s = ocean.createVariable("s", "f8", ("time", "x"))
        s[...] = wave(special=False)[:, 0, :].astype("f8")
    return "in.nc"


def contents(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: file[name][...] for name in ["x", "t", "p", "name", "ocean/s"]}


def test_all_floating_variables_and_back(leeway, netcdf):
    *report, excluded = leeway.json("compress", netcdf, "--abs", "0.01", "--exclude", "p", "-o", "out.nc")
    assert {entry["variable"] for entry in report} == {"t", "ocean/s"} and excluded == {"variable": "p", "left_alone": "it is excluded"}
    for entry in report:
        assert 0 < entry["max_error"] <= entry["bound"]["absolute"] == 0.01 and entry["bound"]["asked"] == {"abs": 0.01}
    before, after = contents(leeway.folder / "in.nc"), contents(leeway.folder / "out.nc")
    check(after["t"], before["t"], 0.01)
    assert (after["t"][before["t"] == -999] == -999).all()
    check(after["ocean/s"], before["ocean/s"], 0.01)
    for name in ["x", "p", "name"]:
        assert (after[name] == before[name]).all()
    with netCDF4.Dataset(leeway.folder / "out.nc") as file:
        t = file["t"]
        assert file.title == "a run" and t.units == "K" and t.dimensions == ("time", "y", "x") and t._FillValue == -999
        assert file.dimensions["time"].isunlimited() and file["ocean"]["s"].dimensions == ("time", "x")
        assert t.lossy_compression_bound == "abs=0.01" and t.lossy_compression_version == "0.1.0"
        assert 0 < t.lossy_compression_maximum_error <= 0.01 and "leeway" in t.lossy_compression
        assert not hasattr(file["p"], "lossy_compression")

    said = {entry["variable"]: entry for entry in leeway.json("inspect", "out.nc")}
    assert said["t"]["compressed"] and said["t"]["bound"]["absolute"] == 0.01 and said["t"]["special_values"] > 128
    assert not said["p"]["compressed"] and "largest error" in leeway("inspect", "out.nc")

    for entry in leeway.json("verify", "out.nc", "--against", netcdf):
        assert entry["verified"] and 0 < entry["max_error"] <= 0.01 and entry["special_mismatches"] == 0
    assert "largest error" in leeway("verify", "out.nc:t")

    leeway("decompress", "out.nc", "-o", "plain.nc")
    assert "no variable that leeway" in leeway.fails(2, "verify", "plain.nc")
    with h5py.File(leeway.folder / "plain.nc") as file:
        assert not file["t"]._filters
    plain = contents(leeway.folder / "plain.nc")
    assert all(np.array_equal(plain[name], after[name], equal_nan=name == "t") for name in plain)
    # No plugin is needed to read that.
    done = subprocess.run(["ncdump", "-v", "t", "plain.nc"], cwd=leeway.folder, capture_output=True,
                          env={**os.environ, "HDF5_PLUGIN_PATH": str(leeway.folder)})
    assert done.returncode == 0


def test_a_bound_for_each(leeway, netcdf):
    report = {entry["variable"]: entry for entry in leeway.json(
        "compress", netcdf + ":t", "--variable", "p=abs:0.05", "--variable", "ocean/s=lossless", "--rel", "1e-4", "--preset", "small", "-o", "out.nc")}
    before, after = contents(leeway.folder / "in.nc"), contents(leeway.folder / "out.nc")
    ordinary = np.isfinite(before["t"]) & (np.abs(before["t"]) < 900)
    span = float(before["t"][ordinary].max()) - float(before["t"][ordinary].min())
    assert report["t"]["bound"]["absolute"] == pytest.approx(1e-4 * span)
    check(after["t"], before["t"], 1e-4 * span * (1 + 1e-9))
    # Packed integers: five steps of 0.01.
    assert np.abs(after["p"].astype(int) - before["p"]).max() == 5 and report["p"]["max_error"] == pytest.approx(0.05)
    assert (after["ocean/s"] == before["ocean/s"]).all()
    assert "pyramid" in report["t"]["recipe"]


def test_reports_name_their_variable_whatever_the_order(leeway):
    """Variables are written in the order of their creation, which is neither that of names nor that of the command."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("x", 5000)
        for name in ["m", "z", "a"]:
            file.createVariable(name, "f8", ("x",))[:] = np.sin(np.arange(5000) * 0.01)
    asked = {"z": 0.01, "a": 0.1, "m": 0.001}
    report = leeway.json("compress", "in.nc", *(f"--variable={name}=abs:{bound}" for name, bound in asked.items()), "-o", "out.nc")
    assert {entry["variable"]: entry["bound"]["asked"]["abs"] for entry in report} == asked
    for entry in report:
        assert entry["bound"]["absolute"] == asked[entry["variable"]] and entry["max_error"] <= asked[entry["variable"]]
    with netCDF4.Dataset(leeway.folder / "out.nc") as file:
        for name, bound in asked.items():
            assert file[name].lossy_compression_bound == f"abs={bound}" and file[name].lossy_compression_maximum_error <= bound


def test_what_describes_other_variables_is_left_alone(leeway):
    described.make(leeway.folder / "in.nc")
    before = described.values(leeway.folder / "in.nc")
    span = {name: float(before[name].max()) - float(before[name].min()) for name in before}
    report = leeway.json("compress", "in.nc", "--rel", "1e-3", "-o", "out.nc")
    assert {entry["variable"] for entry in report if "ratio" in entry} == {"t", "q"}
    reasons = {entry["variable"]: entry["left_alone"] for entry in report if "left_alone" in entry}
    assert reasons["time_bnds"] == "'bounds' of time names it" and reasons["nav_lat"] == "its unit is 'degrees_north'"
    assert set(reasons) == set(described.UNTOUCHED) - {"time"}  # a dimension's own coordinate goes without saying
    described.compare(before, described.values(leeway.folder / "out.nc"), {name: 1e-3 * span[name] for name in ["t", "q"]})
    said = leeway("compress", "in.nc", "--abs", "1e-4", "-f", "-o", "out.nc")
    assert "left alone: time_bnds, 'bounds' of time names it\n" in said and "left alone: time," not in said

    # Who names them means them.
    leeway("compress", "in.nc", "--variable", "ps=abs:10", "--variable", "t=abs:0.01", "-f", "-o", "out.nc")
    described.compare(before, described.values(leeway.folder / "out.nc"), {"ps": 10, "t": 0.01})
    # A pattern means data.
    report = leeway.json("compress", "in.nc", "--variable", "*=abs:1e-4", "--exclude", "t*", "-f", "-o", "out.nc")
    assert [entry["variable"] for entry in report] == ["q"]
    after = described.values(leeway.folder / "out.nc")
    described.compare(before, after, {"q": 1e-4})
    assert (after["t"] == before["t"]).all()
    report = leeway.json("compress", "in.nc", "--rel", "1e-3", "--variable", "[qz]=abs:1e-5", "--exclude", "t", "-f", "-o", "out.nc")
    assert {entry["variable"]: entry["bound"]["absolute"] for entry in report if "bound" in entry} == {"q": 1e-5}
    assert "no variable is meant by 'z*'" in leeway.fails(2, "compress", "in.nc", "--variable", "z*=abs:1", "-o", "x.nc")
    assert "but coordinates" in leeway.fails(2, "compress", "in.nc", "--rel", "1e-3", "--exclude", "*", "-o", "x.nc")


def test_names_in_groups(leeway):
    """A name means the nearest variable on the way to the root."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("x", 5000)
        inner = file.createGroup("a").createGroup("b")
        for group, name in [(file, "far"), (file, "near"), (inner, "near"), (inner, "t"), (file, "t")]:
            group.createVariable(name, "f8", ("x",))[:] = np.sin(np.arange(5000) * 0.01)
        inner["t"].coordinates = "far near"
    report = leeway.json("compress", "in.nc", "--abs", "1e-3", "-o", "out.nc")
    assert {entry["variable"] for entry in report if "ratio" in entry} == {"near", "t", "a/b/t"}


@pytest.mark.parametrize("fill", [-999.9, -99.9, 20.0])
def test_missing_value_alone(leeway, fill):
    """Without _FillValue, and a single one in a chunk."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("z", 20), file.createDimension("y", 48), file.createDimension("x", 64)
        t = file.createVariable("t", "f4", ("z", "y", "x"), chunksizes=(5, 48, 64))
        field = wave(special=False)
        field[0, 0, 0] = field[10:, :20, 5] = np.float32(fill)
        t[...] = field
        t.missing_value = np.float32(fill)
    for bound in ["--abs=0.013", "--rel=1e-3"]:
        report, = leeway.json("compress", "in.nc", bound, "-f", "-o", "out.nc")
        assert report["bound"]["absolute"] < 0.014
        with netCDF4.Dataset(leeway.folder / "out.nc") as file:
            file.set_auto_mask(False)
            decoded = file["t"][...]
        missing = field == np.float32(fill)
        assert (decoded[missing] == np.float32(fill)).all()
        check(decoded[~missing], field[~missing], 0.013)
        assert all(entry["verified"] for entry in leeway.json("verify", "out.nc", "--against", "in.nc"))


def test_integers_that_no_double_holds_as_missing_values(leeway):
    """Such as netCDF's own for 64-bit integers, -9223372036854775806."""
    missing = 2**60 + 1
    field = np.arange(2**60 + 1000, 2**60 + 11_000)
    field[::7] = missing
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file["t"] = field
        file["t"].attrs["missing_value"] = np.int64(missing)
    leeway("compress", "in.h5:t", "--abs", "30", "-o", "t.lwy")
    leeway("decompress", "t.lwy", "-o", "t.npy")
    decoded = np.load(leeway.folder / "t.npy")
    assert (decoded[::7] == missing).all() and 0 < np.abs(decoded - field).max() <= 30
    with h5py.File(leeway.folder / "own.h5", "w") as file:
        file.create_dataset("t", data=field, fillvalue=missing).attrs["missing_value"] = np.int64(missing)
    for name in ["in", "own"]:
        leeway("compress", f"{name}.h5:t", "--abs", "30", "-o", "out.h5", "--force")
        leeway("decompress", "out.h5:t", "-o", "back.npy", "--force")
        decoded = np.load(leeway.folder / "back.npy")
        assert np.array_equal(decoded[::7], field[::7]) and 0 < np.abs(decoded - field).max() <= 30


def test_a_bound_that_leaves_nothing(leeway):
    """Precipitation under a bound for temperature: zeros everywhere, if nobody asks."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("z", 20), file.createDimension("y", 48), file.createDimension("x", 64)
        for name, values in [("t", wave(special=False)), ("pr", wave(special=False) * np.float32(1e-5)), ("constant", 7.0)]:
            file.createVariable(name, "f4", ("z", "y", "x"))[...] = values
    for output in ["out.nc", "."]:
        said = leeway.fails(2, "compress", "in.nc", "--abs", "0.01", "-o", output)
        assert "'pr': the bound 0.01 is larger than the range" in said and "--variable pr=abs:E" in said
    leeway("compress", "in.nc", "--abs", "0.01", "--force", "-o", "out.nc")
    leeway("compress", "in.nc", "--abs", "0.01", "--exclude", "pr", "-o", "left.nc")
    leeway("compress", "in.nc", "--abs", "0.01", "--variable", "pr=abs:1e-7", "-o", "own.nc")
    with netCDF4.Dataset(leeway.folder / "in.nc") as before, netCDF4.Dataset(leeway.folder / "own.nc") as after:
        check(after["pr"][...].data, before["pr"][...].data, 1e-7)
        assert np.ptp(after["pr"][...]) > 1e-5


def test_packed_floats_are_bounded_in_their_unit(leeway):
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("z", 20), file.createDimension("y", 48), file.createDimension("x", 64)
        t = file.createVariable("t", "f4", ("z", "y", "x"))
        t.scale_factor = 100.0
        t[...] = wave(special=False).astype("f8") * 100
    report, = leeway.json("compress", "in.nc", "--abs", "0.5", "-o", "out.nc")
    with netCDF4.Dataset(leeway.folder / "in.nc") as before, netCDF4.Dataset(leeway.folder / "out.nc") as after:
        error = np.abs(before["t"][...].data - after["t"][...].data).max()
    assert 0.2 < error <= 0.5 and report["max_error"] == pytest.approx(error, rel=1e-5)


def test_packed_integers_are_data(leeway):
    """As reanalyses are shipped; integers that stand for nothing else stay as they are, and so do unsigned ones in disguise."""
    kelvin = 280 + 15 * wave(special=False)
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        for name, extent in zip("zyx", kelvin.shape):
            file.createDimension(name, extent)
        t = file.createVariable("t", "i2", ("z", "y", "x"), fill_value=-32767)
        t.setncatts(dict(scale_factor=0.002, add_offset=280.0))
        t[...] = np.ma.masked_array(kelvin, kelvin > 310)
        n = file.createVariable("n", "i2", ("z", "y", "x"))
        n[...] = 1000 * wave(special=False)
        u = file.createVariable("u", "i2", ("z", "y", "x"))
        u.setncatts(dict(scale_factor=0.5, _Unsigned="true"))
        u.set_auto_maskandscale(False)
        u[...] = 1000 * wave(special=False)
    report, = leeway.json("compress", "in.nc", "--abs", "0.1", "-o", "out.nc")
    with netCDF4.Dataset(leeway.folder / "in.nc") as before, netCDF4.Dataset(leeway.folder / "out.nc") as after:
        a, b = before["t"][...], after["t"][...]
        assert a.mask.any() and (a.mask == b.mask).all() and after["t"].dtype == np.int16
        counts = np.rint((a - b) / 0.002)  # readers round when they unpack
        assert 25 < np.abs(counts).max() <= 50 and report["max_error"] == pytest.approx(0.002 * np.abs(counts).max(), rel=1e-12)
        assert (before["n"][...] == after["n"][...]).all() and (before["u"][...] == after["u"][...]).all()
    assert "--exclude" in leeway.fails(2, "compress", "in.nc", "--pointwise", "1e-3", "-o", "pointwise.nc")


def test_unsigned_numbers_in_disguise(leeway):
    """-1 stands for 255: an error of 2 could make it 1."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("x", 5000)
        t = file.createVariable("t", "i1", ("x",))
        t._Unsigned = "true"
        t[:] = np.arange(5000).astype("i1")
    assert "_Unsigned" in leeway.fails(2, "compress", "in.nc:t", "--abs", "2", "-o", "out.nc")
    leeway("compress", "in.nc:t", "--lossless", "-o", "out.nc")


def test_compare_leaves_fill_values_out(leeway):
    """Those that the file tells, and those that compress finds; packed numbers in the unit they stand for."""
    field = wave(special=False)
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        file.createDimension("z", 20), file.createDimension("y", 48), file.createDimension("x", 64)
        t = file.createVariable("t", "f4", ("z", "y", "x"))
        t.missing_value = np.float32(-77.7)
        u = file.createVariable("u", "f4", ("z", "y", "x"))
        p = file.createVariable("p", "i2", ("z", "y", "x"), fill_value=np.int16(-32767))
        p.scale_factor, p.add_offset = 0.001, 273.0
        land = np.zeros(field.shape, bool)
        land[5:, :20, 5:9] = True
        t[...] = np.ma.masked_array(field, land).filled(np.float32(-77.7))
        u[...] = np.where(land, np.float32(1e20), field)
        p[...] = np.ma.masked_array(field + 273.0, land)
    leeway("compress", "in.nc", "--abs", "0.01", "--variable", "p=abs:0.01", "-o", "out.nc")
    valid = field[~land].astype("f8")
    for name, offset in [("t", 0), ("u", 0), ("p", 273)]:
        found = leeway.json("compare", f"in.nc:{name}", f"out.nc:{name}")
        assert found["compared"] == valid.size and found["special_mismatches"] == 0
        assert found["max"] == pytest.approx(valid.max() + offset, abs=1e-3) and found["min"] == pytest.approx(valid.min() + offset, abs=1e-3)
        assert 0.005 < found["max_abs"] <= 0.01 * (1 + 1e-9) and 40 < found["psnr"] < 80
        assert found["max_rel"] == pytest.approx(found["max_abs"] / np.ptp(valid), rel=1e-2)
    leeway("compress", "in.nc:t", "--abs", "0.01", "-o", "t.lwy")
    assert leeway.json("compare", "in.nc:t", "t.lwy")["compared"] == valid.size
    np.save(leeway.folder / "a.npy", np.where(land, np.float32(-77.7), field))
    assert leeway.json("compare", "a.npy", "t.lwy", "--fill=-77.7")["compared"] == valid.size


def test_streams_of_variables(leeway, netcdf):
    leeway("compress", netcdf + ":t", "--abs", "0.01", "-o", "t.lwy")
    leeway("verify", "t.lwy", "--against", netcdf + ":t")
    assert leeway.json("inspect", "t.lwy")["fill_values"].startswith("-999")
    leeway("compress", netcdf + ":t,ocean/s", "--abs", "0.01")
    assert (leeway.folder / "in.t.lwy").read_bytes() == (leeway.folder / "t.lwy").read_bytes()
    assert leeway.json("inspect", "in.ocean.s.lwy")["shape"] == [20, 64]
    assert leeway.json("compare", netcdf + ":t", "t.lwy")["max_abs"] <= 0.01
    leeway("decompress", netcdf + ":t", "--region", "3,:,10:20", "-o", "part.npy")
    assert np.load(leeway.folder / "part.npy").shape == (48, 10)
    leeway("advise", netcdf + ":t", "--rel", "1e-3")


def test_plain_hdf5_with_links(leeway):
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file.create_dataset("deep/er/rho", data=wave((30, 40, 50)), dtype=">f4")
        file["again"] = file["deep/er/rho"]
        file["soft"] = h5py.SoftLink("/deep/er/rho")
        file.create_dataset("pairs", data=np.zeros(5, [("a", "i4"), ("b", "f8")]))
        file["deep"].attrs["note"] = "text"
        file.create_dataset("scalar", data=3.0)
        file.create_dataset("empty", shape=(0, 4), dtype="f4", maxshape=(None, 4))
    leeway("compress", "in.h5", "--abs", "1e-3", "-o", "out.h5")
    with h5py.File(leeway.folder / "out.h5") as file:
        check(file["deep/er/rho"][...], wave((30, 40, 50)), 1e-3)
        assert file["again"] == file["deep/er/rho"] == file["soft"] and file["deep/er/rho"].dtype == ">f4"
        assert isinstance(file.get("soft", getlink=True), h5py.SoftLink)
        assert file["deep"].attrs["note"] == "text" and file["scalar"][()] == 3 and file["empty"].shape == (0, 4)
        assert file["pairs"].dtype.names == ("a", "b")


def test_a_checksum_behind_the_filter(leeway):
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        words = leeway.json("filter", "--abs", "1e-2")["cd_values"]
        file.create_dataset("t", data=wave(), chunks=(10, 48, 32), fletcher32=True, compression=47310, compression_opts=tuple(words))
    said = leeway.json("inspect", "in.h5")[0]
    assert said["bound"]["absolute"] == 1e-2 and 0 < said["max_error"] <= 1e-2 and said["chunks"] == 4
    leeway("verify", "in.h5")


def test_verify_finds_other_data(leeway):
    for name, offset in [("a.h5", 0), ("b.h5", 1)]:
        with h5py.File(leeway.folder / name, "w") as file:
            file["t"] = wave() + np.float32(offset)
    leeway("compress", "a.h5", "--abs", "0.01", "-o", "out.h5")
    leeway("verify", "out.h5", "--against", "a.h5")
    assert leeway.run("verify", "out.h5", "--against", "b.h5").returncode == 3


def test_references_are_not_lost(leeway):
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file["t"] = wave()
        file.create_dataset("to", data=[file["t"].ref], dtype=h5py.ref_dtype)
    assert "references" in leeway.fails(1, "compress", "in.h5:t", "--abs", "0.01", "-o", "out.h5")
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file["t"] = wave()
        file.attrs["to"] = file["t"].ref
    assert "references" in leeway.fails(1, "compress", "in.h5:t", "--abs", "0.01", "-o", "out.h5")


def test_many_attributes_stay_in_their_order(leeway):
    """HDF5 1.10 itself crashes on copying nine attributes or more if one of them is a list, as netCDF's DIMENSION_LIST is."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        for axis, extent in zip("zyx", (20, 30, 40)):
            file.createDimension(axis, extent)
            file.createVariable(axis, "f8", (axis,))[:] = np.arange(extent)
        for name, dtype, unit in (("t", "f4", "K"), ("lat2", "f4", "degrees_north"), ("n", "i4", "1")):
            variable = file.createVariable(name, dtype, tuple("zyx"))
            variable[:] = wave((20, 30, 40), special=False) * 100
            for i in (7, 3, 9, 1, 8, 2, 0, 6, 5, 4):
                variable.setncattr(f"note{i}", i)
            variable.setncattr_string("texts", ["one", "and two"])
            variable.units = unit
    leeway("compress", "in.nc", "--abs", "0.01", "-o", "out.nc")
    leeway("decompress", "out.nc", "-o", "plain.nc")
    before, after, plain = (netCDF4.Dataset(leeway.folder / name) for name in ("in.nc", "out.nc", "plain.nc"))
    for name, variable in before.variables.items():
        said = {key: variable.getncattr(key) for key in variable.ncattrs()}
        for copy in (after[name], plain[name]):
            assert list(said.items()) == [(key, copy.getncattr(key)) for key in copy.ncattrs() if not key.startswith("lossy_")]
            assert copy.dimensions == variable.dimensions
            assert np.abs(copy[:] - variable[:]).max() <= (0.01 if name == "t" else 0)


def test_complaints(leeway, netcdf):
    assert "there are" in leeway.fails(2, "compress", netcdf + ":nosuch", "--abs", "1", "-o", "a.lwy")
    assert "needs a bound" in leeway.fails(2, "compress", netcdf + ":t", "-o", "out.nc")
    assert "a bound is needed" in leeway.fails(2, "compress", netcdf, "-o", "out.nc")
    assert "not a bound" in leeway.fails(2, "compress", netcdf, "--variable", "t=0.1", "-o", "out.nc")
    assert "need a stream" in leeway.fails(2, "compress", netcdf + ":t", "--rate", "6", "-o", "out.nc")
    assert "neither integers nor" in leeway.fails(1, "compress", netcdf + ":name", "--abs", "1", "-o", "out.nc")
    assert "several variables" in leeway.fails(2, "compress", netcdf, "--abs", "1", "-o", "out.lwy")
    assert "name one variable" in leeway.fails(2, "bench", netcdf, "--abs", "1")
    assert "where to?" in leeway.fails(2, "decompress", netcdf)
    assert "no variable 'nosuch'" in leeway.fails(2, "compress", netcdf, "--abs", "1", "--exclude", "nosuch", "-o", "out.nc")
    assert "'t' is asked for and left out" in leeway.fails(2, "compress", netcdf, "--variable", "t=abs:1", "--exclude", "t", "-o", "out.nc")
    assert "another rank" in leeway.fails(2, "compress", netcdf + ":t", "--abs", "1", "--chunk", "8x8", "-o", "out.nc")
    (leeway.folder / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "cannot open" in leeway.fails(1, "inspect", "bad.h5")
    (leeway.folder / "out.nc").write_text("precious")
    assert "--force" in leeway.fails(1, "compress", netcdf, "--abs", "1", "-o", "out.nc")
    assert (leeway.folder / "out.nc").read_text() == "precious"
    np.save(leeway.folder / "a.npy", np.zeros(10))
    leeway.fails(2, "compress", "a.npy", "--abs", "1", "-o", "b.nc")
    leeway.fails(2, "compress", "a.npy", "--abs", "1", "--variable", "t=abs:1", "-o", "b.lwy")


def test_parameters_for_other_programs(leeway):
    assert leeway.json("filter", "--abs", "1e-3") == {"id": 47310, "cd_values": [1, 3539053052, 1062232653]}
    text = bytes(np.array(leeway.json("filter", "--lossless", "--preset", "fast")["cd_values"], "<u4"))
    assert text.rstrip(b"\0") == b"lossless recipe=fast"
    assert "UD=47310,0,3,1,3539053052,1062232653" in leeway("filter", "--abs", "1e-3")
    for wrong in [["--rel", "1e-3"], [], ["--abs", "0"], ["--abs", "1", "--recipe", "nosuch"], ["--abs", "1", *["--fill", "1e-300"] * 20]]:
        leeway.fails(2, "filter", *wrong)


def test_doctor_tries_every_hdf5(leeway):
    found = leeway.json("doctor")["hdf5"]
    assert found["filter_id"] == 47310 and len(found["libraries"]) >= 2
    assert {entry["filter"] for entry in found["libraries"]} == {"ok"}
    assert leeway.json("doctor")["healthy"] and found["found"]
    nowhere = leeway.run("doctor", env={"HDF5_PLUGIN_PATH": str(leeway.folder)})
    assert nowhere.returncode == 1
    text = nowhere.stdout.decode()
    assert "this tool and the Python package work, but none of the HDF5 libraries above finds the plugin" in text
    assert text.rstrip().endswith(f"export HDF5_PLUGIN_PATH={PLUGINS}")
    said = json.loads(leeway.run("doctor", "--json", env={"HDF5_PLUGIN_PATH": str(leeway.folder)}).stdout)
    assert not said["healthy"] and not said["hdf5"]["found"] and set(said["recipes"].values()) == {"ok"}
    recipes = [line.split(maxsplit=1) for line in text.splitlines() if line.startswith("recipe")]
    assert recipes == [["recipes", f"{len(said['recipes'])} of {len(said['recipes'])} ok"]]


@pytest.mark.parametrize("packages", ["site-packages", "dist-packages"])
def test_doctor_finds_the_plugin_of_the_python_package(leeway, packages):
    """The tool in bin, the plugin in lib/python3.x/site-packages/leeway/plugins, as pip puts them."""
    tool, folder = leeway.folder / "bin/leeway", leeway.folder / f"lib/python3.11/{packages}/leeway/plugins"
    folder.mkdir(parents=True)
    tool.parent.mkdir()
    shutil.copy(BUILD / "leeway", tool)
    (folder / "libh5zleeway.so").write_bytes((PLUGINS / "libh5zleeway.so").read_bytes())
    env = {**os.environ, "HDF5_PLUGIN_PATH": str(leeway.folder)}
    text = subprocess.run([tool, "doctor"], env=env, capture_output=True, text=True).stdout
    assert text.rstrip().endswith(f"export HDF5_PLUGIN_PATH={folder}") and "FOLDER" not in text
    (folder / "libh5zleeway.so").unlink()
    text = subprocess.run([tool, "doctor"], env=env, capture_output=True, text=True).stdout
    assert text.rstrip().endswith("put the folder of libh5zleeway.so into HDF5_PLUGIN_PATH")
