# SPDX-License-Identifier: BSD-3-Clause
"""leeway for xarray: the encoding that to_netcdf and to_zarr take. Importing it makes the HDF5 filter known, as
leeway.hdf5 does.

    import leeway.xarray
    encoding = leeway.xarray.encoding(ds, abs={"t": 0.01, "q": 1e-6})
    ds.to_netcdf("out.nc", engine="h5netcdf", encoding=encoding)

    encoding = leeway.xarray.encoding(ds, rel=1e-4, to="zarr")        # every floating-point variable that holds data
    encoding = leeway.xarray.encoding(ds, bounds="bounds.toml", to="zarr")    # or as a file says
    encoding.describe(ds).to_zarr("out.zarr", zarr_format=3, encoding=encoding)    # with attributes that say so
"""
from __future__ import annotations

import contextlib
import fnmatch
import os
import warnings
from typing import Any, Iterable, Iterator, Mapping, Union

import numpy as np
from xarray import Dataset, Variable
from xarray.conventions import CF_RELATED_DATA, decode_cf_variable, encode_cf_variable

import leeway
from leeway import _arrays, _bounds_file, _cf, _native

with contextlib.suppress(ImportError):  # Zarr needs no h5py
    import leeway.hdf5

__all__ = ["Advice", "Encoding", "advise", "encoding"]

Bounds = Union[float, Mapping[str, float], None]

#: What a variable was read with, and is to be written with again.
KEPT = ("_FillValue", "missing_value", "dtype", "scale_factor", "add_offset", "units", "calendar", "_Unsigned", *CF_RELATED_DATA)
KEPT_BY_NETCDF = ("fletcher32",)
KEPT_BY_ZARR = ("chunks", "shards", "write_empty_chunks", "chunk_key_encoding")
KEPT_BY_ZARR_3 = (*KEPT_BY_ZARR, "fill_value")

#: How many values a chunk of a variable holds at most, unless the user says otherwise.
CHUNK_VALUES = 1 << 20
#: Chunks smaller than this cost too much; they are made anew.
SMALLEST_CHUNK = 1 << 14
#: What a variable in a Zarr store says to readers that do not know the codec; _native.HDF5_READER is the same for netCDF.
ZARR_READER = ("Zarr codec of leeway, an error-bounded lossy compressor of scientific arrays: install its Python package, then import "
               "leeway.zarr")


class Encoding(dict):
    """What to_netcdf and to_zarr take as `encoding`."""

    def __init__(self) -> None:
        self.attributes: dict[str, dict[str, str]] = {}  #: for every variable, what describe() adds
        self.left_alone: dict[str, str] = {}  #: floating-point variables that hold no data, and why

    def describe(self, ds: Any) -> Any:
        """The dataset with attributes of the variables that say what is done to them, lossy_compression, lossy_compression_bound
        ("abs=0.01") and lossy_compression_version, and how to read them, lossy_compression_reader. The bound of an earlier
        compression stays stated; its largest error does not, since more is added to it. `ds` itself stays as it is."""
        described = ds.assign({name: ds[name].assign_attrs(said) for name, said in self.attributes.items()})
        for name, said in self.attributes.items():
            if said["lossy_compression_bound"] != ds[name].attrs.get("lossy_compression_bound"):
                described[name].attrs.pop("lossy_compression_maximum_error", None)
        return described


def _blocks(variable: Any) -> Iterator[np.ndarray]:
    """The values, block by block where dask holds them."""
    if not variable.chunks:
        yield np.asarray(variable.values)
        return
    for block in variable.data.to_delayed().ravel():
        yield np.asarray(block.compute())


def _extremes(variable: Any, fills: list[float]) -> np.ndarray:
    """A few values that have the same range as all values; dask finds them in parallel."""
    if not variable.chunks:
        return _arrays.extremes(np.asarray(variable.values), fills)
    import dask

    find = dask.delayed(lambda block: _arrays.extremes(np.asarray(block), fills), pure=True)
    return np.concatenate(dask.compute(*map(find, variable.data.to_delayed().ravel())))


