# SPDX-License-Identifier: BSD-3-Clause
"""cuSZp2 [Huang et al., SC 2024]: its tables and figures. Speeds here are the processor's; the GPU has no column that was measured."""
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np

from lab import Table, off_by, speeds

RELS = (1e-2, 1e-3, 1e-4)
#: Tables III: least, largest and mean ratio over the fields of a data set, at RELS. cuSZp has the plain encoding.
TABLE3 = {
    "cuszp2-outlier": {
        "CESM-ATM": ((18.44, 82.41, 42.98), (12.99, 57.45, 24.53), (7.85, 39.01, 14.97)),
        "HACC": ((11.49, 20.09, 15.50), (5.85, 12.47, 8.82), (3.67, 6.27, 4.84)),
        "RTM": ((30.12, 104.18, 61.48), (12.00, 84.96, 40.24), (6.51, 67.81, 29.36)),
        "SCALE-LETKF": ((16.80, 109.55, 46.19), (11.10, 79.69, 29.52), (6.31, 49.95, 17.92)),
        "QMCPack": ((12.44, 23.57, 18.01), (6.07, 13.29, 9.68), (3.79, 7.25, 5.52)),
        "NYX": ((14.36, 127.80, 69.14), (10.50, 125.56, 41.75), (5.43, 98.37, 24.12)),
        "JetIn": ((126.28,) * 3, (120.04, 120.06, 120.06), (106.50,) * 3),
        "Miranda": ((11.10,) * 3, (5.98,) * 3, (3.80,) * 3),
        "SynTruss": ((12.96,) * 3, (6.47, 6.47, 6.57), (4.25,) * 3),
    },
    "cuszp2-plain": {
        "CESM-ATM": ((3.88, 69.43, 32.56), (2.78, 39.01, 14.53), (2.11, 24.55, 8.26)),
        "HACC": ((5.28, 10.6, 7.92), (3.45, 5.37, 4.41), (2.53, 3.47, 3.00)),
        "RTM": ((29.08, 102.73, 60.10), (11.06, 81.90, 38.43), (6.07, 65.04, 28.04)),
        "SCALE-LETKF": ((3.88, 105.89, 37.76), (2.75, 72.60, 21.11), (2.14, 42.06, 12.34)),
        "QMCPack": ((12.44, 22.21, 17.33), (6.08, 10.08, 8.08), (3.79, 5.56, 4.68)),
        "NYX": ((9.6, 127.8, 66.73), (5.09, 125.55, 38.44), (3.35, 98.23, 22.14)),
        "JetIn": ((126.27,) * 3, (119.86,) * 3, (105.59,) * 3),
        "Miranda": ((4.46,) * 3, (3.04,) * 3, (2.32,) * 3),
        "SynTruss": ((12.67,) * 3, (6.37,) * 3, (4.21,) * 3),
    },
}
TABLE5 = {"cuszp2-plain": {"NWChem": (82.51, 26.85, 13.73), "S3D": (44.28, 21.71, 12.64)},
          "cuszp2-outlier": {"NWChem": (82.51, 26.87, 13.74), "S3D": (89.85, 56.51, 37.48)}}
TABLE6 = {"1D": ("linear+blocks:size=64+fixed:block=64", (158.12, 110.05, 78.97), (49.61, 22.38, 12.72), (27.53, 11.19, 6.11)),
          "2D": ("linear+blocks:axes=2,size=64+fixed:block=64", (176.65, 124.80, 92.04), (65.72, 25.21, 14.31), (34.26, 11.29, 6.22)),
          "3D": ("linear+blocks:axes=3,size=64+fixed:block=64", (176.11, 125.14, 93.03), (66.26, 24.87, 14.38), (33.65, 10.96, 6.19))}


def spans(lab, printed):
    """Ratios over the fields of data sets, as the paper prints them: least~largest (mean)."""
    table = Table([("data", ""), ("recipe", ""), ("REL", ""), ("min~max", "printed"), ("mean", "printed"), ("fields", ""), ("min~max", "measured"),
                   ("mean", "measured"), ("difference", "derived")])
    for recipe, sets in printed.items():
        for dataset, rows in sets.items():
            for rel, (low, high, mean) in zip(RELS, rows):
                found = lab.ratios(dataset, rel, recipe)
                if found:
                    ours = statistics.mean(found)
                    table.add(dataset, recipe, f"{rel:g}", f"{low:g}~{high:g}", mean, len(found), f"{min(found):.2f}~{max(found):.2f}", ours,
                              off_by(ours, mean))
    for dataset in sorted({name for sets in printed.values() for name in sets}) if lab.peers else ():
        for rel in RELS:
            rows = [lab.beside(field, ("--rel", rel), 1) for field in lab.data.fields(dataset)]
            for peer in rows[0] if rows else ():
                found = [row[peer]["ratio"] for row in rows if peer in row]
                table.add(dataset, peer, f"{rel:g}", None, None, len(found), f"{min(found):.2f}~{max(found):.2f}", statistics.mean(found), None)
    return table


