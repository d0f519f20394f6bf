# SPDX-License-Identifier: BSD-3-Clause
"""Numbers at the ends of their types: what is stated must be true, and `verify` must see it if it is not."""
import numpy as np
import pytest

RANDOM = np.random.default_rng(1)


def test_relative_bounds_of_nanoseconds(leeway):
    """Integers above 2^53 are no doubles; their range is exact all the same."""
    base = 1_700_000_000_000_000_000 // 256 * 256
    times = base + RANDOM.integers(0, 131, 100_000)
    times[:2] = base, base + 130
    np.save(leeway.folder / "t.npy", times)
    report = leeway.json("compress", "t.npy", "--rel", "0.1", "-o", "t.lwy")
    assert report["bound"]["absolute"] == pytest.approx(13) and report["bound"]["absolute"] <= 13
    leeway("verify", "t.lwy", "--against", "t.npy")
    leeway("decompress", "t.lwy", "-o", "back.npy")
    assert np.abs(np.load(leeway.folder / "back.npy") - times).max() <= 13


def test_relative_bounds_of_variables_of_nanoseconds(leeway):
    h5py = pytest.importorskip("h5py")
    base = 1_700_000_000_000_000_000 // 256 * 256
    with h5py.File(leeway.folder / "t.h5", "w") as file:
        file["t"] = base + RANDOM.integers(0, 131, 10_000)
        file["t"][:2] = base, base + 130
    report = leeway.json("compress", "t.h5", "--variable", "t=rel:0.1", "-o", "small.h5")
    assert 12.9 < report[0]["bound"]["absolute"] <= 13


@pytest.mark.parametrize("bound", ["1000", "0.007", "1e300"])
def test_pointwise_bounds_of_huge_values(leeway, bound):
    values = np.where(np.arange(100) % 2, 1.5e308, -1.2e308)
    values[1] = 1e300
    np.save(leeway.folder / "p.npy", values)
    report = leeway.json("compress", "p.npy", "--pointwise", bound, "-o", "p.lwy")
    assert report["max_error"] <= report["bound"]["absolute"]
    leeway("verify", "p.lwy")
    leeway("verify", "p.lwy", "--against", "p.npy")
    leeway("decompress", "p.lwy", "-o", "back.npy")
    back = np.load(leeway.folder / "back.npy")
    assert np.isfinite(back).all() and (np.abs(back / values - 1) <= float(bound)).all()


def test_pointwise_bounds_of_tiny_values(leeway):
    np.save(leeway.folder / "p.npy", 1e-300 * (1 + RANDOM.random(1000)))
    leeway("compress", "p.npy", "--pointwise", "0.01", "-o", "p.lwy")
    leeway("verify", "p.lwy", "--against", "p.npy")


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_squared_errors_of_huge_and_tiny_values(leeway, scale):
    values = RANDOM.normal(size=10_000) * scale
    np.save(leeway.folder / "a.npy", values)
    for bound in ["--psnr", "80"], ["--l2", str(scale / 100)]:
        leeway("compress", "a.npy", *bound, "-o", "a.lwy", "--force")
        leeway("verify", "a.lwy", "--against", "a.npy")
        leeway("decompress", "a.lwy", "-o", "b.npy", "--force")
        report = leeway.json("compare", "a.npy", "b.npy")
        if bound[0] == "--psnr":
            assert 80 <= report["psnr"] < 83
        else:
            assert scale / 200 < report["l2"] <= scale / 100


def test_values_that_became_fill_values_are_seen(leeway):
    """They are within the bound, but nothing is there any more."""
    values = np.float32([0, 0.01, 5, 6, 7, 0, 3, 2] * 100)
    np.save(leeway.folder / "a.npy", values)
    leeway("compress", "a.npy", "--abs", "0.1", "--fill", "0", "-o", "a.lwy")
    leeway("verify", "a.lwy", "--against", "a.npy")
    leeway("decompress", "a.lwy", "-o", "b.npy")
    assert ((np.load(leeway.folder / "b.npy") == 0) == (values == 0)).all()
    np.save(leeway.folder / "c.npy", np.where(values == np.float32(0.01), np.float32(0), values))
    leeway("compress", "c.npy", "--abs", "0.1", "--fill", "0", "-o", "c.lwy")
    assert "became special" in leeway.fails(3, "verify", "c.lwy", "--against", "a.npy")


def test_fill_values_that_no_double_holds(leeway):
    fill = -9223372036854775806
    values = np.arange(1000, dtype="i8") * 7 - 2**62
    values[::10] = fill
    np.save(leeway.folder / "f.npy", values)
    leeway("compress", "f.npy", "--abs", 20, "--fill", fill, "-o", "f.lwy")
    leeway("decompress", "f.lwy", "-o", "g.npy")
    back = np.load(leeway.folder / "g.npy")
    assert (back[::10] == fill).all() and np.abs(back - values).max() <= 20
    assert leeway.json("inspect", "f.lwy")["special_values"] == 100
    assert "'nothing' is not a number" in leeway.fails(2, "compress", "f.npy", "--abs", 20, "--fill", "nothing", "-o", "h.lwy")
