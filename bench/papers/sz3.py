# SPDX-License-Identifier: BSD-3-Clause
"""SZ3 [Liang et al., IEEE Transactions on Big Data 2023]: its tables and figures."""
import numpy as np

from lab import Table, off_by, rate_distortion, speeds

#: Table 1: ratio and MB/s at 1e-10.
TABLE1 = {"ffff": {"sz-pastri": (8.46, 662.01), "sz-pastri-zstd": (9.27, 377.17), "sz3-pastri": (10.76, 244.43)},
          "ffdd": {"sz-pastri": (8.40, 643.58), "sz-pastri-zstd": (9.23, 370.88), "sz3-pastri": (10.06, 221.03)},
          "dddd": {"sz-pastri": (9.14, 613.12), "sz-pastri-zstd": (9.96, 364.51), "sz3-pastri": (10.71, 226.80)}}
#: Table 3: fields, shape, size.
TABLE3 = {"Hurricane": (13, "100x500x500"), "NYX": (6, "512x512x512"), "SCALE-LETKF": (6, "98x1200x1200"), "QMCPack": (1, "288x115x69x69"),
          "RTM": (3600, "449x449x235"), "Miranda": (7, "256x384x384")}
PIPELINES = ["sz3-lr", "sz3-interp", "sz3-truncation"]


def blocks_of(field):
    """Which kind of integrals a file has, by its name; d shells if it does not say."""
    return next((kind for kind in TABLE1 if kind in field.name.lower()), "dddd")


def table1(lab):
    table = Table([("blocks", ""), ("recipe", ""), ("ratio", "printed"), ("ratio", "measured"), ("difference", "derived"), ("MB/s", "printed"),
                   ("compress MB/s", "measured")])
    for field in lab.data.fields("GAMESS"):
        printed = TABLE1[blocks_of(field)]
        for recipe, row in lab.bench(field, ("--abs", 1e-10), list(printed)).items():
            ratio, speed = printed[recipe]
            table.add(blocks_of(field), recipe, ratio, row["ratio"], off_by(row["ratio"], ratio), speed, row["compress_mb_s"])
    return table


def table3(lab):
    table = Table([("data", ""), ("fields", "printed"), ("shape", "printed"), ("fields found", "measured"), ("shape found", "measured")])
    for dataset, (count, shape) in TABLE3.items():
        found = [field for field in lab.data.fields(dataset) if not field.stand_in]
        table.add(dataset, count, shape, len(found), "x".join(map(str, found[0].shape)) if found else "-")
    return table


