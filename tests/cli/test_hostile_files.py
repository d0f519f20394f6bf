# SPDX-License-Identifier: BSD-3-Clause
"""Files that claim what is not true, or are named to do harm."""
import os
import signal
import struct
import subprocess
import sys
import time

import h5py
import netCDF4
import numpy as np
import pytest

from conftest import BUILD
from hosts.field import wave

FILTER, SHUFFLE, DEFLATE = 47310, 2, 1
F32, F64 = 1, 2  # types of the library


def stored_words(dtype, chunk):
    """What the filter stores with a dataset: lossless, type and rank, extents."""
    return (0x10003, dtype | len(chunk) << 8, *chunk)


def stream_of(leeway, array):
    np.save(leeway.folder / "part.npy", array)
    leeway("compress", "part.npy", "--lossless", "-o", "part.lwy")
    stream = (leeway.folder / "part.lwy").read_bytes()
    for name in ["part.npy", "part.lwy"]:
        (leeway.folder / name).unlink()
    return stream


def write_file(leeway, stream, chunk, words, mask=0, before=(), kind="f4"):
    """evil.h5: a dataset t of one chunk that holds this stream. In a process that does not have the filter, which would
    correct the words."""
    code = f"""
import h5py, numpy as np
with h5py.File("evil.h5", "w") as file:
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk({chunk})
    for filter_id in {list(before)}:
        dcpl.set_filter(filter_id, h5py.h5z.FLAG_OPTIONAL, (4,))
    dcpl.set_filter({FILTER}, h5py.h5z.FLAG_OPTIONAL, {words})
    kind = h5py.string_dtype() if "{kind}" == "text" else np.dtype("{kind}")
    made = h5py.h5d.create(file.id, b"t", h5py.h5t.py_create(kind, logical=True), h5py.h5s.create_simple({chunk}), dcpl)
    made.write_direct_chunk({(0,) * len(chunk)}, {stream!r}, {mask})
"""
    subprocess.run([sys.executable, "-c", code], cwd=leeway.folder, check=True, env={**os.environ, "HDF5_PLUGIN_PATH": "/nowhere"})


EVERY_USE = [["verify", "evil.h5"], ["inspect", "evil.h5"], ["decompress", "evil.h5:t", "-o", "a.npy"], ["decompress", "evil.h5", "-o", "b.h5"],
             ["compress", "evil.h5:t", "--abs", "1", "-o", "a.lwy"], ["compress", "evil.h5", "--abs", "1", "-o", "b.h5"],
             ["advise", "evil.h5:t", "--abs", "1"]]


@pytest.mark.parametrize("use", EVERY_USE, ids=" ".join)
def test_a_filter_set_up_for_a_smaller_chunk(leeway, use):
    """HDF5 would read 64 MB from where the filter has returned four bytes."""
    write_file(leeway, stream_of(leeway, np.ones((1, 1), "f4")), (4000, 4000), stored_words(F32, (1, 1)))
    assert "another type or shape" in leeway.fails(1, *use)


@pytest.mark.parametrize("dtype, shape", [(F32, (100, 99)), (F32, (100,)), (F32, (10000,)), (F32, (100, 100, 1)), (F64, (100, 100)), (F64, (100, 50))])
def test_a_filter_set_up_for_another_chunk(leeway, dtype, shape):
    values = np.ones(shape, {F32: "f4", F64: "f8"}[dtype])
    write_file(leeway, stream_of(leeway, values), (100, 100), stored_words(dtype, shape))
    assert "another type or shape" in leeway.fails(1, "decompress", "evil.h5:t", "-o", "a.npy")


def test_the_right_words_are_fine(leeway):
    values = wave((100, 100), special=False)
    write_file(leeway, stream_of(leeway, values), (100, 100), stored_words(F32, (100, 100)))
    leeway("decompress", "evil.h5:t", "-o", "a.npy")
    assert np.load(leeway.folder / "a.npy").tobytes() == values.tobytes()
    leeway("verify", "evil.h5")


def test_a_filter_behind_one_that_changes_the_size(leeway):
    """What leeway returns would be inflated to whatever size it says."""
    write_file(leeway, stream_of(leeway, np.ones((100, 100), "f4")), (100, 100), stored_words(F32, (100, 100)), before=[DEFLATE])
    assert "another type or shape" in leeway.fails(1, "decompress", "evil.h5:t", "-o", "a.npy")


