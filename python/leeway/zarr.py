# SPDX-License-Identifier: BSD-3-Clause
"""leeway as a codec of Zarr 3: the serializer, which turns a chunk's array into bytes.

    import zarr
    from leeway.zarr import LeewayCodec
    zarr.create_array("t.zarr", data=t, chunks=(64, 64, 64), serializer=LeewayCodec(abs=0.01), compressors=None)
"""
from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.registry import register_codec

import leeway
from leeway import _native

NAME = "leeway"

#: Chunks of up to this many bytes, decoded, are always fetched as a whole: further requests would cost more than they save.
WHOLE_BYTES = 4 << 20
#: What is fetched of larger ones to learn where their parts are.
FIRST_BYTES, LAST_BYTES = 4 << 10, 16 << 10
#: Parts that are no further apart are fetched at once.
GAP_BYTES = 64 << 10


@dataclass(frozen=True)
class LeewayCodec(ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodec):
    """LeewayCodec(abs=0.01), LeewayCodec(lossless=True), with recipe= and fill= as leeway.compress() takes them.

    Give it as `serializer=`, and `compressors=None`: compressing again gains nothing and forbids partial reads. `rel` and
    `psnr` are not offered: a codec sees one chunk at a time, and the range of a chunk is not that of the array. The array's
    fill_value is kept exactly, beside those given as fill=."""

    is_fixed_size = False

    abs: float | None = None
    lossless: bool = False
    recipe: str = "balanced"
    fill: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.fill is not None:
            object.__setattr__(self, "fill", tuple(leeway._numbers(self.fill)))
        leeway.compress(np.zeros(1, "f4"), **self._options())  # complains at once, not at the first chunk

    def _options(self) -> dict[str, Any]:
        return dict(abs=self.abs, lossless=self.lossless, recipe=self.recipe, fill=self.fill or (), threads=1)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LeewayCodec:
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        configuration: dict[str, Any] = {"lossless": True} if self.abs is None else {"abs": self.abs}
        if self.abs is not None and self.lossless:
            configuration["lossless"] = True
        if self.recipe != "balanced":
            configuration["recipe"] = self.recipe
        if self.fill is not None:
            configuration["fill"] = list(self.fill)
        return {"name": NAME, "configuration": configuration}

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        native = dtype.to_native_dtype()
        if native.kind not in "fiu" or native.itemsize > 8:
            raise ValueError(f"leeway compresses integers and floating-point numbers of up to 64 bits, not {native}; "
                             "leave the serializer of this array as it is")
        leeway.compress(np.zeros(1, native), **self._options())  # a recipe may be for other types

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("the size depends on the values")

    def _encode_sync(self, chunk_array: Any, chunk_spec: Any) -> Any:
        values = _declared(chunk_array.as_numpy_array(), chunk_spec)
        options = self._options()
        options["fill"] = [*options["fill"], *_fill_of(chunk_spec)]
        return chunk_spec.prototype.buffer.from_bytes(leeway._compress_chunk(values, **options))

    def _decode_sync(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        values = leeway._decompress_chunk(chunk_bytes.as_numpy_array(), threads=1)
        return self._as_chunk(values, chunk_spec, chunk_spec.shape)

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _decode_partial_single(self, byte_getter: Any, selection: Any, chunk_spec: Any) -> Any:
        """Fetches first, here, and decodes then, in a thread: a thread must never wait for this loop."""
        part = _Part(selection, chunk_spec.shape)
        stream = None
        if part.is_worth_it(chunk_spec) and hasattr(byte_getter, "store"):  # the bytes of a shard's chunks are here already
            stream = await _fetch_part(byte_getter, chunk_spec.prototype, part)
        if stream is None:
            found = await byte_getter.get(chunk_spec.prototype)
            if found is None:
                return None
            stream = found.as_numpy_array()
        values = await asyncio.to_thread(part.read, stream)
        return self._as_chunk(values, chunk_spec, values.shape)

    @staticmethod
    def _as_chunk(values: np.ndarray, chunk_spec: Any, shape: Any) -> Any:
        native = chunk_spec.dtype.to_native_dtype()
        if values.dtype != native.newbyteorder("="):
            raise ValueError(f"a chunk holds {values.dtype}, the array {native}")
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(values.astype(native, copy=False).reshape(shape))


register_codec(NAME, LeewayCodec)


def _declared(values: np.ndarray, chunk_spec: Any) -> np.ndarray:
    """The values as what the array says they are: filters may hand on the same bytes under another type."""
    native = chunk_spec.dtype.to_native_dtype()
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


class _Part:
    """What a selection, as NumPy takes it, means: the smallest box that holds it, and how to pick it from the box."""

    def __init__(self, selection: Any, shape: Sequence[int]) -> None:
        self.items = list(selection) if isinstance(selection, tuple) else [selection]
        if Ellipsis in [item for item in self.items if not isinstance(item, np.ndarray)]:
            at = next(i for i, item in enumerate(self.items) if item is Ellipsis)
            self.items[at:at + 1] = [slice(None)] * (len(shape) - len(self.items) + 1)
        self.items += [slice(None)] * (len(shape) - len(self.items))
        self.shape = tuple(shape)
        self.first, self.extents, self.picks = [], [], []
        for item, extent in zip(self.items, shape):
            indices = np.arange(extent)[item]
            low = int(indices.min()) if indices.size else 0
            self.first.append(low)
            self.extents.append(int(indices.max()) + 1 - low if indices.size else 0)
            if isinstance(item, slice):
                self.picks.append(slice(None, None, item.step))
            else:
                self.picks.append(indices - low if np.ndim(item) else 0)

    def is_worth_it(self, chunk_spec: Any) -> bool:
        """Whether fetching a part of the chunk's bytes may save something."""
        values = np.prod(self.shape, dtype=float)
        return (values * chunk_spec.dtype.to_native_dtype().itemsize > WHOLE_BYTES
                and 2 * np.prod(self.extents, dtype=float) <= values)

    def read(self, stream: Any) -> np.ndarray:
        box = tuple(slice(first, first + extent) for first, extent in zip(self.first, self.extents))
        return leeway.region(stream, box, threads=1)[tuple(self.picks)]


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


async def _fetch_part(byte_getter: Any, prototype: Any, part: _Part) -> Any:
    """A stream of which only what the part needs was fetched; None where the store, or the stream, does not allow that."""
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
