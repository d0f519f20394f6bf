# SPDX-License-Identifier: BSD-3-Clause
"""leeway model gpu: the throughputs of cuSZp2, and what a field would do."""
import numpy as np
import pytest


def test_the_papers_figures(leeway):
    rows = leeway.json("model", "gpu")
    tables = {}
    for row in rows:
        tables.setdefault(row["table"], []).append(row)
    fitted, appendix, decompression, waiting = tables.values()
    assert len(fitted) == 9 and all(abs(row["difference"]) < 0.111 for row in fitted), fitted
    assert {row["printed"] for row in fitted} >= {410.4, 334.91, 628.54, 232.45, 180.94}
    # Nothing was fitted to these; large fields come out as well.
    large = [row for row in appendix if row["what"] in ("RTM P2000", "RTM P3000", "HACC", "Miranda", "SynTruss")]
    assert len(large) == 5 and all(abs(row["difference"]) < 0.11 for row in large), large
    others = [row for row in decompression if row["what"] in ("RTM P3000, RTX 3080", "RTM P3000, O, 1e-3", "HACC, O, 1e-3", "Miranda, O, 1e-3")]
    assert len(others) == 4 and all(abs(row["difference"]) < 0.07 for row in others), others
    assert [row["printed"] for row in waiting] == pytest.approx([846.85 / 2.41, 846.85, 1010.07])
    assert abs(waiting[1]["difference"]) < 0.01 and abs(waiting[2]["difference"]) < 0.17
    text = leeway("model", "gpu")
    assert "410.4" in text and "decoupled look-back" in text


@pytest.fixture(scope="module")
def smooth():
    return np.sin(np.arange(4 * 32768, dtype=np.float32) / 300).reshape(4, 32768)


def test_a_field(leeway, smooth):
    np.save(leeway.folder / "a.npy", smooth)
    report = leeway.json("model", "gpu", "a.npy", "--abs", "1e-3")
    assert report["chunks"] == report["chunks_tried"] == 4 and report["values"] == smooth.size
    for direction, read in (("compress", 4), ("decompress", 4 / report["ratio"])):
        work = report[direction]
        assert work["share_on_fast_path"] == 1
        # Values once, the stream once or twice, and little more.
        both = work["bytes_read_a_value"] + work["bytes_written_a_value"]
        assert 4 + 4 / report["ratio"] < both < 4 + 8 / report["ratio"] + 0.5
        assert both * 0.98 < work["bytes_moved_a_value"] < both * 1.5
        assert work["bytes_read_a_value"] > read * 0.9
        limits = work["limits_gb_s"]
        assert work["limited_by"] == min(limits, key=limits.get)
        assert 20 < work["gb_s"] < limits[work["limited_by"]]
        assert work["seconds"] == pytest.approx(4 * smooth.size / 1e9 / work["gb_s"])


def test_what_changes_it(leeway, smooth):
    np.save(leeway.folder / "a.npy", smooth)
    speed = leeway.json("model", "gpu", "a.npy", "--abs", "1e-3", "--device", "a100")["compress"]["limits_gb_s"]["memory"]
    more = leeway.json("model", "gpu", "a.npy", "--abs", "1e-3", "--device", "h100")["compress"]["limits_gb_s"]["memory"]
    assert more == pytest.approx(speed * 3350 / 1555)
    # A relative bound reads all values once before.
    absolute = leeway.json("model", "gpu", "a.npy", "--abs", "2e-3")["compress"]
    relative = leeway.json("model", "gpu", "a.npy", "--rel", "1e-3")["compress"]
    assert relative["bytes_read_a_value"] == pytest.approx(absolute["bytes_read_a_value"] + 4, rel=0.01)
    assert relative["seconds"] > absolute["seconds"]
    # Special values take the slow path.
    holes = smooth.copy()
    holes[:, ::100] = np.nan
    np.save(leeway.folder / "h.npy", holes)
    slow = leeway.json("model", "gpu", "h.npy", "--abs", "1e-3")["compress"]
    assert slow["share_on_fast_path"] == 0 and slow["instructions_a_value"] > 5 * absolute["instructions_a_value"]
    text = leeway("model", "gpu", "a.npy", "--abs", "1e-3", "--device", "rtx-4090")
    assert "RTX 4090" in text and "compress" in text and "memory" in text


def test_what_it_refuses(leeway, smooth):
    np.save(leeway.folder / "a.npy", smooth[:, :100])
    assert "there are a100" in leeway.fails(2, "model", "gpu", "a.npy", "--device", "voodoo")
    assert "cuszp2-outlier" in leeway.fails(1, "model", "gpu", "a.npy", "--recipe", "balanced")
    help_text = leeway("model", "gpu", "--help")
    assert "leeway model gpu field_512x512x512.f32" in help_text and "rtx-3090" in help_text
