#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""leeway beside other error-bounded compressors, in one run: ratio, speed, error over bound, PSNR.

    scripts/setup.sh peers
    .venv/bin/python bench/peers.py turbulence_256x256x256.f32 --rel 1e-2 1e-3 1e-4 --plot rates.png

All of them get the same absolute bound, one thread, and take turns in every pass; speeds are medians. What is not installed
is left out, and said so. HDF5 filters (SPERR) are timed through HDF5 in memory, which costs them a copy.
"""
import argparse
import io
import json
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = {"f32": np.float32, "f64": np.float64}


class Sz3:
    name, algorithm = "SZ3", "INTERP_LORENZO"

    def __init__(self):
        import pysz

        self.pysz = pysz

    def compress(self, array, bound):
        config = self.pysz.szConfig()
        config.cmprAlgo = getattr(self.pysz.szAlgorithm, self.algorithm)
        config.errorBoundMode, config.absErrorBound = self.pysz.szErrorBoundMode.ABS, bound
        return self.pysz.sz.compress(array, config)[0]

    def decompress(self, stream, array):
        return self.pysz.sz.decompress(stream, array.dtype.type, array.shape)[0]


class Sz3Lr(Sz3):
    name, algorithm = "SZ3-LR", "LORENZO_REG"


class Sz3Interp(Sz3):
    name, algorithm = "SZ3-Interp", "INTERP"


class Zfp:
    name = "zfp"

    def __init__(self):
        import zfpy

        self.zfpy = zfpy

    def compress(self, array, bound):
        return self.zfpy.compress_numpy(array, tolerance=bound)

    def decompress(self, stream, array):
        return self.zfpy.decompress_numpy(stream)


class Sperr:
    name = "SPERR"

    def __init__(self):
        import h5py
        import hdf5plugin

        self.h5py, self.plugin = h5py, hdf5plugin

    def compress(self, array, bound):
        array = array.reshape((-1,) + array.shape[-2:]) if array.ndim > 3 else array
        if array.ndim < 2:
            raise ValueError("needs two or three axes")
        content = io.BytesIO()
        # Without `swap` it takes the axes in the wrong order, which costs up to six times the bytes.
        with self.h5py.File(content, "w") as file:
            file.create_dataset("x", data=array, chunks=array.shape, **self.plugin.Sperr(absolute=bound, swap=True))
        with self.h5py.File(content, "r") as file:
            return content, file["x"].id.get_storage_size()

    def decompress(self, stream, array):
        with self.h5py.File(stream[0], "r") as file:
            return file["x"][...].reshape(array.shape)


PEERS = (Sz3, Sz3Lr, Sz3Interp, Zfp, Sperr)


def available(names):
    found = []
    for peer in PEERS:
        if names and peer.name not in names.split(","):
            continue
        try:
            found.append(peer())
        except ImportError as error:
            print(f"{peer.name}: left out ({error})", file=sys.stderr)
    return found


def load(path):
    match = re.search(r"_([0-9x]+)\.(f32|f64)$", path)
    if not match:
        sys.exit(f"{path}: the name must end like _100x500x500.f32")
    return np.fromfile(path, TYPES[match[2]]).reshape([int(n) for n in match[1].split("x")])


def psnr(a, b):
    error = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    return float(10 * np.log10(float(a.max() - a.min()) ** 2 / error)) if error > 0 else None


def leeway_pass(path, bound, recipes):
    command = [os.path.join(ROOT, "build", "leeway"), "bench", path, "--abs", repr(bound), "--recipes", ",".join(recipes)]
    output = subprocess.run(command + ["--threads", "1", "--repeat", "3", "--json"], check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def measure(path, rel, recipes, peers, repeat):
    array = load(path)
    bound = rel * float(array.max() - array.min())
    rows = {}

    def add(name, ratio, compress, decompress, error, quality):
        row = rows.setdefault(name, {"ratio": ratio, "error_over_bound": error, "psnr": quality, "compress": [], "decompress": []})
        row["compress"].append(compress)
        row["decompress"].append(decompress)

    for _ in range(repeat):
        for row in leeway_pass(path, bound, recipes):
            add("leeway " + row["recipe"], row["ratio"], row["compress_mb_s"], row["decompress_mb_s"], row["error_over_bound"], row["psnr"])
        for peer in peers:
            try:
                start = time.perf_counter()
                stream = peer.compress(array, bound)
                middle = time.perf_counter()
                back = peer.decompress(stream, array)
                end = time.perf_counter()
            except (ValueError, RuntimeError) as error:
                print(f"{peer.name}: left out ({error})", file=sys.stderr)
                continue
            size = stream[1] if isinstance(stream, tuple) else getattr(stream, "nbytes", None) or len(stream)
            error = float(np.max(np.abs(array.astype(np.float64) - back.astype(np.float64)))) / bound
            speed = array.nbytes / 1e6
            add(peer.name, array.nbytes / size, speed / (middle - start), speed / (end - middle), error, psnr(array, back))
    result = []
    for name, row in rows.items():
        medians = {way + "_mb_s": statistics.median(row.pop(way)) for way in ("compress", "decompress")}
        result.append({"field": os.path.basename(path), "rel": rel, "codec": name, **row, **medians})
    return result


def print_table(rows):
    print(f"{'field':<34} {'rel':>6} {'codec':<18} {'ratio':>8} {'comp MB/s':>10} {'decomp MB/s':>11} {'err/bound':>9} {'PSNR':>7}")
    for row in rows:
        quality = "-" if row["psnr"] is None else f"{row['psnr']:.2f}"
        print(f"{row['field']:<34} {row['rel']:>6.0e} {row['codec']:<18} {row['ratio']:>8.2f} {row['compress_mb_s']:>10.0f} "
              f"{row['decompress_mb_s']:>11.0f} {row['error_over_bound']:>9.4f} {quality:>7}")


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fields = sorted({row["field"] for row in rows})
    figure, axes = plt.subplots(1, len(fields), figsize=(5.5 * len(fields), 4.5), squeeze=False)
    for axis, field in zip(axes[0], fields):
        bits = 64 if field.endswith("f64") else 32
        for codec in dict.fromkeys(row["codec"] for row in rows):
            points = sorted((bits / r["ratio"], r["psnr"]) for r in rows if r["field"] == field and r["codec"] == codec and r["psnr"])
            if points:
                style = "-" if codec.startswith("leeway") else "--"
                axis.plot(*zip(*points), style, marker="o", markersize=4, label=codec)
        axis.set(title=field, xlabel="bits per value", ylabel="PSNR (dB)", xscale="log")
        axis.grid(alpha=0.3)
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", nargs="+", help="raw files named like field_100x500x500.f32")
    parser.add_argument("--rel", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4], help="bounds, as parts of the value range")
    parser.add_argument("--recipes", default="fast,balanced,small,smallest", help="leeway's, separated by commas")
    parser.add_argument("--peers", help="only these, separated by commas: " + ", ".join(peer.name for peer in PEERS))
    parser.add_argument("--repeat", type=int, default=3, help="passes over all codecs")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON")
    parser.add_argument("--plot", metavar="FILE", help="also draw PSNR over bits per value")
    options = parser.parse_args()
    peers, rows = available(options.peers), []
    for field in options.fields:
        for rel in options.rel:
            rows += measure(field, rel, options.recipes.split(","), peers, options.repeat)
    print_table(rows)
    if options.json:
        with open(options.json, "w") as out:
            json.dump(rows, out, indent=1)
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
