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
from zarr.abc.store import RangeByteRequest
from zarr.registry import register_codec

import leeway
from leeway import _native

NAME = "leeway"


@dataclass(frozen=True)
class LeewayCodec(ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodec):
    """LeewayCodec(abs=0.01), LeewayCodec(lossless=True), with recipe= and fill= as leeway.compress() takes them.

    Give it as `serializer=`, and `compressors=None`: compressing again gains nothing and forbids partial reads. `rel` and
    `psnr` are not offered: a codec sees one chunk at a time, and the range of a chunk is not that of the array."""

    is_fixed_size = False

    abs: float | None = None
    lossless: bool = False
    recipe: str = "balanced"
    fill: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.fill is not None:
            object.__setattr__(self, "fill", tuple(float(value) for value in np.atleast_1d(self.fill)))
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

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError("the size depends on the values")

    def _encode_sync(self, chunk_array: Any, chunk_spec: Any) -> Any:
        stream = leeway._compress_chunk(chunk_array.as_numpy_array(), **self._options())
        return chunk_spec.prototype.buffer.from_bytes(stream)

    def _decode_sync(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        values = leeway._decompress_chunk(chunk_bytes.as_numpy_array(), threads=1)
        return self._as_chunk(values, chunk_spec, chunk_spec.shape)

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _decode_partial_single(self, byte_getter: Any, selection: Any, chunk_spec: Any) -> Any:
        """Reads the end of the stream and then the parts that the selection needs."""
        stream = await self._open(byte_getter, chunk_spec.prototype)
        if stream is None:
            return None
        values = await asyncio.to_thread(self._select, stream, selection)
        return self._as_chunk(values, chunk_spec, values.shape)

    @staticmethod
    async def _open(byte_getter: Any, prototype: Any) -> Any:
        store = getattr(byte_getter, "store", None)
        if store is None:  # a chunk of a shard: its bytes are here already
            found = await byte_getter.get(prototype)
            return None if found is None else found.as_numpy_array()
        try:
            size = await store.getsize(byte_getter.path)
        except FileNotFoundError:
            return None
        loop = asyncio.get_running_loop()

        def read(offset: int, count: int) -> bytes:
            part = byte_getter.get(prototype, RangeByteRequest(offset, offset + count))
            return asyncio.run_coroutine_threadsafe(part, loop).result().to_bytes()

        return await asyncio.to_thread(_native.Stream, size, read)

    @staticmethod
    def _select(stream: Any, selection: Any) -> np.ndarray:
        selection = selection if isinstance(selection, tuple) else (selection,)
        if all(isinstance(item, (int, np.integer, slice)) or item is Ellipsis for item in selection):
            return leeway.region(stream, selection, threads=1)
        return leeway.decompress(stream, threads=1)[selection]

    @staticmethod
    def _as_chunk(values: np.ndarray, chunk_spec: Any, shape: Any) -> Any:
        native = chunk_spec.dtype.to_native_dtype()
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(values.astype(native, copy=False).reshape(shape))


register_codec(NAME, LeewayCodec)