@pytest.mark.parametrize("before", [[], [SHUFFLE]])
def test_a_chunk_without_filter_that_is_too_short(leeway, before):
    write_file(leeway, b"1234", (4000, 4000), stored_words(F32, (4000, 4000)), mask=3 if before else 1, before=before)
    for use in [["decompress", "evil.h5:t", "-o", "a.npy"], ["verify", "evil.h5"], ["decompress", "evil.h5", "-o", "b.h5"],
                ["decompress", "evil.h5:t", "--region", "3998:,5:6", "-o", "a.npy"]]:
        assert "size of a chunk" in leeway.fails(1, *use)


def test_chunks_that_the_filter_could_not_make(leeway):
    """As HDF5 stores them where an optional filter fails."""
    values = wave((50, 40), special=False)
    write_file(leeway, values.tobytes(), (50, 40), stored_words(F32, (50, 40)), mask=1)
    leeway("decompress", "evil.h5:t", "--region", "10:20,:", "-o", "a.npy")
    assert np.load(leeway.folder / "a.npy").tobytes() == values[10:20].tobytes()


def test_a_chunk_that_claims_to_be_larger_than_its_file(leeway):
    stream = stream_of(leeway, wave((50, 40), special=False))
    write_file(leeway, stream, (50, 40), stored_words(F32, (50, 40)))
    content = (leeway.folder / "evil.h5").read_bytes()
    claim, lie = struct.pack("<II", len(stream), 0), struct.pack("<II", 0xF0000000, 0)  # size and mask of the chunk
    assert content.count(claim) == 1
    (leeway.folder / "evil.h5").write_bytes(content.replace(claim, lie))
    for verb in ["inspect", "verify"]:
        assert "larger than its file" in leeway.fails(1, verb, "evil.h5")


def test_the_filter_on_texts(leeway):
    """It never sets itself up for them; decoded bytes would be taken for addresses."""
    write_file(leeway, stream_of(leeway, np.full(4, 7, "f4")), (4,), stored_words(F32, (4,)), kind="text")
    with h5py.File(leeway.folder / "evil.h5", "a") as file:
        file["u"] = wave((8, 9), special=False)
    assert "neither integers nor" in leeway.fails(1, "compress", "evil.h5", "--abs", "1", "-o", "b.h5")


# ---- classic netCDF ----


def classic_header(extent, variables=1):
    """CDF-5: one dimension, and variables of doubles along it."""
    pad = lambda text: text + bytes(-len(text) % 4)
    out = b"CDF\x05" + struct.pack(">Q", 0) + struct.pack(">IQ", 10, 1) + struct.pack(">Q", 1) + pad(b"x") + struct.pack(">Q", extent)
    out += struct.pack(">IQ", 0, 0) + struct.pack(">IQ", 11, variables)
    for i in range(variables):
        name = f"v{i}".encode()
        out += struct.pack(">Q", len(name)) + pad(name) + struct.pack(">Q", 1) + struct.pack(">Q", 0) + struct.pack(">IQ", 0, 0)
        out += struct.pack(">I", 6) + struct.pack(">QQ", extent * 8, 4096 + i * extent * 8)
    return out


@pytest.mark.parametrize("extent, variables, size", [(1 << 40, 1, 192), (1 << 50, 3, 512), (1000, 2, 12096)])
def test_a_classic_file_that_claims_more_than_it_has(leeway, extent, variables, size):
    """192 bytes could fill a disk."""
    (leeway.folder / "huge.nc").write_bytes(classic_header(extent, variables).ljust(size, b"\0"))
    for use in [["compress", "huge.nc", "--abs", "1", "-o", "b.nc"], ["inspect", "huge.nc"]]:
        assert "too short for the values" in leeway.fails(1, *use, env={"TMPDIR": str(leeway.folder)})


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_classic_files_are_as_long_as_they_say(leeway, form):
    """Records, padding, a scalar, an axis without extent: none of them is taken for a claim."""
    with netCDF4.Dataset(leeway.folder / "in.nc", "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 7)
        for name, kind in [("a", "i1"), ("b", "i2"), ("c", "f8")]:
            file.createVariable(name, kind, ("time", "x"))[:5] = np.arange(35).reshape(5, 7)
        file.createVariable("d", "f4", ("x",))[:] = np.arange(7)
        file.createVariable("e", "f4", ())[...] = 3
    leeway("compress", "in.nc", "--abs", "1", "-o", "out.nc")
    with netCDF4.Dataset(leeway.folder / "in.nc", "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 1 << 20)
        file.createVariable("a", "f4", ("time", "x"))
        file.createDimension("y", 9)
        file.createVariable("b", "f4", ("y",))[:] = np.arange(9)
    leeway("compress", "in.nc:b", "--abs", "1", "-o", "b.lwy")
    leeway("inspect", "in.nc")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGXCPU])
