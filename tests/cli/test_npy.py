# SPDX-License-Identifier: BSD-3-Clause
"""Headers of .npy files: what NumPy writes is read, and nothing else."""
import numpy as np
import pytest

GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


def write(leeway, dictionary, version=(1, 0), values=bytes(24), length=None):
    text = dictionary if isinstance(dictionary, bytes) else dictionary.encode("latin1")
    size = len(text) if length is None else length
    digits = size.to_bytes(2 if version[0] == 1 else 4, "little")
    (leeway.folder / "a.npy").write_bytes(b"\x93NUMPY" + bytes(version) + digits + text + values)


def shape_of(leeway):
    return leeway.json("compress", "a.npy", "--abs", "1", "-fo", "a.lwy")["shape"]


@pytest.mark.parametrize("dictionary, shape", [
    (GOOD, [2, 3]),
    (GOOD + " " * 20 + "\n", [2, 3]),
    ('{"shape":(2,3),"descr":"<f4","fortran_order":True}', [2, 3]),
    ("{'descr': '<f4', 'fortran_order': False, 'shape': (6L,)}", [6]),
    ("{'descr': '|i1', 'fortran_order': False, 'shape': (24,)}", [24]),
    ("{'descr': '<f4', 'fortran_order': False, 'shape': ( 6 , 1 , ) , }", [6, 1])])
def test_what_is_read(leeway, dictionary, shape):
    write(leeway, dictionary)
    assert shape_of(leeway) == shape


def test_every_version(leeway):
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(leeway.folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, np.zeros((2, 3), "f4"), version=version)
        assert shape_of(leeway) == [2, 3]
    np.save(leeway.folder / "a.npy", np.float32(7))
    assert shape_of(leeway) == []


@pytest.mark.parametrize("dictionary, complaint", [
    (GOOD.replace("(2, 3)", "(99999999999999999999999, 6)"), "an extent is too large"),
    (GOOD.replace("(2, 3)", "(9223372036854775807, 9223372036854775807)"), "too many values"),
    (GOOD.replace("(2, 3)", "(-6,)"), "not a whole number"),
    (GOOD.replace("(2, 3)", "(1.6,)"), "')' is missing"),
    (GOOD.replace("(2, 3)", "(6e0,)"), "')' is missing"),
    (GOOD.replace("(2, 3)", "(6)"), "not a list of extents"),
    (GOOD.replace("(2, 3)", "6"), "'(' is missing"),
    (GOOD.replace("(2, 3)", "(2, 3"), "not a whole number"),
    (GOOD.replace("(2, 3)", "(2,, 3)"), "not a whole number"),
    (GOOD.replace("(2, 3)", "(2 3)"), "')' is missing"),
    (GOOD.replace("(2, 3)", "(True, 6)"), "not a whole number"),
    (GOOD.replace("(2, 3)", "(1,)*9"), "is missing"),
    (GOOD.replace("(2, 3)", "(1, 1, 1, 1, 1, 1, 1, 1, 6)"), "at most 8 axes"),
    (GOOD.replace("False", "0"), "neither True nor False"),
    (GOOD.replace("False", "Falsehood"), "'}' is missing"),
    (GOOD.replace("'<f4'", "'f4'"), "byte order"),
    (GOOD.replace("'<f4'", "'<f16'"), "does not compress"),
    (GOOD.replace("'<f4'", "''"), "byte order"),
    (GOOD.replace("'<f4'", "[('a', '<f4')]"), "records"),
    (GOOD.replace("'<f4'", "'<f4"), "is missing"),
    (GOOD.replace("'shape': (2, 3), ", ""), "is missing"),
    (GOOD.replace("'descr': '<f4', ", ""), "is missing"),
    (GOOD.replace("}", "'shape': (6,), }"), "twice"),
    (GOOD.replace("}", "'more': 'x', }"), "no key 'more'"),
    ("{'descr': '<f4', 'fortran_order': False, 'x': \"'shape': (2, 3)\"}", "no key 'x'"),
    ("{'descr': \"'shape': (6,)\", 'fortran_order': False, 'shape': (2, 3)}", "byte order"),
    (GOOD + "{}", "follows the dictionary"),
    (GOOD[1:], "'{' is missing"),
    (GOOD[:-1], "is not a text"),
    ("", "'{' is missing"),
    (b"\xff\x00\x1b[31m", "'{' is missing"),
    (GOOD.replace("'descr'", "'\x1b[31m'"), "no key '\\x1b[31m'")])
def test_what_is_refused(leeway, dictionary, complaint):
    write(leeway, dictionary)
    line = leeway.run("compress", "a.npy", "--abs", "1", "-o", "a.lwy")
    assert line.returncode in (1, 2) and complaint in line.stderr.decode() and line.stderr.count(b"\n") == 1, line


@pytest.mark.parametrize("version", [(0, 0), (1, 1), (4, 0), (255, 255)])
def test_versions_that_are_not_known(leeway, version):
    write(leeway, GOOD, version)
    assert f"version {version[0]}.{version[1]}" in leeway.fails(1, "compress", "a.npy", "--abs", "1", "-o", "a.lwy")


def test_headers_that_end_too_early(leeway):
    for version, length in [((1, 0), 65535), ((2, 0), 0xFFFFFFFF), ((3, 0), 0x80000000)]:
        write(leeway, GOOD, version, length=length)
        assert "the file ends within it" in leeway.fails(1, "compress", "a.npy", "--abs", "1", "-o", "a.lwy")
    write(leeway, GOOD)
    whole = (leeway.folder / "a.npy").read_bytes()
    for size in range(6, len(whole)):
        (leeway.folder / "a.npy").write_bytes(whole[:size])
        assert leeway.run("compress", "a.npy", "--abs", "1", "-o", "a.lwy").returncode == 1, size