def table3(lab):
    return spans(lab, TABLE3)


def table5(lab):
    return spans(lab, {recipe: {name: tuple((mean,) * 3 for mean in means) for name, means in sets.items()} for recipe, sets in TABLE5.items()})


def table6(lab):
    """Differences along one, two and three axes; the paper's fields are snapshots 1000, 2000 and 3000 of RTM."""
    table = Table([("field", ""), ("REL", ""), *((f"{axes} {source}", source) for axes in TABLE6 for source in ("printed", "measured"))])
    for number, field in enumerate(lab.data.fields("RTM")[:3]):
        for k, rel in enumerate(RELS):
            rows = lab.bench(field, ("--rel", rel), [recipe for recipe, *_ in TABLE6.values()], 1)
            cells = [cell for recipe, *fields in TABLE6.values() for cell in (fields[number][k], rows[recipe]["ratio"])]
            table.add(field.name, f"{rel:g}", *cells)
    return table


def figure14(lab):
    table = speeds(lab, "GB/s, A100", {}, list(TABLE3["cuszp2-outlier"]), ("--rel", 1e-3), ["cuszp2-plain", "cuszp2-outlier"])
    table.remarks += ["printed, mean over all data and bounds: plain 334.91 / 538.27 GB/s, outlier 329.94 / 597.29 GB/s on an A100",
                      "on a GPU by the model: leeway model gpu (docs/GPU.md)"]
    return table


def figure15(lab):
    table = Table([("field", ""), ("recipe", ""), ("GB/s, A100", "printed"), ("ratio", "measured"), ("compress MB/s", "measured"), ("decompress MB/s", "measured")])
    printed = {("xx", "cuszp2-outlier"): 315.64, ("xx", "cuszp2-plain"): 380.36}
    for field in lab.data.fields("HACC"):
        for recipe, row in lab.bench(field, ("--rel", 1e-3), ["cuszp2-plain", "cuszp2-outlier"]).items():
            table.add(field.name, recipe, printed.get((field.name, recipe)), row["ratio"], row["compress_mb_s"], row["decompress_mb_s"])
    table.remarks.append("the text calls 315.64 outlier's and 380.36 plain's, and in the same sentence says that outlier is faster: one pair is swapped")
    return table


def figure17(lab):
    """Frames of a stream put into their place: each after the one before it, or where a look back says."""
    program = pathlib.Path(lab.tool).parent / "leeway_bench"
    table = Table([("threads", ""), ("chained, MB/s", "measured"), ("look-back, MB/s", "measured"), ("look-back / chained", "derived")])
    if not program.exists():
        table.remarks.append(f"{program} is not there: cmake --preset release && cmake --build build --target leeway_bench")
        return table
    done = subprocess.run([program, "--benchmark_filter=placed_compress", "--benchmark_format=json"], capture_output=True, text=True, check=True)
    speeds_of = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        _, way, threads, *_ = row["name"].split("/")
        speeds_of.setdefault(int(threads), {})[way] = row["bytes_per_second"] / 1e6
    for threads, both in speeds_of.items():
        table.add(threads, both["chained"], both["look_back"], both["look_back"] / both["chained"])
    table.remarks.append("printed: decoupled look-back is 2.41 times as fast as a chained scan on an A100; on a GPU by the emulator: leeway model gpu")
    return table


def ablation(lab):
    """What each part of the codec brings: the outlier kept apart, the difference, blocks of other lengths."""
    parts = {"all": "cuszp2-outlier", "no outlier apart": "cuszp2-plain", "no difference": "linear+fixed",
             "blocks of 8": "linear+blocks:size=8+fixed:block=8", "blocks of 64": "linear+blocks:size=64+fixed:block=64"}
    table = Table([("data", ""), *((f"{name}, ratio", "measured") for name in parts), *((f"{name}, MB/s", "measured") for name in parts)])
    for dataset in ("CESM-ATM", "HACC", "NYX", "RTM"):
        for field in lab.data.fields(dataset)[:1]:
            rows = lab.bench(field, ("--rel", 1e-3), list(parts.values()))
            table.add(dataset, *(row["ratio"] for row in rows.values()), *(row["compress_mb_s"] for row in rows.values()))
    return table


