# SPDX-License-Identifier: BSD-3-Clause
"""leeway as a codec of numcodecs, the compressor of Zarr 2 arrays (and of Zarr 2 stores written by zarr-python 3)."""
from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.registry import register_codec

import leeway

# Stands before the stream of a chunk whose values are not in the byte order of this machine: Zarr takes the decoded bytes
# for values in the byte order of the array.
_SWAPPED = b"swap"


def _is_raw(buf: Any) -> bool:
    """Whether it is bytes of which nobody says what they mean: a bound means nothing for them either."""
    if isinstance(buf, np.ndarray) or hasattr(buf, "__array_interface__"):
        return False
    try:
        return memoryview(buf).format in ("B", "c")
    except TypeError:
        return False


class Leeway(Codec):
    """Leeway(abs=0.01), Leeway(lossless=True), with recipe= and fill= as leeway.compress() takes them.

    `rel` and `psnr` are not offered: a codec sees one chunk at a time, and the range of a chunk is not that of the array.
    It cannot see the fill value of the array either: give it as fill=. Filters before it must hand on values, for which the
    bound then holds. Bytes without a type are compressed without loss."""

    codec_id = "leeway"

    def __init__(self, abs: float | None = None, lossless: bool = False, recipe: str = "balanced", fill: Any = None,
                 threads: int = 1) -> None:
        self.abs = None if abs is None else float(abs)
        self.lossless = bool(lossless)
        self.recipe = recipe
        self.fill = None if fill is None else leeway._numbers(fill)
        self.threads = int(threads)
        leeway.compress(np.zeros(1, "f4"), **self._options())  # complains at once, not at the first chunk

    def _options(self) -> dict[str, Any]:
        return dict(abs=self.abs, lossless=self.lossless, recipe=self.recipe, fill=self.fill or (), threads=self.threads)

    def encode(self, buf: Any) -> bytes:
        if _is_raw(buf):
            return leeway.compress(np.frombuffer(buf, np.uint8), lossless=True, recipe=self.recipe, threads=self.threads, brief=True)
        array = np.ma.asarray(buf) if np.ma.isMaskedArray(buf) else np.asarray(buf)
        swapped = not array.dtype.isnative
        if not array.flags.c_contiguous and array.flags.f_contiguous:
            array = array.T  # Zarr will read the chunk back in the order in which it lies in memory
        stream = leeway._compress_chunk(array, **self._options())
        return _SWAPPED + stream if swapped else stream

    def decode(self, buf: Any, out: Any = None) -> np.ndarray:
        stream = memoryview(buf).cast("B")
        swapped = bytes(stream[:len(_SWAPPED)]) == _SWAPPED
        values = leeway._decompress_chunk(stream[len(_SWAPPED) * swapped:], threads=self.threads)
        if swapped:
            values = values.astype(values.dtype.newbyteorder())
        if out is None:
            return values
        target = np.asarray(out)
        if not target.flags.c_contiguous and target.flags.f_contiguous:
            target = target.T
        if target.nbytes != values.nbytes:
            raise ValueError(f"the chunk has {values.nbytes} bytes, the memory given {target.nbytes}")
        np.copyto(target.reshape(-1).view(np.uint8), values.reshape(-1).view(np.uint8))
        return out

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "abs": self.abs, "lossless": self.lossless, "recipe": self.recipe, "fill": self.fill}


register_codec(Leeway)