def figure3(lab):
    """Sub-blocks of a block of integrals have one pattern, at different scales."""
    table = Table([("block", ""), ("sub-blocks", ""), ("values of a pattern", ""), ("|correlation| with the largest, median", "measured")])
    (field,) = lab.data.fields("GAMESS")[:1]
    size = {"dddd": 36, "ffdd": 60, "ffff": 100}[blocks_of(field)]
    values = field.values()
    scales = np.abs(values[: values.size // size**2 * size**2].reshape(-1, size, size)).max((1, 2))
    number = int(scales.argmax())
    block = values[number * size**2 :][: size**2].reshape(size, size)
    largest = block[np.abs(block).max(1).argmax()]
    norms = np.linalg.norm(block, axis=1) * np.linalg.norm(largest)
    alike = np.abs(block @ largest)[norms > 0] / norms[norms > 0]
    table.add(number, size, size, float(np.median(alike)))

    def draw(pyplot):
        figure, axes = pyplot.subplots(2, 1, figsize=(9, 5))
        axes[0].plot(block.ravel(), linewidth=0.6)
        axes[0].set(title="a block", xlabel="index", ylabel="integral")
        for row in block[np.argsort(-np.abs(block).max(1))[:4]]:
            axes[1].plot(row / np.abs(row).max(), linewidth=1)
        axes[1].set(title="its four largest sub-blocks, each over its largest value", xlabel="index in the sub-block")
        figure.tight_layout()
        return figure

    lab.picture(table, "sz3_figure3", draw)
    return table


def figure5(lab):
    """Codes of data, pattern and scales, and how many values the range of 64 codes does not hold."""
    table = Table([("recipe", ""), ("codes", "measured"), ("zero", "measured"), ("entropy, bits", "measured"), ("beyond 64 codes", "measured"), ("beyond", "printed")])
    (field,) = lab.data.fields("GAMESS")[:1]
    found = {}
    for recipe in ("sz3-pastri", "sz-pastri"):
        codes = lab.explain(field, ("--abs", 1e-10), recipe)["codes"]
        histogram = {int(value): count for value, count in codes["histogram"]}
        found[recipe] = histogram
        beyond = sum(count for value, count in histogram.items() if abs(value) >= 32) + codes["larger"]
        table.add(recipe, codes["count"], histogram.get(0, 0) / codes["count"], codes["entropy_bits"], beyond / codes["count"], "20 % of data")

    def draw(pyplot):
        figure, axis = pyplot.subplots(figsize=(6, 3.4))
        for recipe, histogram in found.items():
            values = sorted(value for value in histogram if abs(value) <= 64)
            axis.step(values, [histogram[value] for value in values], where="mid", label=recipe)
        axis.set(yscale="log", xlabel="code", ylabel="frequency")
        axis.legend()
        return figure

    lab.picture(table, "sz3_figure5", draw)
    return table


def figure6(lab):
    cases = [(field.name, field) for field in lab.data.fields("GAMESS")]
    return rate_distortion(lab, "sz3_figure6", cases, list(TABLE1["dddd"]), [("--abs", 10.0**-n) for n in range(7, 13)])


def figure8(lab):
    cases = [(field.name, field) for field in lab.data.fields("APS")]
    flat = "transpose:order=231+lorenzo:axes=1+linear+huffman+zstd"
    table = rate_distortion(lab, "sz3_figure8", cases, ["sz3-aps", "sz3-aps-printed", "sz2", "lorenzo:axes=1+linear+huffman+zstd", flat],
                            [("--abs", bound) for bound in (0.4, 1, 2, 4, 8, 16)])
    table.remarks.append("sz2 in three dimensions, in one, and in one after transposing, as in the paper")
    return table


def figure9(lab):
    cases = [(name, lab.data.fields(name)[0]) for name in TABLE3]
    return rate_distortion(lab, "sz3_figure9", cases, PIPELINES, [("--rel", 10.0**-n) for n in (1.5, 2, 2.5, 3, 4, 5, 6)])


def figure10(lab):
    table = speeds(lab, "MB/s", {(name, "sz3-truncation"): 1000 for name in TABLE3}, list(TABLE3), ("--rel", 1e-3), [*PIPELINES, "sz2"])
    table.remarks.append("printed: about 1 GB/s for truncation, more than 100 MB/s for interpolation in all cases")
    return table


def as_printed(lab):
    """Pipelines as the paper draws them beside ours of the same name."""
    pairs = [("GAMESS", ("--abs", 1e-10), "sz3-pastri", "sz3-pastri-printed"), ("GAMESS", ("--abs", 1e-10), "sz3-pastri", "pattern+linear+huffman+zstd"),
             ("APS", ("--abs", 0.4), "sz3-aps", "sz3-aps-printed"), ("Hurricane", ("--rel", 1e-3), "sz1.4", "lorenzo+linear:bins=65536,beyond=cut+huffman+gzip:level=1"),
             ("Hurricane", ("--rel", 1e-3), "sz3", "sz3-interp"), ("Hurricane", ("--rel", 1e-3), "sz3-truncation", "truncate:bits=16+raw")]
    table = Table([("data", ""), ("ours", ""), ("ratio", "measured"), ("another", ""), ("ratio", "measured")])
    for dataset, bound, ours, other in pairs:
        for field in lab.data.fields(dataset)[:1]:
            rows = lab.bench(field, bound, [ours, other], 1)
            table.add(dataset, ours, rows[ours]["ratio"], other, rows[other]["ratio"])
    return table


EXPERIMENTS = {
    "table 1": ("ratio and speed on integrals at 1e-10", table1), "table 3": ("data sets", table3), "figure 3": ("pattern of integrals", figure3),
    "figure 5": ("distribution of codes on integrals", figure5), "figure 6": ("rate and distortion on integrals", figure6),
    "figure 8": ("rate and distortion on photon counts", figure8), "figure 9": ("rate and distortion on six data sets", figure9),
    "figure 10": ("throughput at 1e-3", figure10),
    "as printed": ("pipelines as the paper draws them", as_printed),
}
ELSEWHERE = {
    "table 2": "lines of code of SZ2 and SZ3: nothing to run", "figure 1": "docs/ARCHITECTURE.md", "figure 2": "examples/figure2.cc",
    "figure 4": "leeway recipes (sz3-pastri)", "figure 7": "leeway recipes (sz3-aps-printed)",
}
