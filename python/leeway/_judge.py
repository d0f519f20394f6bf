# SPDX-License-Identifier: BSD-3-Clause
"""What comparing, reporting, advising and promising give back: objects that show themselves in a notebook."""
from __future__ import annotations

import dataclasses
import html
import os
import pathlib
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

LABELS = {"max_abs": "largest error", "max_rel": "of the range", "max_pointwise": "of a value", "mean_error": "mean error",
          "rmse": "RMSE", "nrmse": "RMSE of the range", "psnr": "PSNR [dB]", "l2": "L2 norm", "pearson": "Pearson's r",
          "ssim": "SSIM (7 x 7 windows)", "dssim": "data SSIM, worst map", "special_mismatches": "special values that differ"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """As text, numbers to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if k == 0 else cell.rjust(width) for k, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in lines)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table><thead>" + row(head, "th") + "</thead><tbody>" + "".join(row(line, "td") for line in rows) + "</tbody></table>"


class Comparison(dict[str, float]):
    """Measures by name. They are attributes, too: comparison.psnr."""

    def __getattr__(self, name: str) -> float:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no measure {name!r}; there are {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self])

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(name, f"{value:.9g}", LABELS.get(name, "")) for name, value in self.items()]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<19} {value:>14}  {label}".rstrip() for name, value, label in self._rows())

    def _repr_html_(self) -> str:
        return html_table(("measure", "value", ""), self._rows())


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A bound, and what is expected of it."""

    by: str  #: "quality", "information", "noise" or "requirement"
    why: str
    kind: str  #: "abs", "pointwise" or "lossless"
    value: float
    ratio: float
    psnr: float
    dssim: float  #: data SSIM; NaN where it is not defined
    pearson_gap: float  #: 1 - r

    @property
    def bound(self) -> dict[str, Any]:
        """As compress() takes it: compress(array, **suggestion.bound)."""
        return {"lossless": True} if self.kind == "lossless" else {self.kind: self.value}

    @property
    def text(self) -> str:
        """As bounds files have it: "abs:0.01"."""
        return "lossless" if self.kind == "lossless" else f"{self.kind}:{self.value!r}"


@dataclasses.dataclass(frozen=True)
class BoundAdvice(Sequence[Suggestion]):
    """Which bound suits an array: suggestions, of which `best` is taken, and what was found of its precision."""

    precision: Mapping[str, Any]
    suggestions: tuple[Suggestion, ...]
    best: Suggestion | None

    def __getitem__(self, index: Any) -> Any:
        return self.suggestions[index]

    def __len__(self) -> int:
        return len(self.suggestions)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.suggestions)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(("* " if s is self.best else "  ") + s.by, s.text, f"{s.ratio:.1f}", f"{s.psnr:.1f}", f"{s.dssim:.6f}", f"{s.pearson_gap:.2g}",
                 s.why) for s in self.suggestions]

    _HEAD = ("  by", "bound", "ratio", "PSNR", "data SSIM", "1 - r", "why")

    def _notes(self) -> list[str]:
        p, notes = self.precision, []
        if p["step"] > 0:
            notes.append(f"values are multiples of {p['step']:.6g}: a bound below {p['step'] / 2:.3g} buys nothing")
        if p["is_float_in_double"]:
            notes.append("all of these float64 values are float32 values")
        if p["noise"] > 0:
            notes.append(f"what is not smooth has a standard deviation of about {p['noise']:.3g}")
        return notes

    def __repr__(self) -> str:
        return "\n".join([*self._notes(), table(self._HEAD, self._rows())])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(note)}</p>" for note in self._notes()) + html_table(self._HEAD, self._rows())


@dataclasses.dataclass(frozen=True)
class Kept:
    """A promise and what was found."""

    text: str
    bound: float  #: absolute
    reached: float  #: the largest error, not below the true one
    compared: int  #: points, means or sums
    beyond: int  #: of these, how many break the promise

    def __bool__(self) -> bool:
        return self.beyond == 0


class Together(dict[str, bytes]):
    """Streams by the name of their variable, and the promises that they keep."""

    def __init__(self, streams: Mapping[str, bytes], promises: Sequence[Kept]) -> None:
        super().__init__(streams)
        self.promises = tuple(promises)

    def __repr__(self) -> str:
        streams = ", ".join(f"{name}: {len(stream)} bytes" for name, stream in self.items())
        return f"<{streams}; " + "; ".join(f"{kept.text}, reached {kept.reached:.6g}" for kept in self.promises) + ">"


