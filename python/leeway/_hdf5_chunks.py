# SPDX-License-Identifier: BSD-3-Clause
"""Chunks of HDF5 datasets, read and written past HDF5, which runs filters on one core."""
from __future__ import annotations

import contextlib
import itertools
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import h5py
import numpy as np

from leeway import _arrays, _native
from leeway._selection import Selection

CHECKSUM_BYTES = 4  #: that fletcher32 puts after a chunk


class Pipeline:
    """The filters of a dataset, of which the first is ours."""

    def __init__(self, dataset: h5py.Dataset, filters: list[Any]) -> None:
        self.ids = [filter_id for filter_id, *_ in filters]
        self._dataset = dataset
        at = self.ids.index(_native.HDF5_FILTER_ID)
        self._is_first = all(filter_id == h5py.h5z.FILTER_SHUFFLE for filter_id in self.ids[:at])
        with contextlib.suppress(ValueError):
            self.filter = _native.HDF5Filter(list(filters[at][2]))
        self.has_checksum = h5py.h5z.FILTER_FLETCHER32 in self.ids
        self.chunk_bytes = int(np.prod(dataset.chunks, dtype=object)) * dataset.id.get_type().get_size()

    def check(self) -> None:
        """That the filter was set up for the chunks that the dataset has."""
        chunk = list(self._dataset.chunks)
        while len(chunk) > 8:
            chunk[:2] = [chunk[0] * chunk[1]]  # as the filter joins axes
        if (not hasattr(self, "filter") or not self.filter.is_set_up or not self._is_first or list(self.filter.shape) != chunk
                or 8 * self._dataset.id.get_type().get_size() != int(self.filter.dtype.lstrip("bfiu"))):
            raise ValueError(f"the filter of '{self._dataset.name}' was set up for chunks of another type or shape: the file is "
                             "damaged, or it was made to do harm")

    def is_direct(self) -> bool:
        """Whether chunks can be read and written here: nothing but a checksum comes after ours, and NumPy knows the type."""
        known = {_native.HDF5_FILTER_ID, h5py.h5z.FILTER_FLETCHER32}
        name = _arrays.NUMPY_NAMES.get(self.filter.dtype)
        return (self.ids[0] == _native.HDF5_FILTER_ID and set(self.ids) <= known and len(self.ids) <= 2 and name is not None
                and self._dataset.dtype.newbyteorder("=") == np.dtype(name) and len(self._dataset.chunks) <= 8)


def pipeline_of(dataset: h5py.Dataset) -> Pipeline | None:
    """None if ours is not among the filters; ValueError if what it says does not fit the dataset."""
    properties = dataset.id.get_create_plist()
    filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
    if all(filter_id != _native.HDF5_FILTER_ID for filter_id, *_ in filters):
        return None
    pipeline = Pipeline(dataset, filters)
    pipeline.check()
    return pipeline


def all_chunks(dataset: h5py.Dataset) -> list[Any]:
    """Where the chunks of a dataset are, how large, and which filters were left out."""
    return [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]


class _Axis(NamedTuple):
    """What a selection takes from one row of chunks along an axis."""

    offset: int  #: of the chunks, in the dataset
    first: int  #: in the chunk
    last: int
    step: int
    place: slice  #: in the result

    @property
    def extent(self) -> int:
        return self.last - self.first + 1


