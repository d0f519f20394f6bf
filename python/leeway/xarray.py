# SPDX-License-Identifier: BSD-3-Clause
"""leeway for xarray: the encoding that to_netcdf and to_zarr take. Importing it makes the HDF5 filter known, as
leeway.hdf5 does.

    import leeway.xarray
    encoding = leeway.xarray.encoding(ds, abs={"t": 0.01, "q": 1e-6})
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)

    encoding = leeway.xarray.encoding(ds, rel=1e-4, to="zarr")        # every floating-point variable that holds data
    encoding.describe(ds).to_zarr("out.zarr", zarr_format=3, encoding=encoding)    # with attributes that say so
"""
from __future__ import annotations

import contextlib
import fnmatch
import warnings
from typing import Any, Iterable, Iterator, Mapping, Union

import numpy as np
from xarray import Variable
from xarray.conventions import CF_RELATED_DATA, decode_cf_variable, encode_cf_variable

import leeway
from leeway import _cf

with contextlib.suppress(ImportError):  # Zarr needs no h5py
    import leeway.hdf5

Bounds = Union[float, Mapping[str, float], None]

#: What a variable was read with, and is to be written with again.
KEPT = ("_FillValue", "missing_value", "dtype", "scale_factor", "add_offset", "units", "calendar", "_Unsigned", *CF_RELATED_DATA)
KEPT_BY_NETCDF = ("fletcher32",)
KEPT_BY_ZARR = ("chunks", "shards", "write_empty_chunks", "chunk_key_encoding")
KEPT_BY_ZARR_3 = (*KEPT_BY_ZARR, "fill_value")

#: One chunk of a netCDF variable holds at most so many values, if nothing else is said.
CHUNK_VALUES = 1 << 20
#: Chunks smaller than this cost too much; they are made anew.
SMALLEST_CHUNK = 1 << 14


class Encoding(dict):
    """What to_netcdf and to_zarr take as `encoding`."""

    def __init__(self) -> None:
        self.attributes: dict[str, dict[str, str]] = {}  #: for every variable, what describe() adds
        self.left_alone: dict[str, str] = {}  #: floating-point variables that hold no data, and why

    def describe(self, ds: Any) -> Any:
        """The dataset with attributes of the variables that say what is done to them: lossy_compression,
        lossy_compression_bound ("abs=0.01"), lossy_compression_version. `ds` itself stays as it is."""
        return ds.assign({name: ds[name].assign_attrs(said) for name, said in self.attributes.items()})


def _bound_for(name: str, given: Bounds) -> float | None:
    return given.get(name) if isinstance(given, Mapping) else given


def _blocks(variable: Any) -> Iterator[np.ndarray]:
    """The values, block by block where dask holds them."""
    if not variable.chunks:
        yield np.asarray(variable.values)
        return
    for block in variable.data.to_delayed().ravel():
        yield np.asarray(block.compute())


def _extremes(variable: Any, fills: list[float]) -> np.ndarray:
    """A few values that have the same range as all of them; found side by side where dask holds them."""
    if not variable.chunks:
        return leeway._extremes(np.asarray(variable.values), fills)
    import dask

    find = dask.delayed(lambda block: leeway._extremes(np.asarray(block), fills), pure=True)
    return np.concatenate(dask.compute(*map(find, variable.data.to_delayed().ravel())))


def _leaves_nothing(variable: Any, fills: list[float], bound: float) -> bool:
    """Whether the values lie so close together that the bound leaves nothing of them. The first block tells, mostly."""
    low, high = np.inf, -np.inf
    for block in _blocks(variable):
        found = leeway._value_range(block, fills)
        if found:
            low, high = min(low, found.min), max(high, found.max)
        if high - low > bound:
            return False
    return 0 < high - low < bound


def _chunks_of(variable: Any) -> tuple[int, ...]:
    chunks = variable.encoding.get("chunksizes")
    # Those of a file the variable was read from and is no longer the same as: a part of it, a mean.
    if chunks and variable.encoding.get("original_shape", variable.shape) == variable.shape and len(chunks) == variable.ndim:
        chunks = tuple(map(min, chunks, variable.shape))
        if np.prod(chunks, dtype=float) >= min(SMALLEST_CHUNK, variable.size):
            return chunks
    if variable.chunks:
        return tuple(axis[0] for axis in variable.chunks)
    extents = list(variable.shape)
    while np.prod(extents, dtype=float) > CHUNK_VALUES:
        longest = int(np.argmax(extents))
        extents[longest] = (extents[longest] + 1) // 2
    return tuple(extents)


