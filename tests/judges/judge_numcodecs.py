# SPDX-License-Identifier: BSD-3-Clause
"""The checks that numcodecs has for codecs, on the arrays of numbers that its own codecs are tested with."""
from __future__ import annotations

import importlib

import numpy as np
import pytest
from numcodecs.tests import common

import differences
from leeway.numcodecs import Leeway

differences.count(Leeway, "encode", "numcodecs chunks written")
differences.count(Leeway, "decode", "numcodecs chunks read")
common.Leeway = Leeway  # for check_repr

PRESETS = ["fast", "balanced", "small", "smallest"]
EXACT = [Leeway(lossless=True, recipe=recipe) for recipe in PRESETS]
#: With the number of decimals that must be right.
BOUNDED = [(Leeway(abs=bound, recipe=recipe), decimals) for recipe in PRESETS for bound, decimals in [(1e-3, 3), (1e-7, 7)]]


def _theirs():
    modules = ["bz2", "delta", "fixedscaleoffset", "lz4", "lzma", "pickles", "quantize", "shuffle", "zlib", "zstd"]
    for name in modules:
        for i, array in enumerate(importlib.import_module(f"numcodecs.tests.test_{name}").arrays):
            if array.dtype.kind in "fiu":
                yield pytest.param(array, id=f"{name}-{i}-{array.dtype}")


def _ours():
    """What theirs leave out: every type, small ones, both orders of axes and of bytes, special values."""
    values = np.random.default_rng(0).normal(0, 30, (7, 8, 9))
    for dtype in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">f8", ">i2", ">u8"]:
        yield pytest.param(np.abs(values).astype(dtype), id=dtype)
        yield pytest.param(np.asfortranarray(np.abs(values).astype(dtype)), id=f"{dtype}-F")
    yield pytest.param(np.array([[np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308]]), id="special")
    yield pytest.param(np.array(3.25), id="no-axis")
    yield pytest.param(values[:1, :1, :1], id="one")


ARRAYS = [*_theirs(), *_ours()]


@pytest.mark.parametrize("array", ARRAYS)
def test_encode_decode(array):
    for codec in EXACT:
        common.check_encode_decode(array, codec)
        common.check_encode_decode_array(array, codec)
    for codec, decimals in BOUNDED:
        common.check_encode_decode(array, codec, precision=decimals)


@pytest.mark.parametrize("codec", [*EXACT, *(codec for codec, _ in BOUNDED), Leeway(abs=0.5, fill=[-999.0, 2**60 + 1])], ids=repr)
def test_config(codec):
    common.check_config(codec)
    common.check_repr(repr(codec))


def test_fixtures(tmp_path, monkeypatch):
    """Writes what they would keep for later versions, and reads it back."""
    monkeypatch.chdir(tmp_path)
    arrays = [param.values[0] for param in ARRAYS if param.values[0].dtype.isnative]
    for _ in range(2):
        common.check_backwards_compatibility(Leeway.codec_id, arrays, EXACT)


@pytest.mark.parametrize("codec", EXACT, ids=repr)
def test_objects(codec):
    common.check_err_encode_object_buffer(codec)
    common.check_err_decode_object_buffer(codec)
    with pytest.raises(TypeError):
        codec.encode(["foo", "bar", "baz"])
