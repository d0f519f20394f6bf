# SPDX-License-Identifier: BSD-3-Clause
"""leeway as an HDF5 filter, for h5py and h5netcdf.

Importing this module makes the filter known to h5py, and to programs and libraries that are started or loaded later
(through HDF5_PLUGIN_PATH).

    import h5py, leeway.hdf5
    with h5py.File("out.h5", "w") as file:
        file.create_dataset("t", data=t, chunks=True, **leeway.hdf5.filter(abs=0.01))
    with h5py.File("out.h5") as file:
        t = leeway.hdf5.read(file["t"])        # on all cores, which HDF5 itself does not do
"""
from __future__ import annotations

import os
import pathlib
from typing import Any, Iterable

import h5py
import numpy as np

import leeway
from leeway import _arrays, _native

try:
    FILTER_ID: int = _native.HDF5_FILTER_ID
except AttributeError:
    raise ImportError("leeway was built without its HDF5 filter") from None

from leeway._hdf5_chunks import CHECKSUM_BYTES, all_chunks, pipeline_of, read, write

__all__ = ["FILTER_ID", "Filter", "annotate", "check", "describe", "filter", "filter_for", "parameters", "read", "write"]

PLUGIN_FOLDER = pathlib.Path(__file__).with_name("plugins")
#: What a dataset says to readers that do not know the filter.
READER: str = _native.HDF5_READER


def __dir__() -> list[str]:
    return sorted([*__all__, "PLUGIN_FOLDER", "READER"])


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
    *, abs: float | None = None, rel: float | None = None, psnr: float | None = None, l2: float | None = None,
    pointwise: float | None = None, lossless: bool = False, range: float | None = None, values: float | None = None,
    recipe: str = "balanced", fill: float | Iterable[float] | None = (), region_bounds: Any = (), keep: str | Iterable[str] = (),
    min: float | None = None, max: float | None = None,
) -> tuple[int, ...]:
    """The numbers (cd_values) that the filter takes; filter() explains the arguments."""
    if region_bounds:
        raise ValueError("the filter does not know which chunk it is given, so that it cannot keep bounds of regions: create the "
                         "dataset without them, and give them to leeway.hdf5.write(dataset, values, region_bounds=...)")
    given = dict(abs=abs, rel=rel, psnr=psnr, l2=l2, pointwise=pointwise, range=range, values=values)
    said = ["lossless"] * bool(lossless)
    said += [f"{name}={_arrays.number(f'{name}=', value)!r}" for name, value in given.items() if value is not None]
    if not said:
        raise ValueError("a bound is needed: abs=, rel= or psnr= with range=, l2= with values=, pointwise= or lossless=True")
    said += [f"recipe={recipe}"] + [f"fill={value!r}" for value in _arrays.numbers(fill)] + [leeway._rules(keep, min, max)]
    return tuple(_native.HDF5Filter(" ".join(said)).words)


class Filter(h5py.filters.FilterRefBase):
    """What h5py and h5netcdf take as keywords (`**Filter(abs=0.01)`) or as `compression=Filter(abs=0.01)`."""

    filter_id = FILTER_ID

    def __init__(self, **bound: Any) -> None:
        self.filter_options = parameters(**bound)

    def __repr__(self) -> str:
        return f"Filter(filter_id={self.filter_id}, filter_options={self.filter_options})"


def filter(
    *, abs: float | None = None, rel: float | None = None, psnr: float | None = None, l2: float | None = None,
    pointwise: float | None = None, lossless: bool = False, range: float | None = None, values: float | None = None,
    recipe: str = "balanced", fill: float | Iterable[float] | None = (), region_bounds: Any = (), keep: str | Iterable[str] = (),
    min: float | None = None, max: float | None = None,
) -> Filter:
    """filter(abs=0.01), filter(rel=1e-3, range=80.0), filter(psnr=60, range=80.0), filter(lossless=True); with recipe= and fill= as
    compress() takes them. Several bounds together must all hold; pointwise= stands alone. keep="zeros,sign", min= and max= hold for
    every value, in the units in which it is stored.

    A filter sees only one chunk at a time: `rel` and `psnr` need `range`, the maximum - minimum of all values, and `l2` needs
    `values`, their number. filter_for() takes both from the values. `psnr` and `l2` hold for the whole dataset, since the squared
    errors of every chunk are at most what they allow for each of its values that is neither 0 nor special."""
    return Filter(abs=abs, rel=rel, psnr=psnr, l2=l2, pointwise=pointwise, lossless=lossless, range=range, values=values,
                  recipe=recipe, fill=fill, region_bounds=region_bounds, keep=keep, min=min, max=max)


