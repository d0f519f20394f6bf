#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the three figures of docs/BENCHMARKS.md from what bench/peers.py measured.

    .venv/bin/python bench/figures.py docs/figures              # reads bound, psnr, curves and speed.json there, writes SVG
    .venv/bin/python bench/figures.py docs/figures --to /tmp --format png

They have a white ground of their own, so that they can be read on dark pages, too, and the colours of Okabe and Ito, which
people who see few colours can tell apart; every compressor also has its own marker.
"""
import argparse
import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

import summary

STYLES = {
    "leeway": ("#0072B2", "o", "leeway (default)"),
    "leeway fast": ("#56B4E9", "v", "leeway fast"),
    "leeway small": ("#D55E00", "s", "leeway small"),
    "leeway smallest": ("#CC79A7", "D", "leeway smallest"),
    "SZ3": ("#009E73", "^", "SZ3"),
    "SPERR": ("#E69F00", "X", "SPERR"),
    "zfp": ("#555555", "P", "zfp"),
    "EBCC": ("#8B6914", "*", "EBCC"),
}
OTHER = ("#888888", "h")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "leeway", "font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "grid.color": "#dddddd"})


def style(codec):
    return STYLES.get(codec, (*OTHER, codec))


def plain(axis, *which):
    """Ticks of a logarithmic axis as ordinary numbers."""
    for name in which:
        side = getattr(axis, f"{name}axis")
        low, high = side.get_view_interval()
        side.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 60 else (1, 3) if high / low < 1000 else (1,)))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_formatter(NullFormatter())


def label(figure, axis, points):
    """Names beside their points, [(x, y, name)], each at the place where it covers least of what is there already."""
    figure.draw_without_rendering()
    at = {name: axis.transData.transform((x, y)) for x, y, name in points}
    taken = [Bbox.from_bounds(x - 8, y - 8, 16, 16) for x, y in at.values()]
    inside = axis.get_window_extent()
    for x, y, name in points:
        text = axis.annotate(name, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=8)
        tried = []
        for dx, horizontal in ((7, "left"), (-7, "right"), (0, "center")):
            for dy, vertical in ((0, "center"), (6, "bottom"), (-6, "top"), (14, "bottom"), (-14, "top")):
                if dx or dy:
                    place = {"position": (dx, dy), "horizontalalignment": horizontal, "verticalalignment": vertical}
                    text.set(**place)
                    box = text.get_window_extent()
                    covered = sum(area(Bbox.intersection(box, other)) for other in taken) + 4 * (area(box) - area(Bbox.intersection(box, inside)))
                    tried.append((covered + abs(dx) + abs(dy), len(tried), place, box))
        _, _, place, box = min(tried)
        text.set(**place)
        taken.append(box)


def area(box):
    return box.width * box.height if box else 0


def rates(document, most=6):
    """PSNR over bits a value, a panel for each field, up to `most` of them."""
    rows = [row for row in document["rows"] if row["equal"] == "psnr" and summary.counts(row)]
    targets = {}
    for row in rows:
        targets.setdefault(row["field"], set()).add(row["asked"])
    longest = max(map(len, targets.values()))
    fields = [name for name, asked in targets.items() if len(asked) == longest][:most]
    names = [name for name in STYLES if name != "leeway fast" and any(row["codec"] == name for row in rows)]
    lines = math.ceil(len(fields) / 3)
    figure, axes = plt.subplots(lines, 3, figsize=(9.5, 0.2 + 3 * lines), layout="constrained")
    for axis in axes.flat[len(fields):]:
        axis.set_visible(False)
    for axis, field in zip(axes.flat, fields):
        for codec in names:
            points = sorted(((row["bits"], row["psnr"]) for row in rows if row["field"] == field and row["codec"] == codec and row["psnr"]), key=lambda point: point[1])
            if points:
                color, marker, name = style(codec)
                ours = codec.startswith("leeway")
                axis.plot(*zip(*points), "-" if ours else "--", color=color, marker=marker, markersize=5, linewidth=1.6 if ours else 1.1, label=name)
        facts = document["fields"][field]
        axis.set_title(f"{field}: {facts['domain']}, {'×'.join(map(str, facts['shape']))}", fontsize=9)
        axis.set(xscale="log", xlabel="bits a value", ylabel="PSNR (dB)")
        axis.grid(True)
        plain(axis, "x")
    handles = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=7, frameon=False)
    figure.suptitle("Up and to the left is better", fontsize=10)
    return figure


def speeds(document):
    """Speed as a part of memcpy's over the ratio, geometric means over the fields that all compressors shown have done."""
    rows = [row for row in document["rows"] if row["equal"] == "bound" and "compress_mb_s" in row and summary.counts(row)]
    codecs = list(dict.fromkeys(row["codec"] for row in rows))
    fields = [name for name in document["fields"] if all(any(row["field"] == name and row["codec"] == codec for row in rows) for codec in codecs)]
    rows = [row for row in rows if row["field"] in fields]
    megabytes = [4e-6 * math.prod(document["fields"][name]["shape"]) for name in fields]
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained", sharex=True)
    for axis, way in zip(axes, ("compress", "decompress")):
        points = []
        for codec in codecs:
            color, marker, name = style(codec)
            ratio = summary.geometric_mean([row["ratio"] for row in rows if row["codec"] == codec])
            speed = summary.geometric_mean(summary.speeds(rows, codec, way))
            axis.plot(ratio, speed, marker, color=color, markersize=8)
            points.append((ratio, speed, name))
        axis.axhline(1, color="#888888", linewidth=1)
        axis.set(xscale="log", yscale="log", xlabel="ratio, geometric mean", ylabel="speed / memcpy", title=f"{way}ing")
        axis.grid(True)
        axis.margins(x=0.15, y=0.12)
        plain(axis, "x", "y")
        label(figure, axis, points)
    figure.suptitle(f"One thread, {len(fields)} fields of {min(megabytes):.0f} to {max(megabytes):.0f} MB, bound 1e-3 of the range; "
                    "up and to the right is better", fontsize=10)
    return figure


