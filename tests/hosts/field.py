# SPDX-License-Identifier: BSD-3-Clause
"""A field to write, and what must hold when it is read back."""
import numpy as np


def words_of(bound):
    """What a user types for an absolute bound: a mode, and a double in two words, low word first."""
    low, high = np.frombuffer(np.float64(bound).tobytes(), np.uint32)
    return 1, int(low), int(high)


def wave(shape=(20, 48, 64), dtype="f4", special=True):
    """A smooth field with NaN, infinities and fill values."""
    grid = np.meshgrid(*(np.linspace(0, 6, extent) for extent in shape), indexing="ij")
    field = sum(np.sin((k + 1.3) * axis) for k, axis in enumerate(grid)).astype(dtype)
    if special:
        field[1, 2, 3:6] = np.nan
        field[2, 3, 4] = np.inf
        field[5, 10:20, 7] = 9.96921e36
    return field


def check(decoded, original, bound, must_differ=True):
    """The bound, and special values bit for bit."""
    decoded, original = np.asarray(decoded), np.asarray(original)
    assert decoded.shape == original.shape and decoded.dtype.itemsize == original.dtype.itemsize
    ordinary = np.isfinite(original) & (np.abs(original) < 1e30)
    assert np.array_equal(decoded[~ordinary], original[~ordinary], equal_nan=True)
    error = np.abs(decoded[ordinary].astype("f8") - original[ordinary].astype("f8")).max()
    assert error <= bound
    if must_differ:
        assert error > 0  # else it was not compressed at all
