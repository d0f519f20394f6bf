# SPDX-License-Identifier: BSD-3-Clause
"""The installed wheel is complete: package, types, plugin, command line tool. It runs wherever the wheel can be installed, with
NumPy and pytest; what needs h5py or netCDF4 is skipped without them."""
import re
import importlib.metadata
import pathlib
import subprocess
import sys

import leeway
import leeway.__main__
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(leeway.__file__).parent
DISTRIBUTION = importlib.metadata.distribution("leeway")


@pytest.fixture
def tool(tmp_path):
    program = leeway.__main__.find_tool()

    def run(*args):
        done = subprocess.run([str(program), *map(str, args)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


def smooth(shape=(12, 40, 50)):
    """The same bits everywhere: made of whole numbers and one division."""
    i = np.indices(shape)
    return ((i[0] * 31 + i[1] ** 2 + (i[2] - 20) ** 3) % 100003 / np.float32(64)).astype("f4")


def test_every_part_is_there():
    names = {pathlib.PurePath(file).as_posix().split("../")[-1] for file in DISTRIBUTION.files}
    modules = {f"leeway/{path.name}" for path in (ROOT / "python/leeway").glob("*.py*")}
    assert len(modules) > 6 and names >= modules | {"leeway/py.typed", "leeway/plugins/libh5zleeway.so", "bin/leeway"}
    assert any(name.startswith("leeway/_native.") and name.endswith(".so") for name in names)
    assert not any(name.endswith((".a", ".h", ".hpp", ".cmake", ".pc")) for name in names), "belongs to the library for C++"


def test_metadata():
    meta = DISTRIBUTION.metadata
    assert meta["Version"] == leeway.__version__ and meta["Requires-Python"] == ">=3.9" and meta["License-Expression"] == "BSD-3-Clause"
    needed = [text for text in meta.get_all("Requires-Dist") if "extra ==" not in text]
    assert needed == ["numpy"] and set(meta.get_all("Provides-Extra")) >= {"hdf5", "zarr", "xarray"}
    assert meta.get_payload().startswith("# leeway")
    entries = {(entry.group, entry.name) for entry in DISTRIBUTION.entry_points}
    assert entries >= {("numcodecs.codecs", "leeway"), ("zarr.codecs", "leeway")}


def test_the_plugin_is_bound_to_no_hdf5():
    assert b"libhdf5" not in (PACKAGE / "plugins/libh5zleeway.so").read_bytes()


def test_types_are_declared_for_all_that_is_native():
    stub = (PACKAGE / "_native.pyi").read_text()
    assert [name for name in dir(leeway._native) if not name.startswith("_") and not re.search(rf"\b{name}\b", stub)] == []


def test_the_command(tool):
    asked = subprocess.run([sys.executable, "-m", "leeway", "--version"], capture_output=True, text=True, check=True)
    assert asked.stdout == tool("--version") == f"leeway {leeway.__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "leeway", "compress"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("leeway: ")
    assert "healthy" in tool("doctor")


def test_tool_and_package_write_the_same_bytes(tool, tmp_path):
    field = smooth()
    np.save(tmp_path / "field.npy", field)
    field.tofile(tmp_path / "field_12x40x50.f32")
    for recipe in ["balanced", "fast", "small"]:
        stream = leeway.compress(field, abs=0.25, recipe=recipe)
        for name in ["field.npy", "field_12x40x50.f32"]:
            tool("compress", name, "--abs", 0.25, "--recipe", recipe, "-o", f"{recipe}.lwy", "--force")
            assert (tmp_path / f"{recipe}.lwy").read_bytes() == stream
        tool("verify", f"{recipe}.lwy", "--against", "field.npy")
        tool("decompress", f"{recipe}.lwy", "-o", f"{recipe}.npy")
        decoded = np.load(tmp_path / f"{recipe}.npy")
        assert np.array_equal(decoded, leeway.decompress(stream)) and np.abs(decoded - field).max() <= 0.25


def test_the_tool_compresses_hdf5_and_the_package_reads_it(tool, tmp_path):
    h5py = pytest.importorskip("h5py")
    import leeway.hdf5
    field = smooth()
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file.create_dataset("t", data=field, chunks=(4, 40, 50), compression="gzip", shuffle=True)
    tool("compress", "run.h5", "--abs", 0.25, "-o", "small.h5")
    tool("verify", "small.h5", "--against", "run.h5")
    with h5py.File(tmp_path / "small.h5") as file:
        decoded = file["t"][...]
        assert str(leeway.hdf5.FILTER_ID) in file["t"]._filters and file["t"].id.get_storage_size() < field.nbytes / 3
    assert 0 < np.abs(decoded - field).max() <= 0.25
    with h5py.File(tmp_path / "own.h5", "w") as file:
        file.create_dataset("t", data=field, chunks=True, **leeway.hdf5.Filter(abs=0.25))
    tool("decompress", "own.h5", "-o", "plain.h5")
    with h5py.File(tmp_path / "plain.h5") as file:
        assert np.abs(file["t"][...] - field).max() <= 0.25 and not file["t"]._filters


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_the_tool_compresses_netcdf(tool, tmp_path, format):
    netcdf = pytest.importorskip("netCDF4")
    field = smooth()
    with netcdf.Dataset(tmp_path / "run.nc", "w", format=format) as file:
        for name, size in zip("zyx", field.shape):
            file.createDimension(name, size)
        file.createVariable("t", "f4", ("z", "y", "x"))[:] = field
        file["t"].units = "K"
    tool("compress", "run.nc", "--abs", 0.25, "-o", "small.nc")
    tool("verify", "small.nc", "--against", "run.nc")
    tool("decompress", "small.nc", "-o", "plain.nc")
    with netcdf.Dataset(tmp_path / "plain.nc") as file:
        assert file["t"].units == "K" and 0 < np.abs(file["t"][:] - field).max() <= 0.25
    assert (tmp_path / "small.nc").stat().st_size < field.nbytes / 3


def test_zarr_round_trip(tmp_path):
    zarr = pytest.importorskip("zarr")
    field = smooth()
    if int(zarr.__version__.split(".")[0]) < 3:
        from leeway.numcodecs import Leeway
        written = zarr.open_array(str(tmp_path / "t.zarr"), mode="w", shape=field.shape, chunks=(6, 40, 50), dtype="f4",
                                  compressor=Leeway(abs=0.25))
    else:
        from leeway.zarr import LeewayCodec
        written = zarr.create_array(str(tmp_path / "t.zarr"), shape=field.shape, chunks=(6, 40, 50), dtype="f4",
                                    serializer=LeewayCodec(abs=0.25), compressors=None)
    written[:] = field
    assert 0 < np.abs(zarr.open_array(str(tmp_path / "t.zarr"), mode="r")[:] - field).max() <= 0.25


def test_golden_streams_have_their_values():
    streams = sorted((ROOT / "tests/golden").glob("*.lwy"))
    assert len(streams) > 100
    for path in streams:
        if "_bf16_" not in path.name:  # NumPy has no such numbers
            assert leeway.decompress(path.read_bytes()).tobytes() == path.with_suffix(".raw").read_bytes(), path.name