def _excluded(ds: Any, patterns: list[str]) -> dict[str, str]:
    unknown = [name for name in patterns if name not in ds.variables and not any(c in name for c in "*?[")]
    if unknown:
        raise KeyError(f"the dataset has no variable {', '.join(map(repr, unknown))}")
    return {name: "it is excluded" for name in ds.variables if any(fnmatch.fnmatchcase(str(name), pattern) for pattern in patterns)}


def _chosen(ds: Any, left_alone: Mapping[str, str], *bounds: Any) -> list[str]:
    named = {name for given in bounds if isinstance(given, Mapping) for name in given}
    unknown = named - set(ds.variables)
    if unknown:
        raise KeyError(f"the dataset has no variable {', '.join(map(repr, sorted(unknown)))}")
    everywhere = any(given is not None and given is not False and not isinstance(given, Mapping) for given in bounds)
    return [name for name in ds.variables
            if name in named or (everywhere and name not in left_alone and ds[name].dtype.kind == "f" and ds[name].ndim > 0)]


def _fills(stored: Any, *keys: str) -> list[float]:
    """The values that mean "nothing here", in the units in which they are stored."""
    given = [value for key in keys if key in stored.attrs for value in np.atleast_1d(stored.attrs[key])]
    numbers = [value for value in given if np.asarray(value).dtype.kind in "fiu" and not np.isnan(value)]
    return list(dict.fromkeys(value.item() for value in map(np.asarray, numbers)))


def _cost_of_packing(name: str, variable: Any, stored: Any) -> tuple[float, float]:
    """The largest error that packing, or a smaller type, brings; and what a reader may add by its arithmetic."""
    packed = "scale_factor" in stored.attrs or "add_offset" in stored.attrs
    if variable.dtype.kind not in "fiu" or not (packed or stored.dtype != variable.dtype):
        return 0.0, 0.0
    read = decode_cf_variable(name, stored, decode_times=False)
    error = np.abs(read.astype("f8") - variable.astype("f8"))
    worst = float(error.where(~np.isnan(error), 0).max())  # infinite where a value is too large for the smaller type
    if not packed:
        return worst, 0.0
    largest = float(np.abs(read.where(np.isfinite(read), 0)).max())
    return worst, 2 * float(np.finfo(read.dtype).eps) * largest


class _Asked:
    """What is asked of a variable, and what that means for the numbers that are stored."""

    def __init__(self, name: str, variable: Any, kept: Mapping[str, Any], limit: float | None, part: float | None) -> None:
        # As xarray will write it.
        stored = encode_cf_variable(Variable(variable.dims, variable.variable.data, variable.attrs, dict(kept)), name=name)
        self.unit = np.abs(float(stored.attrs.get("scale_factor", 1))) or 1.0
        self.fills = _fills(stored, "_FillValue", "missing_value")
        self.own_fill = _fills(stored, "_FillValue")  #: an HDF5 dataset tells the filter itself
        self.limit = limit  #: as the reader is to see it; None: no error at all
        self.wraps = str(stored.attrs.get("_Unsigned", "false")).lower() == "true"  #: between large values and negative ones
        if part is not None and self.wraps:
            raise ValueError(f"{name!r} holds unsigned numbers as signed ones (_Unsigned): give abs= or lossless=, not rel=")
        if part is not None:
            found = leeway._value_range(_extremes(stored, self.fills), self.fills)
            if found and found.size > 0:
                self.limit = min(limit or np.inf, leeway._native.relative_bound(part, found.size) * self.unit)
                self.fills = found.fills
        self.options = self._options(name, *_cost_of_packing(name, variable.variable, stored))
        if "abs" in self.options and _leaves_nothing(stored, self.fills, self.limit / self.unit):
            warnings.warn(f"{name!r}: the bound {self.limit:g} is larger than the range of its values, nothing will be left of "
                          "them; give it one of its own, or leave it out", stacklevel=4)

    def _options(self, name: str, packing: float, rounding: float) -> dict[str, Any]:
        if packing == 0 and (not self.limit or self.limit <= rounding):
            return {"lossless": True}
        left = (self.limit or 0) - packing - rounding
        if left <= 0:
            raise ValueError(f"{name!r} is written as other numbers than it has (encoding: dtype, scale_factor, add_offset), which "
                             f"alone costs {packing:.3g}: "
                             + (f"the bound {self.limit:g} cannot be kept" if self.limit else "that is not lossless")
                             + f". Take that out of ds[{name!r}].encoding, or give a larger bound")
        return {"lossless": True} if self.wraps else {"abs": left / self.unit}


