# SPDX-License-Identifier: BSD-3-Clause
"""Random parts of chunks, written again and again through h5py and Zarr, file or store reopened between. Every value must be
within the bound of the value that was last written there, and a value that was not written must keep its bits.

    python tests/hosts/rewrite_torture.py 1e7 [seed]     as many values in all, through each host

Integers are compared exactly, floating-point numbers in long double."""
import pathlib
import sys
import tempfile

import h5py
import numpy as np
import zarr

import leeway.hdf5
from leeway.zarr import LeewayCodec

RECIPES = ["fast", "balanced", "small", "smallest", "sz3-interp", "sz3-lr", "sz1.4", "wavesz", "regression+linear+huffman",
           "lorenzo+logscale+huffman", "dft+linear+huffman", "linear+interp+huffman", "cuszp2-outlier", "ceaz"]
DTYPES = ["f4", "f8", "f2", "i2", "i4", "i8", "u1", "u8"]


def is_for(recipe, dtype):
    try:
        leeway.compress(np.zeros(1, dtype), abs=1, recipe=recipe)
    except ValueError:
        return False
    return True


def values_of(rng, shape, dtype):
    smooth = np.cumsum(rng.standard_normal(shape), axis=-1) * rng.choice([0.1, 1, 30])
    if dtype[0] == "f":
        return (smooth + (rng.standard_normal(shape) if rng.random() < 0.3 else 0)).astype(dtype)
    info = np.iinfo(dtype)
    middle = int(rng.choice([0, info.max // 2, info.max - 200])) if info.bits > 8 else 100
    return np.array([min(max(middle + int(v), info.min), info.max) for v in smooth.ravel() * 10], dtype).reshape(shape)


def part_of(rng, shape):
    kind, axis = rng.integers(4), rng.integers(len(shape))
    part = [slice(None)] * len(shape)
    if kind == 0:  # a slab
        first = rng.integers(shape[axis])
        part[axis] = slice(first, first + rng.integers(1, 5))
    elif kind == 1:  # a box
        part = [slice(first := rng.integers(n), first + rng.integers(1, n + 1)) for n in shape]
    elif kind == 2:  # every third or so
        part[axis] = slice(rng.integers(2), None, int(rng.integers(2, 6)))
    elif shape[axis] < 100:  # nearly all
        part[axis] = slice(1, None)
    return tuple(part)


def check(decoded, truth, before, part, bound, dtype, said):
    kept = np.ones(truth.shape, bool)
    kept[part] = False
    if before is not None:
        assert decoded[kept].tobytes() == before[kept].tobytes(), said
    if dtype[0] == "f":
        error = np.abs(decoded.astype("longdouble") - truth.astype("longdouble"))
        assert (error <= np.longdouble(bound)).all(), (said, error.max())
    else:
        worst = max(abs(int(a) - int(b)) for a, b in zip(decoded.ravel(), truth.ravel()))
        assert worst <= bound, (said, worst)


class H5:
    def create(self, folder, shape, dtype, bound, recipe):
        self.path = folder / "out.h5"
        with h5py.File(self.path, "w") as file:
            file.create_dataset("t", shape=shape, dtype=dtype, chunks=shape, **leeway.hdf5.filter(abs=bound, recipe=recipe))

    def write(self, part, values):
        with h5py.File(self.path, "r+") as file:
            file["t"][part] = values

    def read(self):
        with h5py.File(self.path) as file:
            return file["t"][...]


class Zarr:
    def create(self, folder, shape, dtype, bound, recipe):
        self.path = str(folder / "out.zarr")
        zarr.create_array(self.path, shape=shape, dtype=dtype, chunks=shape, overwrite=True, compressors=None,
                          serializer=LeewayCodec(abs=bound, recipe=recipe))

    def write(self, part, values):
        zarr.open_array(self.path, mode="r+")[part] = values

    def read(self):
        return zarr.open_array(self.path)[...]


def torture(host, total, seed):
    rng, done, arrays, writes = np.random.default_rng(seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < total:
            dtype, recipe = str(rng.choice(DTYPES)), str(rng.choice(RECIPES))
            shape = tuple(int(n) for n in rng.integers(2, 24, rng.integers(1, 4)) * (40 if rng.random() < 0.1 else 1))
            shape = shape if np.prod(shape) < 200_000 else (100, 100)
            bound = float(rng.choice([0.01, 0.3, 2.5])) if dtype[0] == "f" else float(rng.integers(1, 20))
            said = f"{type(host).__name__} {dtype} {shape} abs={bound} {recipe} seed {seed}"
            if not is_for(recipe, dtype):
                continue
            truth = values_of(rng, shape, dtype)
            host.create(pathlib.Path(folder), shape, dtype, bound, recipe)
            host.write(..., truth)
            check(host.read(), truth, None, ..., bound, dtype, said)
            for _ in range(rng.integers(2, 7)):
                part, before = part_of(rng, shape), host.read()
                truth[part] = values_of(rng, shape, dtype)[part]
                host.write(part, truth[part])
                check(host.read(), truth, before, part, bound, dtype, said)
                writes += 1
            arrays, done = arrays + 1, done + truth.size * 2
    print(f"{type(host).__name__}: {arrays} arrays, {writes} parts, {done} values, no violation", flush=True)


if __name__ == "__main__":
    count, seed = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6, int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for host in (H5(), Zarr()):
        torture(host, count, seed)
