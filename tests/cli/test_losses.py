# SPDX-License-Identifier: BSD-3-Clause
"""What variables say of their losses after they were compressed twice, and after they were decompressed."""
import h5py
import netCDF4
import numpy as np
import pytest

from hosts.field import wave

STATEMENTS = ["lossy_compression", "lossy_compression_bound", "lossy_compression_version", "lossy_compression_reader"]
ERROR = "lossy_compression_maximum_error"


@pytest.fixture
def run(leeway):
    with netCDF4.Dataset(leeway.folder / "in.nc", "w") as file:
        for name, extent in zip("zyx", wave().shape):
            file.createDimension(name, extent)
        file.createVariable("t", "f4", ("z", "y", "x"))[...] = wave(special=False)
        packed = file.createVariable("p", "i2", ("z", "y", "x"))
        packed.scale_factor, packed.add_offset = 1e-3, 5.0
        packed.set_auto_scale(False)
        packed[...] = (wave(special=False) * 1000).astype("i2")
    return leeway


def attributes(path, name="t"):
    with netCDF4.Dataset(path) as file:
        return {key: file[name].getncattr(key) for key in file[name].ncattrs()}


def values(path, name="t"):
    with netCDF4.Dataset(path) as file:
        return np.asarray(file[name][...]).astype("f8")


def compress(run, source, target, *options):
    done = run.run("compress", source, *options, "-o", target)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def test_losses_add_up(run):
    folder = run.folder
    assert compress(run, "in.nc", "one.nc", "--variable", "t=abs:0.01", "--variable", "p=abs:0.02") == ""
    told = compress(run, "one.nc", "two.nc", "--variable", "t=abs:0.003", "--variable", "p=abs:0.05")
    for name, bound in [("t", "abs=0.01; then abs=0.003"), ("p", "abs=0.02; then abs=0.05")]:
        first, second = attributes(folder / "one.nc", name), attributes(folder / "two.nc", name)
        step = np.abs(values(folder / "two.nc", name) - values(folder / "one.nc", name)).max()
        assert second[ERROR] == pytest.approx(first[ERROR] + step, rel=1e-6) and step > 0
        assert np.abs(values(folder / "two.nc", name) - values(folder / "in.nc", name)).max() <= second[ERROR] * (1 + 1e-9)
        assert second["lossy_compression_bound"] == bound and second["lossy_compression"] == "leeway: error-bounded compression"
        assert f"'{name}' was compressed with losses before (abs={bound[4:8]}): it may differ from the original by {second[ERROR]:.9g}" in told
    assert told.count("\n") == 2


def test_nothing_lost_the_second_time(run):
    compress(run, "in.nc", "one.nc", "--variable", "t=abs:0.01")
    compress(run, "one.nc", "two.nc", "--variable", "t=lossless")
    before, after = attributes(run.folder / "one.nc"), attributes(run.folder / "two.nc")
    assert after == before and after[ERROR] > 0 and after["lossy_compression"] == "leeway: error-bounded compression"
    # Nothing was lost the first time either.
    compress(run, "in.nc", "exact.nc", "--variable", "t=lossless")
    assert compress(run, "exact.nc", "first.nc", "--variable", "t=abs:0.01") == ""
    assert attributes(run.folder / "first.nc") == before


def test_a_decompressed_file_still_tells(run):
    """But names no filter that its readers would need."""
    compress(run, "in.nc", "one.nc", "--variable", "t=abs:0.01")
    run("decompress", "one.nc", "-o", "plain.nc")
    before, after = attributes(run.folder / "one.nc"), attributes(run.folder / "plain.nc")
    assert "lossy_compression_reader" in before and after == {key: before[key] for key in before if key != "lossy_compression_reader"}
    compress(run, "plain.nc", "two.nc", "--variable", "t=abs:0.03")
    assert attributes(run.folder / "two.nc")["lossy_compression_bound"] == "abs=0.01; then abs=0.03"
    assert attributes(run.folder / "two.nc")[ERROR] > before[ERROR]


def test_the_filter_tells_where_attributes_do_not(run):
    compress(run, "in.nc", "one.nc", "--variable", "t=abs:0.01")
    first = attributes(run.folder / "one.nc")[ERROR]
    with h5py.File(run.folder / "one.nc", "r+") as file:
        for name in [*STATEMENTS, ERROR]:
            del file["t"].attrs[name]
    entry, = run.json("compress", "one.nc", "--variable", "t=abs:0.03", "-o", "two.nc")
    assert entry["earlier"] == {"bound": "abs=0.01", "max_error": first}
    assert attributes(run.folder / "two.nc")[ERROR] == first + entry["max_error"]


def test_an_error_that_is_not_known_is_not_stated(run):
    with netCDF4.Dataset(run.folder / "in.nc", "r+") as file:
        file["t"].lossy_compression_bound = "psnr=60"
    told = compress(run, "in.nc", "one.nc", "--variable", "t=abs:0.01")
    said = attributes(run.folder / "one.nc")
    assert "how far it is from the original is not known" in told
    assert ERROR not in said and said["lossy_compression_bound"] == "psnr=60; then abs=0.01"


def test_streams_of_packed_variables(run):
    told = compress(run, "in.nc:p", "p.lwy", "--abs", "0.02")
    assert "'p' is packed" in told and "a bound in their unit, 20;" in told and run.json("inspect", "p.lwy")["bound"]["absolute"] == 20
    assert compress(run, "in.nc:t", "t.lwy", "--abs", "0.02") == ""


def test_bounds_below_the_step_of_packed_values(run):
    said = run("compress", "in.nc:p", "--abs", "0.0005", "-o", "out.nc")
    assert "largest error 0 (the bound is smaller than the step of the packed values)" in said
    assert "step" not in run("compress", "in.nc:p", "--abs", "0.02", "-f", "-o", "out.nc")


def test_an_array_is_no_netcdf_file(run):
    compress(run, "in.nc:t", "t.lwy", "--abs", "0.02")
    compress(run, "in.nc:t", "t.nc.lwy", "--abs", "0.02")
    for command in [["t.lwy", "-o", "x.nc"], ["t.lwy", "-o", "x.h5"], ["t.nc.lwy"], ["in.nc:t", "-o", "x.nc"], ["t.lwy", "--level", "1", "-o", "x.nc"]]:
        assert "give -o OUT.npy" in run.fails(2, "decompress", *command)
    assert "give -o OUT.npy" in run.fails(2, "sample", "wave", "--shape", "4x4", "-o", "x.nc")
    run("decompress", "t.lwy", "--format", "raw", "-o", "x.nc")  # who insists
    assert (run.folder / "x.nc").stat().st_size == 4 * wave().size


@pytest.mark.parametrize("command", [
    ["compress", "missing.nc", "--abs", "1", "-o", "x.nc"], ["compress", "missing.nc:t", "--abs", "1", "-o", "x.nc"],
    ["inspect", "missing.nc:t"], ["decompress", "missing.nc:t", "-o", "t.npy"], ["verify", "missing.nc"],
])
def test_files_that_are_not_there(run, command):
    assert run.fails(1, *command) == "leeway: there is no file 'missing.nc'\n"
    assert run.fails(1, "compress", "m_3x3.f32", "--abs", "1", "-o", "x.nc") == "leeway: there is no file 'm_3x3.f32'\n"
