# SPDX-License-Identifier: BSD-3-Clause
"""The verbs append and join."""
import numpy as np
import pytest


@pytest.fixture
def rows(leeway):
    values = (np.sin(np.arange(12)[:, None, None] * 0.3) * np.cos(np.arange(20)[:, None] * 0.2) + np.arange(30) * 0.01).astype("f4")
    for i in range(12):
        np.save(leeway.folder / f"step{i}.npy", values[i:i + 1])
    return values


def decoded(leeway, name):
    leeway("decompress", name, "-f", "-o", "out.npy", "-q")
    return np.load(leeway.folder / "out.npy")


def test_steps(leeway, rows):
    for i in range(12):
        said = leeway.json("append", "run.lwy", f"step{i}.npy", "--abs", "1e-3")
        assert (said["rows"], said["rows_in_all"]) == (1, i + 1)
        assert np.abs(decoded(leeway, "run.lwy") - rows[:i + 1]).max() <= 1e-3
    assert "growing" in leeway("inspect", "run.lwy") and leeway.json("inspect", "run.lwy")["growing"] is True
    leeway("verify", "run.lwy")
    # Without the leading axis, as a raw file without a shape, and several rows.
    np.save(leeway.folder / "flat.npy", rows[3])
    leeway("append", "run.lwy", "flat.npy", "-q")
    rows[4:9].tofile(leeway.folder / "more.bin")
    leeway("append", "run.lwy", "more.bin", "-q")
    assert np.abs(decoded(leeway, "run.lwy")[12:] - rows[3:9]).max() <= 1e-3


def test_made_by_compress(leeway, rows):
    np.save(leeway.folder / "first.npy", rows[:5])
    leeway("compress", "first.npy", "--rel", "1e-3", "--growing", "--chunk", "4x20x30", "-o", "run.lwy", "-q")
    leeway("append", "run.lwy", "step5.npy", "-q")
    bound = leeway.json("inspect", "run.lwy")["bound"]["absolute"]
    assert np.abs(decoded(leeway, "run.lwy") - rows[:6]).max() <= bound
    assert "take up room" in leeway("inspect", "run.lwy")
    leeway("update", "run.lwy", "--compact", "-q")
    leeway("append", "run.lwy", "step6.npy", "-q")
    assert np.abs(decoded(leeway, "run.lwy") - rows[:7]).max() <= bound


def test_unfinished(leeway, rows):
    leeway("append", "run.lwy", "step0.npy", "--abs", "1e-3", "-q")
    with open(leeway.folder / "run.lwy", "ab") as file:
        file.write(b"LWYc what was on its way")
    assert "unfinished" in leeway("inspect", "run.lwy")
    assert decoded(leeway, "run.lwy").shape == (1, 20, 30)
    leeway("append", "run.lwy", "step1.npy", "-q")
    assert "unfinished" not in leeway("inspect", "run.lwy")
    assert np.abs(decoded(leeway, "run.lwy") - rows[:2]).max() <= 1e-3


def test_append_refuses(leeway, rows):
    leeway.fails(2, "append", "run.lwy", "step0.npy")  # no bound for a new stream
    leeway.fails(2, "append", "run.lwy", "step0.npy", "--psnr", "60")
    leeway("append", "run.lwy", "step0.npy", "--abs", "1e-3", "-q")
    assert "which holds for all of its rows" in leeway.fails(2, "append", "run.lwy", "step1.npy", "--abs", "1e-2")
    np.save(leeway.folder / "wide.npy", rows[:1, :, :7])
    assert "do not go on an array" in leeway.fails(2, "append", "run.lwy", "wide.npy")
    leeway("compress", "step0.npy", "--abs", "1", "-o", "fixed.lwy", "-q")
    assert "is not" in leeway.fails(2, "append", "fixed.lwy", "step1.npy")


def test_join(leeway, rows):
    np.save(leeway.folder / "whole.npy", rows)
    leeway("compress", "whole.npy", "--abs", "1e-3", "--chunk", "4x20x10", "-o", "whole.lwy", "-q")
    for axis, cuts in ((0, [0, 4, 8, 12]), (2, [0, 20, 30])):
        parts = []
        for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
            np.save(leeway.folder / "part.npy", np.ascontiguousarray(rows[begin:end] if axis == 0 else rows[:, :, begin:end]))
            leeway("compress", "part.npy", "--abs", "1e-3", "--chunk", "4x20x10", "-o", f"part{axis}{i}.lwy", "-q")
            parts.append(f"part{axis}{i}.lwy")
        assert f"{len(parts)} streams" in leeway("join", *parts, "--axis", axis, "-o", f"all{axis}.lwy")
        assert (leeway.folder / f"all{axis}.lwy").read_bytes() == (leeway.folder / "whole.lwy").read_bytes()
    leeway.fails(1, "join", *parts, "--axis", 2, "-o", "all2.lwy")  # it exists
    assert "only axis 0 may have another extent" in leeway.fails(2, "join", *parts, "-o", "no.lwy")
    leeway("append", "run.lwy", "step0.npy", "--abs", "1e-3", "-q")
    leeway("append", "run.lwy", "step1.npy", "-q")
    leeway("join", "run.lwy", "-o", "fixed.lwy", "-q")
    assert leeway.json("inspect", "fixed.lwy")["growing"] is False
    assert (decoded(leeway, "fixed.lwy") == decoded(leeway, "run.lwy")).all()
