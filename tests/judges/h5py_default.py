# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin: leeway's filter is what h5py writes datasets of numbers with, unless a test asks for another one or for
none. What is stored is exact, as tests of others expect: floating-point numbers without loss, integers with a bound that
leaves them no other value."""
from __future__ import annotations

import inspect

import numpy as np
from h5py._hl import filters

import leeway.hdf5
from differences import CALLS

_theirs = filters.fill_dcpl
_signature = inspect.signature(_theirs)


def _is_ours(asked):
    dtype, shape = asked["dtype"], asked["shape"]
    return (shape and all(shape) and isinstance(dtype, np.dtype) and dtype.kind in "fiu" and dtype.itemsize <= 8
            and not dtype.metadata and asked["chunks"] is not False
            and not any(asked[key] for key in ("compression", "compression_opts", "shuffle", "external"))
            and asked["scaleoffset"] is None and asked["plist"].get_nfilters() == 0)


def fill_dcpl(*args, **options):
    bound = _signature.bind(*args, **options)
    bound.apply_defaults()
    asked = bound.arguments
    if _is_ours(asked):
        asked["compression"] = leeway.hdf5.filter(**({"lossless": True} if asked["dtype"].kind == "f" else {"abs": 0.4}))
        CALLS["datasets"] += 1
    return _theirs(*bound.args, **bound.kwargs)


filters.fill_dcpl = fill_dcpl
