# SPDX-License-Identifier: BSD-3-Clause
"""Streams as Zarr arrays, by reference: every chunk of the array is a range of bytes of the file, so xarray and dask read what a simulation
has written in parallel and from anywhere, and nothing is copied.

    import leeway.virtual
    array = leeway.virtual.open("t.lwy")                                            # a zarr.Array
    refs = leeway.virtual.references("s3://bucket/t.lwy", dims=("z", "y", "x"))     # for kerchunk, fsspec and VirtualiZarr
    ds = xr.open_dataset("reference://", engine="zarr", backend_kwargs={"consolidated": False, "storage_options": {"fo": refs}})

Of the file, the header, the index at its end and the heads of the frames are read. Whoever reads by the references needs this package,
which has the codec, "leeway-frame". References to a stream that grows or is updated are those of the stream as it was."""
from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np
from numcodecs.abc import Codec
from numcodecs.registry import register_codec

import leeway
from leeway import _native

__all__ = ["Frame", "open", "references"]

_TYPES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "|u1", "u16": "<u2",
          "u32": "<u4", "u64": "<u8"}


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Codec):
    """Decodes a chunk of a stream from its frame and the header of the stream, in base64. Chunks at the end of the array are filled up
    with zeros, as Zarr wants them."""

    header: str
    shape: Sequence[int]  #: of the array
    chunk: Sequence[int]
    dtype: str

    codec_id = "leeway-frame"

    def encode(self, buf: Any) -> bytes:
        """Not possible: these are chunks of a stream that is there."""
        raise NotImplementedError("chunks of a stream are not written through references to it: use leeway.append() or leeway update")

    def decode(self, buf: Any, out: Any = None) -> np.ndarray:
        """The values of a chunk, or `out`, filled with them."""
        values = np.zeros(tuple(self.chunk), _TYPES[self.dtype])
        header = np.frombuffer(base64.b64decode(self.header), np.uint8)
        _native.read_frame(header, [int(n) for n in self.shape], np.frombuffer(buf, np.uint8), values, "")
        if out is None:
            return values
        np.copyto(np.asarray(out).reshape(-1).view(np.uint8), values.reshape(-1).view(np.uint8))
        return out

    def get_config(self) -> dict[str, Any]:
        """What numcodecs.get_codec() makes the same codec from."""
        return {"id": self.codec_id, "header": self.header, "shape": list(self.shape), "chunk": list(self.chunk), "dtype": self.dtype}


register_codec(Frame)


def _opened(path: str, storage_options: Mapping[str, Any]) -> _native.Stream:
    if "://" not in path:
        return _native.Stream(path)
    import fsspec

    filesystem, name = fsspec.core.url_to_fs(path, **storage_options)
    # Small reads in a row, the heads of frames, become few requests.
    file = filesystem.open(name, "rb", cache_type="readahead", block_size=1 << 20)

    def read(offset: int, count: int) -> bytes:
        file.seek(offset)
        return file.read(count)

    return _native.Stream(file.size, read)


def references(path: str | os.PathLike, *, name: str = "data", dims: Sequence[str] | None = None, attrs: Mapping[str, Any] | None = None,
               fill_value: float | None = None, storage_options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """References to the chunks of a stream in a file or behind a URL that fsspec knows, as kerchunk writes them in JSON: a group with one
    array, for fsspec's "reference" file system.

    name             of the array in the group
    dims             names of its axes; dim_0, dim_1, ... if not given
    attrs            its attributes: units, long_name, ...
    fill_value       what readers take for "nothing here", for streams whose fill value they should know
    storage_options  for fsspec
    """
    address = os.fspath(path)
    stream = _opened(address, storage_options or {})
    info = stream.info()
    if info["dtype"] not in _TYPES:
        raise ValueError(f"Zarr has no type for {info['dtype']}")
    shape, chunk = list(info["shape"]), list(info["chunk"])
    if not shape:
        raise ValueError("a single value has no chunks to refer to")
    dims = [f"dim_{axis}" for axis in range(len(shape))] if dims is None else list(dims)
    if len(dims) != len(shape):
        raise ValueError(f"the array has {len(shape)} axes, dims= names {len(dims)}")
    codec = Frame(base64.b64encode(stream.header()).decode(), shape, chunk, info["dtype"])
    zarray = {"zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": _TYPES[info["dtype"]], "order": "C", "fill_value": fill_value,
              "filters": None, "compressor": codec.get_config(), "dimension_separator": "."}
    zattrs = {"_ARRAY_DIMENSIONS": dims, "lossy_compression_bound": info["abs_bound"], "lossy_compression_error": info["max_error"],
              **(attrs or {})}
    refs: dict[str, Any] = {".zgroup": json.dumps({"zarr_format": 2}), f"{name}/.zarray": json.dumps(zarray),
                            f"{name}/.zattrs": json.dumps(zattrs)}
    where = address if "://" in address else os.path.abspath(address)
    grid = [-(-n // c) for n, c in zip(shape, chunk)]
    for index, (offset, size) in zip(np.ndindex(*grid), stream.frames()):
        refs[f"{name}/{'.'.join(map(str, index))}"] = [where, offset, size]
    return {"version": 1, "refs": refs}


def open(path: str | os.PathLike, *, storage_options: Mapping[str, Any] | None = None) -> Any:
    """The array of a stream in a file or behind a URL, as a zarr.Array that is read only; chunks are fetched and decoded when they are
    asked for. dask.array.from_zarr() takes it."""
    import fsspec
    import zarr
    from fsspec.implementations.reference import ReferenceFileSystem
    from zarr.storage import FsspecStore

    address = os.fspath(path)
    protocol = fsspec.utils.get_protocol(address)
    filesystem = ReferenceFileSystem(fo=references(address, storage_options=storage_options), remote_protocol=protocol,
                                     remote_options=dict(storage_options or {}), asynchronous=True)
    return zarr.open_array(FsspecStore(filesystem, read_only=True), path="data", mode="r", zarr_format=2)
