# SPDX-License-Identifier: BSD-3-Clause
"""Python beside the command line tool (C++) in the same run, and chunks on one and two threads of dask.

    .venv/bin/python bench/python.py            # 256 MB of f32 turbulence, made in a temporary folder
"""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import dask
import dask.array as da
import leeway
import numpy as np

TOOL = pathlib.Path(__file__).resolve().parents[1] / "build/leeway"


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([TOOL, "sample", "turbulence", "--shape", "256x512x512"], check=True, stdout=subprocess.DEVNULL)
        field = np.fromfile("turbulence_256x512x512.f32", "f4").reshape(256, 512, 512)
        megabytes = field.nbytes / 1e6
        out = np.empty_like(field)
        for recipe in ["fast", "balanced", "small"]:
            rows = []
            for _ in range(5):
                said = json.loads(subprocess.run([TOOL, "bench", "turbulence_256x512x512.f32", "--rel", "1e-3", "--recipes", recipe,
                                                  "--threads", "1", "--repeat", "1", "--json"], check=True, capture_output=True).stdout)[0]
                stream = leeway.compress(field, rel=1e-3, recipe=recipe, threads=1)
                compressing = seconds(lambda: leeway.compress(field, rel=1e-3, recipe=recipe, threads=1))
                decompressing = seconds(lambda: leeway.decompress(stream, threads=1, out=out))
                rows.append((said["compress_mb_s"], megabytes / compressing, said["decompress_mb_s"], megabytes / decompressing))
            c, pc, d, pd = (statistics.median(column) for column in zip(*rows))
            print(f"{recipe:9} compress: C++ {c:6.0f} MB/s, Python {pc:6.0f} ({pc / c:.2f}); "
                  f"decompress: C++ {d:6.0f}, Python {pd:6.0f} ({pd / d:.2f})")
        array = da.from_array(field, chunks=(32, 512, 512))
        work = array.map_blocks(lambda block: np.array([[[len(leeway.compress(block, abs=1e-3, recipe="small", threads=1))]]]),
                                chunks=(1, 1, 1), dtype=int)
        times = {}
        for workers in [1, 2] * 3:
            with dask.config.set(scheduler="threads", num_workers=workers):
                times.setdefault(workers, []).append(seconds(work.compute))
        one, two = statistics.median(times[1]), statistics.median(times[2])
        print(f"dask, small: one thread {megabytes / one:.0f} MB/s, two threads {megabytes / two:.0f} MB/s ({one / two:.2f} times)")


if __name__ == "__main__":
    main()
