# SPDX-License-Identifier: BSD-3-Clause
"""What `leeway explain` and `leeway tune` say, and recipes that need no bound."""
import numpy as np
import pytest


@pytest.fixture
def field(leeway):
    x = np.linspace(0, 20, 120)
    values = (np.sin(x)[:, None] * np.cos(0.7 * x)[None] + 0.01 * np.random.default_rng(1).standard_normal((120, 120))).astype("f4")
    np.save(leeway.folder / "t.npy", values)
    return values


def test_explain_adds_up(leeway, field):
    said = leeway.json("explain", "t.npy", "--abs", "0.01", "--recipe", "sz1.4")
    codes = said["codes"]
    assert codes["count"] == field.size
    assert sum(count for _, count in codes["histogram"]) + codes["larger"] + codes["exact"] == field.size
    assert sum(said["parts"].values()) <= said["body_bytes"] and said["packed_bytes"] < said["stream_bytes"]
    counts = np.array([count for _, count in codes["histogram"]]) / field.size
    assert codes["entropy_bits"] == pytest.approx(-(counts * np.log2(counts)).sum(), abs=0.01)
    assert said["seconds"]["all"] >= 0
    # Other predictors, the cheapest first, the recipe itself among them.
    bits = [row["bits_a_value"] for row in said["predictors"]]
    assert bits == sorted(bits) and len(bits) > 5
    assert said["recipe"] in [row["recipe"] for row in said["predictors"]]
    text = leeway("explain", "t.npy", "--abs", "0.01", "--recipe", "sz1.4")
    assert "entropy" in text and "Other predictors" in text and "####" in text


def test_explain_draws_a_page(leeway, field):
    leeway("explain", "t.npy", "--abs", "0.01", "--recipe", "small", "-o", "page.html")
    page = (leeway.folder / "page.html").read_text()
    assert page.count("<svg") >= 2 and "Differences to predictions" in page and "Other predictors" in page
    leeway("sample", "integrals", "--shape", "12960", "--dtype", "f64", "-o", "e.f64")
    leeway("explain", "e.f64", "--shape", "12960", "--dtype", "f64", "--abs", "1e-10", "--recipe", "sz3-pastri", "-o", "e.html")
    assert "largest sub-blocks" in (leeway.folder / "e.html").read_text()
    assert "exists" in leeway.fails(1, "explain", "t.npy", "--abs", "0.01", "-o", "page.html")


def test_explain_reads_streams(leeway, field):
    leeway("compress", "t.npy", "--abs", "0.01", "-o", "t.lwy")
    said = leeway.json("explain", "t.lwy")
    assert said["codes"]["count"] == field.size and "predictors" not in said
    assert "bound" in leeway.fails(2, "explain", "t.lwy", "--abs", "1")


def test_tune_finds_a_smaller_recipe(leeway, field):
    said = leeway.json("tune", "interp+linear+huffman+zstd", "t.npy", "--abs", "0.01", "--trials", "30")
    assert said["trials"] <= 30 and said["bytes"] <= said["bytes_before"]
    sizes = [step["bytes"] for step in said["steps"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == said["bytes"]
    leeway("compress", "t.npy", "--abs", "0.01", "--recipe", said["recipe"], "-o", "t.lwy")
    assert leeway.json("inspect", "t.lwy")["stream_bytes"] == said["bytes"]
    alternatives = leeway.json("tune", "small", "t.npy", "--abs", "0.01", "--trials", "12")
    assert "|" in alternatives["recipe"] and alternatives["bytes"] <= alternatives["bytes_before"]


def test_recipes_with_a_bound_of_their_own(leeway, field):
    leeway("compress", "t.npy", "--recipe", "truncate:bits=16+raw", "-o", "t.lwy")
    leeway("decompress", "t.lwy", "-o", "b.npy")
    back = np.load(leeway.folder / "b.npy")
    assert not (back.view("u4") & 0xFFFF).any()
    assert np.abs(back / field - 1).max() <= 2.0**-8
    assert (leeway.folder / "t.lwy").stat().st_size < 0.52 * field.nbytes
    leeway("compress", "t.npy", "--recipe", "fpzip-like", "-o", "p.lwy")
    leeway("decompress", "p.lwy", "-o", "p.npy")
    assert (np.load(leeway.folder / "p.npy").view("u4") == field.view("u4")).all()
    assert "a bound is needed" in leeway.fails(2, "compress", "t.npy", "--recipe", "truncate+raw", "-o", "q.lwy")


def test_the_logarithm_keeps_absolute_bounds(leeway, field):
    values = np.exp(5 * field).astype("f4")
    np.save(leeway.folder / "w.npy", values)
    leeway("compress", "w.npy", "--abs", "0.1", "--recipe", "log+linear+lorenzo+huffman", "-o", "w.lwy")
    leeway("decompress", "w.lwy", "-o", "v.npy")
    error = np.abs(np.load(leeway.folder / "v.npy").astype("f8") - values)
    assert error.max() <= 0.1 and (error / values).max() <= 0.1 / values.max()
