#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Renews the tables of docs/BENCHMARKS.md and README.md from what bench/peers.py measured.

    .venv/bin/python bench/tables.py docs/figures             # writes them in place
    .venv/bin/python bench/tables.py docs/figures --check     # only says whether they are current

A table stands between <!-- NAME --> and <!-- /NAME -->; NAME is that of a function below.
"""
import argparse
import pathlib
import re
import sys

import fields as sources
import summary

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs/BENCHMARKS.md", ROOT / "README.md")
OURS = {"leeway": "leeway (default)", "leeway fast": "leeway fast", "leeway small": "leeway small", "leeway smallest": "leeway smallest"}
MAIN = [*OURS, "SZ3", "SPERR", "zfp"]
RELS, TARGETS = (1e-2, 1e-3, 1e-4), (50, 70, 90)


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def short(asked):
    return f"{asked:g} dB" if asked >= 1 else f"{asked:.0e}".replace("e-0", "e-")


def ratio_and_psnr(row):
    return f"{number(row['ratio'])} ({'exact' if row['psnr'] is None else format(row['psnr'], '.0f')})"


def mean_psnr(rows):
    """The mean of the decibels."""
    return f"{sum(row['psnr'] for row in rows) / len(rows):.0f} dB"


class Tables:
    def __init__(self, results):
        def read(*names):
            return summary.read(*(results / f"{name}.json" for name in names))

        measured = read("bound", "psnr", "speed", "lossless")
        self.packages = measured["packages"]
        self.bound, self.psnr = read("bound")["rows"], read("psnr")["rows"]
        self.speeds, self.without_loss = read("speed"), read("lossless")["rows"]
        self.fields = measured["fields"]

    def common(self, rows, codecs):
        """Fields for which all of these count at every target."""
        cells = summary.cells(rows)
        return [name for name in self.fields if any(field == name for field, _ in cells)
                and all(codec in row for (field, _), row in cells.items() for codec in codecs if field == name)]

    def speed(self, equal, codec, way):
        """As a part of memcpy's; - if it was not measured."""
        rows = [row for row in self.speeds["rows"] if row["equal"] == equal]
        found = summary.speeds(rows, codec, way)
        return f"{summary.geometric_mean(found):.3f}" if found else "-"

    def answer(self):
        """Means over the fields that all of the main compressors take."""
        fields = [name for name in self.common(self.bound, MAIN) if name in self.common(self.psnr, MAIN)]
        by_bound, by_psnr = summary.cells(self.bound), summary.cells(self.psnr)
        lines = []
        for codec in MAIN:
            line = [OURS.get(codec, codec)]
            for rel in RELS:
                rows = [by_bound[name, rel][codec] for name in fields]
                line.append(f"{number(summary.geometric_mean([row['ratio'] for row in rows]))} ({mean_psnr(rows)})")
            line += [number(summary.geometric_mean([by_psnr[name, target][codec]["ratio"] for name in fields])) for target in TARGETS]
            lines.append(line + [self.speed("bound", codec, way) for way in ("compress", "decompress")])
        head = [f"{len(fields)} unseen fields", *(f"bound {short(rel)}" for rel in RELS),
                *(f"at {short(target)}" for target in TARGETS), "compress", "decompress"]
        return markdown(head, lines)

    def unseen(self):
        return self.field_by_field(self.bound, 1e-3, "bound 1e-3")

    def unseen_psnr(self):
        return self.field_by_field(self.psnr, 70, "at 70 dB")

    def field_by_field(self, rows, asked, title):
        cells, others = summary.cells(rows), [name for name in summary.codecs(rows, False) if name not in MAIN]
        lines = []
        for name in self.fields:
            row = cells[name, asked]
            texts = {codec: ratio_and_psnr(found) for codec, found in row.items()}
            rest = max((codec for codec in others if codec in row), key=lambda codec: row[codec]["ratio"], default=None)
            if rest:
                texts[rest] = f"{rest} {texts[rest]}"
            best = max(row, key=lambda codec: row[codec]["ratio"])
            texts[best] = f"**{texts[best]}**"
            lines.append([name, *(texts.get(codec, "-") for codec in [*MAIN, rest])])
        return markdown([title, *(OURS.get(codec, codec) for codec in MAIN), "best of the others"], lines)

    def gains(self):
        others = summary.codecs(self.bound, False)
        lines = []
        for label, rivals in [(name, [name]) for name in others] + [("**the best of them**", others)]:
            line = [label]
            for rows in (self.bound, self.psnr):
                for codec in ("leeway", "leeway small", "leeway smallest"):
                    found = list(summary.gains(rows, codec, rivals).values())
                    line.append(f"{summary.geometric_mean(found):.2f} ({min(found):.2f})" if found else "-")
            lines.append([*line, len(summary.gains(self.bound, "leeway", rivals))])
        return markdown(["times smaller than", "default, equal bound", "small", "smallest", "default, equal PSNR", "small", "smallest", "cells of equal bound"], lines)

    def losses(self):
        """Where leeway is behind a peer, cell by cell."""
        text = ""
        for rows, what in ((self.bound, "at equal bound"), (self.psnr, "at equal PSNR")):
            cells, others = summary.cells(rows), summary.codecs(rows, False)
            for codec, label in (("leeway", "the default"), ("leeway small", "`small`"), ("leeway smallest", "`smallest`")):
                found = summary.gains(rows, codec, others)
                behind = sorted((gain, cell) for cell, gain in found.items() if gain < 1)
                worst = []
                for gain, cell in behind[:6]:
                    rival = max((name for name in others if name in cells[cell]), key=lambda name: cells[cell][name]["ratio"])
                    worst.append(f"{cell[0]} at {short(cell[1])} ({gain:.2f} of {rival}'s)")
                more = f"; and {len(behind) - 6} more" if len(behind) > 6 else ""
                text += f"* {what}, {label}: behind the best peer in {len(behind)} of {len(found)} cells"
                text += ": " + ", ".join(worst) + more + "\n" if behind else "\n"
        return text

    def maps(self):
        """What weather services and climate modellers use, on their fields."""
        names = [name for name, facts in self.fields.items() if facts["domain"] in ("climate", "weather", "ocean")]
        lines = []
        done = [row for row in self.bound if row["field"] in names and "failed" not in row]
        for codec in dict.fromkeys(row["codec"] for row in done):
            line = [OURS.get(codec, codec)]
            for rel in RELS:
                rows = [row for row in done if row["codec"] == codec and row["asked"] == rel]
                counted = [row for row in rows if summary.counts(row)]
                ratio = summary.geometric_mean([row["ratio"] for row in rows])
                kept = "" if len(counted) == len(names) else f", bound kept in {len(counted)} of {len(rows)}"
                line.append(f"{number(ratio)} ({mean_psnr(rows)}){kept}")
            lines.append(line)
        return markdown([f"{len(names)} maps", *(f"bound {short(rel)}" for rel in RELS)], lines)

    def lossless(self):
        cells = summary.cells(self.without_loss)
        codecs = list(dict.fromkeys(row["codec"] for row in self.without_loss))
        lines = [[name, *(number(cells[name, None][codec]["ratio"]) for codec in codecs)] for name in self.fields]
        means = [summary.geometric_mean([cells[name, None][codec]["ratio"] for name in self.fields]) for codec in codecs]
        lines.append(["**geometric mean**", *map(number, means)])
        lines += [[f"{way}, parts of memcpy", *(self.speed("lossless", codec, way) for codec in codecs)] for way in ("compress", "decompress")]
        return markdown(["without loss", *codecs], lines)

    def exceeded(self):
        """Which compressors exceeded the bound, lost missing values or failed, and how often."""
        lines = []
        for codec in dict.fromkeys(row["codec"] for row in self.bound):
            rows = [row for row in self.bound if row["codec"] == codec]
            done = [row for row in rows if "failed" not in row]
            worst = max(row["error_over_bound"] for row in done)
            failures = sorted({row["failed"] for row in rows if "failed" in row})
            lines.append([OURS.get(codec, codec), len(rows), sum(row["violated"] for row in done), f"{worst:.4f}" if worst < 10 else f"{worst:.0f}",
                          sum(row["missing"] == "lost" for row in done), len(rows) - len(done), "; ".join(failures) or "-"])
        return markdown(["", "cells", "bound exceeded in", "largest error / bound", "missing values lost in", "failed in", "because"], lines)

    def versions(self):
        packages = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        return f"{packages}. Speeds on {self.speeds['processor']}.\n"

    def fields_of(self):
        return sources.table()


def renewed(text, tables):
    def block(match):
        return f"<!-- {match[1]} -->\n{getattr(tables, match[1])()}<!-- /{match[1]} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", block, text, flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="folder with bound.json, psnr.json, speed.json and lossless.json")
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 if a table is not current")
    options = parser.parse_args()
    tables, stale = Tables(options.results), []
    for page in PAGES:
        text = page.read_text()
        new = renewed(text, tables)
        if new != text:
            stale.append(page.name)
            if not options.check:
                page.write_text(new)
    if options.check and stale:
        sys.exit(f"not current: {', '.join(stale)}; run scripts/benchmarks.sh figures")


if __name__ == "__main__":
    main()
