# SPDX-License-Identifier: BSD-3-Clause
"""leeway model wafer: CereSZ on a mesh of processing elements."""
import xml.etree.ElementTree

import numpy as np
import pytest


@pytest.fixture
def walk(leeway):
    values = np.cumsum(np.random.default_rng(1).standard_normal((20, 30, 40)), axis=-1).astype("f4")
    np.save(leeway.folder / "a.npy", values)
    return "a.npy"


SMALL = ["--rel", "1e-3", "--mesh", "9x4"]
PROGRAMS = [[], ["--relay", "bulk"], ["--relay", "both"], ["--relay", "router", "--collect", "back"],
            ["--pipeline", "3", "--partition", "optimal"], ["--feed", "both", "--pipeline", "2"], ["--deal", "free"],
            ["--deal", "parts", "--collect", "back"], ["--kernel", "vector"]]


@pytest.mark.parametrize("direction", [[], ["--decompress"]])
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_engines_say_the_same(leeway, walk, program, direction):
    rows = leeway.json("model", "wafer", walk, *SMALL, *program, *direction)
    mesh = leeway.json("model", "wafer", walk, *SMALL, *program, *direction, "--engine", "mesh")
    assert rows == mesh
    assert rows["equals_library"]
    assert sum(rows["spent"].values()) == rows["cycles"] * 36
    assert sum(rows["work"].values()) == rows["spent"]["compute"]
    assert rows["gb_s"] == min(limit["gb_s"] for limit in rows["limits"])


def test_the_stream_is_that_of_ceresz(leeway, walk):
    leeway("model", "wafer", walk, *SMALL, "-o", "a.lwy", "--quiet", "--pipeline", 2, "--engine", "mesh")
    leeway("compress", walk, "--rel", "1e-3", "--recipe", "ceresz", "-o", "b.lwy", "--quiet")
    assert (leeway.folder / "a.lwy").read_bytes() == (leeway.folder / "b.lwy").read_bytes()
    leeway("decompress", "a.lwy", "-o", "b.npy")


@pytest.mark.parametrize("kind, shape", [("turbulence", "20x30x40"), ("climate", "60x120"), ("particles", "20x500"), ("wave", "16x30x40")])
def test_streams_of_sample_fields_at_eleven_bounds(leeway, kind, shape):
    leeway("sample", kind, "--shape", shape)
    field = f"{kind}_{shape}.f32"
    for bound in (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6):
        leeway("model", "wafer", field, "--rel", bound, "--mesh", "9x4", "-o", "a.lwy", "--force", "--quiet")
        leeway("compress", field, "--rel", bound, "--recipe", "ceresz", "-o", "b.lwy", "--force", "--quiet")
        assert (leeway.folder / "a.lwy").read_bytes() == (leeway.folder / "b.lwy").read_bytes(), bound
        assert leeway.json("model", "wafer", field, "--rel", bound, "--mesh", "9x4", "--decompress")["equals_library"]


def test_threads_change_nothing(leeway, walk):
    reports = [leeway("model", "wafer", walk, *SMALL, "--json", "--threads", n) for n in (1, 5)]
    assert reports[0] == reports[1]


def test_prints_the_paper(leeway):
    report = leeway.json("model", "wafer")
    tables = {row["table"] for row in report["numbers"]}
    assert tables >= {"Table 1", "Table 2", "Table 3", "Table 5", "Figure 7", "Figure 11", "Figure 12", "Figure 13", "Figure 14"}
    assert all(abs(row["difference"]) < 0.011 for row in report["numbers"] if row["table"] in ("Table 1", "Table 2", "Table 3"))
    assert len(report["contradictions"]) >= 9
    assert "227.93" in leeway("model", "wafer")


