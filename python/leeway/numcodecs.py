# SPDX-License-Identifier: BSD-3-Clause
"""leeway as a codec of numcodecs, the compressor of Zarr 2 arrays (and of Zarr 2 stores written by zarr-python 3)."""
from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.registry import register_codec

import leeway

# Marks before the stream of a chunk. Its values are not in the byte order of this machine: Zarr takes the decoded bytes for
# values in the byte order of the array. Its axes are those of the array in reverse, as they lie in memory (Fortran's order).
_SWAPPED, _TURNED = b"swap", b"turn"


def _is_raw(buf: Any) -> bool:
    """Whether it is bytes of which nobody says what they mean: a bound means nothing for them either."""
    if isinstance(buf, np.ndarray) or hasattr(buf, "__array_interface__"):
        return False
    try:
        return memoryview(buf).format in ("B", "c")
    except TypeError:
        return False


def _cut(mark: bytes, chunk: memoryview) -> tuple[bool, memoryview]:
    """Whether the chunk begins with the mark, and what comes after it."""
    found = bytes(chunk[:len(mark)]) == mark
    return found, chunk[len(mark) * found:]


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
        turned = not array.flags.c_contiguous and array.flags.f_contiguous
        stream = leeway._compress_chunk(array.T if turned else array, **self._options())
        return _TURNED * turned + _SWAPPED * (not array.dtype.isnative) + stream

    def decode(self, buf: Any, out: Any = None) -> np.ndarray:
        turned, stream = _cut(_TURNED, memoryview(buf).cast("B"))
        swapped, stream = _cut(_SWAPPED, stream)
        values = leeway._decompress_chunk(stream, threads=self.threads)
        if swapped:
            values = values.astype(values.dtype.newbyteorder())
        if out is None:
            return values.T if turned else values
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
