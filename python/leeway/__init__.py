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
import os
import warnings
from typing import Any, Iterable, Mapping, NamedTuple, Sequence, Union

import numpy as np

from . import _native

__all__ = ["Info", "Verification", "advise", "compare", "compress", "decompress", "inspect", "preview", "recipes", "region", "verify"]
__version__: str = _native.version()

Stream = Union[bytes, bytearray, memoryview, np.ndarray, str, os.PathLike]

_NUMPY_NAMES = {"f16": "float16", "f32": "float32", "f64": "float64"} | {
    f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}


def _default_threads() -> int:
    return int(os.environ.get("LEEWAY_NUM_THREADS", 0)) or len(os.sched_getaffinity(0))


def _bfloat16() -> np.dtype | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def _as_array(array: Any) -> tuple[Any, str]:
    """What the native code takes: an array in the byte order of this machine, and what to take its elements for."""
    if isinstance(array, np.ma.MaskedArray):
        array = array.filled()
    if not isinstance(array, np.ndarray):
        # Arrays of other libraries that lie in this machine's memory are read in place, by DLPack.
        array = np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array)
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16), "bf16"
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        hint = ""
        if array.dtype.kind == "c":
            hint = "; compress real and imaginary parts: array.view(array.real.dtype).reshape(array.shape + (2,))"
        raise TypeError(f"leeway compresses integers and floating-point numbers of up to 64 bits, not {array.dtype}{hint}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(stride % array.dtype.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)  # a field of a record: its steps are no multiples of its size
    return array, ""


def _numbers(fill: Any) -> list[int | float]:
    """Fill values as Python's numbers, one by one: integers that no double holds stay what they are."""
    fills = [fill] if np.isscalar(fill) or isinstance(fill, np.ndarray) and fill.ndim == 0 else list(fill)
    return [value.item() if isinstance(value, (np.generic, np.ndarray)) else value for value in fills]


def _fill_values(array: Any, fill: float | Iterable[float]) -> list[float]:
    """The fill values that are given, and the one that replaces the masked values of an array."""
    fills = _numbers(fill)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        fills.append(array.fill_value.item())
    return fills


def _split_fills(values: np.ndarray, as_type: str, fills: Sequence[float]) -> tuple[list[float], list[int]]:
    """As the native code takes them: numbers, and, for integers that no double holds, bit patterns."""
    if as_type or values.dtype.kind == "f":
        return [float(value) for value in fills], []
    limits = np.iinfo(values.dtype)
    whole = [value for value in fills if isinstance(value, int) and limits.min <= value <= limits.max]
    return [float(value) for value in fills if value not in whole], [value & (2**limits.bits - 1) for value in whole]


class _Range(NamedTuple):
    """Of the values that are neither special nor fill values."""

    min: float
    max: float
    size: float  #: max - min, never rounded up
    fills: list[Any]  #: those given and those found
    fill_bits: list[int]


def _value_range(array: Any, fill: float | Iterable[float] = ()) -> _Range | None:
    """What `rel` refers to; None if there are no such values."""
    values, as_type = _as_array(array)
    found = _native.value_range(values, as_type, *_split_fills(values, as_type, _fill_values(array, fill)))
    if found is None:
        return None
    low, high, size, bits = found
    fills = np.array(bits, np.uint64).astype(f"u{values.dtype.itemsize}")
    fills = fills.view(_bfloat16() if as_type else values.dtype)
    return _Range(low, high, size, [float(str(value)) if value.dtype.kind == "f" else value.item() for value in fills], bits)


def _extremes(array: Any, fill: float | Iterable[float] = ()) -> np.ndarray:
    """A few values of an array; those of all parts of an array, put together, have its _value_range()."""
    values, as_type = _as_array(array)
    found = _native.extremes(values, as_type, *_split_fills(values, as_type, _fill_values(array, fill)))
    return np.frombuffer(found, _bfloat16() if as_type else values.dtype)


def _limits(abs: float | None, rel: float | None, psnr: float | None, l2: float | None, lossless: bool, ratio: float | None,
            rate: float | None, pointwise: float | None = None) -> list[tuple[str, float]]:
    given = [("abs", abs), ("rel", rel), ("psnr", psnr), ("l2", l2), ("lossless", 0.0 if lossless else None),
             ("ratio", ratio), ("rate", rate), ("pointwise", pointwise)]
    limits = [(kind, float(value)) for kind, value in given if value is not None]
    if not limits:
        raise ValueError("a bound is needed: abs=, rel=, psnr=, l2=, pointwise=, lossless=True, ratio= or rate=")
    return limits


def _open(stream: Stream | _native.Stream) -> _native.Stream:
    if isinstance(stream, _native.Stream):
        return stream
    if isinstance(stream, (str, os.PathLike)):
        return _native.Stream(os.fspath(stream))
    return _native.Stream(np.frombuffer(stream, np.uint8))


def _box(region: Any, shape: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """First index and extents of a region given by slices."""
    slices = region if isinstance(region, tuple) else (region,)
    if len(slices) > len(shape) or not all(isinstance(part, slice) and part.step in (None, 1) for part in slices):
        raise ValueError("a region is a slice of step 1 for each axis")
    limits = [part.indices(extent) for part, extent in zip((*slices, *[slice(None)] * len(shape)), shape)]
    return [first for first, _, _ in limits], [max(0, last - first) for first, last, _ in limits]


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
    fill: float | Iterable[float] = (),
    detect_fills: bool = True,
    chunk: Sequence[int] = (),
    threads: int | None = None,
    region_bounds: Iterable[tuple[Any, float]] = (),
    bounds: Any = None,
    brief: bool = False,
    _is_chunk: bool = False,
) -> bytes:
    """Compresses an array of integers or floating-point numbers, of any layout and byte order, into a stream.

    Bounds, of which several together must all hold:

    abs       no value is off by more than this
    rel       the same as a part of the value range (maximum - minimum of the finite values)
    psnr      peak signal-to-noise ratio of at least so many decibels
    l2        Euclidean norm of all errors of at most this
    lossless  no error at all

    pointwise, which stands alone: no value is off by more than this part of itself; zeros stay zeros

    Or a size, as near as these bounds allow (a RuntimeWarning says if it could not be reached):

    ratio     the stream has 1/ratio of the array's bytes
    rate      the stream has so many bits for each value

    region_bounds  pairs of a region (a slice, or a tuple of slices, one an axis) and a smaller absolute bound there; 0: no loss
    bounds         the same value by value: an array of the same shape, infinity where the other bounds are enough

    recipe        a preset ("fast", "balanced", "small", "smallest"), or any recipe; see recipes()
    fill          value(s) that mean "nothing here": kept exactly and left out of the range
    detect_fills  whether to look for customary fill values such as 1e20
    chunk         extents of the parts that are compressed by themselves; chosen if not given
    threads       worker threads; LEEWAY_NUM_THREADS or all cores if not given. The stream does not depend on it.
    brief         whether an array that fits into one chunk gets the brief form of a stream, which saves some 250 bytes: for what is
                  embedded in a container or sent in a message. Everything reads both forms; a brief stream cannot be updated.

    NaN and infinities are always kept. Decoded arrays are in the byte order of the machine, rows last.

    The masked values of a masked array count as fill values: its fill_value stands for them in the stream, is kept exactly
    and left out of the range. Decoded arrays are plain; np.ma.masked_equal(decoded, array.fill_value) masks them again.
    """
    values, as_type = _as_array(array)
    fills, fill_bits = _split_fills(values, as_type, _fill_values(array, fill))
    stream = _native.compress(values, as_type, _limits(abs, rel, psnr, l2, lossless, ratio, rate, pointwise), recipe, fills, detect_fills,
                              [int(extent) for extent in chunk], threads or _default_threads(),
                              [(*_box(region, values.shape), float(bound)) for region, bound in region_bounds],
                              None if bounds is None else _bounds(bounds), fill_bits, bool(brief), _is_chunk)
    asked = min(values.nbytes / ratio if ratio else np.inf, values.size * rate / 8 if rate else np.inf)
    if np.isfinite(asked) and not 0.97 <= len(stream) / max(asked, 1) <= 1.03:
        warnings.warn(f"{asked:.0f} bytes were asked for, the stream has {len(stream)}: no bound in question gives that size",
                      RuntimeWarning, stacklevel=2)
    return stream


def _result(stream: _native.Stream, shape: Sequence[int], out: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, str]:
    """The array to return, the same as the native code fills it, and what to take its elements for."""
    if stream.dtype == "bf16":
        dtype, as_type = _bfloat16(), "bf16"
        if dtype is None:
            raise ImportError("the stream holds bfloat16 values; NumPy needs the package ml_dtypes for them")
    else:
        dtype, as_type = np.dtype(_NUMPY_NAMES[stream.dtype]), ""
    if out is None:
        out = np.empty(shape, dtype)
    elif out.dtype != dtype or out.shape != tuple(shape):
        raise ValueError(f"out is {out.dtype} {out.shape}, but the values are {dtype} {tuple(shape)}")
    return out, out.view(np.uint16) if as_type else out, as_type


def decompress(stream: Stream, *, out: np.ndarray | None = None, threads: int | None = None) -> np.ndarray:
    """The array of a stream; checked against the checksums in it. Fills and returns `out`, if given."""
    opened = _open(stream)
    result, target, as_type = _result(opened, opened.shape, out)
    opened.read([0] * len(opened.shape), target, as_type, threads or _default_threads())
    return result


def _compress_chunk(array: Any, **options: Any) -> bytes:
    """For hosts that decode a chunk, change a part of it and hand back the whole: what _decompress_chunk() gave keeps its bits."""
    return compress(array, **options, brief=True, _is_chunk=True)


def _decompress_chunk(stream: Any, *, threads: int) -> np.ndarray:
    data = np.frombuffer(stream, np.uint8)
    values = decompress(data, threads=threads)
    target, as_type = (values.view(np.uint16), "bf16") if values.dtype.name == "bfloat16" else (values, "")
    _native.remember(data, target, as_type)
    return values


def region(stream: Stream, selection: Any, *, threads: int | None = None) -> np.ndarray:
    """A part of the array of a stream: region(stream, np.s_[10:20, :, 5]). Decodes, and reads from a file, only what it
    needs. The selection is what NumPy's basic indexing takes: integers, slices, an ellipsis."""
    opened = _open(stream)
    selection = selection if isinstance(selection, tuple) else (selection,)
    rank = len(opened.shape)
    if sum(item is not Ellipsis for item in selection) > rank:
        raise IndexError(f"the array has {rank} axes, the selection {len(selection)}")
    at = next((i for i, item in enumerate(selection) if item is Ellipsis), len(selection))
    selection = selection[:at] + (slice(None),) * (rank - len(selection) + (at < len(selection))) + selection[at + 1:]
    first, shape, rest = [], [], []
    for item, extent in zip(selection, opened.shape):
        if isinstance(item, slice):
            picked = range(extent)[item]
            low, high = (min(picked[0], picked[-1]), max(picked[0], picked[-1])) if len(picked) else (0, -1)
            first.append(low)
            shape.append(high - low + 1)
            rest.append(slice(None, None, picked.step))
        else:
            index = range(extent)[item]  # raises IndexError
            first.append(index)
            shape.append(1)
            rest.append(0)
    result, target, as_type = _result(opened, shape, None)
    opened.read(first, target, as_type, threads or _default_threads())
    return result[tuple(rest)]


def preview(stream: Stream, level: int, *, threads: int | None = None) -> np.ndarray:
    """A coarse picture: in every chunk, every 2**level-th value along each axis, just as the whole array has it. Streams of the
    recipes "small" and "smallest" are read only as far as that takes."""
    opened = _open(stream)
    result, target, as_type = _result(opened, opened.preview_shape(level), None)
    opened.preview(level, target, as_type, threads or _default_threads())
    return result


@dataclasses.dataclass(frozen=True)
class Info:
    """What a stream says about itself."""

    dtype: str
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    chunks: int
    form: str  #: "standard" or "brief"
    bound: Mapping[str, float]  #: as asked
    abs_bound: float  #: the absolute bound in force; 0: no loss
    range: tuple[float, float]
    recipe: str
    fill_bits: list[int]
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
    original, as_type = _as_array(against)
    decoded, _ = _as_array(values)
    found = _native.compare(original, decoded, as_type, info.fill_bits, False)
    if found["special_mismatches"]:
        complaints.append(f"{found['special_mismatches']} special values did not survive")
    if found["max_abs"] > info.abs_bound:
        complaints.append(f"the largest error {found['max_abs']} exceeds the bound {info.abs_bound}")
    if found["max_abs"] > info.max_error:
        complaints.append(f"the largest error {found['max_abs']} exceeds the stated {info.max_error}")
    if found["max_pointwise"] > info.bound.get("pointwise", np.inf):
        complaints.append(f"a value is off by {found['max_pointwise']} of itself, more than {info.bound['pointwise']}")
    if found["psnr"] < info.bound.get("psnr", 0):
        complaints.append(f"PSNR {found['psnr']} dB is below {info.bound['psnr']}")
    if found["l2"] > info.bound.get("l2", np.inf):
        complaints.append(f"the L2 norm of the error {found['l2']} exceeds {info.bound['l2']}")
    return Verification(found["max_abs"], info.abs_bound, complaints)


def compare(original: Any, other: Any, *, fill: float | Iterable[float] = (), ssim: bool = True) -> dict[str, float]:
    """How far an array is from the original: max_abs, max_rel, max_pointwise, mean_error, rmse, nrmse, psnr, l2, pearson,
    ssim, and special_mismatches (NaN, infinities and fill values that differ). Both must have the same type and shape.

    Fill values are no part of the range nor of any error: those given, the masked values of a masked array, and what
    compress() with a relative bound would take for one."""
    first, as_type = _as_array(original)
    second, as_other = _as_array(other)
    if as_type != as_other:
        raise ValueError("the arrays have different types")
    found = _value_range(original, fill)
    return _native.compare(first, second, as_type, found.fill_bits if found else [], ssim)


def advise(
    array: Any,
    *,
    abs: float | None = None,
    rel: float | None = None,
    psnr: float | None = None,
    l2: float | None = None,
    lossless: bool = False,
    recipes: Sequence[str] = (),
    threads: int | None = None,
) -> list[dict[str, Any]]:
    """Tries recipes, the presets if none are given, on a part of the array under the bound of the whole: a list with recipe,
    ratio, compress_mb_s, decompress_mb_s and max_error of each, best ratio first."""
    values, as_type = _as_array(array)
    found = _native.advise(values, as_type, _limits(abs, rel, psnr, l2, lossless, None, None), list(recipes), threads or _default_threads(),
                           _fill_values(array, ()))
    return sorted(found, key=lambda entry: -entry["ratio"])


def recipes() -> dict[str, tuple[str, str]]:
    """The named recipes: what they stand for, and what they are good for."""
    return _native.recipes()
