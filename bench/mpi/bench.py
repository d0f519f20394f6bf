# SPDX-License-Identifier: BSD-3-Clause
"""Compressed writing and gathering on many ranks beside raw, and beside CEAZ's figures 10 and 14 and its table 6.

    .venv/bin/python bench/mpi/bench.py [--ranks 4] [--link 100mbit] [--storage 5000000] [--rel 1e-3] [--repeat 5]
                                        [--field FILE:f32] [--recipes fast,ceaz,balanced,small] [--no-root] [--only gather,write,sweep,ratio,messages]

As root, the network is made of namespaces whose links are shaped, and the storage is a throttled file system (network.sh, storage.sh);
with --no-root, or where that is not possible, the program sleeps as long as the bytes would take (the shim), and says so. Every column is
marked: measured, model, or quoted from the paper. The model is printed only where it is within 10 % of what was measured."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("LEEWAY_BUILD", ROOT / "build"))

# What the paper states: GB/s of one compressor, of the original operation at 128 nodes, ratios at 1e-3, factors over the original.
CEAZ_SPEED, WRITE, GATHER = 16.5, 30.51, 12.37
RATIO = {"NYX": (20.3, 23.1), "S3D": (47.3, 49.2)}  # of CEAZ, of SZ
PAPER = {("write", "NYX"): 15.7, ("write", "S3D"): 28.1, ("gather", "NYX"): 18.1, ("gather", "S3D"): 36.9}
SZ_SPEED = {1: 0.27, 32: 4.24}  # fitted once to the paper's lines of SZ
PIECE = 1 << 20  # bytes of values that are compressed while those before are on their way
CORES, EFFICIENCY = 32, SZ_SPEED[32] / (32 * SZ_SPEED[1])  # of many cores, as the paper's SZ has it
TABLE_6 = {1: (119, 423.2, 17.9, 0.7), 4: (150, 507.6, 19.7, 1.7), 16: (466, 563.5, 27.2, 5.5), 64: (5699, 631.7, 46.1, 20.9)}


def factor(ranks, speed, ratio, original):
    """The paper's two terms, compress and then move, over the original operation; all speeds in GB/s."""
    return 1 / (original / (ranks * speed) + 1 / ratio)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.recipes = options, folder, options.recipes.split(",")
        self.shaped = self.throttled = False
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self.agent = folder / "agent"
        self.agent.write_text(f'#!/bin/sh\nexec "{HERE}/network.sh" agent "$@"\n')
        self.agent.chmod(0o755)
        self.storage = folder / "disk"
        subprocess.run(["mpicc.openmpi", "-O2", f"-I{ROOT}", f"-I{ROOT}/mpi", HERE / "program.c", ROOT / "mpi/leeway_mpi.c", f"-L{BUILD}/lib",
                        "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-lm", "-o", folder / "program"], check=True)
        self.field, self.dtype = self.field_of(options.field)

    def field_of(self, given):
        if given:
            path, _, dtype = given.rpartition(":")
            return path, dtype
        path = self.folder / "field.f32"
        subprocess.run([BUILD / "leeway", "sample", "turbulence", "--shape", "144x144x144", "-o", path], check=True, capture_output=True)
        return path, "f32"

    def __enter__(self):
        if self.options.no_root or os.geteuid() != 0:
            return self
        self.shaped = subprocess.run([HERE / "network.sh", "up", str(self.options.ranks), self.options.link], capture_output=True).returncode == 0
        self.throttled = subprocess.run([HERE / "storage.sh", "up", self.storage, "400", str(self.options.storage)],
                                        capture_output=True).returncode == 0
        return self

    def __exit__(self, *_):
        subprocess.run([HERE / "network.sh", "down", str(self.options.ranks)], capture_output=True)
        subprocess.run([HERE / "storage.sh", "down", self.storage], capture_output=True)

    def as_type(self, dtype):
        """The field in f32, as NYX is, or in f64, as S3D is."""
        path, numpy = self.folder / f"field_as.{dtype}", {"f32": "f4", "f64": "f8"}
        if not path.exists():
            np.fromfile(self.field, numpy[self.dtype]).astype(numpy[dtype]).tofile(path)
        return path, dtype

    def run(self, *commands, ranks=None, network=False, repeat=None, field=None):
        field, dtype = field or (self.field, self.dtype)
        ranks = ranks or self.options.ranks
        launch = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        if network and self.shaped:
            hosts = ",".join(f"10.77.0.{i + 1}" for i in range(ranks))
            launch += ["--mca", "plm_rsh_agent", self.agent, "--host", hosts, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                       "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include", "10.77.0.0/24"]
        elif network:
            commands = ["slow-link", str(self.rate()), *commands]
        done = subprocess.run([*map(str, launch), self.folder / "program", field, dtype, str(self.options.rel),
                               str(repeat or self.options.repeat), *map(str, commands)], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def rate(self):
        """Bytes a second of a link."""
        units = {"kbit": 125, "mbit": 125e3, "gbit": 125e6}
        number = self.options.link.rstrip("kmgbit")
        return float(number) * units[self.options.link[len(number):]]


def median(lines, what, recipe=None, key="seconds"):
    return statistics.median(line[key] for line in lines if line["what"] == what and recipe in (None, line.get("recipe")))


def table(title, head, rows):
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def is_near(measured, model):
    """A model's figure counts within 10 % of what was measured."""
    return 0.9 <= model / measured <= 1.1


def with_model(measured, model):
    return [f"{model:.2f}", f"{model / measured:.2f}"] if is_near(measured, model) else ["-", f"({model / measured:.2f})"]


def calibrate(bench, recipes, dtype=None):
    """For each recipe: bytes/s of processor time compressing and decompressing, of the clock with all ranks at once, and the ratio."""
    speeds = {}
    lines = bench.run(*(word for recipe in recipes for word in ("calibrate", recipe)), field=dtype and bench.as_type(dtype))
    for recipe in recipes:
        size = lines[1]["bytes"]
        best = lambda what: size / min(line["seconds"] for line in lines if line["what"] == what and line["recipe"] == recipe)
        typical = size / median(lines, "compress together", recipe)
        speeds[recipe] = dict(c=best("compress work"), d=best("decompress work"), together=typical, ratio=median(lines, "compress", recipe, "more"))
    table(f"One core of this machine, {dtype or bench.dtype}, MB/s (measured)",
          ["recipe", "compress, processor time", "compress, all ranks at once, by the clock", "decompress, processor time", "ratio"],
          [[recipe, *(f"{speeds[recipe][k] / 1e6:.0f}" for k in ("c", "together", "d")), f"{speeds[recipe]['ratio']:.2f}"] for recipe in recipes])
    return speeds


def gather(bench, speeds):
    lines = bench.run("link", network=True)
    link = statistics.median(line["more"] for line in lines if line["what"] == "link")
    if bench.shaped and link > 1.1 * bench.rate():
        sys.exit(f"the link moves {link / 1e6:.1f} MB/s, more than it was shaped to: something passes it")
    words = ["gather", "raw"] + [w for recipe in bench.recipes for how in ("streams", "decoded") for w in ("gather", how, recipe)]
    lines = bench.run(*words, network=True)
    size, others = lines[1]["bytes"], bench.options.ranks - 1
    raw = median(lines, "gather raw")
    link = others * size / raw  # what the root's link takes when it is never idle
    rows, holds = [["raw", f"{raw:.3f}", "1.00", "", "", ""]], False
    for recipe in bench.recipes:
        arrived = median(lines, "gather streams", recipe, "more")
        speed = speeds[recipe]
        for how in ("streams", "decoded"):
            seconds = median(lines, f"gather {how}", recipe)
            model = size / speed["together"] + arrived / link
            if how == "decoded":  # pieces are decoded while others arrive
                model = max(arrived / link, others * size / speed["d"]) + PIECE / speed["together"]
            elif recipe == "ceaz":
                holds = is_near(seconds, model)
            rows.append([f"{how}, {recipe}", f"{seconds:.3f}", f"{raw / seconds:.2f}", *with_model(seconds, model),
                         f"{others * size / arrived:.2f}"])
    way = f"links of {bench.options.link} (namespaces)" if bench.shaped else f"the shim at {bench.options.link}"
    table(f"Gather, {bench.options.ranks} ranks of {size / 1e6:.1f} MB over {way}; the root's took {link / 1e6:.2f} MB/s",
          ["what", "seconds (measured)", "times raw", "seconds (model)", "model / measured", "ratio"], rows)
    return holds


def write(bench, speeds):
    folder, before = (bench.storage, []) if bench.throttled else (bench.folder, ["slow-storage", bench.options.storage])
    if not bench.throttled:
        bench.environment["OMPI_MCA_io"] = "romio321"  # files through MPI, where the shim is
    words = ["write", folder, "raw"] + [w for recipe in bench.recipes for how in ("ordered", "streamed") for w in ("write", folder, how, recipe)]
    lines = bench.run(*before, *words, repeat=max(2, bench.options.repeat // 2))
    size, ranks = lines[1]["bytes"], bench.options.ranks
    raw = median(lines, "write raw")
    storage = ranks * size / raw
    rows, holds = [["raw", f"{raw:.2f}", "1.00", "", "", ""]], False
    for recipe in bench.recipes:
        for how in ("ordered", "streamed"):
            seconds, output = median(lines, f"write {how}", recipe), median(lines, f"write {how}", recipe, "more")
            compress, move = size / speeds[recipe]["together"], output / storage
            model = compress + move if how == "ordered" else max(compress + move / 8, move + compress / 8)
            if (how, recipe) == ("ordered", "ceaz"):
                holds = is_near(seconds, model)
            rows.append([f"{how}, {recipe}", f"{seconds:.2f}", f"{raw / seconds:.2f}", *with_model(seconds, model), f"{ranks * size / output:.2f}"])
    way = "throttled file system" if bench.throttled else "shim"
    table(f"Write, {ranks} ranks of {size / 1e6:.1f} MB to {bench.options.storage / 1e6:g} MB/s ({way}); it took {storage / 1e6:.1f} MB/s",
          ["what", "seconds (measured)", "times raw", "seconds (model)", "model / measured", "ratio"], rows)
    return holds


def sweep(speeds, holds):
    """Figure 14: all lines by the paper's own model, with this machine's speeds; where the text has a figure it stands beside. `holds` says
    for which operations the model was within 10 % of what was measured; the others are left out."""
    for field, dtype in (("NYX", "f32"), ("S3D", "f64")):
        ceaz, sz = RATIO[field]
        own = speeds[dtype]["ceaz"]["c"] / 1e9
        alike = own * SZ_SPEED[1] / (speeds[dtype]["sz1.4"]["c"] / 1e9)  # were sz1.4 as fast here as the paper's SZ there
        for operation, original in (("write", WRITE), ("gather", GATHER)):
            if not holds.get(operation):
                print(f"\nFigure 14, {operation}, {field}: not printed, since the model was not within 10 % of a measured {operation}")
                continue
            rows = []
            for ranks in (8, 16, 32, 64, 128):
                row = [factor(ranks, SZ_SPEED[1], sz, original), factor(ranks, SZ_SPEED[32], sz, original), factor(ranks, CEAZ_SPEED, ceaz, original)]
                for speed in (own, alike):
                    row += [factor(ranks, speed, ceaz, original), factor(ranks, speed * CORES * EFFICIENCY, ceaz, original)]
                rows.append([str(ranks), *(f"{x:.2f}" for x in row), f"{PAPER[operation, field]}" if ranks == 128 else ""])
            table(f"Figure 14, {operation}, {field}: times the original operation ({original} GB/s); the paper's ratios; {own:.2f} GB/s a core here, "
                  f"{alike:.2f} in the paper's regime",
                  ["nodes", "SZ, 1 core (model)", "SZ, 32 cores (model)", "CEAZ (model)", "leeway `ceaz`, 1 core (model)", "32 cores (model)",
                   "paper's regime: 1 core (model)", "32 cores (model)", "CEAZ (quoted)"], rows)


def ratios(bench):
    rows = []
    for asked, field in ((10.5, bench.as_type("f32")), (21, bench.as_type("f64"))):
        for recipe in ("fast", "ceaz"):
            line = next(l for l in bench.run("ratio", asked, recipe, bench.folder, field=field) if l["what"] == "ratio")
            rows.append([f"{asked}, {field[1]}", recipe, f"{line['more']:.3f}", f"{100 * (line['more'] / asked - 1):+.2f} %", "15 %"])
    table(f"Figure 10: a ratio for all {bench.options.ranks} ranks together", ["asked", "recipe", "met (measured)", "off (measured)", "CEAZ (quoted)"],
          rows)


def messages(bench):
    words = [w for kilobytes in TABLE_6 for w in ("message", kilobytes * 1024, "fast")]
    near, far = bench.run(*words, ranks=2), bench.run(*words, ranks=2, network=True) if bench.shaped else None
    rows = []
    for kilobytes, paper in TABLE_6.items():
        def microseconds(lines, what):
            return statistics.median(l["seconds"] for l in lines if l["what"] == f"message {what}" and l["more"] == kilobytes * 1024) * 1e6
        rows.append([f"{kilobytes}", *(f"{microseconds(near, what):.1f}" for what in ("compress", "decompress", "raw", "compressed")),
                     *(f"{microseconds(far, what):.0f}" if far else "-" for what in ("raw", "compressed")), *map(str, paper)])
    table(f"Table 6: small messages, microseconds (recipe fast); the far columns over {bench.options.link}",
          ["KB", "compress (processor time)", "decompress (processor time)", "raw, shared memory (measured)", "sent compressed (measured)", "raw, far (measured)",
           "sent compressed, far (measured)", "SZ (quoted)", "cuSZ (quoted)", "cuZFP (quoted)", "CEAZ (quoted)"], rows)


def regimes(speeds):
    rows = []
    for link in (10e6, 100e6, 500e6, 1e9, 2.5e9, 12.5e9):
        gains = {r: 1 / (link / s["c"] + 1 / s["ratio"] + link / s["d"]) for r, s in speeds.items()}
        best = max(gains, key=gains.get)
        rows.append([f"{link / 1e6:g}", best if gains[best] > 1 else "raw", f"{max(gains[best], 1):.2f}"])
    table("Compress, send, decompress with one core a rank: which recipe wins (model)", ["link, MB/s", "take", "times raw"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--link", default="100mbit", help="of every rank, in the words of tc")
    parser.add_argument("--storage", type=float, default=5e6, help="bytes a second, all ranks together")
    parser.add_argument("--rel", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--field", help="a raw file and its type: FILE:f32")
    parser.add_argument("--recipes", default="fast,ceaz,balanced,small")
    parser.add_argument("--no-root", action="store_true", help="use the shim")
    parser.add_argument("--only", default="gather,write,sweep,ratio,messages")
    options = parser.parse_args()
    options.storage = int(options.storage)
    only = options.only.split(",")
    with tempfile.TemporaryDirectory() as folder, Bench(options, pathlib.Path(folder)) as bench:
        print(bench.run("link", repeat=1)[0]["text"])
        speeds, holds = calibrate(bench, bench.recipes), {}
        if "gather" in only:
            holds["gather"] = gather(bench, speeds)
        if "write" in only:
            holds["write"] = write(bench, speeds)
        if "sweep" in only:
            sweep({dtype: calibrate(bench, ["ceaz", "sz1.4"], dtype) for dtype in ("f32", "f64")}, holds)
            regimes(speeds)
        if "ratio" in only:
            ratios(bench)
        if "messages" in only:
            messages(bench)


if __name__ == "__main__":
    main()
