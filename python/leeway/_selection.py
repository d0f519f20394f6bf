# SPDX-License-Identifier: BSD-3-Clause
"""Selections as NumPy's indexing takes them."""
from __future__ import annotations

import operator
from typing import Any, Sequence

import numpy as np


class Selection:
    """Integers, slices, an ellipsis and np.newaxis, and, if `arrays` are allowed, arrays of indices: the smallest box that holds what
    is selected, and how to pick it from the box."""

    def __init__(self, selection: Any, shape: Sequence[int], arrays: bool = False) -> None:
        self._items = _without_ellipsis(selection, len(shape))
        axes = [item for item in self._items if item is not None]
        #: The indices of every axis: a range, or an array.
        self.indices = [_indices(item, axis, extent, arrays) for axis, (item, extent) in enumerate(zip(axes, shape))]
        ends = [_ends(picked) for picked in self.indices]
        self.first = [low for low, _ in ends]
        self.extents = [high - low for low, high in ends]

    @property
    def box(self) -> tuple[slice, ...]:
        return tuple(slice(low, low + extent) for low, extent in zip(self.first, self.extents))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what drop() gives."""
        extents = iter(self.extents)
        sizes = [(item, 1 if item is None else next(extents)) for item in self._items]
        return tuple(size for item, size in sizes if item is None or isinstance(item, slice))

    def pick(self, values: np.ndarray) -> np.ndarray:
        """What is selected, from the values of the box."""
        places = iter([indices - low if isinstance(indices, np.ndarray) else 0 for indices, low in zip(self.indices, self.first)])
        return values[tuple(self._mapped(lambda item: slice(None, None, item.step) if isinstance(item, slice) else None, places))]

    def drop(self, values: np.ndarray) -> np.ndarray:
        """What NumPy gives for the selection, from values that have a single step along the axes of integers."""
        return values[tuple(self._mapped(lambda item: slice(None) if isinstance(item, slice) else None, iter([0] * len(self._items))))]

    def _mapped(self, of_slice: Any, places: Any) -> list[Any]:
        """An index in which new axes stay, slices are changed, and all others are replaced by their places."""
        index = []
        for item in self._items:
            place = None if item is None else next(places)
            changed = None if item is None else of_slice(item)
            index.append(place if changed is None else changed)
        return index


def _without_ellipsis(selection: Any, rank: int) -> list[Any]:
    """The items of a selection, with whole axes for those that it does not mention."""
    items = list(selection) if isinstance(selection, tuple) else [selection]
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("a selection can only have a single ellipsis ('...')")
    mentioned = sum(item is not None and item is not Ellipsis for item in items)
    if mentioned > rank:
        raise IndexError(f"the array has {rank} axes, the selection {mentioned}")
    at = places[0] if places else len(items)
    return items[:at] + [slice(None)] * (rank - mentioned) + items[at + len(places):]


def _ends(indices: range | np.ndarray) -> tuple[int, int]:
    """The first of them, and one more than the last."""
    if isinstance(indices, range):
        return (min(indices[0], indices[-1]), max(indices[0], indices[-1]) + 1) if indices else (0, 0)
    return (int(indices.min()), int(indices.max()) + 1) if indices.size else (0, 0)


def _indices(item: Any, axis: int, extent: int, arrays: bool) -> range | np.ndarray:
    if isinstance(item, slice):
        return range(extent)[item]
    if arrays and isinstance(item, np.ndarray) and item.ndim > 0:
        return np.arange(extent)[item]
    try:
        if isinstance(item, (bool, np.bool_)):
            raise TypeError
        index = operator.index(item)
    except TypeError:
        raise TypeError(f"a selection has integers, slices and '...', not {item!r}") from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis}, which has {extent} values")
    return range(index % extent, index % extent + 1)
