# SPDX-License-Identifier: BSD-3-Clause
"""compression-safeguards as an oracle: it finds, with arithmetic of its own, the values of a decoded array that break a
bound, and corrects them. It must find none. Fields are generated; real ones are used where LEEWAY_DATA names their folder."""
from __future__ import annotations

import os
import pathlib
import re

import numpy as np
import pytest
from compression_safeguards.api import Safeguards
from numcodecs_safeguards import SafeguardedCodec

import leeway
import leeway.numcodecs
from differences import CALLS

PRESETS = ["fast", "balanced", "small", "smallest"]
OTHERS = ["sz3-interp", "sz3-lr", "sz1.4", "wavesz", "ceaz", "cuszp2-outlier", "plain", "linear+lorenzo+rans", "truncate+raw", "auto"]
DATA = pathlib.Path(os.environ.get("LEEWAY_DATA", pathlib.Path(__file__).resolve().parents[3] / "shared/data"))
SHAPE = (16, 30, 36)
FILLS = (1e20, 9.96921e36)


def _smooth(dtype):
    z, y, x = np.meshgrid(*(np.linspace(0, 3, extent) for extent in SHAPE), indexing="ij")
    return (40 * np.sin(x + z) * np.cos(2 * y) + 5 * z + np.random.default_rng(1).normal(0, 0.02, SHAPE)).astype(dtype)


def _with(values, *specials):
    values = values.copy()
    for i, special in enumerate(specials):
        values[i::3, 5:9, ::7] = special
    return values


def _generated():
    for dtype in ["f4", "f8"]:
        smooth = _smooth(dtype)
        yield f"smooth-{dtype}", smooth
        yield f"nan-{dtype}", _with(smooth, np.nan)
        yield f"fill-{dtype}", _with(smooth, FILLS[0])
        yield f"special-{dtype}", _with(smooth, np.nan, np.inf, -np.inf, -0.0, FILLS[1])
        yield f"constant-{dtype}", np.full(SHAPE, 273.15, dtype)
        yield f"zero-{dtype}", np.zeros(SHAPE, dtype)
        yield f"all-nan-{dtype}", np.full(SHAPE, np.nan, dtype)
        yield f"rain-{dtype}", np.maximum(smooth - 20, 0)
        yield f"magnitudes-{dtype}", (np.exp(smooth.astype("f8") / 2) * np.sign(smooth)).astype(dtype)
        yield f"noise-{dtype}", np.random.default_rng(2).random(SHAPE).astype(dtype)
        yield f"tiny-{dtype}", smooth * np.finfo(dtype).tiny
        yield f"huge-{dtype}", smooth * (np.finfo(dtype).max / 100)
    yield "f2", _smooth("f2")
    for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        yield dtype, np.clip(_smooth("f8"), 0 if dtype[0] == "u" else -99, 99).astype(dtype)


def _real():
    """A part of each field, as the oracle takes its time."""
    for path in sorted(DATA.glob("*_*.[fi]*")):
        shape = re.search(r"_([0-9x]+)\.([fi])(\d+)$", path.name)
        if shape:
            extents = [int(extent) for extent in shape[1].split("x")]
            values = np.fromfile(path, f"{shape[2]}{int(shape[3]) // 8}").reshape(extents)
            yield path.stem, values[tuple(slice(0, extent) for extent in _part(extents))]


def _part(extents):
    extents = list(extents)
    while np.prod(extents) > 60_000:
        extents[int(np.argmax(extents))] //= 2
    return extents


FIELDS = dict(_generated())
REAL = dict(_real())
PARAMS = [pytest.param(field, id=name) for name, field in {**FIELDS, **REAL}.items()]
FLOATS = [param for param in PARAMS if param.values[0].dtype.kind == "f"]


def _size_of_range(field):
    """Without what leeway knows to be special."""
    valid = field[np.isfinite(field) & ~np.isin(field, np.array(FILLS, field.dtype))] if field.dtype.kind == "f" else field
    return float(valid.max()) - float(valid.min()) if valid.size else 0.0


