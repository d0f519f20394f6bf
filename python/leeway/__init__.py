# SPDX-License-Identifier: BSD-3-Clause
"""Error-bounded lossy compression of scientific arrays.

>>> import numpy as np, leeway
>>> field = np.sin(np.linspace(0, 60, 100 * 200, dtype="f4")).reshape(100, 200)
>>> stream = leeway.compress(field, abs=1e-3)
>>> bool(np.abs(leeway.decompress(stream) - field).max() <= 1e-3)
True
>>> leeway.region(stream, np.s_[10:12, :3]).shape
(2, 3)

A stream is bytes, anything with the buffer interface, or the path of a file. Every function releases the interpreter's
lock while it works and may be called from several threads.
"""
from __future__ import annotations

import dataclasses
import math
import os
import warnings
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _native
from ._judge import BoundAdvice, Comparison, Kept, Report, Suggestion, Together
from ._arrays import NUMPY_NAMES, as_array, bfloat16, default_threads, fill_values, number, split_fills, value_range
from ._selection import Selection

__all__ = ["Info", "Stream", "Verification", "advise", "append", "compare", "compress", "compress_together", "decompress", "inspect",
           "join", "preview", "recipes", "region", "report", "verify", "verify_together"]
__version__: str = _native.version()

Stream = Union[bytes, bytearray, memoryview, np.ndarray, str, os.PathLike]
Progress = Callable[[float], Any]


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])


def _limits(abs: float | None, rel: float | None, psnr: float | None, l2: float | None, lossless: bool, ratio: float | None,
            rate: float | None, pointwise: float | None = None) -> list[tuple[str, float]]:
    given = [("abs", abs), ("rel", rel), ("psnr", psnr), ("l2", l2), ("lossless", 0.0 if lossless else None),
             ("ratio", ratio), ("rate", rate), ("pointwise", pointwise)]
    limits = [(kind, number(f"{kind}=", value)) for kind, value in given if value is not None]
    if not limits:
        raise ValueError("a bound is needed: abs=, rel=, psnr=, l2=, pointwise=, lossless=True, ratio= or rate=")
    return limits


def _rules(keep: str | Iterable[str] = (), least: float | None = None, most: float | None = None) -> str:
    """keep=, min= and max= as text."""
    kept = keep.split(",") if isinstance(keep, str) else list(keep)
    said = [f"keep={','.join(kept)}"] if kept and kept != [""] else []
    said += [f"{name}={number(f'{name}=', value)!r}" for name, value in (("min", least), ("max", most)) if value is not None]
    return " ".join(said)


def _open(stream: Stream | _native.Stream) -> _native.Stream:
    if isinstance(stream, _native.Stream):
        return stream
    if isinstance(stream, (str, os.PathLike)):
        return _native.Stream(os.fspath(stream))
    return _native.Stream(np.frombuffer(stream, np.uint8))


def _box(region: Any, shape: Sequence[int]) -> tuple[list[int], list[int]]:
    """First index and extents of a region."""
    selection = Selection(region, shape)
    if any(isinstance(part, slice) and part.step not in (None, 1) for part in (region if isinstance(region, tuple) else (region,))):
        raise ValueError("a region with a bound of its own has slices of step 1")
    return selection.first, selection.extents


def _chunk(chunk: Any) -> list[int]:
    if np.ndim(chunk) != 1:
        raise TypeError(f"chunk= has an extent for each axis, like chunk=(64, 64, 64), not {chunk!r}")
    return [int(extent) for extent in chunk]


def _bounds(bounds: Any) -> np.ndarray:
    array = np.asarray(bounds)
    return np.ascontiguousarray(array, np.float32 if array.dtype == np.float32 else np.float64)


