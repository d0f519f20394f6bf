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
