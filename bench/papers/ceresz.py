# SPDX-License-Identifier: BSD-3-Clause
"""CereSZ [Song et al., HPDC 2024]: its tables and figures. What the wafer does is modelled by `leeway model wafer`."""
import json

from cuszp2 import spans
from lab import Table, rate_distortion

#: Table 5: least, largest and mean ratio at 1e-2, 1e-3 and 1e-4.
TABLE5 = {
    "ceresz": {
        "CESM-ATM": ((2.67, 21.60, 8.73), (2.13, 16.10, 6.49), (1.68, 13.42, 5.11)),
        "HACC": ((4.66, 9.18, 6.82), (3.18, 4.91, 4.05), (2.38, 3.20, 2.83)),
        "Hurricane": ((5.21, 28.82, 17.10), (3.41, 24.37, 12.57), (2.53, 19.71, 9.64)),
        "NYX": ((7.83, 31.98, 20.22), (4.54, 31.84, 14.05), (3.10, 29.74, 9.61)),
        "QMCPack": ((9.59, 19.67, 14.63), (5.31, 9.02, 7.16), (3.48, 4.97, 4.23)),
        "RTM": ((10.52, 31.99, 23.46), (5.94, 31.98, 17.73), (3.79, 31.96, 12.87)),
    },
    "cuszp2-plain": {
        "CESM-ATM": ((2.84, 43.75, 12.56), (2.25, 25.86, 8.46), (1.75, 19.59, 6.24)),
        "HACC": ((5.24, 10.08, 7.63), (3.43, 5.20, 4.31), (2.53, 3.39, 2.96)),
        "Hurricane": ((5.94, 88.88, 38.70), (3.71, 56.88, 22.31), (2.70, 36.66, 14.36)),
        "NYX": ((9.60, 127.80, 66.73), (5.09, 125.55, 38.44), (3.35, 98.23, 22.14)),
        "QMCPack": ((12.44, 22.21, 17.33), (6.08, 10.08, 8.08), (3.79, 5.56, 4.68)),
        "RTM": ((13.97, 127.95, 66.97), (6.90, 127.80, 42.29), (4.17, 127.52, 27.43)),
    },
    "sz3-interp|sz3-lr": {
        "CESM-ATM": ((26.13, 4.0e4, 2.2e3), (9.30, 2.9e4, 941.39), (5.04, 2.9e4, 825.49)),
        "HACC": ((16.58, 931.76, 217.94), (6.11, 30.97, 15.57), (3.74, 8.92, 5.75)),
        "Hurricane": ((23.76, 404.71, 110.33), (8.81, 105.49, 35.67), (4.63, 48.46, 18.72)),
        "NYX": ((1.3e3, 1.2e5, 2.3e4), (84.55, 1.8e4, 3.2e3), (14.38, 2.6e3, 471.61)),
        "QMCPack": ((17.10, 727.13, 372.11), (6.37, 221.11, 113.74), (3.88, 66.09, 34.99)),
        "RTM": ((23.57, 1.3e5, 4.4e3), (9.27, 2.3e4, 894.69), (5.30, 1.6e4, 548.91)),
    },
}


def table5(lab):
    table = spans(lab, TABLE5)
    table.remarks.append("printed rows of cuSZp stand beside cuszp2-plain, those of SZ beside the choice of interpolation and Lorenzo")
    return table


def table4(lab):
    """The data sets, as far as they are there."""
    table = Table([("data", ""), ("fields", "printed"), ("fields found", "measured"), ("shape", "measured")])
    for dataset, count in (("CESM-ATM", 79), ("Hurricane", 13), ("QMCPack", 2), ("NYX", 6), ("RTM", 36), ("HACC", 6)):
        found = [field for field in lab.data.fields(dataset) if not field.stand_in]
        table.add(dataset, count, len(found), "x".join(map(str, found[0].shape)) if found else "-")
    return table


def figure15(lab):
    """Ratio, PSNR and SSIM at 1e-4: both codecs quantize alike, so they lose the same."""
    table = Table([("field", ""), ("recipe", ""), ("ratio", "printed"), ("ratio", "measured"), ("PSNR, dB", "printed"), ("PSNR, dB", "measured"), ("SSIM", "printed"),
                   ("SSIM", "measured")])
    fields = lab.data.fields("NYX")
    field = next((one for one in fields if one.name == "velocity_x"), fields[0])
    stream = lab.data.scratch / "papers.lwy"
    for recipe, ratio in (("cuszp2-plain", 3.35), ("ceresz", 3.10)):
        lab.run("compress", *field.options, "--rel", 1e-4, "--recipe", recipe, "-o", stream, "--force")
        found = json.loads(lab.run("compare", *field.options, stream, "--json"))
        table.add(field.name, recipe, ratio, field.path.stat().st_size / stream.stat().st_size, 84.77, found["psnr"], 0.9996, found.get("ssim"))
    return table


def distortion(lab):
    cases = [(name, lab.data.fields(name)[0]) for name in ("CESM-ATM", "NYX")]
    return rate_distortion(lab, "ceresz_distortion", cases, ["ceresz", "cuszp2-plain", "fast"], [("--rel", 10.0**-n) for n in (1, 2, 3, 4, 5)])


EXPERIMENTS = {
    "table 4": ("data sets", table4),
    "table 5": ("ratios beside other compressors", table5),
    "figure 15": ("quality of a decoded field", figure15),
    "distortion": ("rate and distortion (not in the paper)", distortion),
}
ELSEWHERE = {
    "table 1": "leeway model wafer", "table 2": "leeway model wafer", "table 3": "leeway model wafer",
    "figure 1": "docs/HARDWARE.md", "figure 2": "docs/HARDWARE.md", "figure 3": "leeway model wafer FIELD --routes", "figure 4": "leeway model wafer FIELD --routes",
    "figure 5": "replayed digit for digit: leeway_tests --gtest_filter=Papers*", "figure 6": "leeway model wafer FIELD --pipeline 1|2|4",
    "figure 7": "leeway model wafer", "figure 8": "leeway/encode/fixed.md", "figure 9": "leeway model wafer FIELD --relay paper",
    "figure 10": "leeway model wafer", "figure 11": "leeway model wafer", "figure 12": "leeway model wafer", "figure 13": "leeway model wafer", "figure 14": "leeway model wafer",
}