def compress(
    array: Any,
    *,
    abs: float | None = None,
    rel: float | None = None,
    psnr: float | None = None,
    l2: float | None = None,
    lossless: bool = False,
    ratio: float | None = None,
    rate: float | None = None,
    pointwise: float | None = None,
    recipe: str = "balanced",
    fill: float | Iterable[float] | None = (),
    detect_fills: bool = True,
    chunk: Sequence[int] = (),
    threads: int | None = None,
    region_bounds: Iterable[tuple[Any, float]] = (),
    bounds: Any = None,
    brief: bool = False,
    growing: bool = False,
    keep: str | Iterable[str] = (),
    min: float | None = None,
    max: float | None = None,
    ssim: float | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Compresses an array of integers or floating-point numbers, of any layout and byte order, into a stream.

    Bounds, of which several together must all hold:

    abs       no value is off by more than this
    rel       the same as a part of the value range (maximum - minimum of the finite values)
    psnr      peak signal-to-noise ratio of at least this many decibels
    l2        Euclidean norm of all errors of at most this
    lossless  no error at all

    pointwise, not together with others: no value is off by more than this part of itself; zeros stay zeros

    Or a size, as near as these bounds allow (a RuntimeWarning says if it could not be reached):

    ratio     the stream has 1/ratio of the array's bytes
    rate      the stream has this many bits for each value

    region_bounds  pairs of a region (np.s_[10:20, ..., 5]: slices, integers, an ellipsis) and a smaller absolute bound there; 0: no loss
    bounds         the same value by value: an array of the same shape, infinity where the other bounds are enough

    Or promises that hold beside abs, rel or pointwise, or alone; they are stated in the stream, and verify() checks them (docs/QUALITY.md):

    keep      "zeros": what is 0 stays 0; "sign": what is below, at or above 0 stays so; "zeros,sign": both
    min, max  no value passes these limits unless it did so before: then it stays as it is
    ssim      the data SSIM of the worst map is at least this; measured

    recipe        a preset ("fast", "balanced", "small", "smallest"), or any recipe; see recipes()
    fill          value(s) that mean "nothing here": kept exactly and left out of the range
    detect_fills  whether to look for customary fill values such as 1e20
    chunk         extents of the parts that are compressed by themselves; chosen if not given
    threads       worker threads; LEEWAY_NUM_THREADS or all cores if not given. The stream does not depend on it.
    brief         whether an array that fits into one chunk gets the brief form of a stream, which saves some 250 bytes: for what is
                  embedded in a container or sent in a message. Everything reads both forms; a brief stream cannot be updated.
    growing       whether rows can be put behind the array: see append()
    progress      called now and then with the part of the work that is done, 0 to 1, from any thread; what it raises ends the work

    NaN and infinities are always kept. Decoded arrays are in the byte order of the machine, rows last.

    The masked values of a masked array count as fill values: its fill_value replaces them in the stream, is kept exactly
    and left out of the range. Decoded arrays are plain; np.ma.masked_equal(decoded, array.fill_value) masks them again.
    """
    if keep or ssim is not None or not (min is max is None):
        if any([psnr, l2, lossless, ratio, rate, chunk, list(region_bounds), bounds is not None, brief, growing]):
            raise ValueError("keep=, min=, max= and ssim= go together with abs=, rel= or pointwise=, and a recipe")
        limits = {kind: value for kind, value in (("abs", abs), ("rel", rel), ("pointwise", pointwise)) if value is not None}
        return _promising(array, limits, _rules(keep, min, max), ssim, recipe, fill, detect_fills, threads)
    values, as_type = as_array(array)
    fills, fill_bits = split_fills(values, as_type, fill_values(array, fill))
    stream = _native.compress(values, as_type, _limits(abs, rel, psnr, l2, lossless, ratio, rate, pointwise), recipe, fills, detect_fills,
                              _chunk(chunk), threads or default_threads(),
                              [(*_box(region, values.shape), number("the bound of a region", bound)) for region, bound in region_bounds],
                              None if bounds is None else _bounds(bounds), fill_bits, bool(brief), None, bool(growing), progress)
    asked = np.fmin(values.nbytes / ratio if ratio else np.inf, values.size * rate / 8 if rate else np.inf)
    missed = np.isfinite(asked) and not 0.97 <= len(stream) / np.fmax(asked, 1) <= 1.03
    if missed and (len(stream) > asked or inspect(stream).max_error > 0):  # smaller without an error is as good as can be
        warnings.warn(f"{asked:.0f} bytes were asked for, the stream has {len(stream)}: no bound in question gives that size",
                      RuntimeWarning, stacklevel=2)
    return stream


def _promising(array: Any, limits: Mapping[str, float], rules: str, ssim: float | None, recipe: str,
               fill: float | Iterable[float] | None, detect_fills: bool, threads: int | None) -> bytes:
    """The stream of one array, which the promises call x."""
    if ssim is None:
        made = compress_together({"x": array}, _native.promises(rules, "x"), recipe=recipe, fill=fill, detect_fills=detect_fills,
                                 threads=threads, **limits)
        return made["x"]
    if rules:
        raise ValueError("ssim= does not go together with keep=, min= and max=")
    values, as_type = as_array(array)
    bits = split_fills(values, as_type, fill_values(array, fill))[1]
    found = value_range(array, fill) if detect_fills else None
    return _native.compress_similar(values, as_type, [(kind, number(f"{kind}=", value)) for kind, value in limits.items()],
                                    number("ssim=", ssim), recipe, found.fill_bits if found else bits, detect_fills,
                                    threads or default_threads())


def _compress_chunk(array: Any, limits: list[tuple[str, float]], recipe: str, fill: float | Iterable[float] | None,
                    region_bounds: Iterable[tuple[Any, float]], threads: int, whole: tuple[float, float], rules: str = "") -> bytes:
    """The brief stream of one chunk of an array, for hosts that have many small ones. `limits` come from _limits(), and `whole` has the
    range and the number of the values of the whole array, 0 where no bound refers to them. What the chunk was decoded from, if
    _decompress_chunk() has done so, keeps its bits."""
    values, as_type = as_array(array)
    fills, fill_bits = split_fills(values, as_type, fill_values(array, fill))
    regions = [(*_box(region, values.shape), bound) for region, bound in region_bounds]
    return _native.compress(values, as_type, limits, recipe, fills, True, [], threads, regions, None, fill_bits, True, whole, False, None,
                            rules)


def _result(stream: _native.Stream, shape: Sequence[int], out: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The array to return, the same as the native code fills it, and what to take its elements for."""
    if stream.dtype == "bf16":
        dtype, as_type = bfloat16(), "bf16"
        if dtype is None:
            raise ImportError("the stream holds bfloat16 values; NumPy needs the package ml_dtypes for them")
    else:
        dtype, as_type = np.dtype(NUMPY_NAMES[stream.dtype]), ""
    if out is None:
        out = np.empty(shape, dtype)
    elif out.dtype != dtype or out.shape != tuple(shape):
        raise ValueError(f"out is {out.dtype} {out.shape}, but the values are {dtype} {tuple(shape)}")
    return out, out.view(np.uint16) if as_type else out, as_type


def decompress(stream: Stream, *, out: np.ndarray | None = None, threads: int | None = None,
               progress: Progress | None = None) -> np.ndarray:
    """The array of a stream; checked against the checksums in it.

    out       an array of the same type and shape, of any layout, to be filled and returned
    threads   worker threads; LEEWAY_NUM_THREADS or all cores if not given
    progress  called now and then with the part of the work that is done, 0 to 1, from any thread; what it raises ends the work
    """
    opened = _open(stream)
    result, target, as_type = _result(opened, opened.shape, out)
    opened.read([0] * len(opened.shape), target, as_type, threads or default_threads(), progress)
    return result


def _decompress_chunk(stream: Any, *, threads: int) -> np.ndarray:
    """For hosts that decode a chunk, change a part of it and compress the whole again, with _compress_chunk(): what was not changed
    keeps its bits."""
    data = np.frombuffer(stream, np.uint8)
    opened = _native.Stream(data)
    values, target, as_type = _result(opened, opened.shape, None)
    opened.read([0] * target.ndim, target, as_type, threads, None)
    _native.remember(data, target, as_type)
    return values


def region(stream: Stream, selection: Any, *, threads: int | None = None) -> np.ndarray:
    """A part of the array of a stream: region(stream, np.s_[10:20, :, 5]). Decodes, and reads from a file, only what it
    needs. The selection is what NumPy's basic indexing takes: integers, slices, an ellipsis, np.newaxis."""
    opened = _open(stream)
    selected = Selection(selection, opened.shape)
    return selected.pick(_read_box(opened, selected.first, selected.extents, threads=threads or default_threads()))


def _read_box(opened: Any, first: Sequence[int], extents: Sequence[int], *, threads: int) -> np.ndarray:
    result, target, as_type = _result(opened, extents, None)
    opened.read(first, target, as_type, threads, None)
    return result


def preview(stream: Stream, level: int, *, threads: int | None = None) -> np.ndarray:
    """A coarse picture: in every chunk, every 2**level-th value along each axis, just as the whole array has it. Streams of the
    recipes "small" and "smallest" are read only as far as that takes."""
    opened = _open(stream)
    result, target, as_type = _result(opened, opened.preview_shape(level), None)
    opened.preview(level, target, as_type, threads or default_threads(), None)
    return result


@dataclasses.dataclass(frozen=True)
class Info:
    """What a stream says about itself."""

    dtype: str
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    chunks: int
    form: str  #: "standard" or "brief"
    growing: bool  #: whether rows can be put behind the array: append()
    bound: Mapping[str, float]  #: as asked
    abs_bound: float  #: the absolute bound in force; 0: no loss
    range: tuple[float, float]
    recipe: str
    fill_bits: list[int]
    variable: str  #: the name that promises have for this array
    promises: list[tuple[str, float, float]]  #: of derived quantities: text, absolute bound, largest error found
    max_error: float  #: the largest error reached
    special_values: int  #: NaN, infinities, fill values
    exact_values: int  #: others that are kept bit for bit
    decoded_hash: int
    input_bytes: int
    stream_bytes: int
    ratio: float


def inspect(stream: Stream) -> Info:
    """What a stream says about itself; reads only its header and its end."""
    return Info(**_open(stream).info())


@dataclasses.dataclass(frozen=True)
class Verification:
    """What verify() found; true if all is well."""

    max_error: float
    abs_bound: float
    complaints: list[str]

    def __bool__(self) -> bool:
        return not self.complaints


def verify(stream: Stream, against: Any = None, *, threads: int | None = None) -> Verification:
    """Decodes the stream and checks it: all checksums, and the bound it states; with the original, `against`, also the
    errors themselves."""
    info = inspect(stream)
    try:
        values = decompress(stream, threads=threads)
    except ValueError as error:
        return Verification(info.max_error, info.abs_bound, [str(error)])
    complaints = []
    if info.max_error > info.abs_bound:
        complaints.append("the stream states a larger error than its bound")
    if against is None:
        return Verification(info.max_error, info.abs_bound, complaints)
    original, decoded, as_type = _alike(against, values)
    found = _native.compare(original, decoded, as_type, info.fill_bits, False)
    if found["special_mismatches"]:
        complaints.append(f"{found['special_mismatches']} special values did not survive")
    if found["max_abs"] > info.abs_bound:
        complaints.append(f"the largest error {found['max_abs']} exceeds the bound {info.abs_bound}")
    if found["max_abs"] > info.max_error:
        complaints.append(f"the largest error {found['max_abs']} exceeds the stated {info.max_error}")
    if found["max_pointwise"] > info.bound.get("pointwise", np.inf):
        complaints.append(f"a value is off by {found['max_pointwise']} of itself, more than {info.bound['pointwise']}")
    if found["psnr"] < info.bound.get("psnr", -math.inf):
        complaints.append(f"PSNR {found['psnr']} dB is below {info.bound['psnr']}")
    if found["l2"] > info.bound.get("l2", np.inf):
        complaints.append(f"the L2 norm of the error {found['l2']} exceeds {info.bound['l2']}")
    complaints += _broken_promises(info, original, decoded, as_type, threads or default_threads())
    return Verification(found["max_abs"], info.abs_bound, complaints)


def _broken_promises(info: Info, original: Any, decoded: Any, as_type: str, threads: int) -> list[str]:
    """Of this array alone; verify_together() checks the others."""
    complaints, others = [], []
    for text, bound, _ in info.promises:
        if text.startswith("dssim("):
            least, found = float(text.split(">=")[1]), _native.data_ssim(original, decoded, as_type, info.fill_bits, threads)
            if not found >= least:
                complaints.append(f"the data SSIM {found} is below {least}")
        else:
            others.append((text, bound))
    kept, _ = _native.check_together([(info.variable, original, decoded, as_type, info.fill_bits)], others, threads)
    return complaints + [f"'{one['text']}' is not kept: {one['beyond']} of {one['compared']} are beyond" for one in kept if one["beyond"]]


def _alike(original: Any, other: Any) -> tuple[Any, Any, str]:
    """Two arrays of the same type and shape, and what to take their elements for."""
    first, as_type = as_array(original)
    second, as_other = as_array(other)
    if as_type != as_other or first.dtype != second.dtype or first.shape != second.shape:
        names = [as_type or first.dtype.name, as_other or second.dtype.name]
        hint = f"; convert one: other.astype('{names[0]}')" if names[0] != names[1] and not as_type else ""
        raise ValueError(f"{names[0]} {first.shape} cannot be compared with {names[1]} {second.shape}{hint}")
    return first, second, as_type


def compare(original: Any, other: Any, *, fill: float | Iterable[float] | None = (), ssim: bool = True) -> Comparison:
    """How far an array, or that of a stream, is from the original: max_abs, max_rel, max_pointwise, mean_error, rmse, nrmse, psnr, l2,
    pearson, ssim, dssim (the data SSIM of the worst map, to which the published thresholds apply), and special_mismatches (NaN, infinities and fill values that differ). Both must have the same type and shape.

    Fill values are no part of the range nor of any error: those given, the masked values of a masked array, and what
    compress() with a relative bound would take for one."""
    if isinstance(other, (bytes, bytearray, memoryview, str, os.PathLike)):
        other = decompress(other)
    first, second, as_type = _alike(original, other)
    found = value_range(original, fill)
    bits = found.fill_bits if found else []
    measures = _native.compare(first, second, as_type, bits, ssim)
    return Comparison(measures | ({"dssim": _native.data_ssim(first, second, as_type, bits, default_threads())} if ssim else {}))


def report(original: Any, decoded: Any, *, name: str = "", units: str = "", title: str = "What compression did to the data",
           fill: float | Iterable[float] | None = (), bound: float = 0, profile: str = "generic", levels: Iterable[float] = (),
           rates: bool = True, threads: int | None = None, progress: Progress | None = None) -> Report:
    """What compression did to an array, as a page (docs/QUALITY.md) that shows itself in a notebook: report(array, stream), or with the
    decoded array in the place of the stream. Of an xarray.DataArray, name, units and coordinates are told, too.

    bound    the absolute bound, where a stream does not state it
    profile  whose features are counted: "generic", "climate", "turbulence", "cosmology", "particles", "image"
    levels   thresholds at which they are counted
    rates    whether other bounds and presets are tried on a part of the array
    """
    said, axes = _described(original)
    facts, sizes = [name or said[0], units or said[1], "", "", *said[2:]], (0, 0)
    if isinstance(decoded, (bytes, bytearray, memoryview, str, os.PathLike)):
        info = inspect(decoded)
        facts[2:4] = [",".join(kind if kind == "lossless" else f"{kind}={value!r}" for kind, value in info.bound.items()), info.recipe]
        bound, sizes, decoded = bound or info.abs_bound, (info.input_bytes, info.stream_bytes), decompress(decoded, threads=threads)
    first, second, as_type = _alike(original, decoded)
    found = value_range(original, fill)
    page, scores, features = _native.report(first, second, as_type, found.fill_bits if found else [], title, facts, float(bound), sizes,
                                            rates, threads or default_threads(), progress, axes, profile, [float(v) for v in levels])
    return Report(page, scores, features, np.asarray(original), np.asarray(decoded), float(bound))


def _described(array: Any) -> tuple[list[str], list[tuple[str, str, list[float]]]]:
    """What an xarray.DataArray says of itself: name, units, long and standard name; and its axes."""
    attributes, dims, coords = (getattr(array, name, None) for name in ("attrs", "dims", "coords"))
    if not isinstance(attributes, Mapping) or coords is None or dims is None:
        return ["", "", "", ""], []
    axes = []
    for dim in dims:
        values = np.asarray(coords[dim]) if dim in coords else np.empty(0)
        is_number = values.dtype.kind in "fiu" and values.ndim == 1
        axes.append((str(dim), str(coords[dim].attrs.get("units", "")) if is_number else "", values.astype("f8").tolist() if is_number else []))
    return [str(getattr(array, "name", None) or ""), *(str(attributes.get(key, "")) for key in ("units", "long_name", "standard_name"))], axes


def compress_together(
    arrays: Mapping[str, Any],
    promises: Sequence[str],
    *,
    abs: float | Mapping[str, float] | None = None,
    rel: float | Mapping[str, float] | None = None,
    pointwise: float | Mapping[str, float] | None = None,
    recipe: str = "small",
    fill: float | Iterable[float] | None = (),
    detect_fills: bool = True,
    threads: int | None = None,
) -> Together:
    """Compresses arrays of one shape so that what is calculated from them keeps bounds of its own, which are stated in the streams and
    checked by verify_together() and verify():

    >>> import numpy as np, leeway
    >>> y, x = np.mgrid[:60, :80]
    >>> wind = {"u": 20 + 9 * np.sin(x / 9), "v": 5 * np.cos(y / 7)}
    >>> made = leeway.compress_together(wind, ["sqrt(u^2+v^2)=abs:0.1"], abs=0.5)
    >>> u, v = (leeway.decompress(made[name]) for name in "uv")
    >>> bool(np.abs(np.hypot(u, v) - np.hypot(wind["u"], wind["v"])).max() <= 0.1)
    True

    promises  "EXPRESSION=abs:E" or "=rel:E" at every point; "mean(EXPRESSION)=abs:E", also with axis=, block= or region=;
              "zeros(NAME)", "sign(NAME)", "NAME>=V", "NAME<=V" (docs/QUALITY.md)
    abs, rel, pointwise  bounds of the arrays themselves, for all or by name; where none is given the promises decide, and no value is off
              by more than a sixteenth of the range
    """
    members = []
    for name, array in arrays.items():
        values, as_type = as_array(array)
        limits = []
        for kind, given in (("abs", abs), ("rel", rel), ("pointwise", pointwise)):
            value = given.get(name) if isinstance(given, Mapping) else given
            if value is not None:
                limits.append((kind, number(f"{kind}=", value)))
        found = value_range(array, fill) if detect_fills else None
        bits = found.fill_bits if found else split_fills(values, as_type, fill_values(array, fill))[1]
        members.append((str(name), values, as_type, limits, bits))
    streams, kept = _native.compress_together(members, [str(promise) for promise in promises], recipe, detect_fills,
                                              threads or default_threads())
    return Together(dict(zip(map(str, arrays), streams)), [Kept(**_without(one)) for one in kept])


def _without(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("text", "bound", "reached", "compared", "beyond")}


def verify_together(streams: Mapping[str, Stream], originals: Mapping[str, Any], *, threads: int | None = None) -> list[Kept]:
    """Checks every promise that the streams state of quantities calculated from several arrays, on what they decode to. Every bound and
    checksum of the streams themselves is what verify() checks."""
    members, promises = [], {}
    for stream in streams.values():
        info = inspect(stream)
        if info.variable not in originals:
            raise ValueError(f"the stream is of the variable {info.variable!r}, of which there is no original")
        first, second, as_type = _alike(originals[info.variable], decompress(stream, threads=threads))
        members.append((info.variable, first, second, as_type, info.fill_bits))
        promises.update({text: bound for text, bound, _ in info.promises})
    kept, missing = _native.check_together(members, list(promises.items()), threads or default_threads())
    if missing:
        raise ValueError(f"arrays are missing that {missing[0]!r} speaks of")
    return [Kept(**_without(one)) for one in kept]


def advise(
    array: Any,
    *,
    abs: float | None = None,
    rel: float | None = None,
    psnr: float | None = None,
    l2: float | None = None,
    lossless: bool = False,
    recipes: Sequence[str] = (),
    want: str | Sequence[str] = (),
    fill: float | Iterable[float] | None = (),
    threads: int | None = None,
) -> Any:
    """Without a bound: which one suits the array (BoundAdvice), by quality, information and noise; or, with `want`, the largest that meets
    requirements: "dssim=0.9995", "ratio=30", "spectrum=1%@0.5nyquist", "gradient=1%", or scores such as "r2>=0.99999".
    compress(array, **advise(array).best.bound) takes it.

    With a bound: tries recipes, the presets if none are given, on a part of the array under the bound of the whole: a list with recipe,
    ratio, compress_mb_s, decompress_mb_s and max_error of each, best ratio first."""
    values, as_type = as_array(array)
    if abs is rel is psnr is l2 is None and not lossless:
        found_range = value_range(array, fill)
        wants = [want] if isinstance(want, str) else list(want)
        precision, suggested, chosen = _native.suggest(values, as_type, found_range.fill_bits if found_range else [],
                                                       recipes[0] if recipes else "small", wants, threads or default_threads())
        suggestions = tuple(Suggestion(**one) for one in suggested)
        return BoundAdvice(precision, suggestions, suggestions[chosen] if suggestions else None)
    found = _native.advise(values, as_type, _limits(abs, rel, psnr, l2, lossless, None, None), list(recipes), threads or default_threads(),
                           fill_values(array, ()))
    return sorted(found, key=lambda entry: -entry["ratio"])


def recipes() -> dict[str, tuple[str, str]]:
    """The named recipes: the stages of each, and what it is good for."""
    return _native.recipes()


from ._grow import append, join  # noqa: E402  they use what is above
