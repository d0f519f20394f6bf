# SPDX-License-Identifier: BSD-3-Clause
"""leeway as a codec of Zarr 3: the serializer, which turns a chunk's array into bytes.

    import zarr
    from leeway.zarr import LeewayCodec
    zarr.create_array("t.zarr", data=t, chunks=(64, 64, 64), serializer=LeewayCodec(abs=0.01), compressors=None)
"""
from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np
from numcodecs import get_codec
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin, BytesBytesCodec
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.registry import register_codec

import leeway
from leeway import _arrays, _native
from leeway._codec import Options
from leeway._selection import Selection

__all__ = ["HDF5ChunkCodec", "LeewayCodec"]

NAME = "leeway"
HDF5_NAME = "numcodecs.leeway"  #: as VirtualiZarr calls what numcodecs calls leeway

#: Chunks of up to this many bytes, decoded, are always fetched as a whole: further requests would cost more than they save.
WHOLE_BYTES = 4 << 20
#: What is fetched of larger ones to learn where their parts are.
FIRST_BYTES, LAST_BYTES = 4 << 10, 16 << 10
#: Parts that are no further apart are fetched at once.
GAP_BYTES = 64 << 10
#: Chunks of up to this many bytes, decoded, are handled at once: handing them to another thread would take longer.
SMALL_BYTES = 16 << 10