def filter_for(array: Any, *, rel: float | None = None, psnr: float | None = None, l2: float | None = None,
               fill: float | Iterable[float] | None = (), **options: Any) -> Filter:
    """filter() with bounds that refer to all values, which are those of `array`. Their range is taken as leeway.compress() takes it:
    without NaN, infinities and fill values, given, found, or under a mask. These are told to the filter, too."""
    if rel is None and psnr is None and l2 is None:
        raise ValueError("a bound that refers to all values is needed: rel=, psnr= or l2=; for others there is filter()")
    if rel is None and psnr is None:
        return filter(l2=l2, values=np.size(array), fill=_arrays.fill_values(array, fill), **options)
    found = _arrays.value_range(array, fill)
    if found is None or not found.size > 0:
        return filter(lossless=True, recipe=options.get("recipe", "balanced"), fill=fill)
    return filter(rel=rel, psnr=psnr, l2=l2, range=found.size, values=np.size(array), fill=found.fills, **options)


def check(dataset: h5py.Dataset) -> None:
    """Raises ValueError if what is stored with a dataset of this filter does not fit its chunks. HDF5 believes what a
    filter returns and would read on after its end: to be called for files of strangers, before their values are read."""
    pipeline = pipeline_of(dataset)
    if pipeline is None:
        return
    every = (1 << len(pipeline.ids)) - 1
    for info in all_chunks(dataset):
        if info.filter_mask & every == every and info.size != pipeline.chunk_bytes:
            raise ValueError(f"a chunk of '{dataset.name}' does not have the size of a chunk")


def describe(dataset: h5py.Dataset) -> dict[str, Any] | None:
    """What is said by the chunks of a dataset that this filter has written: chunks, bound (as the filter was given it), abs_bound (in
    force), max_error (reached), special_values, recipe, stream_bytes, input_bytes. None for other datasets."""
    pipeline = pipeline_of(dataset)
    if pipeline is None:
        return None
    check(dataset)
    infos = []
    for where in all_chunks(dataset):
        mask, stream = dataset.id.read_direct_chunk(where.chunk_offset)
        if mask == 0:
            infos.append(leeway.inspect(stream[:len(stream) - CHECKSUM_BYTES * pipeline.has_checksum]))
    if not infos:
        return {"chunks": 0, "bound": pipeline.filter.limits}
    return {"chunks": len(infos), "bound": pipeline.filter.limits, "abs_bound": max(info.abs_bound for info in infos),
            "recipe": infos[0].recipe, "max_error": max(info.max_error for info in infos),
            "special_values": sum(info.special_values for info in infos),
            "stream_bytes": sum(info.stream_bytes for info in infos), "input_bytes": sum(info.input_bytes for info in infos)}


def annotate(dataset: h5py.Dataset) -> None:
    """Gives a dataset of this filter attributes that say what was done to its values (lossy_compression, lossy_compression_bound,
    lossy_compression_maximum_error, lossy_compression_version), and how to read it (lossy_compression_reader). To be called when all
    values are written."""
    said = describe(dataset)
    if said is None:
        raise ValueError(f"'{dataset.name}' does not have the filter of leeway")
    lossless = "lossless" in said["bound"]
    limits = [f"{'rms' if kind == 'l2' else kind}={value!r}" for kind, value in said["bound"].items()]
    dataset.attrs.update(
        lossy_compression="leeway: lossless compression" if lossless else "leeway: error-bounded compression",
        lossy_compression_bound="lossless" if lossless else ",".join(limits),
        lossy_compression_maximum_error=float(said.get("max_error", 0)),
        lossy_compression_version=leeway.__version__, lossy_compression_reader=READER)