def _leaves_nothing(variable: Any, fills: list[float], bound: float) -> bool:
    """Whether the values lie so close together that the bound leaves nothing of them. The first block tells, mostly."""
    low, high = np.inf, -np.inf
    for block in _blocks(variable):
        found = _arrays.value_range(block, fills)
        if found:
            low, high = min(low, found.min), max(high, found.max)
        if high - low > bound:
            return False
    return 0 < high - low < bound


def _chunks_of(variable: Any) -> tuple[int, ...]:
    chunks = variable.encoding.get("chunksizes")
    # The chunks of the file the variable was read from count only if it still has the shape it had there.
    if chunks and variable.encoding.get("original_shape", variable.shape) == variable.shape and len(chunks) == variable.ndim:
        chunks = tuple(map(min, chunks, variable.shape))
        if np.prod(chunks, dtype=float) >= min(SMALLEST_CHUNK, variable.size):
            return chunks
    if variable.chunks:
        return tuple(axis[0] for axis in variable.chunks)
    return _native.chunk_of_maps(list(variable.shape), CHUNK_VALUES)


def _zarr_chunks_of(variable: Any) -> dict[str, Any]:
    """Nothing where xarray knows better: it keeps the chunks of a store that was read, and takes those of dask."""
    if variable.chunks or variable.encoding.get("chunks") or variable.encoding.get("shards"):
        return {}
    return {"chunks": _native.chunk_of_maps(list(variable.shape), CHUNK_VALUES)}


def _excluded(ds: Any, patterns: list[str], common: list[str]) -> dict[str, str]:
    """Variables that are left out, with the reason. `common`, the patterns of a bounds file, need not match any."""
    unknown = [name for name in patterns if name not in ds.variables and not _bounds_file.is_pattern(name)]
    if unknown:
        raise KeyError(f"the dataset has no variable {', '.join(map(repr, unknown))}")
    idle = [pattern for pattern in patterns if pattern not in ds.variables and not fnmatch.filter(map(str, ds.variables), pattern)]
    if idle:
        warnings.warn(f"exclude: no variable of the dataset is meant by {', '.join(map(repr, idle))}", stacklevel=3)
    return {name: "it is excluded" for name in ds.variables
            if any(fnmatch.fnmatchcase(str(name), pattern) for pattern in [*patterns, *common])}


