# SPDX-License-Identifier: BSD-3-Clause
"""waveSZ [Tian et al., PPoPP 2020]: its tables and figures."""
import json
import os

import numpy as np

from lab import Table, off_by, speeds

SETS = ("CESM-ATM", "Hurricane", "NYX")
BOUND = ("--rel", 1e-3)
#: Table 7, and Table 1 in its first and last row.
RATIOS = {
    "ghostsz": (7.9, 6.2, 6.6),
    "wavesz": (12.3, 13.2, None),
    "wavesz-huffman": (29.4, 20.3, None),
    "sz1.4": (31.2, 21.4, 33.8),
}
PSNR = {"ghostsz": (73.9, 70.6, 74.5), "wavesz": (65.1, 66.0, 66.5), "sz1.4": (64.9, 65.0, 65.2)}


def beside(lab, printed, column, heading):
    table = Table([("data", ""), ("recipe", ""), (heading, "printed"), (heading, "measured"), ("difference", "derived")])
    for k, dataset in enumerate(SETS):
        for recipe, ours in lab.mean(dataset, BOUND, list(printed), column, 1).items():
            table.add(dataset, recipe, printed[recipe][k], ours, off_by(ours, printed[recipe][k]))
    return table


def table1(lab):
    return beside(lab, {name: RATIOS[name] for name in ("ghostsz", "sz1.4")}, "ratio", "ratio")


def table2(lab):
    """What the variants of SZ are made of, as recipes."""
    table = Table([("variant in the paper", ""), ("recipe here", ""), ("stages", "")])
    stages = {entry["name"]: entry["recipe"] for entry in json.loads(lab.run("recipes", "--json"))}
    for variant, recipe in (("SZ 0.1-1.0", "sz1.0"), ("SZ 1.4", "sz1.4"), ("SZ 2.0+", "sz2"), ("GhostSZ", "ghostsz"),
                            ("waveSZ (G*)", "wavesz"), ("waveSZ (H*G*)", "wavesz-huffman")):
        table.add(variant, recipe, stages[recipe])
    return table


def table3(lab):
    """Mantissas of decimal and of binary bounds: which step is a power of two."""
    table = Table([("decimal bound", "printed"), ("mantissa, 23 bits", "derived"), ("power of two at or below", "derived")])
    for n in range(1, 8):
        mantissa, exponent = np.frexp(np.float32(10.0**-n))
        bits = format(int((2 * float(mantissa) - 1) * 2**23), "023b")
        table.add(f"1e-{n}", f"1.{bits}b x 2^{exponent - 1}", f"2^{int(np.floor(np.log2(10.0 ** -n)))}")
    return table


def table5(lab):
    """Throughput: the design's by its cycle model, this processor's measured."""
    table = speeds(lab, "MB/s", {("CESM-ATM", "wavesz"): 995, ("Hurricane", "wavesz"): 838, ("NYX", "wavesz"): 986,
                                 ("CESM-ATM", "ghostsz"): 185, ("Hurricane", "ghostsz"): 144, ("NYX", "ghostsz"): 156,
                                 ("CESM-ATM", "sz1.4"): 114, ("Hurricane", "sz1.4"): 122, ("NYX", "sz1.4"): 125},
                   SETS, BOUND, ["wavesz", "ghostsz", "sz1.4"])
    table.remarks.append("printed: waveSZ and GhostSZ on an FPGA, SZ-1.4 on one core; measured: all on this processor")
    table.remarks.append("the designs cycle by cycle: leeway model fpga --design wavesz|ghostsz; in SystemVerilog: scripts/rtl.sh")
    return table


def table7(lab):
    return beside(lab, RATIOS, "ratio", "ratio")


def table8(lab):
    return beside(lab, PSNR, "psnr", "PSNR, dB")


def lorenzo_errors(values):
    """Prediction errors of the Lorenzo rule on original values."""
    errors = values.astype(np.float64)
    for axis in range(errors.ndim):
        errors = np.diff(errors, axis=axis)
    return errors.ravel()


def curve_errors(values, decoded):
    """Errors of the best of three curves: through original values before (decoded: False), or through predicted ones."""
    rows = values.reshape(-1, values.shape[-1]).astype(np.float64)
    if not decoded:
        a, b, c = rows[:, 2:-1], rows[:, 1:-2], rows[:, :-3]
        fits = np.stack([a, 2 * a - b, 3 * a - 3 * b + c]) - rows[:, 3:]
        return np.take_along_axis(fits, np.abs(fits).argmin(0)[None], 0).ravel()
    before = [rows[:, k].copy() for k in range(3)]
    errors = []
    for k in range(3, rows.shape[1]):
        c, b, a = before
        fits = np.stack([a, 2 * a - b, 3 * a - 3 * b + c])
        best = np.take_along_axis(fits, np.abs(fits - rows[:, k]).argmin(0)[None], 0)[0]
        errors.append(best - rows[:, k])
        before = [b, a, best]
    return np.concatenate(errors)