def test_pictures(leeway, walk):
    report = leeway.json("model", "wafer", walk, *SMALL, "--picture", "a.svg", "--timeline", "t.svg", "--row", 2)
    tree = xml.etree.ElementTree.parse(leeway.folder / "a.svg")
    space = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(space + "rect")) == 1 + 3 * 36 + 50
    texts = [text.text for text in tree.findall(space + "text")]
    part = 100 * report["spent"]["compute"] / (report["cycles"] * 36)
    assert f"computing {part:.1f} %" in texts
    timeline = xml.etree.ElementTree.parse(leeway.folder / "t.svg")
    assert sum((text.text or "").startswith("column ") for text in timeline.findall(space + "text")) == 9
    leeway("model", "wafer", walk, *SMALL, "--picture", "a.png", "--quiet")
    assert (leeway.folder / "a.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_routes(leeway):
    program = leeway.json("model", "wafer", "--routes", "--mesh", "8x1", "--pipeline", 2, "--collect", "back")
    columns = [column for route in program["routes"] for column in route["columns"]]
    assert sorted(columns) == list(range(8))
    assert program["memory_used"] == sum(part["bytes"] for part in program["memory"]) < program["memory_of_pe"]
    assert sum(pe["cycles"] for pe in program["pipeline"]) == 34243
    assert "ramp -> east" in leeway("model", "wafer", "--routes", "--mesh", "8x1")


@pytest.mark.parametrize("arguments, words", [
    (["--mesh", "800x10"], "750 columns"), (["--mesh", "8"], "columns x rows"), (["--relay", "pigeon"], "there is no relay 'pigeon'"),
    (["--relay", "router", "--pipeline", "2"], "pipelines of one PE"), (["--mesh", "2x2", "--pipeline", "3"], "does not fit"),
    (["--lossless"], "bound above 0"), (["--decompress", "-o", "x.lwy"], "-o is for compressing"), (["--queue", "0"], "room for at least one"),
    (["--channels", "0"], "at least one channel"), (["--channels", "4294967295"], "1988 at most"), (["--queue", "100000000"], "256 at most"),
    (["--ramp", "4294967295"], "1000 cycles at most"), (["--start", "4294967295"], "within 100000 cycles"),
    (["--clock", "inf"], "the clock must be"), (["--clock", "nan"], "the clock must be"), (["--host", "0"], "must have a speed"),
    (["--width", "4294967295"], "16 bits at most"), (["--pipeline", "4294967295", "--partition", "optimal"], "does not fit"),
    (["--picture", "a.jpg"], ".svg or .png"), (["--timeline", "t.png"], "ends with .svg"), (["--routes"], "takes no field"), (["--row", "4", "--timeline", "t.svg"], "no such row")])
def test_errors(leeway, walk, arguments, words):
    assert words in leeway.fails(2, "model", "wafer", walk, *(["--mesh", "9x4"] if "--mesh" not in arguments else []), *arguments)


def test_only_floats(leeway):
    np.save(leeway.folder / "d.npy", np.arange(100.0))
    assert "f32" in leeway.fails(2, "model", "wafer", "d.npy")


def test_numbers_of_a_part_of_no_range(leeway):
    np.save(leeway.folder / "c.npy", np.full(1000, 3.5, "f4"))
    assert "use --abs" in leeway.fails(2, "model", "wafer", "c.npy", "--mesh", "5x2")
    report = leeway.json("model", "wafer", "c.npy", "--mesh", "5x2", "--abs", "0.1", "--decompress")
    assert report["equals_library"] and report["slowest_chain"]["rounds"] == []


def test_json_does_not_mix_with_a_stream(leeway, walk):
    import json

    leeway("model", "wafer", walk, *SMALL, "-o", "a.lwy", "--quiet")
    done = leeway.run("model", "wafer", walk, *SMALL, "-o", "-", "--json", "--quiet")
    assert done.returncode == 0
    assert done.stdout == (leeway.folder / "a.lwy").read_bytes()
    assert json.loads(done.stderr)["equals_library"]


def test_a_picture_that_cannot_be_written_leaves_no_stream(leeway, walk):
    (leeway.folder / "a.svg").write_text("old")
    assert "--force" in leeway.fails(1, "model", "wafer", walk, *SMALL, "-o", "a.lwy", "--picture", "a.svg")
    assert (leeway.folder / "a.svg").read_text() == "old"
    assert sorted(path.name for path in leeway.folder.iterdir()) == ["a.npy", "a.svg"]