class _Wishes:
    """What is asked of every variable."""

    def __init__(self, ds: Any, given: Mapping[str, Bounds], lossless: bool | Iterable[str],
                 in_file: _bounds_file.Bounds, left_alone: Mapping[str, str], excluded: Mapping[str, str]) -> None:
        self.ds, self.left_alone, self.excluded, self.file = ds, left_alone, excluded, in_file
        exact = {"lossless": True} if lossless is True else {}
        self.general = exact or {kind: value for kind, value in given.items() if value is not None and not isinstance(value, Mapping)}
        self.general = self.general or in_file.general
        self.named = {kind: value for kind, value in given.items() if isinstance(value, Mapping)}
        self.named["lossless"] = {} if exact else dict.fromkeys(lossless or (), True)
        unknown = {name for mapping in self.named.values() for name in mapping} - set(ds.variables)
        if unknown:
            raise KeyError(f"the dataset has no variable {', '.join(map(repr, sorted(unknown)))}")

    def refuse_excluded(self, names: Iterable[str]) -> None:
        """What is asked for by name cannot be excluded by name; where a pattern excludes it, the name counts more."""
        both = sorted({name for mapping in self.named.values() for name in mapping} & set(names))
        if both:
            raise ValueError(f"{', '.join(map(repr, both))} is asked for and excluded at the same time")

    def of(self, name: str) -> _bounds_file.OwnBound | None:
        """None: the variable stays as it is."""
        variable = self.ds[name]
        holds_data = name not in self.left_alone and variable.ndim > 0
        named = {kind: mapping[name] for kind, mapping in self.named.items() if name in mapping}
        own = None if name in self.excluded else self.file.of(str(name), holds_data)
        limits = named or (own.limits if own else {})
        if not own and holds_data and variable.dtype.kind == "f":
            # A pointwise bound cannot be combined with others: then only what is said of the variable itself counts.
            alone = named and "pointwise" in (self.general | named)
            limits = named if alone else self.general | named
        if limits.get("lossless") or limits.get("abs") == 0:
            limits = {"lossless": True}
        if "pointwise" in limits and len(limits) > 1:
            raise ValueError(f"{name!r}: a pointwise bound stands alone; choose it or {', '.join(sorted(set(limits) - {'pointwise'}))}")
        return _bounds_file.OwnBound(limits, own.recipe if own else None, own.rules if own else {}) if limits else None


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

    def __init__(self, name: str, variable: Any, kept: Mapping[str, Any], limits: Mapping[str, float]) -> None:
        # As xarray will write it.
        stored = encode_cf_variable(Variable(variable.dims, variable.variable.data, variable.attrs, dict(kept)), name=name)
        self.name, self.limits, self.values = name, limits, variable.size
        self.unit = np.abs(float(stored.attrs.get("scale_factor", 1))) or 1.0
        self.offset = float(stored.attrs.get("add_offset", 0))
        self.scale = float(stored.attrs.get("scale_factor", 1)) or 1.0
        self.fills = _fills(stored, "_FillValue", "missing_value")
        self.own_fill = _fills(stored, "_FillValue")  #: an HDF5 dataset tells the filter itself
        self.wraps = str(stored.attrs.get("_Unsigned", "false")).lower() == "true"  #: between large values and negative ones
        if self.wraps and set(limits) - {"abs", "lossless"}:
            raise ValueError(f"{name!r} holds unsigned numbers as signed ones (_Unsigned): give abs= or lossless=, no other bound")
        self.range = 0.0
        if "rel" in limits or "psnr" in limits:
            found = _arrays.value_range(_extremes(stored, self.fills), self.fills)
            if found and found.size > 0:
                self.range, self.fills = found.size, found.fills
        #: As the reader is to see them; None: no such bound.
        self.limit = self._smallest(limits.get("abs"), "rel" in limits and self.range
                                    and _native.relative_bound(limits["rel"], self.range) * self.unit)
        self.rms = self._smallest("psnr" in limits and self.range * self.unit * 10 ** (-limits.get("psnr", 0) / 20),
                                  "l2" in limits and limits["l2"] / np.sqrt(self.values))
        self.pointwise = limits.get("pointwise")
        if self.pointwise and stored.dtype.kind != "f":
            raise ValueError(f"{name!r} is stored as {stored.dtype}, and a pointwise bound is for floating-point numbers; give abs or rel")
        self.options = self._options(*_cost_of_packing(name, variable.variable, stored))
        if "abs" in self.options and _leaves_nothing(stored, self.fills, self.limit / self.unit):
            warnings.warn(f"{name!r}: the bound {self.limit:g} is larger than the range of its values, nothing will be left of "
                          "them; give it one of its own, or leave it out", stacklevel=4)

    @staticmethod
    def _smallest(*limits: Any) -> float | None:
        return min((float(limit) for limit in limits if limit), default=None)

    @property
    def is_lossless(self) -> bool:
        return not (self.limit or self.rms or self.pointwise)

    @property
    def bound(self) -> str:
        """As an attribute says it."""
        said = [f"abs={self.limit!r}"] * bool(self.limit)
        said += [f"{kind}={float(self.limits[kind])!r}" for kind in ("psnr", "l2", "pointwise") if kind in self.limits]
        return "lossless" if self.is_lossless else ",".join(said)

    def _options(self, packing: float, rounding: float) -> dict[str, Any]:
        if packing == 0 and (self.is_lossless or (self.limit or np.inf) <= rounding):
            return {"lossless": True}
        if self.is_lossless:
            raise self._too_costly(packing, "that is not lossless")
        if self.pointwise:
            if packing or self.offset:
                raise self._too_costly(packing, "a pointwise bound refers to what is stored, and would mean nothing for its values")
            return {"pointwise": self.pointwise - (4 * float(np.finfo("f4").eps) if rounding else 0)}
        options: dict[str, Any] = {}
        if self.limit:
            options["abs"] = self._left(self.limit, packing + rounding)
        if self.wraps:
            return {"lossless": True}
        if self.rms and packing == rounding == 0:
            options |= {"psnr": self.limits["psnr"], "range": self.range} if "psnr" in self.limits else {}
            options |= {"l2": self.limits["l2"], "values": self.values} if "l2" in self.limits else {}
        elif self.rms:
            options |= {"l2": self._left(self.rms, packing + rounding), "values": 1}
        return options

    def stored_rules(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        """keep, min and max, for the numbers that are stored."""
        if self.offset and "keep" in rules:
            raise ValueError(f"{self.name!r} is packed with an offset (add_offset): zeros and signs of its values cannot be kept")
        stored = {key: (value - self.offset) / self.scale if key != "keep" else value for key, value in rules.items()}
        if self.scale < 0:
            stored = {{"min": "max", "max": "min"}.get(key, key): value for key, value in stored.items()}
        return stored

    def _left(self, limit: float, cost: float) -> float:
        """Of a bound, for the numbers that are stored."""
        if limit <= cost:
            raise self._too_costly(cost, f"the bound {limit:g} cannot be kept")
        return (limit - cost) / self.unit

    def _too_costly(self, cost: float, what: str) -> ValueError:
        return ValueError(f"{self.name!r} is written as other numbers than it has (encoding: dtype, scale_factor, add_offset), which "
                          f"alone costs {cost:.3g}: {what}. Take that out of ds[{self.name!r}].encoding, or give a larger bound")


def _regions_of(name: str, variable: Any, regions: Any, to: str, zarr_format: int) -> dict[str, Any]:
    """What the codec of a Zarr array takes; all else cannot keep bounds of regions."""
    if not regions:
        return {}
    if to == "netcdf":
        raise ValueError(f"{name!r}: the HDF5 filter does not know which chunk it is given, so that it cannot keep bounds of regions; "
                         "write the file without them, and the variable then with leeway.hdf5.write(dataset, values, region_bounds=...)")
    if zarr_format == 2:
        raise ValueError(f"{name!r}: a codec of Zarr 2 does not know which chunk it is given, so that it cannot keep bounds of regions; "
                         "zarr_format=3 can, for variables of one chunk")
    chunks = variable.encoding.get("chunks", variable.shape)
    if tuple(chunks) != variable.shape:
        raise ValueError(f"{name!r}: bounds of regions are for variables of one chunk; its encoding asks for chunks of {tuple(chunks)}")
    return {"region_bounds": list(regions)}


def encoding(
    ds: Any,
    *,
    abs: Bounds = None,
    rel: Bounds = None,
    psnr: Bounds = None,
    l2: Bounds = None,
    pointwise: Bounds = None,
    lossless: bool | Iterable[str] = False,
    bounds: str | os.PathLike | Mapping[str, Any] | None = None,
    region_bounds: Mapping[str, Iterable[tuple[Any, float]]] | None = None,
    recipe: str | Mapping[str, str] | None = None,
    keep: str | Mapping[str, str] = "",
    min: Bounds = None,
    max: Bounds = None,
    exclude: str | Iterable[str] = (),
    to: str = "netcdf",
    zarr_format: int = 3,
) -> Encoding:
    """The `encoding` for Dataset.to_netcdf (with engine="h5netcdf") and, with to="zarr", for Dataset.to_zarr.

    A bound is a number for all floating-point data variables, or a mapping from names to numbers; `lossless` is True or a
    list of names. They mean what they mean in leeway.compress(), for each variable as a whole. The range that `rel` and `psnr` refer
    to is computed here: without _FillValue, missing_value, and what leeway.compress() would take for a fill value.

    bounds         a file in TOML (docs/CLIMATE.md), or a mapping like {"t": "abs:0.01", "tas*": {"rel": 1e-4}}. What it says of a
                   variable counts instead of a bound for all; a variable that the dataset lacks is passed over, with a warning
    region_bounds  for each name, pairs of a region and a smaller bound there; only for variables of one chunk in a Zarr 3 store
    recipe         one for all, "balanced" if not given, or a mapping from names
    keep           "zeros", "sign" or "zeros,sign": what is 0, or below, at or above 0, stays so; for all that are compressed, or by name
    min, max       limits that no value passes, unless it has done so before; for all, or by name. A bounds file has both, too:
                   "pr" = "abs:1e-6,keep:zeros,min:0"
    exclude        names or patterns ("p*") of variables that stay as they are, also if `bounds` names them

    Variables that describe others (coordinates, cell bounds, meshes, flags, as CF and UGRID mark them) are left alone unless
    they are named. The result's `left_alone` says which and why.

    Fill value, packing, time units and chunks that a variable was read with are kept. A variable without chunks gets such that
    hold whole maps: the last axes stay whole as long as a chunk has no more than 2^20 values, and the one before is cut.

    Bounds hold for what a reader sees: what packing costs is taken off, and ValueError raised if nothing is left. A bound larger
    than the range of a variable is a warning.

    `ds` stays as it is. `encoding.describe(ds)` is the dataset with attributes that say what is done.
    """
    if to not in ("netcdf", "zarr"):
        raise ValueError(f"to='netcdf' or to='zarr', not {to!r}")
    _check_dataset(ds)
    in_file = _bounds_file.read(bounds)
    patterns = [exclude] if isinstance(exclude, str) else list(exclude)
    excluded = _excluded(ds, patterns, in_file.excluded)
    left_alone = _cf.descriptions(ds) | excluded
    wishes = _Wishes(ds, dict(abs=abs, rel=rel, psnr=psnr, l2=l2, pointwise=pointwise), lossless, in_file, left_alone, excluded)
    wishes.refuse_excluded(patterns)
    wanted = {name: wish for name in ds.variables if (wish := wishes.of(name)) is not None}
    idle = ", ".join(map(repr, in_file.without_meaning(map(str, ds.variables))))
    idle = idle and f"bounds: no variable of the dataset is meant by {idle}"
    if not wanted:
        raise ValueError("no variable is chosen: give abs=, rel=, psnr=, l2=, pointwise=, lossless= or bounds=, for floating-point "
                         "variables or by name" + (f"; {idle}" if idle else ""))
    if idle:
        warnings.warn(idle, stacklevel=2)
    kept_by_target = KEPT_BY_NETCDF if to == "netcdf" else KEPT_BY_ZARR if zarr_format == 2 else KEPT_BY_ZARR_3
    result = Encoding()
    result.left_alone = {name: reason for name, reason in left_alone.items()
                         if name in ds.data_vars and name not in wanted and ds[name].dtype.kind == "f"}
    for name, wish in wanted.items():
        variable = ds[name]
        of_values = {key: variable.encoding[key] for key in KEPT if key in variable.encoding}  # None says something, too
        kept = of_values | {key: variable.encoding[key] for key in kept_by_target if key in variable.encoding}
        asked = _Asked(name, variable, of_values, wish.limits)
        own_recipe = recipe.get(name) if isinstance(recipe, Mapping) else recipe
        options = asked.options | {"recipe": own_recipe or wish.recipe or in_file.recipe or "balanced"}
        rules = (wish.rules or {}) | {key: value for key, value in zip(_bounds_file.RULES, (_of(name, given) for given in (keep, min, max)))
                                      if value not in (None, "")}
        options |= asked.stored_rules(rules)
        options |= _regions_of(name, variable, (region_bounds or {}).get(name), to, zarr_format)
        result[name] = kept | _coding(variable, asked, options, to, zarr_format)
        bound = _joined(variable.attrs.get("lossy_compression_bound", "lossless"), asked.bound)
        result.attributes[name] = dict(
            lossy_compression="leeway: lossless compression" if bound == "lossless" else "leeway: error-bounded compression",
            lossy_compression_bound=bound, lossy_compression_version=leeway.__version__,
            lossy_compression_reader=_native.HDF5_READER if to == "netcdf" else ZARR_READER)
        if rules:
            result.attributes[name]["lossy_compression_rules"] = leeway._rules(rules.get("keep", ""), rules.get("min"), rules.get("max"))
    return result


def _of(name: str, given: Any) -> Any:
    return given.get(name) if isinstance(given, Mapping) else given


class Advice(dict):
    """A bound for each variable, as text ("abs:0.01"): change what you like, and give it to encoding(ds, bounds=...)."""

    def __init__(self) -> None:
        self.found: dict[str, leeway.BoundAdvice] = {}  #: all that leeway.advise() said
        self.left_alone: dict[str, str] = {}  #: floating-point variables that hold no data, and why

    def __repr__(self) -> str:
        said = [f"{name}: {bound!r} by {next(s.by for s in self.found[name] if s.text == bound)}, ratio about "
                f"{next(s.ratio for s in self.found[name] if s.text == bound):.1f}" if any(s.text == bound for s in self.found[name])
                else f"{name}: {bound!r}" for name, bound in self.items()]
        return "\n".join([*said, *(f"left alone: {name}, {reason}" for name, reason in self.left_alone.items())])


def advise(ds: Any, *, want: str | Iterable[str] = (), recipe: str = "small", exclude: str | Iterable[str] = ()) -> Advice:
    """Which bound suits each floating-point variable that holds data: encoding(ds, bounds=advise(ds)). What leeway.advise() takes for
    noise, or the requirements of `want` ("dssim=0.9995"), decide. Of large variables a part is looked at, from the middle."""
    _check_dataset(ds)
    patterns = [exclude] if isinstance(exclude, str) else list(exclude)
    left_alone = _cf.descriptions(ds) | _excluded(ds, patterns, [])
    result = Advice()
    for name in ds.data_vars:
        variable = ds[name]
        if variable.dtype.kind != "f" or not variable.size:
            continue
        if name in left_alone:
            result.left_alone[name] = left_alone[name]
            continue
        fills = [variable.encoding[key] for key in ("_FillValue", "missing_value") if variable.encoding.get(key) is not None]
        fills += [variable.attrs[key] for key in ("_FillValue", "missing_value") if key in variable.attrs]
        found = leeway.advise(_middle(variable), want=[want] if isinstance(want, str) else list(want), recipes=[recipe], fill=fills)
        # What is packed into integers cannot have a bound relative to each value.
        is_packed = np.dtype(variable.encoding.get("dtype", variable.dtype)).kind != "f"
        best = next((s for s in found if s.kind != "pointwise"), None) if is_packed and found.best and found.best.kind == "pointwise" else found.best
        result.found[name] = found
        if best is not None:
            result[name] = best.text
    return result


def _middle(variable: Any, most: int = 1 << 22) -> np.ndarray:
    """The values, or a part from the middle: slices of the first axes."""
    for axis in variable.dims[:-2]:
        rest = variable.size // variable.sizes[axis]
        kept = max(1, min(variable.sizes[axis], most // max(rest, 1)))
        first = (variable.sizes[axis] - kept) // 2
        variable = variable.isel({axis: slice(first, first + kept)})
    return np.asarray(variable.values)


def _joined(earlier: str, later: str) -> str:
    """The bounds of two compressions after each other, as an attribute says them."""
    return "; then ".join(bound for bound in (earlier, later) if bound != "lossless") or "lossless"


def _check_dataset(ds: Any) -> None:
    if isinstance(ds, Dataset):
        return
    hint = {"DataArray": "array.to_dataset(name='t') makes one of an array",
            "DataTree": "tree['/group'].to_dataset() is that of a group"}.get(type(ds).__name__, "xarray.open_dataset() gives one")
    raise TypeError(f"a Dataset is needed, not {type(ds).__name__}; {hint}")


def _coding(variable: Any, asked: _Asked, options: dict[str, Any], to: str, zarr_format: int) -> dict[str, Any]:
    """What to_netcdf or to_zarr takes for one variable."""
    if to == "netcdf":
        from leeway.hdf5 import filter

        fills = [value for value in asked.fills if value not in asked.own_fill]
        return {"chunksizes": _chunks_of(variable), **filter(**options, fill=fills)}
    if zarr_format == 2:
        from leeway.numcodecs import Leeway

        return {"compressors": Leeway(**options, fill=asked.fills or None), **_zarr_chunks_of(variable)}
    from leeway.zarr import LeewayCodec

    chunks = {"chunks": variable.shape} if "region_bounds" in options else _zarr_chunks_of(variable)
    return {"serializer": LeewayCodec(**options, fill=asked.fills or None), "compressors": None, **chunks}
