#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds MDZ, which no package has in binary form, for bench/peers.py: build/libmdz.so, from the sources in hdf5plugin's archive.

    .venv/bin/python bench/mdz.py       # 75 MB to fetch, once; needs g++ and libzstd-dev
"""
import pathlib
import subprocess
import tarfile
import tempfile

import fields

ARCHIVE, SHA256 = "hdf5plugin-7.1.0.tar.gz", "dc4aa9576bf5770d773be9309a060ccf2f0ce2f0031f2b369f566d2662ec2fb3"
SOURCE = pathlib.Path(__file__).with_name("mdz.cc")
LIBRARY = fields.ROOT / "build/libmdz.so"


def main():
    if LIBRARY.exists() and LIBRARY.stat().st_mtime > SOURCE.stat().st_mtime:
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        with tarfile.open(fields.fetch(ARCHIVE, SHA256, folder)) as archive:
            inside = [member for member in archive if "/lib/SZ3/include/" in member.name or "/lib/SZ3/tools/mdz/" in member.name]
            archive.extractall(folder, inside, filter="data")
        top = next(folder.glob("*/lib/SZ3"))
        includes = [top / "include", top / "tools/mdz/include"]
        subprocess.run(["g++", "-std=c++17", "-O3", "-w", "-shared", "-fPIC", *(f"-I{path}" for path in includes), SOURCE, "-lzstd", "-o", LIBRARY],
                       check=True)


if __name__ == "__main__":
    main()
