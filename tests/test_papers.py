# SPDX-License-Identifier: BSD-3-Clause
"""The tables and figures of the papers: on generated fields and on files named as in the benchmarks."""
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import BUILD, ROOT

RUN = ROOT / "bench/papers/run.py"
sys.path.insert(0, str(RUN.parent))


def run(*options):
    done = subprocess.run([sys.executable, RUN, *map(str, options), "--tool", BUILD / "leeway", "--repeat", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tables(*options):
    return json.loads(run(*options, "--json", "-"))["experiments"]


def test_every_experiment_is_on_the_page():
    import run as papers

    text = (ROOT / "docs/PAPERS.md").read_text()
    for name, paper in papers.PAPERS.items():
        for key in paper.EXPERIMENTS:
            kind, _, number = key.partition(" ")
            if kind in ("table", "figure"):
                assert f"--{kind} {number}`" in text, (name, key)
        assert not set(paper.EXPERIMENTS) & set(paper.ELSEWHERE)
        for place in paper.ELSEWHERE.values():
            for path in re.findall(r"(?:docs|leeway|examples|scripts)/[\w./]+", place):
                assert (ROOT / path).exists() or path in ("docs/GPU.md",), (name, path)


def test_printed_and_measured_columns_are_told_apart():
    table = tables("wavesz", "--table", "7")["table 7"]
    sources = [column["source"] for column in table["columns"]]
    assert sources == ["", "", "printed", "measured", "derived"]
    rows = {(row[0], row[1]): row for row in table["rows"]}
    assert rows["CESM-ATM", "sz1.4"][2] == 31.2 and rows["CESM-ATM", "sz1.4"][3] > rows["CESM-ATM", "ghostsz"][3]
    assert any("stand in" in remark for remark in table["remarks"])


def test_data_sets_are_found_by_their_names(tmp_path):
    field = np.sin(np.arange(1800 * 3600, dtype=np.float32) / 900).reshape(1800, 3600)
    (tmp_path / "deep").mkdir()
    field.tofile(tmp_path / "deep/CLDHGH_1_1800_3600.f32")
    np.zeros(10, np.float32).tofile(tmp_path / "deep/CLDLOW_1_1800_3600.f32")  # cut short
    (tmp_path / "hurricane").mkdir()
    field[:20, :600].tofile(tmp_path / "hurricane/u_10x20x60.f32")
    result = tables("ceresz", "--table", "4", "--data", tmp_path)["table 4"]
    found = {row[0]: row for row in result["rows"]}
    assert found["CESM-ATM"][2:] == [1, "1800x3600"] and found["Hurricane"][2:] == [1, "10x20x60"] and found["NYX"][2:] == [0, "-"]
    assert any("another size" in remark for remark in result["remarks"])


@pytest.mark.parametrize("paper, key", [("sz3", "figure 5"), ("sz3", "table 1"), ("cuszp2", "table 6"), ("ceaz", "figure 10"), ("ceaz", "table 3"),
                                        ("wavesz", "figure 1"), ("wavesz", "table 2"), ("wavesz", "table 3")])
def test_experiments_run(paper, key):
    kind, number = key.split()
    table = tables(paper, f"--{kind}", number)[key]
    assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"])


def test_what_is_elsewhere_is_named():
    done = subprocess.run([sys.executable, RUN, "ceaz", "--figure", "14"], capture_output=True, text=True)
    assert done.returncode != 0 and "docs/MPI.md" in done.stderr
    assert "figure 20" in run("--list") and "pressure_*.f32" in run("--datasets")