def unseen(document):
    """How many times smaller than the best peer of each field; a line spans the bounds or targets."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 5.4), layout="constrained", sharey=True)
    names, fields = ["leeway", "leeway small", "leeway smallest"], list(document["fields"])
    for axis, equal, title in zip(axes, ("bound", "psnr"), ("equal bound: 1e-2, 1e-3, 1e-4 of the range", "equal PSNR: 50, 70, 90 dB")):
        rows = [row for row in document["rows"] if row["equal"] == equal and row["asked"] in (1e-2, 1e-3, 1e-4, 50, 70, 90)]
        others = summary.codecs(rows, False)
        for place, codec in enumerate(names):
            found = summary.gains(rows, codec, others)
            color, marker, name = style(codec)
            for y, field in enumerate(fields):
                gains = [gain for cell, gain in found.items() if cell[0] == field]
                if gains:
                    height = y + 0.22 * (place - 1)
                    axis.plot([min(gains), max(gains)], [height, height], "-", color=color, linewidth=1.4)
                    axis.plot(summary.geometric_mean(gains), height, marker, color=color, markersize=5)
            mean = summary.geometric_mean(list(found.values()))
            axis.plot([], [], "-" + marker, color=color, markersize=5, label=f"{name}: geometric mean {mean:.2f}")
        axis.axvline(1, color="#444444", linewidth=1)
        axis.set(xscale="log", title=title, xlabel="leeway's ratio / ratio of the best peer")
        axis.set_yticks(range(len(fields)), [f"{name} ({document['fields'][name]['domain']})" for name in fields])
        axis.grid(True, axis="x")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=1, frameon=False)
        plain(axis, "x")
    axes[0].invert_yaxis()
    figure.suptitle("Right of the line leeway is smaller than every peer. Marker: mean of three targets; line: least to most", fontsize=10)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="folder with bound.json, psnr.json, curves.json and speed.json")
    parser.add_argument("--to", type=pathlib.Path, help="folder for the figures (the same)")
    parser.add_argument("--format", default="svg", choices=("svg", "png"))
    options = parser.parse_args()

    def read(*names):
        return summary.read(*(options.results / f"{name}.json" for name in names))

    figures = {"rates": rates(read("psnr", "curves")), "speed": speeds(read("speed")), "unseen": unseen(read("bound", "psnr"))}
    for name, figure in figures.items():
        metadata = {"Date": None} if options.format == "svg" else None
        figure.savefig((options.to or options.results) / f"{name}.{options.format}", facecolor="white", dpi=110, metadata=metadata)


if __name__ == "__main__":
    main()
