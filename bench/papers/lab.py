# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of all papers share: measuring with the tool, tables whose columns say where they come from, pictures."""
import json
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass, field as listed

import numpy as np

#: Where a column comes from.
SOURCES = {
    "printed": "read from the paper",
    "measured": "measured by this run, on the data named in the table",
    "modelled": "computed by a model, not measured",
    "derived": "computed from other columns",
    "": "",
}


@dataclass
class Table:
    """Rows of cells under columns: (heading, source)."""

    columns: list
    rows: list = listed(default_factory=list)
    remarks: list = listed(default_factory=list)
    pictures: list = listed(default_factory=list)

    def add(self, *cells):
        if len(cells) != len(self.columns):
            raise ValueError("a row has as many cells as there are columns")
        self.rows.append(cells)

    def text(self):
        heads = [[name for name, _ in self.columns], [source for _, source in self.columns]]
        lines = heads + [[show(cell) for cell in row] for row in self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        aligned = ["  ".join(cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths))) for line in lines]
        return "\n".join(line.rstrip() for line in aligned)

    def markdown(self):
        """With where a column comes from behind its name."""
        heads = [f"{name}, {source}" if source else name for name, source in self.columns]
        lines = [heads, ["---"] * len(heads), *([show(cell).replace("|", "\\|") for cell in row] for row in self.rows)]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def as_json(self):
        return {"columns": [{"name": name, "source": source} for name, source in self.columns], "rows": [list(row) for row in self.rows],
                "remarks": self.remarks, "pictures": [str(path) for path in self.pictures]}


def show(cell):
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.3g}" if abs(cell) < 1 else f"{cell:.2f}" if abs(cell) < 100 else f"{cell:,.0f}"


def off_by(ours, printed):
    """By how much a figure differs from the printed one."""
    return None if ours is None or not printed else f"{100 * (ours / printed - 1):+.0f} %"


class Lab:
    def __init__(self, tool, data, pictures, repeat, threads, peers=()):
        self.tool, self.data, self.repeat, self.threads, self.peers = tool, data, repeat, threads, peers
        self.pictures = pictures and pathlib.Path(pictures)

    def run(self, *arguments):
        done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"leeway {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def bench(self, field, bound, recipes, repeat=None, threads=None):
        """{recipe: row of `leeway bench`} on one field; `bound` is a pair of options."""
        rows = json.loads(self.run("bench", *field.options, *bound, "--recipes", ",".join(recipes), "--json", "--repeat",
                                   repeat or self.repeat, "--threads", threads or self.threads))
        return dict(zip(recipes, rows))

    def beside(self, field, bound, repeat=None):
        """The same rows of other people's compressors, as far as PyPI has them and they are installed (--peers)."""
        if not self.peers or field.dtype not in ("f32", "f64"):
            return {}
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
        import compressors
        import peers

        array, rows = compressors.Field(field.name, field.values()), {}
        absolute = bound[1] * array.range if bound[0] == "--rel" else bound[1]
        for name in self.peers:
            work = lambda name=name: peers.passes(compressors.LOSSY[name], array, absolute, max(repeat or self.repeat, 2))
            row = peers.in_child(work, 600)
            if "failed" in row:
                self.data.remarks.append(f"{name}: {row['failed']}")
                continue
            rows[f"{name}, the original"] = row | {"ratio": array.array.nbytes / row["bytes"], "error_over_bound": row["error"] / absolute}
        return rows

    def ratios(self, dataset, rel, recipe):
        """Ratios of one recipe on all fields of a data set."""
        return [self.bench(field, ("--rel", rel), [recipe], 1)[recipe]["ratio"] for field in self.data.fields(dataset)]

    def mean(self, dataset, bound, recipes, column, repeat=None):
        """{recipe: mean of a column over the fields}; empty if there is no field."""
        rows = [self.bench(field, bound, recipes, repeat) for field in self.data.fields(dataset)]
        return {recipe: statistics.mean(row[recipe][column] for row in rows) for recipe in recipes} if rows else {}

    def explain(self, field, bound, recipe):
        return json.loads(self.run("explain", *field.options, *bound, "--recipe", recipe, "--json"))

    def decoded(self, field, bound, recipe):
        """The values that a recipe makes of a field."""
        stream, back = (self.data.scratch / f"papers.{end}" for end in ("lwy", "raw"))
        self.run("compress", *field.options, *bound, "--recipe", recipe, "-o", stream, "--force")
        self.run("decompress", stream, "-o", back, "--force")
        values = field.values()
        return values, np.fromfile(back, values.dtype).reshape(values.shape)

    def picture(self, table, name, draw):
        """Draws into a file of --pictures; draw(pyplot) makes the figure."""
        if not self.pictures:
            table.remarks.append("--pictures FOLDER draws it")
            return
        try:
            import matplotlib
        except ImportError:
            table.remarks.append("matplotlib is not installed: no picture")
            return
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "leeway"
        from matplotlib import pyplot

        self.pictures.mkdir(parents=True, exist_ok=True)
        figure = draw(pyplot)
        path = self.pictures / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        figure.savefig(path.with_suffix(".png"), dpi=110, bbox_inches="tight")
        pyplot.close(figure)
        table.pictures.append(path)


def curves(pyplot, panels, x, y):
    """A row of panels: {title: {label: [(x, y)]}}."""
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6), squeeze=False)
    for axis, (title, lines) in zip(axes[0], panels.items()):
        for label, points in lines.items():
            axis.plot(*zip(*sorted(points)), marker="o", markersize=3, linewidth=1.2, label=label)
        axis.set(title=title, xlabel=x, ylabel=y)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    return figure


def rate_distortion(lab, name, cases, recipes, bounds):
    """Bits a value and PSNR of recipes on cases: [(title, field)], each at bounds: pairs of options."""
    table = Table([("field", ""), ("recipe", ""), ("bound", ""), ("bits a value", "measured"), ("PSNR, dB", "measured")])
    panels = {}
    for title, field in cases:
        width = 8 * field.values().dtype.itemsize
        for bound in bounds:
            for recipe, row in (lab.bench(field, bound, recipes, 1) | lab.beside(field, bound, 1)).items():
                bits = width / row["ratio"]
                table.add(title, recipe, f"{bound[0][2:]} {bound[1]:g}", bits, row["psnr"])
                if row["psnr"] is not None:
                    panels.setdefault(title, {}).setdefault(recipe, []).append((bits, row["psnr"]))
    if panels:
        lab.picture(table, name, lambda pyplot: curves(pyplot, panels, "bits a value", "PSNR, dB"))
    return table


def speeds(lab, printed_name, printed, sets, bound, recipes):
    """MB/s of recipes beside printed figures: {(set, recipe): figure}, medians of --repeat passes, beside memcpy."""
    table = Table([("data", ""), ("recipe", ""), (printed_name, "printed"), ("compress MB/s", "measured"), ("decompress MB/s", "measured"),
                   ("compress / memcpy", "derived"), ("decompress / memcpy", "derived")])
    for dataset in sets:
        for field in lab.data.fields(dataset)[:1]:
            for recipe, row in (lab.bench(field, bound, recipes) | lab.beside(field, bound)).items():
                table.add(dataset, recipe, printed.get((dataset, recipe)), row["compress_mb_s"], row["decompress_mb_s"],
                          row["compress_mb_s"] / row["memcpy_mb_s"], row["decompress_mb_s"] / row["memcpy_mb_s"])
    return table
