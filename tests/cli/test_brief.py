# SPDX-License-Identifier: BSD-3-Clause
"""The brief form of a stream: every verb takes it, or says what to do."""
import numpy as np


def make(leeway, *options):
    leeway("sample", "turbulence", "--shape", "20x20x20", "-o", "t.npy", "--force")
    return leeway.json("compress", "t.npy", "--abs", 0.01, "-o", "t.lwy", "--force", *options)


def test_it_is_smaller_and_holds_the_same(leeway):
    standard = make(leeway)
    leeway("decompress", "t.lwy", "-o", "standard.npy")
    before = leeway.json("inspect", "t.lwy")
    brief = make(leeway, "--brief")
    leeway("decompress", "t.lwy", "-o", "brief.npy")
    after = leeway.json("inspect", "t.lwy")
    assert (standard["form"], brief["form"]) == (before["form"], after["form"]) == ("standard", "brief")
    assert brief["output_bytes"] < standard["output_bytes"] - 200
    assert np.array_equal(np.load(leeway.folder / "standard.npy"), np.load(leeway.folder / "brief.npy"))
    for key in ("shape", "dtype", "bound", "recipe", "chunks", "special_values", "exact_values", "decoded_hash"):
        assert before[key] == after[key], key
    assert before["max_error"] <= after["max_error"] <= 0.01
    assert "brief" in leeway("inspect", "t.lwy") and "standard" not in leeway("inspect", "t.lwy")
    assert leeway.json("inspect", "t.lwy", "--chunks") == [
        {"bytes": after["stream_bytes"], "bound": 0.01, "max_error": after["max_error"], "special_values": 0, "exact_values": 0}]


def test_it_is_read_in_parts_and_verified(leeway):
    make(leeway, "--brief", "--preset", "small")
    leeway("verify", "t.lwy", "--against", "t.npy")
    truth = np.load(leeway.folder / "t.npy")
    leeway("decompress", "t.lwy", "--region", "3:7,:,5", "-o", "r.npy")
    assert np.abs(np.load(leeway.folder / "r.npy") - truth[3:7, :, 5]).max() <= 0.01
    leeway("decompress", "t.lwy", "--level", 1, "-o", "p.npy")
    assert np.abs(np.load(leeway.folder / "p.npy") - truth[::2, ::2, ::2]).max() <= 0.01


def test_it_is_updated_in_the_standard_form(leeway):
    make(leeway, "--brief")
    np.save(leeway.folder / "v.npy", np.zeros((2, 2, 2), "f4"))
    before = (leeway.folder / "t.lwy").read_bytes()
    assert "leeway update FILE --compact" in leeway.fails(2, "update", "t.lwy", "v.npy", "--region", "0:2,0:2,0:2")
    assert (leeway.folder / "t.lwy").read_bytes() == before
    leeway("update", "t.lwy", "--compact")
    assert leeway.json("inspect", "t.lwy")["form"] == "standard"
    leeway("verify", "t.lwy", "--against", "t.npy")
    leeway("update", "t.lwy", "v.npy", "--region", "0:2,0:2,0:2")
    leeway("decompress", "t.lwy", "-o", "after.npy")
    assert np.abs(np.load(leeway.folder / "after.npy")[:2, :2, :2]).max() <= 0.01


def test_damage_is_told(leeway):
    make(leeway, "--brief")
    stream = bytearray((leeway.folder / "t.lwy").read_bytes())
    stream[len(stream) // 2] ^= 1
    (leeway.folder / "t.lwy").write_bytes(stream)
    assert "checksum" in leeway.fails(1, "verify", "t.lwy")
    assert "no part of it can be salvaged" in leeway.fails(1, "decompress", "t.lwy", "-o", "s.npy", "--salvage")


def test_where_it_makes_no_sense(leeway):
    make(leeway, "--brief", "--chunk", "10x20x20")
    assert leeway.json("inspect", "t.lwy")["form"] == "standard"
    make(leeway, "--brief", "--region-bound", "0:2,:,:=1e-4")
    assert leeway.json("inspect", "t.lwy")["form"] == "standard"
