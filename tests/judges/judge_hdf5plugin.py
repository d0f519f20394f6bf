# SPDX-License-Identifier: BSD-3-Clause
"""hdf5plugin's own tests: its write/read test with leeway's filter, its tests of the lossy filters with leeway in their
place, and all of its tests beside leeway."""
from __future__ import annotations

import unittest.mock

import h5py
import hdf5plugin
import hdf5plugin.test
import numpy as np
import pytest

import leeway.hdf5
from differences import CALLS
from hdf5plugin.test import *  # noqa: F403 - their tests, as they are: other filters must work beside leeway's

PRESETS = ["fast", "balanced", "small", "smallest"]
TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">f8", ">i4"]
SHAPES = [(1000,), (100, 10), (10, 10, 10), (5, 2, 10, 10), (5, 2, 5, 2, 10), (5, 2, 5, 2, 5, 2), (5, 2, 5, 2, 5, 2, 1),
          (5, 2, 5, 2, 5, 2, 1, 1), (1, 5, 2, 5, 2, 5, 2, 1, 1)]


def _filter(**options):
    CALLS["HDF5 filters set up"] += 1
    return leeway.hdf5.filter(**options)


class _Known(hdf5plugin.test.BaseTestHDF5PluginRW):
    """Makes the filter known to their tests, under its own name or under that of another."""

    def named(self, name, make=_filter):
        for mapping, value in [(hdf5plugin.test.compression_name_to_class, make), (hdf5plugin.FILTERS, leeway.hdf5.FILTER_ID)]:
            patch = unittest.mock.patch.dict(mapping, {name: value})
            patch.start()
            self.addCleanup(patch.stop)


class TestWriteRead(_Known):
    def test_types_recipes_bounds(self):
        self.named("leeway")
        for recipe in PRESETS:
            for dtype in TYPES:
                for options in [dict(lossless=True), dict(abs=1e-6)]:
                    with self.subTest(recipe=recipe, dtype=dtype, options=options):
                        self._test("leeway", dtype=dtype, lossless="lossless" in options, options=dict(options, recipe=recipe))

    def test_ranks(self):
        self.named("leeway")
        for shape in SHAPES:
            with self.subTest(shape=shape), unittest.mock.patch.object(self, "_data_shape", shape):
                self._test("leeway", dtype="f4", options=dict(abs=1e-3), lossless=False)
                self._test("leeway", dtype="f8", options=dict(lossless=True, recipe="small"))


class TestInThePlaceOfOthers(_Known):
    """Their tests of SZ, SZ3 and lossless filters, with leeway under these names."""

    def test_sz3(self):
        self.named("sz3", lambda absolute: _filter(abs=absolute))
        hdf5plugin.test.TestHDF5PluginRW.testSZ3(self)

    def test_sz(self):
        self.named("sz", lambda absolute=None, relative=None: _filter(abs=absolute) if absolute else _filter(rel=relative, range=1.0))
        hdf5plugin.test.TestHDF5PluginRW.testSZ(self)

    def test_lossless(self):
        self.named("zstd", lambda clevel=0: _filter(lossless=True))
        for dtype in TYPES:
            self._test("zstd", dtype=dtype)

    def test_bound_of_noise(self):
        """As they test SZ's absolute bound on random numbers."""
        with unittest.mock.patch.object(hdf5plugin, "SZ", lambda absolute: _filter(abs=absolute)):
            hdf5plugin.test.TestSZ("testAbsoluteMode").testAbsoluteMode()


class TestTextIsRefused(unittest.TestCase):
    """Their test of strings cannot pass: leeway compresses numbers, and says so."""

    def test_strings(self):
        for text in [np.array(["a", "bb"] * 100, "S"), np.array([("a", 1.0)] * 100, [("a", "S1"), ("b", "f4")])]:
            with h5py.File("in_memory", "w", driver="core", backing_store=False) as file:
                with pytest.raises((ValueError, OSError)):
                    file.create_dataset("data", data=text, chunks=text.shape, compression=_filter(lossless=True))
