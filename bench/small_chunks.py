#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small chunks in HDF5 and Zarr, leeway beside zfp, SZ3 and Blosc2 in the same run: bytes and microseconds a chunk.

    scripts/setup.sh peers && scripts/wheel.sh
    .venv/bin/python bench/small_chunks.py                        # 10,000 chunks of 4 KB; 16, 64 and 256 KB with fewer
    .venv/bin/python bench/small_chunks.py --kilobytes 4 --hosts hdf5 --json

A smooth f32 field of two axes, cut into square chunks, is written to a file or store in memory and read again, everything at
once. All codecs get the same absolute bound, one thread, and take turns in every pass; times are medians and contain what the
host does itself (the row `none`): of the clock, and of the processor, which other programs disturb less. Blosc2 (Blosc in Zarr) knows no bound: it gets the values as they are, and, in the row
`rounded`, multiples of twice the bound, made before the clock runs. What is not installed is left out, and said so.
"""
import argparse
import json
import statistics
import sys
import time

import numpy as np

RECIPES = ["fast", "balanced", "small"]


def smooth_field(rows, columns, seed=7):
    """Waves of all lengths, the longer the higher, as a field of weather has them: values of about -30 to 30."""
    rng = np.random.default_rng(seed)
    fy, fx = np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None, :]
    height = np.maximum(np.hypot(fy, fx), 1 / 512) ** -2.5
    field = np.fft.irfft2(height * np.exp(2j * np.pi * rng.random(height.shape)), (rows, columns))
    return (field * (10 / field.std())).astype("f4")


class Stopwatch:
    """Seconds since it was made, of the clock and of the processor."""

    def __init__(self):
        self.start = time.perf_counter(), time.process_time()

    def read(self):
        return time.perf_counter() - self.start[0], time.process_time() - self.start[1]


class Hdf5:
    name = "HDF5"

    def __init__(self, bound):
        import h5py
        import hdf5plugin
        import leeway.hdf5

        self.h5py, self.codecs = h5py, {"none": {}}
        for recipe in RECIPES:
            self.codecs[f"leeway {recipe}"] = leeway.hdf5.filter(abs=bound, recipe=recipe)
        blosc = hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE)
        self.codecs |= {"zfp": hdf5plugin.Zfp(accuracy=bound), "SZ3": hdf5plugin.SZ3(absolute=bound), "Blosc2": blosc,
                        "Blosc2, rounded": blosc}

    def write(self, codec, field, chunk):
        self.file = self.h5py.File("small.h5", "w", driver="core", backing_store=False)
        self.data = self.file.create_dataset("x", field.shape, "f4", chunks=chunk, **self.codecs[codec])
        watch = Stopwatch()
        self.data[...] = field
        self.file.flush()
        return watch.read(), self.data.id.get_storage_size()

    def read(self):
        values = np.empty(self.data.shape, "f4")
        self.data.id.close()  # and the chunks that HDF5 keeps in memory with it
        watch = Stopwatch()
        self.file["x"].read_direct(values)
        seconds = watch.read()
        self.file.close()
        return seconds, values


class Zarr:
    def __init__(self, bound, version):
        import numcodecs
        import zarr
        import zfpy  # noqa: F401  needed by numcodecs

        self.zarr, self.version, self.name = zarr, version, f"Zarr {version}"
        plain = {"compressors": None}
        if version == 2:
            from leeway.numcodecs import Leeway

            own = {f"leeway {recipe}": {"compressors": Leeway(abs=bound, recipe=recipe)} for recipe in RECIPES}
            peers = {"zfp": {"compressors": numcodecs.ZFPY(tolerance=bound)},
                     "Blosc": {"compressors": numcodecs.Blosc(cname="zstd", clevel=5, shuffle=1)}}
        else:
            from leeway.zarr import LeewayCodec
            from zarr.codecs import BloscCodec
            from zarr.codecs.numcodecs import ZFPY

            own = {f"leeway {recipe}": {"serializer": LeewayCodec(abs=bound, recipe=recipe), **plain} for recipe in RECIPES}
            peers = {"zfp": {"serializer": ZFPY(tolerance=bound), **plain},
                     "Blosc": {"compressors": BloscCodec(cname="zstd", clevel=5, shuffle="shuffle", typesize=4)}}
        self.codecs = {"none": plain, **own, **peers, "Blosc, rounded": peers["Blosc"]}

    def write(self, codec, field, chunk):
        self.store = self.zarr.storage.MemoryStore()
        array = self.zarr.create_array(self.store, shape=field.shape, dtype="f4", chunks=chunk, zarr_format=self.version,
                                       **self.codecs[codec])
        watch = Stopwatch()
        array[...] = field
        return watch.read(), array.nbytes_stored()

    def read(self):
        array = self.zarr.open_array(self.store, mode="r")
        watch = Stopwatch()
        values = array[...]
        return watch.read(), values


def measure(host, fields, chunk, chunks, bound, passes):
    """Bytes and microseconds a chunk, for each codec."""
    rows = {codec: ([], []) for codec in host.codecs}
    sizes, worst = {}, {}
    for _ in range(passes):
        for codec, (writing, reading) in rows.items():
            field = fields["rounded" in codec]
            seconds, sizes[codec] = host.write(codec, field, chunk)
            writing.append(seconds)
            seconds, values = host.read()
            reading.append(seconds)
            worst[codec] = float(np.abs(values.astype("f8") - fields[0]).max())
    for codec, error in worst.items():
        if error > bound:
            print(f"{host.name}, {codec}: the bound {bound} is exceeded, {error}", file=sys.stderr)

    def each(seconds):
        return [1e6 * statistics.median(kind) / chunks for kind in zip(*seconds)]

    table = []
    for codec, (writing, reading) in rows.items():
        (write_us, write_cpu_us), (read_us, read_cpu_us) = each(writing), each(reading)
        table.append(dict(host=host.name, kilobytes=chunk[0] * chunk[1] // 256, codec=codec, chunks=chunks, bytes=sizes[codec] / chunks,
                          write_us=write_us, read_us=read_us, write_cpu_us=write_cpu_us, read_cpu_us=read_cpu_us,
                          max_error=worst[codec]))
    return table


def hosts(names, bound):
    makers = {"hdf5": lambda: Hdf5(bound), "zarr2": lambda: Zarr(bound, 2), "zarr3": lambda: Zarr(bound, 3)}
    for name in names:
        try:
            yield makers[name]()
        except ImportError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kilobytes", type=int, nargs="+", default=[4, 16, 64, 256], help="sizes of a chunk: 4, 16, 64, ...")
    parser.add_argument("--hosts", nargs="+", default=["hdf5", "zarr2", "zarr3"], choices=["hdf5", "zarr2", "zarr3"])
    parser.add_argument("--chunks", type=int, default=10000, help="of 4 KB; larger ones are fewer")
    parser.add_argument("--abs", type=float, default=0.05, help="the bound; values are from -30 to 30")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = []
    for host in hosts(options.hosts, options.abs):
        for kilobytes in options.kilobytes:
            edge = round((256 * kilobytes) ** 0.5)
            along = max(1, round((options.chunks * 4 / kilobytes) ** 0.5))
            field = smooth_field(along * edge, along * edge)
            step = 2 * options.abs * (1 - 1e-5)
            fields = (field, (np.rint(field / step) * step).astype("f4"))
            rows = measure(host, fields, (edge, edge), along * along, options.abs, options.passes)
            table += rows
            if not options.json:
                print(f"\n{along * along} chunks of {kilobytes} KB, {host.name}\n"
                      "| | bytes | ratio | write us | read us | write CPU us | read CPU us |\n|---|---|---|---|---|---|---|")
                for row in rows:
                    print(f"| {row['codec']} | {row['bytes']:.0f} | {1024 * kilobytes / row['bytes']:.2f} "
                          f"| {row['write_us']:.1f} | {row['read_us']:.1f} | {row['write_cpu_us']:.1f} | {row['read_cpu_us']:.1f} |",
                          flush=True)
    if options.json:
        print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
