# SPDX-License-Identifier: BSD-3-Clause
"""Which bound: what `leeway advise` says of fields whose noise, step and precision are known."""
import json

import numpy as np
import pytest


def smooth(shape, scale=1.0, seed=1):
    """Waves of a few sizes."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")
    field = sum(np.sin(sum(k * g for k, g in zip(rng.uniform(2, 9, len(shape)), grid)) + rng.uniform(0, 6)) / (n + 1) for n in range(5))
    return scale * field


#: Fields and the size of the noise in them.
NOISY = [((200, 300), 10, 0.5, "f4", 280), ((200, 300), 10, 0.05, "f4", 280), ((200, 300), 1, 1e-3, "f8", 0), ((4, 120, 140), 50, 2, "f4", 0),
         ((20, 40, 50), 1e5, 30, "f4", 1e5), ((5000,), 5, 0.02, "f8", 0), ((128, 128), 1e-6, 1e-8, "f4", 0), ((3, 3, 60, 80), 20, 0.3, "f4", -5),
         ((300, 300), 1, 0.2, "f4", 0), ((64, 64, 64), 3, 0.01, "f4", 3)]


@pytest.mark.parametrize("number", range(len(NOISY)))
def test_a_tenth_of_the_noise(leeway, number):
    shape, scale, noise, dtype, offset = NOISY[number]
    field = offset + smooth(shape, scale, number) + np.random.default_rng(number).normal(0, noise, shape)
    np.save(leeway.folder / "x.npy", field.astype(dtype))
    said = leeway.json("advise", "x.npy")
    assert noise / 2 <= said["precision"]["noise"] <= 2 * noise
    by = {s["by"]: s for s in said["suggestions"]}
    assert noise / 20 <= by["noise"]["value"] <= noise / 5
    assert said["choice"] in said["suggestions"] and said["choice"]["value"] <= noise / 5
    # What is expected comes true.
    choice = said["choice"]
    leeway("compress", "x.npy", f"--{choice['kind']}", choice["value"], "--preset", "small", "-o", "x.lwy")
    info = leeway.json("inspect", "x.lwy")
    assert choice["ratio"] / 2 <= info["ratio"] <= 2 * choice["ratio"]


def test_steps_digits_and_types(leeway):
    field = 280 + smooth((150, 200), 20)
    np.save(leeway.folder / "packed.npy", (np.round(field / 0.00136) * 0.00136).astype("f8"))
    said = leeway.json("advise", "packed.npy")
    assert said["precision"]["step"] == pytest.approx(0.00136, rel=1e-4)
    assert all(s["value"] >= 0.00068 * 0.999 for s in said["suggestions"])
    np.save(leeway.folder / "digits.npy", np.round(field, 2))
    said = leeway.json("advise", "digits.npy")["precision"]
    assert said["decimals"] == 2 and said["step"] == pytest.approx(0.01)
    np.save(leeway.folder / "floats.npy", field.astype("f4").astype("f8"))
    said = leeway.json("advise", "floats.npy")
    assert said["precision"]["is_float_in_double"] and "f32" in said["warnings"][0]
    rounded = (field.astype("f4").view("u4") & 0xFFFFF000).view("f4")
    np.save(leeway.folder / "rounded.npy", rounded)
    assert leeway.json("advise", "rounded.npy")["precision"]["used_bits"] <= 11
    text = leeway("advise", "packed.npy")
    assert "multiples of 0.00136" in text and "take " in text and "leeway compress packed.npy --abs" in text


def test_values_over_many_powers_of_ten(leeway):
    q = np.exp(smooth((100, 120), 4) - 8).astype("f4")
    np.save(leeway.folder / "q.npy", q)
    said = leeway.json("advise", "q.npy")
    assert said["precision"]["wants_pointwise"] and said["choice"]["kind"] == "pointwise"
    leeway("compress", "q.npy", "--pointwise", said["choice"]["value"])


def test_nothing_to_lose(leeway):
    np.save(leeway.folder / "c.npy", np.full((20, 30), 3.5, "f4"))
    assert leeway.json("advise", "c.npy")["choice"]["kind"] == "lossless"
    np.save(leeway.folder / "n.npy", np.full((20, 30), np.nan, "f4"))
    assert leeway.json("advise", "n.npy")["choice"]["kind"] == "lossless"


@pytest.mark.parametrize("want, holds", [("dssim=0.9995", lambda s: s["dssim"] >= 0.9995), ("ratio=20", lambda s: s["ratio"] >= 20),
                                         ("gradient=1%", lambda s: s["gradient"] <= 1), ("spectrum=1%@0.5nyquist", lambda s: s["spectrum"] >= 0.5),
                                         ("psnr=70", lambda s: s["psnr"] >= 70)])
def test_requirements(leeway, want, holds):
    field = (280 + smooth((3, 120, 160), 20) + np.random.default_rng(1).normal(0, 0.01, (3, 120, 160))).astype("f4")
    np.save(leeway.folder / "x.npy", field)
    wanted = leeway.json("advise", "x.npy", "--want", want)["wanted"]
    leeway("compress", "x.npy", "--abs", wanted["value"], "--preset", "small", "-o", "x.lwy")
    leeway("report", "x.npy", "x.lwy", "--json-file", "r.json", "--no-rates")
    assert holds(json.loads((leeway.folder / "r.json").read_text())[0]["scores"])
    # Not much larger ones do so.
    if want != "ratio=20":
        leeway("compress", "x.npy", "--abs", 3 * wanted["value"], "--preset", "small", "-o", "y.lwy")
        leeway("report", "x.npy", "y.lwy", "--json-file", "s.json", "--no-rates")
        assert not holds(json.loads((leeway.folder / "s.json").read_text())[0]["scores"])


def test_what_cannot_be(leeway):
    np.save(leeway.folder / "x.npy", smooth((40, 50)).astype("f4"))
    done = leeway.run("advise", "x.npy", "--want", "ratio=1e9")
    assert done.returncode == 3 and b"no bound tried meets" in done.stdout
    assert "there is no score" in leeway.fails(2, "advise", "x.npy", "--want", "beauty=3")
    assert "-o writes a bounds file" in leeway.fails(2, "advise", "x.npy", "-o", "b.toml")
    assert "leave out --want" in leeway.fails(2, "advise", "x.npy", "--abs", "1", "--want", "ratio=3")


def test_the_data_ssim_is_met(leeway):
    field = (280 + smooth((2, 90, 100), 20) + np.random.default_rng(1).normal(0, 0.01, (2, 90, 100))).astype("f4")
    field[0, :5] = np.nan
    np.save(leeway.folder / "x.npy", field)
    said = leeway.json("compress", "x.npy", "--ssim", "0.9995", "-o", "x.lwy")
    assert 0.9995 <= said["dssim"] < 0.99999
    stated = leeway.json("inspect", "x.lwy")["promises"][0]
    assert stated["promise"] == "dssim(x)>=0.9995" and stated["reached"] <= stated["bound"]
    assert "promise kept: dssim(x)>=0.9995" in leeway("verify", "x.lwy", "--against", "x.npy")
    done = leeway.run("verify", "x.lwy", "--against", "x.npy")
    assert done.returncode == 0
    assert "between 0 and 1" in leeway.fails(2, "compress", "x.npy", "--ssim", "1", "-o", "y.lwy")
    np.save(leeway.folder / "line.npy", field[1, 3])
    assert "11 x 11" in leeway.fails(2, "compress", "line.npy", "--ssim", "0.9", "-o", "y.lwy")