def test_the_folder_of_a_conversion_is_removed(leeway, number):
    with netCDF4.Dataset(leeway.folder / "in.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("x", 20_000_000)
        for name in "abc":
            file.createVariable(name, "f8", ("x",))
    temporary = leeway.folder / "tmp"
    temporary.mkdir()
    process = subprocess.Popen([BUILD / "leeway", "inspect", "in.nc"], cwd=leeway.folder, env={**os.environ, "TMPDIR": str(temporary)},
                               stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(temporary.glob("*/*")):
        time.sleep(0.001)
    process.send_signal(number)
    assert process.wait(60) == -number and list(temporary.iterdir()) == []


# ---- names ----


def test_control_characters_of_names_are_escaped(leeway):
    evil = "a\x1b]0;owned\x07\x9b31m\nb"
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file[evil] = wave((20, 30), special=False)
        file[b"\xff\xfe"] = wave((20, 30), special=False)
    shown = []
    for use in [["compress", "in.h5", "--abs", "1", "-o", "out.h5"], ["inspect", "out.h5"], ["verify", "out.h5"], ["decompress", "out.h5", "-o", "plain.h5"],
                ["compress", "in.h5:nothing", "--abs", "1", "-o", "a.lwy"], ["compress", "in.h5", "--abs", "1"],
                ["compress", f"in.h5:{evil}", "--abs", "1", "-o", "out.h5"], ["compress", "in.h5", "--recipe", "\x1b[2J", "--abs", "1", "-o", "b.h5"]]:
        done = leeway.run(*use)
        shown.append(done.stdout + done.stderr)
        assert not set(shown[-1]) & ({*range(32), 127} - {10}) and b"\xc2\x9b" not in shown[-1], shown[-1]
    assert all(b"a\\x1b]0;owned\\x07\\x9b31m\\x0ab" in text for text in shown[:5])
    for verb in ["inspect", "verify"]:
        assert evil in {entry["variable"] for entry in leeway.json(verb, "out.h5")}


def test_variables_that_would_share_a_stream(leeway):
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file["a/b"] = wave((20, 30), special=False)
        file["a.b"] = 2 * wave((20, 30), special=False)
    for force in [[], ["--force"]]:
        line = leeway.fails(2, "compress", "in.h5", "--abs", "0.1", *force)
        assert "would both be written to 'in.a.b.lwy'" in line and "'a/b'" in line and "'a.b'" in line
    leeway("compress", "in.h5:a/b", "--abs", "0.1")
    leeway("compress", "in.h5:a.b", "--abs", "0.1", "-o", "other.lwy")
    leeway("verify", "in.a.b.lwy", "--against", "in.h5:a/b")


# ---- doctor ----


def test_doctor_does_not_wait_for_ever(leeway):
    folder = leeway.folder / "lib"
    folder.mkdir()
    (folder / "sleep.c").write_text("#include <signal.h>\n#include <unistd.h>\n"
                                    "__attribute__((constructor)) static void wait_long(void) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }\n")
    (folder / "crash.c").write_text("#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }\n")
    for name, number in [("sleep", 998), ("crash", 999)]:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / f"libhdf5.so.{number}", folder / f"{name}.c"], check=True)
    (folder / "libhdf5.so.1000").symlink_to("nowhere")
    begin = time.monotonic()
    done = leeway.run("doctor", env={"VIRTUAL_ENV": str(leeway.folder)})
    assert time.monotonic() - begin < 60 and done.returncode == 0, done.stderr
    said = {line.split("  ")[0]: line for line in done.stdout.decode().splitlines()}
    assert "does not come back" in said[f"filter in {folder}/libhdf5.so.998"]
    assert "crashes" in said[f"filter in {folder}/libhdf5.so.999"]