def _corrections(field, decoded, guards, **late_bound):
    CALLS["fields judged"] += 1
    guards = Safeguards(safeguards=guards)
    return int(np.count_nonzero(guards.compute_correction(field, decoded, late_bound=late_bound)))


def _round_trip(field, **options):
    return leeway.decompress(leeway.compress(field, threads=2, **options))


@pytest.mark.parametrize("recipe", [*PRESETS, *OTHERS])
@pytest.mark.parametrize("field", PARAMS)
def test_abs(field, recipe):
    if recipe == "wavesz" and field.dtype.kind != "f":
        pytest.skip("is for floating-point numbers")
    for part in [1e-2, 1e-4, 1e-6] if recipe in PRESETS else [1e-3]:
        bound = part * _size_of_range(field) or part
        decoded = _round_trip(field, abs=bound, recipe=recipe)
        assert _corrections(field, decoded, [dict(kind="eb", type="abs", eb=bound)]) == 0, bound


@pytest.mark.parametrize("recipe", PRESETS)
@pytest.mark.parametrize("field", PARAMS)
def test_the_codec_inside_theirs(field, recipe):
    """What it puts beside the stream: three bytes where it had nothing to correct."""
    bound = 1e-3 * _size_of_range(field) or 1e-3
    codec = leeway.numcodecs.Leeway(abs=bound, recipe=recipe)
    guarded = SafeguardedCodec(codec=codec, safeguards=[dict(kind="eb", type="abs", eb=bound)])
    stream = guarded.encode(field)
    assert len(stream) == len(codec.encode(field)) + 3
    decoded = np.asarray(guarded.decode(stream)).view(field.dtype).reshape(field.shape)
    assert _corrections(field, decoded, [dict(kind="eb", type="abs", eb=bound)]) == 0


@pytest.mark.parametrize("recipe", PRESETS)
@pytest.mark.parametrize("field", PARAMS)
def test_rel(field, recipe):
    for part in [1e-2, 1e-5]:
        decoded = _round_trip(field, rel=part, recipe=recipe)
        assert _corrections(field, decoded, [dict(kind="eb", type="abs", eb=part * _size_of_range(field))]) == 0, part


@pytest.mark.parametrize("recipe", [*PRESETS, "sz-pwr"])
@pytest.mark.parametrize("field", FLOATS)
def test_pointwise(field, recipe):
    """Zeros and signs are kept, too."""
    for part in [1e-1, 1e-3]:
        decoded = _round_trip(field, pointwise=part, recipe=recipe)
        assert _corrections(field, decoded, [dict(kind="eb", type="rel", eb=part), dict(kind="sign")]) == 0, part


@pytest.mark.parametrize("recipe", PRESETS)
@pytest.mark.parametrize("field", FLOATS)
def test_value_by_value(field, recipe):
    size = _size_of_range(field) or 1.0
    bounds = (size * 10.0 ** np.random.default_rng(3).uniform(-6, -2, field.shape)).astype(field.dtype)
    decoded = _round_trip(field, abs=size, bounds=bounds, recipe=recipe)
    assert _corrections(field, decoded, [dict(kind="eb", type="abs", eb="bounds")], bounds=bounds) == 0


@pytest.mark.parametrize("recipe", PRESETS)
@pytest.mark.parametrize("field", PARAMS)
def test_lossless(field, recipe):
    decoded = _round_trip(field, lossless=True, recipe=recipe)
    assert _corrections(field, decoded, [dict(kind="lossless")]) == 0


@pytest.mark.parametrize("recipe", PRESETS)
@pytest.mark.parametrize("fill", [0.0, -9999.0, 1e20, 12.5])
def test_fill_values(fill, recipe):
    """A fill value stays what it is."""
    fill = float(np.float32(fill))
    field = _with(_smooth("f4"), fill)
    decoded = _round_trip(field, abs=0.5, fill=fill, recipe=recipe)
    guards = [dict(kind="eb", type="abs", eb=0.5), dict(kind="same", value=fill)]
    assert _corrections(field, decoded, guards) == 0
