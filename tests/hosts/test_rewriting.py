# SPDX-License-Identifier: BSD-3-Clause
"""Chunks that are written in parts, by a host that decodes, changes and compresses them again: errors must not add up."""
import pathlib
import sys

import pytest

PRESETS = ["fast", "balanced", "small", "smallest", "sz3-interp", "sz3-lr"]
FIELD = """
def turbulence(side=64):
    rng = np.random.default_rng(7)
    spectrum = rng.standard_normal((side,) * 3) + 1j * rng.standard_normal((side,) * 3)
    k = np.sqrt(sum(f ** 2 for f in np.meshgrid(*[np.fft.fftfreq(side, 1 / side)] * 3, indexing="ij")))
    field = np.fft.ifftn(spectrum / np.maximum(k, 1) ** (11 / 6)).real
    return (field / field.std()).astype("f4")

def check_all(decoded, field, written):
    error = np.abs(decoded.astype("f8") - field.astype("f8"))[written]
    assert 0 < error.max() <= 0.01, (error.max(), (error > 0.01).sum())
    assert np.abs(decoded[~written]).max(initial=0) <= 0.01
"""


@pytest.mark.parametrize("recipe", PRESETS)
def test_h5py_slabs_with_the_file_reopened_between(python, recipe):
    python(FIELD + f"""
import h5py, leeway.hdf5
field, before = turbulence(), None
with h5py.File("out.h5", "w") as file:
    file.create_dataset("t", shape=field.shape, dtype="f4", chunks=field.shape, **leeway.hdf5.filter(abs=0.01, recipe="{recipe}"))
for first in range(0, 64, 4):
    with h5py.File("out.h5", "r+") as file:
        file["t"][first:first + 4] = field[first:first + 4]
    with h5py.File("out.h5") as file:
        now = file["t"][...]
        if before is not None:
            assert (now[:first] == before[:first]).all()  # bit for bit
        before, bytes_stored = now, file["t"].id.get_storage_size()
check_all(before, field, np.ones(field.shape, bool))
print("{recipe}: in 16 slabs", bytes_stored, "bytes")
""")


@pytest.mark.parametrize("part", ["np.s_[:, :, 5::9]", "np.s_[:, 20:41, :]", "np.s_[10:50, 10:50, 10:50]", "np.s_[1:, :, :]"])
def test_h5py_other_parts(python, part):
    python(FIELD + f"""
import h5py, leeway.hdf5
field, part = turbulence(), {part}
with h5py.File("out.h5", "w") as file:
    file.create_dataset("t", data=field, chunks=field.shape, **leeway.hdf5.filter(abs=0.01, recipe="small"))
for step in range(4):
    with h5py.File("out.h5", "r+") as file:
        before = file["t"][...]
        field[part] += 3
        file["t"][part] = field[part]
    with h5py.File("out.h5") as file:
        now = file["t"][...]
    kept = np.ones(field.shape, bool)
    kept[part] = False
    assert (now[kept] == before[kept]).all()
check_all(now, field, np.ones(field.shape, bool))
""")


@pytest.mark.parametrize("recipe", PRESETS)
def test_zarr_slabs(python, recipe):
    python(FIELD + f"""
import zarr
from leeway.zarr import LeewayCodec
field = turbulence()
zarr.create_array("out.zarr", shape=field.shape, dtype="f4", chunks=field.shape, serializer=LeewayCodec(abs=0.01, recipe="{recipe}"),
                  compressors=None, fill_value=0)
for first in range(0, 64, 4):
    zarr.open_array("out.zarr", mode="r+")[first:first + 4] = field[first:first + 4]
check_all(zarr.open_array("out.zarr")[...], field, np.ones(field.shape, bool))
print("{recipe}: in 16 slabs", zarr.open_array("out.zarr").nbytes_stored(), "bytes")
""")


def test_numcodecs_slabs(python):
    python(FIELD + """
import zarr, leeway.numcodecs
field = turbulence()
zarr.create_array("out.zarr", shape=field.shape, dtype="f4", chunks=field.shape, zarr_format=2, fill_value=0,
                  compressors=leeway.numcodecs.Leeway(abs=0.01, recipe="smallest"))
for first in range(0, 60, 4):
    zarr.open_array("out.zarr", mode="r+")[first:first + 4] = field[first:first + 4]
written = np.zeros(field.shape, bool)
written[:60] = True
check_all(zarr.open_array("out.zarr")[...], field, written)
""")


def test_random_parts(shell):
    """scripts/torture.sh does the same for longer."""
    said = shell(sys.executable, pathlib.Path(__file__).with_name("rewrite_torture.py"), "1e5", 5)
    assert said.count("no violation") == 2


MADE = """
import h5py, io, leeway.hdf5, zarr
from leeway.numcodecs import Leeway
from leeway.zarr import LeewayCodec
rng, n = np.random.default_rng(1), 1000

def made(host, **options):
    if host == "zarr 3":
        return zarr.create_array({}, shape=(n,), chunks=(n,), dtype="f4", serializer=LeewayCodec(**options), compressors=None)
    if host == "zarr 2":
        return zarr.create_array({}, shape=(n,), chunks=(n,), dtype="f4", zarr_format=2, compressors=Leeway(**options))
    file = h5py.File(io.BytesIO(), "w", rdcc_nbytes=0)
    return file.create_dataset("x", shape=(n,), chunks=(n,), dtype="f4", **leeway.hdf5.filter(**options))

def walk(size):
    return np.cumsum(rng.normal(size=size)).astype("f4")
"""


@pytest.mark.parametrize("host", ["zarr 3", "zarr 2", "h5py", "direct"])
def test_whole_arrays_that_are_read_changed_and_written(python, host):
    """What a user has not changed keeps its bits, whichever way the array was read."""
    python(MADE + f"""
data = made("{host}", abs=0.05, recipe="small")
read, write = (leeway.hdf5.read, leeway.hdf5.write) if "{host}" == "direct" else (lambda d: d[...], lambda d, v: d.__setitem__(..., v))
first = walk(n)
data[...] = first
for _ in range(12):
    values = read(data)
    values[:500] = walk(500)
    write(data, values)
    assert np.array_equal(read(data)[500:], values[500:])
assert np.abs(read(data)[500:] - first[500:]).max() <= 0.05
""")


@pytest.mark.parametrize("host", ["zarr 3", "zarr 2", "h5py"])
@pytest.mark.parametrize("recipe", ["balanced", "small"])
def test_measured_bounds_do_not_drift(python, host, recipe):
    """A part of eight percent is never written again."""
    python(MADE + f"""
norm = 0.05 * n ** 0.5
data, truth = made("{host}", l2=norm, values=n, recipe="{recipe}"), walk(n)
data[...] = truth
kept = data[:80]
for _ in range(20):
    truth[80:] = data[80:] = walk(n - 80)
    decoded = data[...]
    assert np.array_equal(decoded[:80], kept)
    assert np.linalg.norm(decoded.astype("f8") - truth) <= norm
""")
