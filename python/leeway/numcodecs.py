# SPDX-License-Identifier: BSD-3-Clause
"""leeway as a codec of numcodecs, the compressor of Zarr 2 arrays (and of Zarr 2 stores written by zarr-python 3). It also decodes
the chunks that the HDF5 filter has written."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.registry import register_codec

import leeway
from leeway._codec import Options

__all__ = ["Leeway"]

# Marks before the stream of a chunk. Its values are not in the byte order of this machine: Zarr takes the decoded bytes for
# values in the byte order of the array. Its axes are those of the array in reverse, as they lie in memory (Fortran's order).
_SWAPPED, _TURNED = b"swap", b"turn"


def _is_raw(buf: Any) -> bool:
    """Whether these are bytes without a type: an error bound has no meaning for them."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Leeway(Options, Codec):
    """Leeway(abs=0.01), Leeway(psnr=60, range=80.0), Leeway(lossless=True), with recipe= and fill= as leeway.compress() takes them.

    Bounds are those of leeway.compress(): abs, rel, psnr, l2, pointwise, lossless; several together must all hold. A codec sees one
    chunk at a time. So `rel` and `psnr` need `range`, the maximum - minimum of all values of the array, and `l2` needs `values`,
    their number. They hold for the whole array then: the squared errors of a chunk are at most what `psnr` or `l2` allows for each
    of its values that is neither 0 nor special (a chunk at the edge of an array is padded with such values).

    The codec cannot see the fill value of the array: give it as fill=. Filters before it must hand on values, for which the bound
    then holds. Bytes without a type are compressed without loss.

    threads     worker threads for a chunk
    big_endian  the values are in this byte order although the chunks do not say so: chunks of the HDF5 filter
    """

    threads: int = 1

    codec_id = "leeway"

    def encode(self, buf: Any) -> bytes:
        """The stream of a chunk: of an array of numbers, or of anything that exports its bytes."""
        if _is_raw(buf):
            return leeway.compress(np.frombuffer(buf, np.uint8), lossless=True, recipe=self.recipe, threads=self.threads, brief=True)
        array = np.ma.asarray(buf) if np.ma.isMaskedArray(buf) else np.asarray(buf)
        turned = not array.flags.c_contiguous and array.flags.f_contiguous
        swapped = not array.dtype.isnative and not self.big_endian
        return _TURNED * turned + _SWAPPED * swapped + self.compress_chunk(array.T if turned else array, threads=self.threads)

    def decode(self, buf: Any, out: Any = None) -> np.ndarray:
        """The array of a stream, or `out`, filled with its bytes."""
        turned, stream = _cut(_TURNED, memoryview(buf).cast("B"))
        swapped, stream = _cut(_SWAPPED, stream)
        values = leeway._decompress_chunk(stream, threads=self.threads)
        if swapped or self.big_endian:
            values = values.astype(values.dtype.newbyteorder(">" if self.big_endian else "S"))
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
        """What numcodecs.get_codec() makes the same codec from. The number of threads is no part of it."""
        said = self.configuration()
        said.pop("threads", None)
        return {"id": self.codec_id, **said}


register_codec(Leeway)
