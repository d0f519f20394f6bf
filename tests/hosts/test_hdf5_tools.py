# SPDX-License-Identifier: BSD-3-Clause
"""h5repack and h5dump."""
import os
import subprocess

import h5py
import numpy as np
import pytest

from conftest import PLUGINS
from hosts.field import check, wave, words_of

ID = 47310


@pytest.fixture
def plain(shell):
    field = wave()
    with h5py.File(shell.folder / "in.h5", "w") as file:
        file.create_dataset("t", data=field, fillvalue=np.float32(9.96921e36))
        file.create_dataset("text", data=np.array([b"one", b"two"] * 50), chunks=(10,))
        file["t"].attrs["units"] = "K"
    return field


def test_repack_there_and_back(shell, plain, python):
    words = words_of(1e-3)
    shell("h5repack", "-f", f"t:UD={ID},0,3,{words[0]},{words[1]},{words[2]}", "-l", "t:CHUNK=10x48x32", "in.h5", "out.h5")
    listing = shell("h5dump", "-pH", "-d", "/t", "out.h5")
    assert f"FILTER_ID {ID}" in listing and "COMMENT leeway" in listing
    assert "nan" in shell("h5dump", "-d", "/t", "-s", "1,2,3", "-c", "1,1,1", "out.h5").lower()
    shell("h5repack", "-f", "NONE", "out.h5", "raw.h5")
    python("""
        import h5py
        with h5py.File("raw.h5") as file:
            assert not file["t"]._filters and file["t"].attrs["units"] == "K"
            check(file["t"][...], wave(), 1e-3)
        """)
    # Compressing again alters nothing: neither by copying the dataset nor by filtering decoded values.
    shell("h5repack", "out.h5", "copy.h5")
    shell("h5repack", "-f", f"t:UD={ID},0,3,{words[0]},{words[1]},{words[2]}", "-l", "t:CHUNK=10x48x32", "raw.h5", "again.h5")
    for name in ["copy.h5", "again.h5"]:
        shell("h5diff", "raw.h5", name, "/t")


def test_a_text_of_twenty_words(shell, plain):
    text = "abs=0.001 recipe=pyramid:taps=28,every=4,gain=0+linear+rans fill=-999".ljust(80)
    words = np.frombuffer(text.encode(), "<u4")
    assert len(words) == 20
    shell("h5repack", "-f", f"t:UD={ID},0,20," + ",".join(map(str, words)), "-l", "t:CHUNK=20x48x64", "in.h5", "out.h5")
    shell("h5repack", "-f", "NONE", "out.h5", "raw.h5")
    with h5py.File(shell.folder / "raw.h5") as file:
        check(file["t"][...], plain, 1e-3)


@pytest.mark.parametrize("what", ["t:UD=47310,1,1,1", "t:UD=47310,1,3,1,0,0", "t:UD=47310,1,3,2,3539053052,1062232653",
                                  "text:UD=47310,1,3,1,3539053052,1062232653", "t:UD=47310,0,1,99"])
def test_what_makes_no_sense_alters_nothing(shell, plain, what):
    """Wrong parameters, or values that are no numbers, whether the filter was said to be optional or not."""
    shell.folder.joinpath("out.h5").unlink(missing_ok=True)
    subprocess.run(["h5repack", "-f", what, "-l", f"{what.split(':')[0]}:CHUNK=" + ("10x10x10" if what[1] == ":" else "10"),
                    "in.h5", "out.h5"], cwd=shell.folder, capture_output=True)
    with h5py.File(shell.folder / "in.h5") as before, h5py.File(shell.folder / "out.h5") as after:
        for name in ["t", "text"]:
            assert not after[name]._filters
            assert before[name][...].tobytes() == after[name][...].tobytes()


def test_without_the_plugin_there_is_an_error(shell, plain, python):
    words = words_of(1e-3)
    shell("h5repack", "-f", f"t:UD={ID},0,3,{words[0]},{words[1]},{words[2]}", "-l", "t:CHUNK=10x48x32", "in.h5", "out.h5")
    nowhere = {**os.environ, "HDF5_PLUGIN_PATH": str(shell.folder)}
    assert "unable to print data" in shell("h5dump", "-d", "/t", "out.h5", env=nowhere, fails=True)
    message = python("import h5py; h5py.File('out.h5')['t'][...]", fails=True, env=nowhere)
    assert "filter" in message or "plugin" in message


def test_a_damaged_chunk_is_an_error(shell, plain, python):
    words = words_of(1e-3)
    shell("h5repack", "-f", f"t:UD={ID},0,3,{words[0]},{words[1]},{words[2]}", "-l", "t:CHUNK=20x48x64", "in.h5", "out.h5")
    path = shell.folder / "out.h5"
    with h5py.File(path) as file:
        where = file["t"].id.get_chunk_info(0)
    data = bytearray(path.read_bytes())
    data[where.byte_offset + where.size // 2] ^= 1
    path.write_bytes(data)
    message = python("import h5py; h5py.File('out.h5')['t'][...]", fails=True)
    assert "filter returned failure" in message  # HDF5 drops what the filter itself says here


def test_the_plugin_needs_no_hdf5_library():
    needed = subprocess.run(["readelf", "-d", PLUGINS / "libh5zleeway.so"], capture_output=True, text=True, check=True).stdout
    assert "hdf5" not in needed
    undefined = subprocess.run(["nm", "-D", "--undefined-only", PLUGINS / "libh5zleeway.so"], capture_output=True, text=True).stdout
    assert " H5" not in undefined


def test_shuffle_first_is_refused(shell, plain, python):
    """It would hand on bytes that are no values. h5repack copies a dataset as it is if that cannot be created."""
    words = words_of(1e-3)
    shell("h5repack", "-f", "t:SHUF", "-f", f"t:UD={ID},0,3,{words[0]},{words[1]},{words[2]}", "-l", "t:CHUNK=10x48x32", "in.h5", "out.h5")
    python("""
        import h5py
        with h5py.File("out.h5") as file:
            assert "47310" not in file["t"]._filters
            check(file["t"][...], wave(), 0, must_differ=False)
        """)