class Report:
    """What compression did to an array: scores, a page of its own, and pictures. It shows itself in a notebook."""

    def __init__(self, page: str, scores: Sequence[Mapping[str, Any]], features: Sequence[Mapping[str, Any]], original: np.ndarray,
                 decoded: np.ndarray, bound: float) -> None:
        self.html = page  #: the whole page, which needs nothing else
        self.scores = {score["name"]: score["value"] for score in scores}
        self.verdicts = {score["name"]: score["verdict"] for score in scores if score["verdict"] != "none"}
        self.features = tuple(features)  #: what the profile counts, each with "what", "level", "original" and "decoded"
        self.bound = bound  #: absolute; 0 if it is not known
        self._scores, self._original, self._decoded = scores, original, decoded

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(score["name"], f"{score['value']:.9g}{' ' + score['unit'] if score['unit'] else ''}",
                 "" if score["verdict"] == "none" else score["verdict"]) for score in self._scores]

    def __repr__(self) -> str:
        return table(("score", "value", "verdict"), self._rows())

    def _repr_html_(self) -> str:
        # The page has styles of its own, so it gets a frame of its own.
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:42em;border:1px solid #888" title="leeway report"></iframe>'

    def plot(self, index: Any = None, *, cmap: str = "viridis") -> Any:
        """Original, decoded and difference of a map, side by side, with matplotlib; returns the figure. `index` selects the map from the
        axes before the last two; if it is not given, the one with the largest error."""
        plt = _pyplot()
        x, y = (np.asarray(array) for array in (self._original, self._decoded))
        if x.ndim < 2:
            x, y = x.reshape(1, -1), y.reshape(1, -1)
        valid = np.isfinite(x.astype("f8")) & np.isfinite(y.astype("f8")) & (np.abs(x.astype("f8")) < 1e30)
        error = np.where(valid, y.astype("f8") - x.astype("f8"), np.nan)
        if index is None and x.ndim > 2:
            index = np.unravel_index(np.nanargmax(np.abs(error)), x.shape)[:-2]
        a, b, e = (array[index] if x.ndim > 2 else array for array in (np.where(valid, x, np.nan), np.where(valid, y, np.nan), error))
        limit = self.bound or float(np.nanmax(np.abs(e))) or 1.0
        figure, axes = plt.subplots(1, 3, figsize=(15, 4), constrained_layout=True)
        low, high = np.nanmin(a), np.nanmax(a)
        for ax, values, title in zip(axes, (a, b), ("original", "decoded")):
            picture = ax.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
            ax.set_title(title)
        figure.colorbar(picture, ax=axes[:2])
        figure.colorbar(axes[2].imshow(e, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest"), ax=axes[2])
        axes[2].set_title("decoded - original")
        return figure

    def plot_errors(self, bins: int = 101) -> Any:
        """How the errors are distributed, with the bound, and the power spectra along the last axis of original, decoded and error, with
        matplotlib; returns the figure."""
        plt = _pyplot()
        x, y = (np.ma.masked_invalid(np.asarray(array, "f8")) for array in (self._original, self._decoded))
        x, y = (np.ma.masked_where(np.ma.getmaskarray(x) | np.ma.getmaskarray(y) | (np.abs(x.filled(0)) >= 1e30), array) for array in (x, y))
        error = y - x
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), constrained_layout=True)
        limit = self.bound or float(np.abs(error).max() or 1.0)
        left.hist(error.compressed(), bins=bins, range=(-limit, limit), log=True)
        for side in (-limit, limit):
            left.axvline(side, color="tab:red", linestyle="--")
        left.set(title="errors and the bound", xlabel="decoded - original", ylabel="values")
        n = x.shape[-1] if x.ndim else 1
        for array, label in ((x, "original"), (y, "decoded"), (error, "error")):
            lines = np.ma.filled(array - array.mean(), 0.0).reshape(-1, n)
            power = (np.abs(np.fft.rfft(lines, axis=1))**2).mean(axis=0)[1:] / n
            if power.size:
                right.loglog(np.arange(1, power.size + 1) / (n / 2), power, label=label)
        right.set(title="power along the last axis", xlabel="wave number, of Nyquist's", ylabel="power")
        right.legend()
        return figure


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need the package matplotlib") from None
    return plt
