# SPDX-License-Identifier: BSD-3-Clause
"""leeway for xarray: the encoding that to_netcdf and to_zarr take.

    import leeway.xarray
    encoding = leeway.xarray.encoding(ds, abs={"t": 0.01, "q": 1e-6})
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)

    encoding = leeway.xarray.encoding(ds, rel=1e-4, to="zarr")        # every floating-point variable
    ds.to_zarr("out.zarr", zarr_format=3, encoding=encoding)
"""
from __future__ import annotations

from typing import Any, Mapping, Union

import numpy as np

import leeway

Bounds = Union[float, Mapping[str, float], None]

#: What a variable was read with, and is to be written with again.
KEPT = ("_FillValue", "missing_value", "dtype", "scale_factor", "add_offset", "units", "calendar")

#: One chunk of a netCDF variable holds at most so many values, if nothing else is said.
CHUNK_VALUES = 1 << 20


def _bound_for(name: str, given: Bounds) -> float | None:
    return given.get(name) if isinstance(given, Mapping) else given


def _range_of(variable: Any) -> float:
    """Maximum - minimum of the finite values; computed chunk by chunk where dask holds them."""
    finite = variable.where(np.isfinite(variable))
    return float(finite.max() - finite.min())


def _chunks_of(variable: Any) -> tuple[int, ...]:
    if variable.encoding.get("chunksizes"):
        return tuple(variable.encoding["chunksizes"])
    if variable.chunks:
        return tuple(axis[0] for axis in variable.chunks)
    extents = list(variable.shape)
    while np.prod(extents, dtype=float) > CHUNK_VALUES:
        longest = int(np.argmax(extents))
        extents[longest] = (extents[longest] + 1) // 2
    return tuple(extents)


def _chosen(ds: Any, *bounds: Any) -> list[str]:
    named = {name for given in bounds if isinstance(given, Mapping) for name in given}
    unknown = named - set(ds.variables)
    if unknown:
        raise KeyError(f"the dataset has no variable {', '.join(map(repr, sorted(unknown)))}")
    everywhere = any(given is not None and given is not False and not isinstance(given, Mapping) for given in bounds)
    return [name for name in ds.variables
            if name in named or (everywhere and name in ds.data_vars and ds[name].dtype.kind == "f" and ds[name].ndim > 0)]


def encoding(
    ds: Any,
    *,
    abs: Bounds = None,
    rel: Bounds = None,
    lossless: bool | list[str] = False,
    recipe: str | Mapping[str, str] = "balanced",
    to: str = "netcdf",
    zarr_format: int = 3,
    attributes: bool = True,
) -> dict[str, dict[str, Any]]:
    """The `encoding` for Dataset.to_netcdf (with engine="h5netcdf") and, with to="zarr", for Dataset.to_zarr.

    A bound is a number for all floating-point data variables, or a mapping from names to numbers; `lossless` is True or a
    list of names. `rel` is relative to the range of a variable, which is computed here.

    Fill value, packing and time units that a variable was read with are kept.

    Unless `attributes` is false, every chosen variable is given attributes that say what was done to it:
    lossy_compression, lossy_compression_bound ("abs=0.01"), lossy_compression_version.
    """
    if to not in ("netcdf", "zarr"):
        raise ValueError(f"to='netcdf' or to='zarr', not {to!r}")
    exact = dict.fromkeys(lossless, True) if isinstance(lossless, (list, tuple)) else lossless
    names = _chosen(ds, abs, rel, exact)
    if not names:
        raise ValueError("no variable is chosen: give abs=, rel= or lossless=, for floating-point variables or by name")
    result = {}
    for name in names:
        variable = ds[name]
        limit, part = _bound_for(name, abs), _bound_for(name, rel)
        if part is not None:
            span = _range_of(variable)
            limit = min(limit or np.inf, part * span) if span > 0 else limit
        kept = {key: variable.encoding[key] for key in KEPT if key in variable.encoding}
        # Numbers that xarray packs into integers are bounded in the unit they stand for.
        unit = np.abs(float(kept.get("scale_factor", 1)))
        options: dict[str, Any] = {"abs": float(limit) / unit} if limit else {"lossless": True}
        options["recipe"] = recipe.get(name, "balanced") if isinstance(recipe, Mapping) else recipe
        if to == "netcdf":
            from leeway.hdf5 import filter

            result[name] = kept | {"chunksizes": _chunks_of(variable), **filter(**options)}
        elif zarr_format == 2:
            from leeway.numcodecs import Leeway

            result[name] = kept | {"compressors": Leeway(**options)}
        else:
            from leeway.zarr import LeewayCodec

            result[name] = kept | {"serializer": LeewayCodec(**options), "compressors": None}
        if attributes:
            variable.attrs.update(
                lossy_compression="leeway: error-bounded compression" if limit else "leeway: lossless compression",
                lossy_compression_bound=f"abs={limit!r}" if limit else "lossless",
                lossy_compression_version=leeway.__version__)
    return result
