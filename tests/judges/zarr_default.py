# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin: leeway is what Zarr arrays of numbers are written with unless a test asks for something else, as
serializer in format 3 and as compressor in format 2. What is stored is exact, as tests of others expect: floating-point
numbers without loss, integers with a bound that leaves them no other value."""
from __future__ import annotations

import zarr.core.array as zarr_array
from zarr.core.dtype.npy.float import BaseFloat
from zarr.core.dtype.npy.int import BaseInt

import leeway.numcodecs
import leeway.zarr
from differences import count

count(leeway.zarr.LeewayCodec, "_encode_sync", "Zarr 3 chunks written")
count(leeway.zarr.LeewayCodec, "_decode_sync", "Zarr 3 chunks read")
count(leeway.zarr.LeewayCodec, "_decode_partial_single", "parts of Zarr 3 chunks read")
count(leeway.numcodecs.Leeway, "encode", "numcodecs chunks written")
count(leeway.numcodecs.Leeway, "decode", "numcodecs chunks read")


def _bound(dtype):
    return {"lossless": True} if isinstance(dtype, BaseFloat) else {"abs": 0.4}


def _replace(name, ours):
    theirs = getattr(zarr_array, name)
    setattr(zarr_array, name, lambda dtype: ours(dtype) if isinstance(dtype, (BaseFloat, BaseInt)) else theirs(dtype))


_replace("default_serializer_v3", lambda dtype: leeway.zarr.LeewayCodec(**_bound(dtype)))
_replace("default_compressors_v3", lambda dtype: ())
_replace("default_compressor_v2", lambda dtype: leeway.numcodecs.Leeway(**_bound(dtype)))
