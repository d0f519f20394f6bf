# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and fill values as the native code takes them."""
from __future__ import annotations

import os
from typing import Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _native

NUMPY_NAMES = {"f16": "float16", "f32": "float32", "f64": "float64"} | {
    f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}

#: What to do with other types, by their kind.
HINTS = {"c": "; compress real and imaginary parts: array.view(array.real.dtype).reshape(array.shape + (2,))",
         "b": "; compress array.view('u1'), without loss", "M": "; compress array.view('i8'), and keep array.dtype beside it",
         "m": "; compress array.view('i8'), and keep array.dtype beside it"}


def default_threads() -> int:
    text = os.environ.get("LEEWAY_NUM_THREADS")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"the environment variable LEEWAY_NUM_THREADS is {text!r}, which is no number of threads")
    return int(text)


def bfloat16() -> np.dtype | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def _foreign(array: Any) -> np.ndarray:
    """An array of another library. What lies in this machine's memory is read in place, by DLPack, which does not know all types."""
    if hasattr(array, "__dlpack__"):
        try:
            return np.from_dlpack(array)
        except (RuntimeError, BufferError, TypeError):
            pass
    return np.asarray(array)


def as_array(array: Any) -> tuple[Any, str]:
    """What the native code takes: an array in the byte order of this machine, and what to take its elements for."""
    if isinstance(array, np.ma.MaskedArray):
        array = array.filled()
    if not isinstance(array, np.ndarray):
        array = _foreign(array)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        if array.dtype.name == "bfloat16":
            return array.view(np.uint16), "bf16"
        hint = HINTS.get(array.dtype.kind, "")
        raise TypeError(f"leeway compresses integers and floating-point numbers of up to 64 bits, not {array.dtype}{hint}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(stride % array.dtype.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)  # a field of a record: its steps are no multiples of its size
    return array, ""


def number(what: str, value: Any) -> float:
    """A number that was given as a bound; texts are refused, which float() would take."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except TypeError:
        raise TypeError(f"{what} is a number, not {value!r}") from None


def numbers(fill: Any) -> list[int | float]:
    """Fill values as Python's numbers, one by one: integers that no double holds stay what they are."""
    if fill is None or (isinstance(fill, (tuple, list)) and not fill):
        return []
    is_one = isinstance(fill, (str, bytes)) or not isinstance(fill, Iterable) or isinstance(fill, np.ndarray) and fill.ndim == 0
    fills = [fill] if is_one else list(fill)
    values = [value.item() if isinstance(value, (np.generic, np.ndarray)) else value for value in fills]
    return [value if isinstance(value, int) else number("a fill value", value) for value in values]


def fill_values(array: Any, fill: float | Iterable[float] | None) -> list[float]:
    """The fill values that are given, and the one that replaces the masked values of an array."""
    fills = numbers(fill)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        fills.append(array.fill_value.item())
    return fills


def split_fills(values: np.ndarray, as_type: str, fills: Sequence[float]) -> tuple[list[float], list[int]]:
    """As the native code takes them: numbers, and, for integers that no double holds, bit patterns."""
    if as_type or values.dtype.kind == "f":
        return [float(value) for value in fills], []
    limits = np.iinfo(values.dtype)
    whole = [value for value in fills if isinstance(value, int) and limits.min <= value <= limits.max]
    return [float(value) for value in fills if value not in whole], [value & (2**limits.bits - 1) for value in whole]


class ValueRange(NamedTuple):
    """Of the values that are neither special nor fill values."""

    min: float
    max: float
    size: float  #: max - min, never rounded up
    fills: list[Any]  #: those given and those found
    fill_bits: list[int]


def value_range(array: Any, fill: float | Iterable[float] | None = ()) -> ValueRange | None:
    """What `rel` refers to; None if there are no such values."""
    values, as_type = as_array(array)
    found = _native.value_range(values, as_type, *split_fills(values, as_type, fill_values(array, fill)))
    if found is None:
        return None
    low, high, size, bits = found
    fills = np.array(bits, np.uint64).astype(f"u{values.dtype.itemsize}")
    fills = fills.view(bfloat16() if as_type else values.dtype)
    return ValueRange(low, high, size, [float(str(value)) if value.dtype.kind == "f" else value.item() for value in fills], bits)


def extremes(array: Any, fill: float | Iterable[float] | None = ()) -> np.ndarray:
    """A few values of an array; those of all parts of an array, put together, have its value_range()."""
    values, as_type = as_array(array)
    found = _native.extremes(values, as_type, *split_fills(values, as_type, fill_values(array, fill)))
    return np.frombuffer(found, bfloat16() if as_type else values.dtype)
