# SPDX-License-Identifier: BSD-3-Clause
"""leeway as an HDF5 filter, for h5py and h5netcdf.

Importing this module makes the filter known to h5py, and to programs and libraries that are started or loaded later
(through HDF5_PLUGIN_PATH).

    import h5py, leeway.hdf5
    with h5py.File("out.h5", "w") as file:
        file.create_dataset("t", data=t, chunks=True, **leeway.hdf5.filter(abs=0.01))
"""
from __future__ import annotations

import os
import pathlib
import struct
from typing import Any, Iterable

import h5py
import numpy as np

import leeway

FILTER_ID = 47310
MAX_WORDS = 20
# Bytes of the types that the filter knows, by the number that it stores: f32 f64 f16 bf16, i8 to i64, u8 to u64.
_WIDTHS = dict(enumerate((4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8), start=1))
CHECKSUM_BYTES = 4  #: that fletcher32 puts after a chunk
PLUGIN_FOLDER = pathlib.Path(__file__).with_name("plugins")


def _register() -> None:
    if not PLUGIN_FOLDER.is_dir():
        raise ImportError(f"leeway was built without its HDF5 plugin: {PLUGIN_FOLDER} is missing")
    folder = str(PLUGIN_FOLDER)
    known = [h5py.h5pl.get(i).decode() for i in range(h5py.h5pl.size())]
    if folder not in known:
        h5py.h5pl.prepend(folder.encode())
    # Other HDF5 libraries of this process, if they have not looked yet, and child processes. The variable replaces the
    # default folders, so that they must stand in it, too.
    path = os.environ.get("HDF5_PLUGIN_PATH")
    if folder not in (path or "").split(":"):
        os.environ["HDF5_PLUGIN_PATH"] = ":".join([folder, path] if path else [folder, *known])


_register()


def parameters(
    *, abs: float | None = None, rel: float | None = None, range: float | None = None, lossless: bool = False,
    recipe: str = "balanced", fill: float | Iterable[float] = (),
) -> tuple[int, ...]:
    """The numbers (cd_values) that the filter takes."""
    if sum((abs is not None, rel is not None, lossless)) != 1:
        raise ValueError("give one bound: abs=, rel= with range=, or lossless=True")
    if rel is not None:
        if range is None:
            raise ValueError("the filter sees one chunk at a time and cannot know the range of all values: give range= "
                             "(maximum - minimum), or abs=")
        abs = float(rel) * float(range)
    if abs is not None and not (np.isfinite(abs) and abs > 0):
        raise ValueError(f"a bound must be a positive number, not {abs}")
    fills = leeway._numbers(fill)
    for value in fills:
        if float(value) != value and value == value:
            raise ValueError(f"the filter takes fill values as doubles, and {value} is none; give it as the fillvalue of the dataset")
    if recipe == "balanced" and not fills:
        return (3,) if lossless else (1, *struct.unpack("<2I", struct.pack("<d", abs)))
    text = "lossless" if lossless else f"abs={float(abs)!r}"
    text += f" recipe={recipe}" * (recipe != "balanced") + "".join(f" fill={float(value)!r}" for value in fills)
    words = text.encode().ljust((len(text) + 3) // 4 * 4, b"\0")
    if len(words) > 4 * MAX_WORDS:
        raise ValueError(f"'{text}' is too long for the parameters of an HDF5 filter ({4 * MAX_WORDS} characters)")
    return struct.unpack(f"<{len(words) // 4}I", words)


class Filter(h5py.filters.FilterRefBase):
    """What h5py and h5netcdf take as keywords (`**Filter(abs=0.01)`) or as `compression=Filter(abs=0.01)`."""

    filter_id = FILTER_ID

    def __init__(self, **bound: Any) -> None:
        self.filter_options = parameters(**bound)

    def __repr__(self) -> str:
        return f"Filter(filter_id={self.filter_id}, filter_options={self.filter_options})"


def filter(**bound: Any) -> Filter:
    """filter(abs=0.01), filter(rel=1e-3, range=80.0), filter(lossless=True); with recipe= and fill= as compress() takes them.

    `rel` needs the range of all values: a filter sees only one chunk at a time. filter_for() takes it from the values."""
    return Filter(**bound)


def filter_for(array: Any, *, rel: float, fill: float | Iterable[float] = (), **options: Any) -> Filter:
    """filter() with a bound relative to the range of the values of `array`, as leeway.compress() takes it: without NaN,
    infinities and fill values, given, found, or under a mask. These are told to the filter, too."""
    found = leeway._value_range(array, fill)
    if found is None or not found.size > 0:
        return filter(lossless=True, fill=fill, **options)
    return filter(abs=leeway._native.relative_bound(rel, found.size), fill=found.fills, **options)


def check(dataset: h5py.Dataset) -> None:
    """Raises ValueError if what is stored with a dataset of this filter does not fit its chunks. HDF5 believes what a
    filter returns and would read on after its end: to be called for files of strangers, before their values are read."""
    properties = dataset.id.get_create_plist()
    filters = [properties.get_filter(i) for i in range(properties.get_nfilters())]
    ids = [filter_id for filter_id, *_ in filters]
    if FILTER_ID not in ids:
        return
    at = ids.index(FILTER_ID)
    words = filters[at][2]
    chunk = list(dataset.chunks)
    while len(chunk) > 8:
        chunk[:2] = [chunk[0] * chunk[1]]  # as the filter joins axes
    width = dataset.id.get_type().get_size()
    here = 3 if words[:1] and words[0] & 0xFF == 1 else 1  # after mode and bound
    kind = words[here] if len(words) > here and words[0] >> 8 else 0
    fits = (list(words[here + 1:here + 1 + (kind >> 8 & 0xFF)]) == chunk and _WIDTHS.get(kind & 0xFF) == width
            and all(filter_id == h5py.h5z.FILTER_SHUFFLE for filter_id in ids[:at]))
    if not fits:
        raise ValueError(f"the filter of '{dataset.name}' was set up for chunks of another type or shape: the file is "
                         "damaged, or it was made to do harm")
    every = (1 << len(ids)) - 1
    size = int(np.prod(chunk, dtype=object)) * width
    for info in _chunks(dataset):
        if info.filter_mask & every == every and info.size != size:
            raise ValueError(f"a chunk of '{dataset.name}' does not have the size of a chunk")


def _chunks(dataset: h5py.Dataset) -> list[Any]:
    """Where the chunks of a dataset are, how large, and which filters were left out."""
    return [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]


def describe(dataset: h5py.Dataset) -> dict[str, Any] | None:
    """What is said by the chunks of a dataset that this filter has written: bound, largest error reached, ratio; None for
    other datasets."""
    if str(FILTER_ID) not in dataset._filters:
        return None
    check(dataset)
    infos = []
    for where in _chunks(dataset):
        mask, stream = dataset.id.read_direct_chunk(where.chunk_offset)
        stream = stream[:len(stream) - CHECKSUM_BYTES * ("fletcher32" in dataset._filters)]
        if mask == 0:
            infos.append(leeway.inspect(stream))
    if not infos:
        return {"chunks": 0}
    return {"chunks": len(infos), "abs_bound": infos[0].abs_bound, "recipe": infos[0].recipe,
            "max_error": max(info.max_error for info in infos), "special_values": sum(info.special_values for info in infos),
            "stream_bytes": sum(info.stream_bytes for info in infos), "input_bytes": sum(info.input_bytes for info in infos)}