def _parts_of_axis(indices: range, chunk: int) -> list[_Axis]:
    """Row by row. Indices that descend are taken in ascending order: their places descend instead."""
    count, step = len(indices), abs(indices.step)
    rising = indices if indices.step > 0 else indices[::-1]
    parts: list[_Axis] = []
    at = 0
    while at < count:
        offset = rising[at] // chunk * chunk
        end = min(count, -(-(offset + chunk - rising[0]) // step))  # the first index after this chunk
        place = slice(at, end) if indices.step > 0 else slice(count - 1 - at, count - 1 - end if end < count else None, -1)
        parts.append(_Axis(offset, rising[at] - offset, rising[end - 1] - offset, step, place))
        at = end
    return parts


class _Chunk:
    """A part of a selection that lies in one chunk of a dataset."""

    def __init__(self, axes: tuple[_Axis, ...]) -> None:
        self.offset = tuple(axis.offset for axis in axes)
        self.first = [axis.first for axis in axes]
        self.extents = [axis.extent for axis in axes]
        self.steps = tuple(slice(None, None, axis.step) for axis in axes)
        self.place = tuple(axis.place for axis in axes)
        self.has_all_steps = all(axis.step == 1 for axis in axes)

    @property
    def inside(self) -> tuple[slice, ...]:
        """What is selected, in the chunk."""
        return tuple(slice(first, first + extent, steps.step)
                     for first, extent, steps in zip(self.first, self.extents, self.steps))


class _Direct:
    """Coding of a dataset's chunks, on several threads; h5py itself is called by one."""

    def __init__(self, dataset: h5py.Dataset, pipeline: Pipeline, threads: int) -> None:
        self.dataset, self.pipeline, self.filter, self.threads = dataset, pipeline, pipeline.filter, threads
        self.native = np.dtype(_arrays.NUMPY_NAMES[pipeline.filter.dtype])

    def chunks_of(self, selection: Selection) -> Iterator[_Chunk]:
        rows = [_parts_of_axis(indices, chunk) for indices, chunk in zip(selection.indices, self.dataset.chunks)]
        return map(_Chunk, itertools.product(*rows))

    def each(self, chunks: Iterable[_Chunk], fetch: Callable, code: Callable, store: Callable) -> None:
        """store(chunk, code(chunk, *fetch(chunk))) for every chunk, where `code` runs on the threads."""
        if self.threads == 1:
            for chunk in chunks:
                store(chunk, code(chunk, *fetch(chunk)))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[tuple[_Chunk, Any]] = deque()
            try:
                for chunk in chunks:
                    waiting.append((chunk, pool.submit(code, chunk, *fetch(chunk))))
                    if len(waiting) > 2 * self.threads:
                        done, result = waiting.popleft()
                        store(done, result.result())
                while waiting:
                    done, result = waiting.popleft()
                    store(done, result.result())
            finally:
                for _, result in waiting:
                    result.cancel()

    def fetch(self, chunk: _Chunk) -> tuple[bytes | None, bool]:
        """The stored bytes of a chunk, None if it was never written, and whether they are the values themselves."""
        info = self.dataset.id.get_chunk_info_by_coord(chunk.offset)
        if info.byte_offset is None or info.size == 0:
            return None, False
        mask, stored = self.dataset.id.read_direct_chunk(chunk.offset)
        if self.pipeline.has_checksum and not mask >> self.pipeline.ids.index(h5py.h5z.FILTER_FLETCHER32) & 1:
            stored, checksum = stored[:-CHECKSUM_BYTES], stored[-CHECKSUM_BYTES:]
            if _native.fletcher32(np.frombuffer(stored, np.uint8)).to_bytes(CHECKSUM_BYTES, "little") != bytes(checksum):
                raise ValueError(f"a chunk of '{self.dataset.name}' is damaged: its checksum differs")
        if mask & 1 and len(stored) != self.pipeline.chunk_bytes:
            raise ValueError(f"a chunk of '{self.dataset.name}' does not have the size of a chunk")
        return stored, bool(mask & 1)

    def decode(self, stored: bytes, is_plain: bool, first: list[int], out: np.ndarray) -> None:
        """The box of a chunk that begins at `first`, into an array in the byte order of this machine."""
        if is_plain:
            values = np.frombuffer(stored, self.dataset.dtype).reshape(self.dataset.chunks)
            out[...] = values[tuple(slice(low, low + extent) for low, extent in zip(first, out.shape))]
        else:
            self.filter.decompress(np.frombuffer(stored, np.uint8), first, out, "")


class _Reading(_Direct):
    def run(self, selection: Selection) -> np.ndarray:
        self.out = np.empty([len(indices) for indices in selection.indices], self.dataset.dtype)
        self.fill = self.dataset.fillvalue
        self.each(self.chunks_of(selection), self.fetch, self.read, lambda chunk, result: None)
        return selection.drop(self.out)

    def read(self, chunk: _Chunk, stored: bytes | None, is_plain: bool) -> None:
        target = self.out[chunk.place]
        if stored is None:
            target[...] = self.fill
        elif chunk.has_all_steps and target.dtype.isnative:
            self.decode(stored, is_plain, chunk.first, target)
        else:
            box = np.empty(chunk.extents, self.native)
            self.decode(stored, is_plain, chunk.first, box)
            target[...] = box[chunk.steps]


def _converted(values: Any, native: np.dtype) -> np.ndarray:
    """As HDF5 converts arrays: integers take the nearest value that their type has. Other sequences must fit."""
    given = values if isinstance(values, (np.ndarray, np.generic)) else np.asarray(values, native)
    if native.kind in "iu" and given.dtype.kind in "iuf" and not np.can_cast(given.dtype, native):
        limits = np.iinfo(native)
        given = np.where(given >= limits.max, limits.max, np.where(given <= limits.min, limits.min, given))
    return np.asarray(given).astype(native, copy=False)


class _Writing(_Direct):
    def run(self, selection: Selection, values: Any, region_bounds: Iterable[tuple[Any, float]]) -> None:
        shape = tuple(len(indices) for indices in selection.indices)
        asked = selection.drop(np.broadcast_to(0, shape)).shape  # without the axes of integers
        given = _converted(values, self.native)
        while given.ndim > len(asked) and given.shape[0] == 1:
            given = given[0]
        self.values = np.broadcast_to(given, asked).reshape(shape)
        self.regions = [(Selection(region, self.dataset.shape), _arrays.number("the bound of a region", bound))
                        for region, bound in region_bounds]
        self.padding = self.padding_value()
        self.each(self.chunks_of(selection), self.fetch_old, self.write, self.store)

    def padding_value(self) -> Any:
        """What HDF5 puts where nothing was written."""
        properties = self.dataset.id.get_create_plist()
        if properties.get_fill_time() == h5py.h5d.FILL_TIME_NEVER:
            return self.native.type(0)
        return self.dataset.fillvalue

    def is_overwritten(self, chunk: _Chunk) -> bool:
        """Whether nothing that the chunk has of the array stays."""
        whole = (min(extent, size - offset) for extent, size, offset in zip(self.dataset.chunks, self.dataset.shape, chunk.offset))
        return chunk.has_all_steps and chunk.extents == list(whole)

    def fetch_old(self, chunk: _Chunk) -> tuple[bytes | None, bool]:
        return (None, False) if self.is_overwritten(chunk) else self.fetch(chunk)

    def write(self, chunk: _Chunk, stored: bytes | None, is_plain: bool) -> bytes:
        values = np.full(self.dataset.chunks, self.padding, self.native)
        if stored is not None:
            self.decode(stored, is_plain, [0] * values.ndim, values)
        values[chunk.inside] = self.values[chunk.place]
        earlier = None if stored is None or is_plain else np.frombuffer(stored, np.uint8)
        stream = self.filter.compress(values, "", list(self.regions_in(chunk)), earlier)
        if self.pipeline.has_checksum:
            stream += _native.fletcher32(np.frombuffer(stream, np.uint8)).to_bytes(CHECKSUM_BYTES, "little")
        return stream

    def regions_in(self, chunk: _Chunk) -> Iterator[tuple[list[int], list[int], float]]:
        """The regions that meet a chunk, with offsets from its first value."""
        for region, bound in self.regions:
            ends = [min(low + extent - offset, size)
                    for low, extent, offset, size in zip(region.first, region.extents, chunk.offset, self.dataset.chunks)]
            first = [max(low - offset, 0) for low, offset in zip(region.first, chunk.offset)]
            if all(low < end for low, end in zip(first, ends)):
                yield first, [end - low for low, end in zip(first, ends)], bound

    def store(self, chunk: _Chunk, stream: bytes) -> None:
        self.dataset.id.write_direct_chunk(chunk.offset, stream)


def read(dataset: h5py.Dataset, selection: Any = ..., *, threads: int | None = None) -> np.ndarray:
    """What dataset[selection] is, with the chunks decoded on several threads: HDF5 itself uses one. Of chunks, only what is selected is
    decoded.

    selection  what NumPy's basic indexing takes: integers, slices of any step, an ellipsis, np.newaxis
    threads    LEEWAY_NUM_THREADS or all cores if not given

    Other datasets than those of leeway's filter, with or without fletcher32, are read by h5py."""
    pipeline = pipeline_of(dataset)
    selected = Selection(selection, dataset.shape)
    if pipeline is None or not pipeline.is_direct():
        return selected.pick(dataset[selected.box])
    return _Reading(dataset, pipeline, _threads(threads)).run(selected)


def write(dataset: h5py.Dataset, values: Any, selection: Any = ..., *, threads: int | None = None,
          region_bounds: Iterable[tuple[Any, float]] = ()) -> None:
    """What dataset[selection] = values does, with the chunks compressed on several threads: HDF5 itself uses one. Chunks have the bytes
    that the filter would write. Values that are not selected keep their bits.

    selection      what NumPy's basic indexing takes: integers, slices of any step, an ellipsis
    threads        LEEWAY_NUM_THREADS or all cores if not given
    region_bounds  pairs of a region of the dataset, np.s_[10:20, ..., 5], and a smaller absolute bound there; 0: no loss. They are kept
                   in what is written now, and as long as others do not write the same chunks as a whole.

    Other datasets than those of leeway's filter, with or without fletcher32, are written by h5py, without bounds of regions."""
    pipeline = pipeline_of(dataset)
    selected = Selection(selection, dataset.shape)
    if pipeline is not None and pipeline.is_direct():
        return _Writing(dataset, pipeline, _threads(threads)).run(selected, values, region_bounds)
    if list(region_bounds):
        raise ValueError(f"'{dataset.name}' is no dataset of leeway's filter alone: bounds of regions cannot be kept")
    dataset[selection] = values


def _threads(threads: int | None) -> int:
    count = _arrays.default_threads() if threads is None else threads
    if not 1 <= count <= 65536:
        raise ValueError(f"the number of threads is from 1 to 65536, not {count}")
    return int(count)
