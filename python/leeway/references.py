# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 and netCDF files as Zarr stores, by reference: kerchunk and VirtualiZarr list where the chunks of a file are, and Zarr reads them
from there. Importing this module tells both, as far as they are installed, which codec decodes the chunks of leeway's filter.

    import leeway.references
    references = kerchunk.hdf.SingleHdf5ToZarr("out.nc").translate()

Whoever reads by these references needs leeway and numcodecs or zarr, but neither HDF5 nor this module."""
from __future__ import annotations

import contextlib
import functools
from typing import Any, Sequence

from leeway import _native
from leeway.numcodecs import Leeway

__all__ = ["codec"]


def codec(words: Sequence[int]) -> Leeway:
    """The codec for chunks of the HDF5 filter with these parameters (cd_values), as they are stored with a dataset:
    dataset._filters["47310"]."""
    said = _native.HDF5Filter(list(words))
    limits = {kind: True if kind == "lossless" else value for kind, value in said.limits.items()}
    fills = [float(text) if any(c in text for c in ".eEnN") else int(text) for text in said.fills]
    return Leeway(**limits, values=1 if "l2" in limits else None, recipe=said.recipe, fill=fills or None, big_endian=said.is_big_endian)


def _tell_kerchunk() -> None:
    from kerchunk.hdf import SingleHdf5ToZarr

    others = SingleHdf5ToZarr._decode_filters

    @functools.wraps(others)
    def decode_filters(self: Any, dataset: Any) -> list[Any]:
        words = dataset._filters.get(str(_native.HDF5_FILTER_ID))
        if words is None:
            return others(self, dataset)
        after = set(dataset._filters) - {str(_native.HDF5_FILTER_ID), "fletcher32"}  # kerchunk itself cuts off the checksum
        if after:
            raise NotImplementedError(f"{dataset.name} has other filters beside leeway's ({', '.join(after)}), which cannot be read by "
                                      "reference")
        return [codec(words)]

    if not hasattr(others, "__wrapped__"):
        SingleHdf5ToZarr._decode_filters = decode_filters


def _tell_virtualizarr() -> None:
    from virtualizarr.parsers.hdf import filters

    import leeway.zarr  # noqa: F401  registers what VirtualiZarr will look for

    others = filters._filter_to_codec

    @functools.wraps(others)
    def filter_to_codec(filter_id: str, filter_properties: Any = None) -> Any:
        return codec(filter_properties) if str(filter_id) == str(_native.HDF5_FILTER_ID) else others(filter_id, filter_properties)

    if not hasattr(others, "__wrapped__"):
        filters._filter_to_codec = filter_to_codec


for _tell in (_tell_kerchunk, _tell_virtualizarr):
    with contextlib.suppress(ImportError):
        _tell()