def encoding(
    ds: Any,
    *,
    abs: Bounds = None,
    rel: Bounds = None,
    lossless: bool | list[str] = False,
    recipe: str | Mapping[str, str] = "balanced",
    exclude: str | Iterable[str] = (),
    to: str = "netcdf",
    zarr_format: int = 3,
) -> Encoding:
    """The `encoding` for Dataset.to_netcdf (with engine="h5netcdf") and, with to="zarr", for Dataset.to_zarr.

    A bound is a number for all floating-point data variables, or a mapping from names to numbers; `lossless` is True or a
    list of names. `rel` is relative to the range of a variable, which is computed here: without _FillValue, missing_value,
    and what leeway.compress() would take for a fill value.

    Variables that describe others (coordinates, cell bounds, meshes, flags, as CF and UGRID mark them) are left alone unless
    they are named; so is what `exclude` names, where "p*" stands for several. The result's `left_alone` says which and why.

    Fill value, packing, time units and chunks that a variable was read with are kept. Bounds hold for what a reader sees:
    what packing costs is taken off, and ValueError raised if nothing is left. A bound larger than the range of a variable
    is a warning.

    `ds` stays as it is. `encoding.describe(ds)` is the dataset with attributes that say what is done.
    """
    if to not in ("netcdf", "zarr"):
        raise ValueError(f"to='netcdf' or to='zarr', not {to!r}")
    if not hasattr(ds, "data_vars") or not hasattr(ds, "assign"):
        raise TypeError(f"a Dataset is needed, not {type(ds).__name__}; array.to_dataset(name='t') makes one of an array")
    left_alone = _cf.descriptions(ds) | _excluded(ds, [exclude] if isinstance(exclude, str) else list(exclude))
    exact = dict.fromkeys(lossless, True) if isinstance(lossless, (list, tuple)) else lossless
    names = _chosen(ds, left_alone, abs, rel, exact)
    if not names:
        raise ValueError("no variable is chosen: give abs=, rel= or lossless=, for floating-point variables or by name")
    kept_by_target = KEPT_BY_NETCDF if to == "netcdf" else KEPT_BY_ZARR if zarr_format == 2 else KEPT_BY_ZARR_3
    result = Encoding()
    result.left_alone = {name: reason for name, reason in left_alone.items()
                         if name in ds.data_vars and name not in names and ds[name].dtype.kind == "f"}
    for name in names:
        variable = ds[name]
        of_values = {key: variable.encoding[key] for key in KEPT if key in variable.encoding}  # None says something, too
        kept = of_values | {key: variable.encoding[key] for key in kept_by_target if key in variable.encoding}
        asked = _Asked(name, variable, of_values, _bound_for(name, abs), _bound_for(name, rel))
        options = asked.options | {"recipe": recipe.get(name, "balanced") if isinstance(recipe, Mapping) else recipe}
        if to == "netcdf":
            from leeway.hdf5 import filter

            fills = [value for value in asked.fills if value not in asked.own_fill]
            result[name] = kept | {"chunksizes": _chunks_of(variable), **filter(**options, fill=fills)}
        elif zarr_format == 2:
            from leeway.numcodecs import Leeway

            result[name] = kept | {"compressors": Leeway(**options, fill=asked.fills or None)}
        else:
            from leeway.zarr import LeewayCodec

            result[name] = kept | {"serializer": LeewayCodec(**options, fill=asked.fills or None), "compressors": None}
        result.attributes[name] = dict(
            lossy_compression="leeway: error-bounded compression" if asked.limit else "leeway: lossless compression",
            lossy_compression_bound=f"abs={float(asked.limit)!r}" if asked.limit else "lossless",
            lossy_compression_version=leeway.__version__)
    return result