@dataclass(frozen=True)
class LeewayCodec(Options, ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodec):
    """LeewayCodec(abs=0.01), LeewayCodec(psnr=60, range=80.0), LeewayCodec(lossless=True), with recipe= and fill= as
    leeway.compress() takes them.

    Give it as `serializer=`, and `compressors=None`: compressing again gains nothing and forbids partial reads.

    Bounds are those of leeway.compress(): abs, rel, psnr, l2, pointwise, lossless; several together must all hold. A codec sees one
    chunk at a time. So `rel` and `psnr` need `range`, the maximum - minimum of all values of the array, and `l2` needs `values`,
    their number. They hold for the whole array then: the squared errors of a chunk are at most what `psnr` or `l2` allows for each
    of its values that is neither 0 nor special (a chunk at the edge of an array is padded with such values).

    `region_bounds` are for arrays of one chunk only: a codec does not know which chunk it is given.

    The array's fill_value is kept exactly, beside those given as fill=. `big_endian` says nothing here, where the array knows its byte
    order."""

    region_bounds: Any = None

    is_fixed_size = False

    def __post_init__(self) -> None:
        if self.region_bounds is not None:
            object.__setattr__(self, "region_bounds", tuple(map(_plain_region, self.region_bounds)))
        super().__post_init__()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LeewayCodec:
        """The codec that an array's metadata describe."""
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        """What an array's metadata say of the codec."""
        return {"name": NAME, "configuration": self.configuration()}

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        """Refuses arrays of other types, and bounds of regions for arrays of several chunks."""
        native = dtype.to_native_dtype()
        if native.kind not in "fiu" or native.itemsize > 8:
            raise ValueError(f"leeway compresses integers and floating-point numbers of up to 64 bits, not {native}; "
                             "leave the serializer of this array as it is")
        self.compress_chunk(np.zeros(1, native))  # a recipe may be for other types
        if self.region_bounds is None:
            return
        chunk = getattr(chunk_grid, "chunk_shape", None)
        if chunk is None or any(extent > part for extent, part in zip(shape, chunk)):
            raise ValueError(f"region_bounds are for arrays of one chunk: a codec does not know which of them it is given. Make the "
                             f"chunks as large as the array, chunks={tuple(shape)}, or use leeway.compress()")
        object.__setattr__(self, "_shape", tuple(shape))

    def _regions(self) -> list[tuple[Any, float]]:
        if self.region_bounds is None:
            return []
        if not hasattr(self, "_shape"):  # it was never validated for an array
            raise ValueError("region_bounds do not go with shards: a codec does not know which chunk it is given")
        parts = [tuple(slice(*part) if isinstance(part, tuple) else Ellipsis for part in parts) for parts, _ in self.region_bounds]
        return [(Selection(part, self._shape).box, bound) for part, (_, bound) in zip(parts, self.region_bounds)]

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        """Not known before."""
        raise NotImplementedError("the size depends on the values")

    def _encode_sync(self, chunk_array: Any, chunk_spec: Any) -> Any:
        values = _declared(chunk_array.as_numpy_array(), chunk_spec)
        stream = self.compress_chunk(values, fill=_fill_of(chunk_spec), region_bounds=self._regions())
        return chunk_spec.prototype.buffer.from_bytes(stream)

    def _decode_sync(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        values = leeway._decompress_chunk(chunk_bytes.as_numpy_array(), threads=1)
        return self._as_chunk(_shaped(values, chunk_spec), chunk_spec)

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        return await _apart(chunk_spec, self._encode_sync, chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await _apart(chunk_spec, self._decode_sync, chunk_bytes, chunk_spec)

    async def _decode_partial_single(self, byte_getter: Any, selection: Any, chunk_spec: Any) -> Any:
        """Fetches first, here, and decodes then, in a thread: a thread must never wait for this loop."""
        if _is_everything(selection, chunk_spec.shape):
            whole = await byte_getter.get(chunk_spec.prototype)
            return None if whole is None else await _apart(chunk_spec, self._decode_sync, whole, chunk_spec)
        part = Selection(selection, chunk_spec.shape, arrays=True)
        stream = None
        if _is_worth_it(part, chunk_spec) and hasattr(byte_getter, "store"):  # the bytes of a shard's chunks are here already
            stream = await _fetch_part(byte_getter, chunk_spec, part)
        if stream is None:
            found = await byte_getter.get(chunk_spec.prototype)
            if found is None:
                return None
            stream = found.as_numpy_array()
        values = await _apart(chunk_spec, _read, stream, part, chunk_spec)
        return self._as_chunk(values, chunk_spec)

    @staticmethod
    def _as_chunk(values: np.ndarray, chunk_spec: Any) -> Any:
        native = chunk_spec.dtype.to_native_dtype()
        if values.dtype != native.newbyteorder("="):
            raise ValueError(f"a chunk holds {values.dtype}, the array {native}")
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(values.astype(native, copy=False))


@dataclass(frozen=True)
class HDF5ChunkCodec(Options, BytesBytesCodec):
    """Chunks that the HDF5 filter has written, in Zarr 3 stores that refer to HDF5 files. It comes after the serializer `bytes`, as
    VirtualiZarr puts it, and takes the same options as leeway.numcodecs.Leeway, which does the work."""

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> HDF5ChunkCodec:
        """The codec that an array's metadata describe."""
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        """What an array's metadata say of the codec."""
        return {"name": HDF5_NAME, "configuration": self.configuration()}

    @property
    def codec_config(self) -> dict[str, Any]:
        """The same for Zarr 2, which has the codec of numcodecs."""
        return {"id": NAME, **self.configuration()}

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        """Not known before."""
        raise NotImplementedError("the size depends on the values")

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        values = await asyncio.to_thread(get_codec(self.codec_config).decode, chunk_bytes.to_bytes())
        return chunk_spec.prototype.buffer.from_bytes(values.tobytes())

    async def _encode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        native = chunk_spec.dtype.to_native_dtype().newbyteorder(">" if self.big_endian else "<")
        values = np.frombuffer(chunk_bytes.to_bytes(), native).reshape(chunk_spec.shape)
        return chunk_spec.prototype.buffer.from_bytes(await asyncio.to_thread(get_codec(self.codec_config).encode, values))


register_codec(NAME, LeewayCodec)
register_codec(HDF5_NAME, HDF5ChunkCodec)


def _declared(values: np.ndarray, chunk_spec: Any) -> np.ndarray:
    """The values as what the array says they are: filters may hand on the same bytes under another type, and in one axis."""
    native = chunk_spec.dtype.to_native_dtype()
    values = _shaped(values, chunk_spec)
    if values.dtype.newbyteorder("=") == native.newbyteorder("="):
        return values
    if values.dtype.itemsize != native.itemsize:
        raise ValueError(f"a filter before leeway hands on {values.dtype}, the array has {native}: no bound can be kept")
    return values.view(native.newbyteorder(values.dtype.byteorder))


def _fill_of(chunk_spec: Any) -> list[float]:
    """The array's fill value, unless it is special anyway, or 0: that only says that nothing was written yet, and values near
    0 are ordinary ones."""
    fill, native = chunk_spec.fill_value, chunk_spec.dtype.to_native_dtype()
    number = None if fill is None else np.asarray(fill)
    if number is None or number.dtype.kind not in "fiu" or not np.isfinite(number) or number == 0:
        return []
    return [number.astype(native).item()] if number.astype(native) == number else []


def _bytes_of(chunk_spec: Any) -> int:
    return math.prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize


def _is_everything(selection: Any, shape: Sequence[int]) -> bool:
    """Whether Zarr selects a whole chunk, by a slice for each axis."""
    return isinstance(selection, tuple) and len(selection) == len(shape) and all(
        isinstance(part, slice) and part.start in (0, None) and part.stop in (extent, None) and part.step in (1, None)
        for part, extent in zip(selection, shape))


def _is_worth_it(part: Selection, chunk_spec: Any) -> bool:
    """Whether fetching a part of the chunk's bytes may save something."""
    return _bytes_of(chunk_spec) > WHOLE_BYTES and 2 * math.prod(part.extents) <= math.prod(chunk_spec.shape)


async def _apart(chunk_spec: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, which works on a chunk: in another thread, unless the chunk is small."""
    if _bytes_of(chunk_spec) <= SMALL_BYTES:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def _shaped(values: np.ndarray, chunk_spec: Any) -> np.ndarray:
    """The values in the shape of the chunk. One axis with all values of the chunk is what many filters of numcodecs hand on. A
    chunk of another shape would be spread over the place that it is read to."""
    _check_shape(values.shape, chunk_spec.shape)
    return values.reshape(chunk_spec.shape)


def _check_shape(found: Sequence[int], expected: Sequence[int]) -> None:
    if tuple(found) not in (tuple(expected), (math.prod(expected),)):
        raise ValueError(f"an array of {tuple(found)} is not a chunk of {tuple(expected)}")


def _read(stream: Any, part: Selection, chunk_spec: Any) -> np.ndarray:
    """Chunks that are decoded as a whole are remembered: what comes back unchanged when the chunk is written keeps its bits."""
    opened = leeway._open(stream)
    _check_shape(opened.shape, chunk_spec.shape)
    if _is_worth_it(part, chunk_spec) and opened.shape == tuple(chunk_spec.shape):
        return part.pick(leeway._read_box(opened, part.first, part.extents, threads=1))
    return part.pick(_shaped(leeway._decompress_chunk(stream, threads=1), chunk_spec)[part.box])


def _plain_region(region: tuple[Any, float]) -> tuple[tuple[Any, ...], float]:
    """A region and its bound as JSON has them: first and last index of each axis, None where they are not given."""
    parts, bound = region
    plain: list[Any] = []
    for part in parts if isinstance(parts, (tuple, list)) else (parts,):
        if part is Ellipsis or part == "...":
            plain.append("...")
        elif isinstance(part, slice) and part.step in (None, 1):
            plain.append((part.start, part.stop))
        elif isinstance(part, (list, tuple)) and len(part) == 2:
            plain.append(tuple(part))
        elif isinstance(part, (int, np.integer)):
            plain.append((int(part), int(part) + 1 or None))
        else:
            raise ValueError(f"a region has integers, slices of step 1 and '...', not {part!r}")
    return tuple(plain), _arrays.number("the bound of a region", bound)


class _Pieces:
    """The bytes of a stream that were fetched."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, bytes]] = []

    def add(self, offset: int, piece: bytes) -> None:
        self.pieces.append((offset, piece))

    def read(self, offset: int, count: int) -> bytes:
        for start, piece in self.pieces:
            if start <= offset and offset + count <= start + len(piece):
                return piece[offset - start:offset - start + count]
        raise ValueError("damaged stream: a part of it is not where it should be")


async def _fetch_part(byte_getter: Any, chunk_spec: Any, part: Selection) -> Any:
    """A stream of which only what the part needs was fetched; None where the store, or the stream, does not allow that."""
    prototype = chunk_spec.prototype
    try:
        first, last = await asyncio.gather(byte_getter.get(prototype, RangeByteRequest(0, FIRST_BYTES)),
                                           byte_getter.get(prototype, SuffixByteRequest(LAST_BYTES)))
    except Exception:  # no ranges here, or no chunk: whoever asks for all of it is told
        return None
    if first is None or last is None:
        return None
    size = _native.stream_size(first.as_numpy_array(), last.as_numpy_array())
    if size is None:
        return None
    pieces = _Pieces()
    pieces.add(0, first.to_bytes())
    pieces.add(size - len(last), last.to_bytes())
    stream = _native.Stream(size, pieces.read)
    if tuple(stream.shape) != tuple(chunk_spec.shape):
        return None
    wanted = _joined(stream.ranges(part.first, part.extents))
    found = await asyncio.gather(*(byte_getter.get(prototype, RangeByteRequest(offset, offset + count)) for offset, count in wanted))
    for (offset, _), piece in zip(wanted, found):
        if piece is None:  # somebody has just removed the chunk
            return None
        pieces.add(offset, piece.to_bytes())
    return stream


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for offset, count in sorted(ranges):
        if joined and offset - sum(joined[-1]) <= GAP_BYTES:
            joined[-1] = (joined[-1][0], max(sum(joined[-1]), offset + count) - joined[-1][0])
        else:
            joined.append((offset, count))
    return joined