def figure18(lab):
    """The decoded field beside the original, and what the eye cannot measure."""
    table = Table([("field", ""), ("recipe", ""), ("ratio", "measured"), ("PSNR, dB", "measured"), ("largest error / bound", "measured")])
    shown = []
    for field in lab.data.fields("RTM")[:3]:
        row = lab.bench(field, ("--rel", 1e-2), ["cuszp2-outlier"], 1)["cuszp2-outlier"]
        table.add(field.name, "cuszp2-outlier", row["ratio"], row["psnr"], row["error_over_bound"])
        shown.append((field.name, *lab.decoded(field, ("--rel", 1e-2), "cuszp2-outlier")))

    def draw(pyplot):
        figure, axes = pyplot.subplots(len(shown), 3, figsize=(9, 3 * len(shown)), squeeze=False)
        for row, (name, values, back) in zip(axes, shown):
            middle = values.shape[0] // 2
            limit = float(np.abs(values[middle]).max()) or 1.0
            for axis, title, image in zip(row, (name, "decoded", "difference"), (values[middle], back[middle], back[middle] - values[middle])):
                scale = limit if title != "difference" else 1e-2 * float(np.ptp(values))
                axis.imshow(image, cmap="RdBu", vmin=-scale, vmax=scale)
                axis.set(title=title)
                axis.set_axis_off()
        return figure

    lab.picture(table, "cuszp2_figure18", draw)
    table.remarks.append("slices through the middle stand for the isosurfaces")
    return table


def figure19(lab):
    table = speeds(lab, "GB/s, A100", {}, ["NWChem", "S3D"], ("--rel", 1e-3), ["cuszp2-plain", "cuszp2-outlier"])
    table.remarks.append("printed means: plain 612.83 / 780.33 GB/s, outlier 628.54 / 809.71 GB/s on an A100")
    return table


def figure20(lab):
    """One place of the array decoded from the stream, beside all of it."""
    table = Table([("data", ""), ("one value, ms", "measured"), ("all, ms", "measured"), ("part of the time", "derived")])
    for dataset in TABLE3["cuszp2-outlier"]:
        for field in lab.data.fields(dataset)[:1]:
            stream = lab.data.scratch / "papers.lwy"
            lab.run("compress", *field.options, "--rel", 1e-4, "--recipe", "cuszp2-outlier", "-o", stream, "--force")
            middle = ",".join(str(n // 2) for n in field.shape)

            def seconds(*region):
                start = time.perf_counter()
                subprocess.run([lab.tool, "decompress", stream, *region, "--threads", "1", "-o", "-"], stdout=subprocess.DEVNULL, check=True)
                return time.perf_counter() - start

            empty = min(seconds_of_start(lab) for _ in range(3))
            one, whole = (max(min(seconds(*region) for _ in range(3)) - empty, 1e-6) for region in (("--region", middle), ()))
            table.add(dataset, 1e3 * one, 1e3 * whole, one / whole)
    table.remarks += ["times of the tool without those of its start. Heads of a chunk say where a block is, so only that one is decoded; the chunk, of "
                      "2^15 values, is read and its checksum compared",
                      "printed: 1010.07 GB/s on average, counted as the whole array over the time for one block"]
    return table


def seconds_of_start(lab):
    start = time.perf_counter()
    lab.run("--version")
    return time.perf_counter() - start


EXPERIMENTS = {
    "table 3": ("ratios of nine data sets", table3),
    "table 5": ("ratios of double precision", table5),
    "table 6": ("differences along one, two and three axes", table6),
    "figure 14": ("throughput", figure14),
    "figure 15": ("throughput of the two encodings on HACC", figure15),
    "figure 17": ("look-back beside a chained scan", figure17),
    "figure 18": ("what is left to see", figure18),
    "figure 19": ("throughput of double precision", figure19),
    "figure 20": ("random access", figure20),
    "ablation": ("what each part of the codec brings", ablation),
}
ELSEWHERE = {
    "table 1": "an overview of others' designs", "table 2": "the data sets: run.py --datasets", "table 4": "the data sets: run.py --datasets",
    "figure 5": "replayed digit for digit: leeway_tests --gtest_filter=Papers*", "figure 6": "replayed with figure 7",
    "figure 7": "replayed digit for digit: leeway_tests --gtest_filter=Papers*", "figure 8": "leeway/encode/fixed.md",
    "figure 9": "docs/GPU.md", "figure 10": "docs/GPU.md", "figure 12": "leeway/engine/lookback.h", "figure 13": "leeway/engine/lookback.h",
    "figure 16": "docs/GPU.md", "figure 21": "docs/GPU.md", "figure 22": "leeway/predict/blocks.md",
}
