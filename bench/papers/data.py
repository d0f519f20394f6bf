# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of the five papers: how their files are called, which shape they have, and what stands in for them.

Most come from the Scientific Data Reduction Benchmarks (SDRBench). Files are looked for in the folder given with --data, at any
depth; a file counts if its name matches and its size fits the shape. A name like velocity_512x512x512.f32 in a folder named as
the data set is taken with the shape it states. Where a set is absent, a generated field of the same kind stands in for it; its
figures are no reproduction, and every table says so.
"""
import fnmatch
import math
import pathlib
import re
import subprocess
from dataclasses import dataclass

import numpy as np

BYTES = {"f32": 4, "f64": 8, "i32": 4}
NAMED = re.compile(r"_([0-9]+(?:x[0-9]+)*)\.(f32|f64|i32)$")


@dataclass(frozen=True)
class Field:
    """A file of values, with what the tool must be told about it."""

    dataset: str
    name: str
    path: pathlib.Path
    shape: tuple
    dtype: str
    stand_in: bool = False

    @property
    def options(self):
        return [str(self.path), "--shape", "x".join(map(str, self.shape)), "--dtype", self.dtype]

    def values(self):
        return np.fromfile(self.path, "<" + self.dtype[0] + str(BYTES[self.dtype])).reshape(self.shape)


@dataclass(frozen=True)
class Dataset:
    name: str
    domain: str
    shape: tuple  #: slowest axis first; empty: one axis, as long as the file
    dtype: str
    patterns: tuple  #: of file names
    stand_in: tuple  #: kind of `leeway sample` and shape; none if nothing is like it


DATASETS = {
    entry.name: entry
    for entry in (
        Dataset("CESM-ATM", "climate", (1800, 3600), "f32", ("*_1_1800_3600.f32", "*_1_1800_3600.dat"), ("climate", (900, 1800))),
        Dataset("Hurricane", "weather", (100, 500, 500), "f32", ("*f48.bin.f32", "*f48.f32"), ("turbulence", (50, 125, 125))),
        Dataset("NYX", "cosmology", (512, 512, 512), "f32",
                ("baryon_density.f32", "dark_matter_density.f32", "temperature.f32", "velocity_?.f32"), ("turbulence", (96, 96, 96))),
        Dataset("SCALE-LETKF", "climate", (98, 1200, 1200), "f32", ("*98x1200x1200.f32",), ("turbulence", (24, 160, 160))),
        Dataset("QMCPack", "quantum structure", (33120, 69, 69), "f32", ("einspline*.f32",), ("wave", (64, 69, 69))),
        Dataset("RTM", "seismic imaging", (235, 449, 449), "f32", ("snapshot*.f32", "pressure_*.f32", "P?000.f32"), ("wave", (64, 128, 128))),
        Dataset("Miranda", "turbulence", (256, 384, 384), "f32",
                ("density.f32", "diffusivity.f32", "pressure.f32", "velocity?.f32", "viscocity.f32"), ("turbulence", (96, 128, 128))),
        Dataset("HACC", "cosmology, particles", (), "f32", ("xx.f32", "yy.f32", "zz.f32", "vx.f32", "vy.f32", "vz.f32"), ("particles", (1600000,))),
        Dataset("NWChem", "two-electron integrals", (), "f64", ("*-tst.bin.d64", "acd-tst*"), ("integrals", (648000,))),
        Dataset("GAMESS", "two-electron integrals", (), "f64", ("*ffff*.f64", "*ffdd*.f64", "*dddd*.f64"), ("integrals", (648000,))),
        Dataset("Brown", "synthetic", (), "f64", ("sample_r_B_*.d64",), ("brownian", (1048577,))),
        Dataset("S3D", "combustion", (11, 500, 500, 500), "f64", ("stat_planar*.d64",), ("turbulence", (64, 64, 64))),
        Dataset("APS", "X-ray ptychography", (), "i32", ("chip_pillar*.i32", "flat_chip*.i32"), ("counts", (64, 128, 128))),
        Dataset("JetIn", "combustion", (1100, 1080, 1408), "f32", ("jicf_q*.raw",), ()),
        Dataset("SynTruss", "X-ray imaging", (1200, 1200, 1200), "f32", ("synthetic_truss*.raw",), ()),
    )
}


class Data:
    """Finds the fields of data sets, and makes what stands in for those that are absent."""

    def __init__(self, tool, folder, scratch, most_fields):
        self.tool, self.folder, self.scratch, self.most_fields = tool, folder and pathlib.Path(folder), pathlib.Path(scratch), most_fields
        self.remarks = []
        if self.folder and not self.folder.is_dir():
            raise SystemExit(f"there is no folder {self.folder}")

    def fields(self, dataset):
        """Those of a data set, in order of their names; one that stands in if there are none."""
        entry = DATASETS[dataset]
        found = list(self._found(entry)) if self.folder else []
        if len(found) > self.most_fields:
            self.remarks.append(f"{dataset}: the first {self.most_fields} of {len(found)} fields (--fields)")
        return found[: self.most_fields] or self._stand_in(entry)

    def _found(self, entry):
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file():
                continue
            named = NAMED.search(path.name)
            if named and path.parent.name.lower() == entry.name.lower():
                shape, dtype = tuple(map(int, named[1].split("x"))), named[2]
            elif any(fnmatch.fnmatch(path.name, pattern) for pattern in entry.patterns):
                shape, dtype = entry.shape or (path.stat().st_size // BYTES[entry.dtype],), entry.dtype
            else:
                continue
            if path.stat().st_size != math.prod(shape) * BYTES[dtype]:
                self.remarks.append(f"{path.name} has another size than {entry.name} of {'x'.join(map(str, shape))} {dtype}: left out")
                continue
            yield Field(entry.name, path.name.split(".")[0], path, shape, dtype)

    def _stand_in(self, entry):
        if not entry.stand_in:
            self.remarks.append(f"{entry.name} is absent, and nothing stands in for it")
            return []
        kind, shape = entry.stand_in
        path = self.scratch / f"{kind}_{'x'.join(map(str, shape))}.{entry.dtype}"
        if not path.exists():
            if kind == "brownian":
                np.cumsum(np.random.default_rng(1).standard_normal(shape)).astype("<f8").tofile(path)
            else:
                size = "1x" * (kind == "particles") + "x".join(map(str, shape))
                subprocess.run([self.tool, "sample", kind, "--shape", size, "--dtype", entry.dtype, "-q", "-o", str(path)], check=True)
        self.remarks.append(f"{entry.name} is absent: generated {kind} {'x'.join(map(str, shape))} stand in")
        return [Field(entry.name, kind, path, shape, entry.dtype, True)]
