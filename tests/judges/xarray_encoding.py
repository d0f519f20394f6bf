# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin: what xarray writes through h5netcdf and to Zarr gets the encoding that leeway.xarray.encoding makes,
coordinates included, unless a test asks for a compressor itself. What is stored is exact, as the tests expect: numbers
without loss; numbers that are packed with a bound that leaves the packed ones no other value."""
from __future__ import annotations

import warnings
from collections.abc import Mapping

import xarray.backends.writers as writers
from xarray.backends import H5NetCDFStore, ZarrStore

import leeway.xarray
from differences import CALLS

#: What asks for a compressor, or for none.
ASKS = ("compression", "zlib", "compressor", "compressors", "serializer", "filters", "contiguous")


def _target(store):
    """What leeway.xarray.encoding needs to know about where a dataset goes; None where it has nothing to say."""
    if isinstance(store, H5NetCDFStore):
        return dict(to="netcdf")
    if isinstance(store, ZarrStore) and store._mode in ("w", "w-"):  # otherwise some variables may be there already
        return dict(to="zarr", zarr_format=store.zarr_group.metadata.zarr_format)
    return None


def _is_ours(name, variable, given):
    if variable.dtype.kind != "f" or variable.ndim == 0 or variable.size == 0 or not isinstance(given.get(name, {}), Mapping):
        return False
    asked = [key for key in ASKS if variable.encoding.get(key)]
    return not asked or variable.encoding.get("compression") == "unknown"  # as xarray says of files that leeway wrote


def _encoding_of(ds, name, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the bound of packed numbers is large
        try:
            return leeway.xarray.encoding(ds, lossless=[name], **target)[name]
        except ValueError:
            unit = abs(ds[name].encoding.get("scale_factor", 1.0))
            return leeway.xarray.encoding(ds, abs={name: 0.95 * unit}, **target)[name]


def _with_leeway(ds, given, target):
    ds = ds.copy()
    for name, options in given.items():
        if isinstance(options, Mapping):
            ds[name].encoding = dict(options)
    made = dict(given)
    for name, variable in ds.variables.items():
        if _is_ours(name, variable, given):
            made[name] = {**given.get(name, {}), **_encoding_of(ds, name, target)}
            CALLS[f"variables to {target['to']}"] += 1
    return made


_dump = writers.dump_to_store


def dump_to_store(dataset, store, writer=None, encoder=None, encoding=None, unlimited_dims=None):
    target = _target(store)
    if target:
        encoding = _with_leeway(dataset, encoding or {}, target)
    return _dump(dataset, store, writer, encoder, encoding, unlimited_dims)


writers.dump_to_store = dump_to_store