def figure1(lab):
    table = Table([("predictor", ""), ("within 1e-3 of the range", "measured"), ("within 1e-2", "measured"), ("mean |error| / range", "measured")])
    (field,) = lab.data.fields("CESM-ATM")[:1]
    values = field.values()
    values = np.where(np.abs(values) > 1e18, np.median(values), values)
    values = values[: values.shape[0] // 4, : values.shape[1]]
    spread = float(np.ptp(values))
    errors = {"Lorenzo (LP-SZ-1.4)": lorenzo_errors(values), "best curve (CF-SZ-1.0)": curve_errors(values, False),
              "best curve on predicted values (CF-GhostSZ)": curve_errors(values, True)}
    for name, found in errors.items():
        part = np.abs(found) / spread
        table.add(name, float((part <= 1e-3).mean()), float((part <= 1e-2).mean()), float(part.mean()))

    def draw(pyplot):
        figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
        for axis, limit in zip(axes, (0.05, 0.005)):
            for name, found in errors.items():
                axis.hist(found / spread, bins=201, range=(-limit, limit), density=True, histtype="step", label=name)
            axis.set(xlabel="prediction error / range", ylabel="density")
        axes[0].legend(fontsize=7)
        return figure

    lab.picture(table, "wavesz_figure1", draw)
    return table


def figure8(lab):
    """Threads of this processor, where the paper has lanes and cores."""
    table = Table([("data", ""), ("recipe", ""), ("threads", ""), ("compress MB/s", "measured"), ("times one thread", "derived")])
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= (os.cpu_count() or 1)]
    for dataset in SETS[1:]:
        for field in lab.data.fields(dataset)[:1]:
            for recipe in ("wavesz", "sz1.4"):
                first = None
                for count in counts:
                    speed = lab.bench(field, BOUND, [recipe], threads=count)[recipe]["compress_mb_s"]
                    first = first or speed
                    table.add(dataset, recipe, count, speed, speed / first)
    table.remarks.append("lanes of the design: leeway model fpga FIELD --design wavesz --lanes N")
    return table


def figure9(lab):
    """How errors are distributed, and where they are."""
    table = Table([("recipe", ""), ("mean |error| / bound", "measured"), ("errors below a tenth of the bound", "measured"), ("largest / bound", "measured")])
    (field,) = lab.data.fields("CESM-ATM")[:1]
    pictures = {}
    for recipe in ("wavesz", "ghostsz"):
        values, back = lab.decoded(field, BOUND, recipe)
        valid = np.abs(values) < 1e18
        bound = 1e-3 * float(np.ptp(values[valid]))
        part = np.where(valid, np.abs(values.astype(np.float64) - back), 0) / bound
        table.add(recipe, float(part[valid].mean()), float((part[valid] < 0.1).mean()), float(part.max()))
        pictures[recipe] = (np.where(valid, values, np.nan), part, (back.astype(np.float64) - values)[valid] / bound)

    def draw(pyplot):
        figure, axes = pyplot.subplots(1, 4, figsize=(14, 3))
        for recipe, (_, _, errors) in pictures.items():
            axes[0].hist(errors, bins=101, range=(-1, 1), histtype="step", density=True, label=recipe)
        axes[0].set(title="errors / bound")
        axes[0].legend(fontsize=7)
        step = max(1, field.shape[0] // 450)
        axes[1].imshow(pictures["wavesz"][0][::step, ::step])
        axes[1].set(title="original")
        for axis, recipe in zip(axes[2:], pictures):
            axis.imshow(pictures[recipe][1][::step, ::step], vmin=0, vmax=1, cmap="magma")
            axis.set(title=f"|error| of {recipe} / bound")
        for axis in axes[1:]:
            axis.set_axis_off()
        return figure

    lab.picture(table, "wavesz_figure9", draw)
    return table


EXPERIMENTS = {
    "table 1": ("ratios of GhostSZ and SZ-1.4 at 1e-3", table1),
    "table 2": ("modules of the SZ variants", table2),
    "table 3": ("decimal bounds in binary", table3),
    "table 5": ("throughput", table5),
    "table 7": ("ratios at 1e-3", table7),
    "table 8": ("PSNR at 1e-3", table8),
    "figure 1": ("distribution of prediction errors", figure1),
    "figure 8": ("parallel throughput", figure8),
    "figure 9": ("distribution of errors, and error maps", figure9),
}
ELSEWHERE = {
    "table 4": "the data sets: run.py --datasets",
    "table 6": "scripts/rtl.sh synth (docs/HARDWARE.md)",
    "figure 2": "leeway/predict/lorenzo.md", "figure 3": "leeway/predict/wavefront.md", "figure 4": "leeway/predict/ghost.md",
    "figure 5": "leeway/predict/wavefront.md", "figure 6": "leeway model fpga FIELD --design wavesz", "figure 7": "docs/HARDWARE.md",
}
