# SPDX-License-Identifier: BSD-3-Clause
"""The documents say what the software does."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT


def test_the_stage_table_is_current(leeway):
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    table = re.search(r"<!-- stages -->\n(.*?)<!-- /stages -->", text, re.S).group(1)
    assert table == leeway("stages", "--markdown")


def test_the_recipe_table_is_current(leeway):
    text = (ROOT / "docs/RECIPES.md").read_text()
    for entry in leeway.json("recipes"):
        # Presets with alternatives are described in words.
        recipe = entry["recipe"] or ""
        written = re.escape(recipe.replace("|", chr(92) + "|"))
        stages = f"`{written}`[^|]*" if recipe else "chosen[^|]*"
        if "|" in recipe:
            stages = f"({stages}|the smallest[^|]*)"
        assert re.search(rf"^\| `{re.escape(entry['name'])}`[^|]*\| {stages} \|", text, re.M), entry


def test_the_commands_of_the_readme_work(leeway):
    block = re.search(r"## In 60 seconds\n\n((?:    .*\n)+)", (ROOT / "README.md").read_text()).group(1)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    ran = [leeway(*command[1:]) for command in commands if command[0] == "build/leeway"]
    assert len(ran) == 4


@pytest.mark.parametrize("page", ["TUTORIAL", "PYTHON", "CLIMATE", "HDF5", "QUALITY", "SIMULATION", "FAQ", "DECODER", "GPU"])
def test_the_pages_for_users_run(page, tmp_path):
    """Every block of code on them, as it stands."""
    env = {**os.environ, "PATH": f"{BUILD}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "LEEWAY_BUILD": str(BUILD)}
    done = subprocess.run([sys.executable, ROOT / "tests/run_page.py", ROOT / f"docs/{page}.md"], cwd=tmp_path, env=env,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_lead_somewhere():
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", document.read_text()):
            assert (document.parent / target).exists(), (document.name, target)


def test_the_format_names_the_page_of_every_stage(leeway):
    pages = set(re.findall(r"\(\.\./leeway/\w+/(\w+)\.md\)", (ROOT / "docs/FORMAT.md").read_text()))
    assert {stage["name"].replace("-", "_") for stage in leeway.json("stages")} <= pages


def test_the_worked_example_of_the_format():
    stream = (ROOT / "tests/golden/v1_23_f32_scalar.lwy").read_bytes()
    assert stream[:16].hex(" ") == "89 4c 57 59 0d 0a 1a 0a 01 00 00 00 68 00 00 00"
    assert stream[16:26].hex(" ") == "01 80 00 00 02 00 00 00 01 00"
    assert stream[0x78:0x80].hex(" ") == "d0 4f e8 04 d9 4c f9 74" and stream[0xC0:0xC5].hex(" ") == "00 00 00 c0 3e"


def test_the_worked_example_of_a_brief_stream():
    text = (ROOT / "docs/FORMAT.md").read_text()
    block = re.search(r"`v1_118_f32_brief_scalar`:\n\n((?:    .*\n)+)", text).group(1)
    shown = "".join(re.match(r"    ((?:[0-9a-f]{2} )+)", line).group(1) for line in block.splitlines())
    assert bytes.fromhex(shown) == (ROOT / "tests/golden/v1_118_f32_brief_scalar.lwy").read_bytes()


def test_readme_programs_compile(tmp_path):
    """The C++ lines of the README, put into a function."""
    code = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    include, body = code.split("\n\n", 1)
    source = tmp_path / "readme.cc"
    source.write_text(f"#include <vector>\n{include}\nvoid f(const std::vector<float>& field) {{\n{body}}}\n")
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-I", ROOT, source], check=True)


def test_the_python_lines_of_the_readme_run(tmp_path):
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.nc").exists()


def test_the_cmake_lines_of_the_readme_configure(tmp_path):
    lines = re.findall(r"^    cmake -B build (-D\S+) && cmake --build build", (ROOT / "README.md").read_text(), re.M)
    assert len(lines) == 2 and len(set(lines)) == 1
    subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build", lines[0]], check=True, capture_output=True)
