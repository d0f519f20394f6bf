# SPDX-License-Identifier: BSD-3-Clause
"""What the codecs of numcodecs and Zarr share: options that say how to compress one chunk of an array."""
from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Sequence

import numpy as np

import leeway
from leeway import _arrays


@dataclasses.dataclass(frozen=True)
class Options:
    abs: float | None = None
    lossless: bool = False
    recipe: str = "balanced"
    fill: Sequence[float] | None = None
    rel: float | None = None
    psnr: float | None = None
    l2: float | None = None
    pointwise: float | None = None
    range: float | None = None
    values: float | None = None
    big_endian: bool = False
    keep: str = ""
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lossless", bool(self.lossless))
        object.__setattr__(self, "big_endian", bool(self.big_endian))
        for name in ("abs", "rel", "psnr", "l2", "pointwise", "range", "values", "min", "max"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else _arrays.number(f"{name}=", value))
        object.__setattr__(self, "fill", None if self.fill is None else tuple(_arrays.numbers(self.fill)))
        limits = leeway._limits(self.abs, self.rel, self.psnr, self.l2, self.lossless, None, None, self.pointwise)
        object.__setattr__(self, "_limits", limits)
        object.__setattr__(self, "keep", self.keep if isinstance(self.keep, str) else ",".join(self.keep))
        object.__setattr__(self, "_rules", leeway._rules(self.keep, self.min, self.max))
        self.compress_chunk(np.zeros(1, "f4"))  # complains at once, not at the first chunk

    def compress_chunk(self, values: Any, *, fill: Iterable[float] = (), region_bounds: Iterable[tuple[Any, float]] = (),
                       threads: int = 1) -> bytes:
        """The stream of a chunk. What the chunk was decoded from, if this process has done so, keeps its bits."""
        return leeway._compress_chunk(values, self._limits, self.recipe, [*(self.fill or ()), *fill], region_bounds, threads,
                                      (self.range or 0.0, self.values or 0.0), self._rules)

    def configuration(self) -> dict[str, Any]:
        """What was said, as JSON has it."""
        said = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items() if value != defaults[name]}
