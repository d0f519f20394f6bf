# SPDX-License-Identifier: BSD-3-Clause
"""The operator of ADIOS2: what one process puts in blocks and steps, another one reads, whole and in part."""
import os
import pathlib
import subprocess

import pytest

from conftest import BUILD, ROOT

adios2 = pytest.importorskip("adios2", reason="PyPI's adios2 is not installed: the operator is not tried")
HEADERS = pathlib.Path(adios2.__file__).parent / "include"


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    if not (HEADERS / "adios2/plugin/PluginOperatorInterface.h").exists() or "define ADIOS2_PLUGIN_OPERATOR_INTERFACE 2" not in (
            HEADERS / "adios2/plugin/PluginOperatorInterface.h").read_text():
        pytest.skip("this adios2 is older than 2.12, whose plugin interface the operator has")
    subprocess.run(["c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{ROOT}", "-isystem", HEADERS,
                    ROOT / "adios/operator.cc", f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-o", folder / "libleeway_adios.so"],
                   check=True)
    return {**os.environ, "ADIOS2_PLUGIN_PATH": str(folder)}


OPERATOR = """
import adios2
PARAMS = {"PluginName": "leeway", "PluginLibrary": "leeway_adios"}
def field(step):
    z, y, x = np.meshgrid(*(np.linspace(0, 5, n) for n in (32, 40, 48)), indexing="ij")
    return (np.sin(z + step) * np.cos(2 * y) + x).astype("f4")
"""
WRITE = OPERATOR + """
ad = adios2.Adios()
io = ad.declare_io("out")
op = ad.define_operator("lossy", "plugin", {**PARAMS, **EXTRA})
first = field(0)
t = io.define_variable("t", first, [32, 40, 48], [0, 0, 0], [32, 40, 48])
t.add_operation(op, {})
n = io.define_variable("n", np.zeros(1000, "i4"), [1000], [0], [1000])
n.add_operation(op, {})
with adios2.Stream(io, "out.bp", "w") as out:
    for step in range(2):
        out.begin_step()
        for i in range(4):  # as four ranks would
            t.set_selection([[8 * i, 0, 0], [8, 40, 48]])
            out.write(t, np.ascontiguousarray(field(step)[8 * i:8 * i + 8]))
        out.write(n, np.arange(1000, dtype="i4") // 3)
        out.end_step()
"""


def test_blocks_and_steps(python, plugins):
    python("EXTRA = {'abs': '1e-3'}" + WRITE, env=plugins)
    size = sum(path.stat().st_size for path in (python.folder / "out.bp").iterdir())
    assert size < 2 * 32 * 40 * 48 * 4 / 4
    python(OPERATOR + """
with adios2.Stream("out.bp", "r") as file:
    for step in range(2):
        file.begin_step()
        t = file.inquire_variable("t")
        whole = file.read("t")
        assert np.abs(whole.astype("f8") - field(step)).max() <= 1e-3
        assert np.array_equal(file.read("t", [5, 3, 7], [10, 20, 30]), whole[5:15, 3:23, 7:37])
        assert np.abs(file.read("n") - np.arange(1000) // 3).max() <= 0
        file.end_step()
""", env=plugins)


def test_relative_to_a_range_that_is_said(python, plugins):
    python("EXTRA = {'rel': '1e-3', 'range': '7.0', 'recipe': 'small'}" + WRITE, env=plugins)
    python(OPERATOR + """
with adios2.Stream("out.bp", "r") as file:
    file.begin_step()
    assert 1e-3 < np.abs(file.read("t").astype("f8") - field(0)).max() <= 7e-3
    file.end_step()
""", env=plugins)


@pytest.mark.parametrize("extra, message", [
    ("{'rel': '1e-3'}", "need 'range'"), ("{'abs': 'much'}", "'much' is no number for abs"), ("{'abs': '1e-3', 'tolerance': '1'}", "there is no parameter 'tolerance'"), ("{'abs': '1', 'recipe': 'nonsense'}", "nonsense")])
def test_wrong_parameters(python, plugins, extra, message):
    assert message in python(f"EXTRA = {extra}" + WRITE, fails=True, env=plugins)


def test_a_bound_is_needed(python, plugins):
    """ADIOS2 2.12 does not survive closing a file after an operator has failed: the program ends by itself."""
    said = python("EXTRA = {}\nimport os" + WRITE.replace("            out.write(t, ", "            attempt(out, t, ").replace(
        "with adios2", """
def attempt(out, t, values):
    try:
        out.write(t, values)
    except Exception as error:
        print(error, flush=True)
    os._exit(0)
with adios2"""), env=plugins)
    assert "a bound is needed" in said
