# SPDX-License-Identifier: BSD-3-Clause
"""The command line, called as a user calls it."""
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import BUILD

VERBS = ["compress", "decompress", "append", "join", "inspect", "verify", "compare", "recipes", "stages", "sample", "bench", "doctor"]


@pytest.fixture
def field(leeway):
    leeway("sample", "turbulence", "--shape", "40x50x60")
    return "turbulence_40x50x60.f32"


def values_of(leeway, name, dtype=np.float32):
    return np.fromfile(leeway.folder / name, dtype)


def test_the_first_commands_of_the_readme(leeway):
    leeway("sample", "turbulence", "--shape", "128x128x128", "-o", "field_128x128x128.f32")
    leeway("compress", "field_128x128x128.f32", "--rel", "1e-3", "-o", "a.lwy")
    leeway("verify", "a.lwy", "--against", "field_128x128x128.f32")
    leeway("decompress", "a.lwy", "-o", "b.npy")
    original, decoded = values_of(leeway, "field_128x128x128.f32").reshape(128, 128, 128), np.load(leeway.folder / "b.npy")
    bound = 1e-3 * (float(original.max()) - float(original.min()))
    assert decoded.shape == original.shape
    assert np.abs(decoded.astype(np.float64) - original).max() <= bound


def test_json_of_compress(leeway, field):
    report = leeway.json("compress", field, "--rel", "1e-3", "-o", "a.lwy")
    assert report["input_bytes"] == 40 * 50 * 60 * 4
    assert report["output_bytes"] == os.path.getsize(leeway.folder / "a.lwy")
    assert report["ratio"] == pytest.approx(report["input_bytes"] / report["output_bytes"])
    assert report["bound"]["asked"] == {"rel": 1e-3}
    assert 0 < report["max_error"] <= report["bound"]["absolute"]
    assert report["recipe"].startswith("pyramid:taps=0+linear:range=1+rans|")
    assert report["seconds"] > 0


def test_a_coarse_picture_reads_a_part_of_the_stream(leeway):
    leeway("sample", "turbulence", "--shape", "128x128x128")
    leeway("compress", "turbulence_128x128x128.f32", "--rel", "1e-3", "--preset", "small", "-o", "a.lwy")
    leeway("decompress", "a.lwy", "-o", "whole.npy")
    report = leeway.json("decompress", "a.lwy", "--level", "1", "-o", "coarse.npy")
    assert report["shape"] == [64, 64, 64] and report["stream_bytes_read"] < report["stream_bytes"] / 3
    whole = np.load(leeway.folder / "whole.npy")
    assert np.array_equal(np.load(leeway.folder / "coarse.npy"), whole[::2, ::2, ::2])
    assert "every value 4 apart" in leeway("decompress", "a.lwy", "--level", "2", "-o", "coarser.npy")
    assert np.array_equal(np.load(leeway.folder / "coarser.npy"), whole[::4, ::4, ::4])
    leeway.fails(2, "decompress", "a.lwy", "--level", "1", "--region", "0,:,:", "-o", "b.npy")


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">i2"])
def test_npy_of_every_type_and_order(leeway, dtype):
    rng = np.random.default_rng(1)
    array = (rng.normal(size=(7, 11, 13)) * 20 + 60).astype(dtype)
    for name, laid_out in {"c": array, "fortran": np.asfortranarray(array)}.items():
        np.save(leeway.folder / f"{name}.npy", laid_out)
        leeway("compress", f"{name}.npy", "--abs", "1.5", "-o", f"{name}.lwy")
        leeway("verify", f"{name}.lwy", "--against", f"{name}.npy")
        leeway("decompress", f"{name}.lwy", "-o", f"{name}_back.npy")
        back = np.load(leeway.folder / f"{name}_back.npy")
        assert back.shape == array.shape and back.dtype == array.dtype.newbyteorder("=")
        assert np.abs(back.astype(float) - array.astype(float)).max() <= 1.5
    assert (leeway.folder / "c.lwy").read_bytes() == (leeway.folder / "fortran.lwy").read_bytes()


def test_pipes_both_ways(leeway, field):
    raw = (leeway.folder / field).read_bytes()
    done = leeway.run("compress", "-", "--shape", "40x50x60", "--dtype", "f32", "--abs", "0.01", stdin=raw)
    assert done.returncode == 0, done.stderr
    leeway("compress", field, "--abs", "0.01", "-o", "file.lwy")
    assert done.stdout == (leeway.folder / "file.lwy").read_bytes()
    back = leeway.run("decompress", "-", stdin=done.stdout)
    assert back.returncode == 0
    leeway("decompress", "file.lwy", "-o", "file.raw")
    assert back.stdout == (leeway.folder / "file.raw").read_bytes()
    npy = leeway.run("decompress", "-", "--format", "npy", stdin=done.stdout).stdout
    (leeway.folder / "piped.npy").write_bytes(npy)
    assert np.load(leeway.folder / "piped.npy").shape == (40, 50, 60)
    # .npy through a pipe needs no flags
    assert leeway.run("compress", "-", "--abs", "1", stdin=npy).returncode == 0


def test_region(leeway, field):
    leeway("compress", field, "--abs", "0.01", "--chunk", "16x16x16", "-o", "a.lwy")
    leeway("decompress", "a.lwy", "-o", "whole.npy")
    whole = np.load(leeway.folder / "whole.npy")
    for text, expected in {"0:10,:,25": whole[0:10, :, 25], "5": whole[5], "-1,2:": whole[-1, 2:], ":,:,-7:-2": whole[:, :, -7:-2],
                           "39,49,59": whole[39, 49, 59]}.items():
        leeway("decompress", "a.lwy", f"--region={text}", "-o", "part.npy", "--force")
        part = np.load(leeway.folder / "part.npy")
        assert part.shape == expected.shape and (part == expected).all()
    report = leeway.json("decompress", "a.lwy", "--region", "0:16,0:16,0:16", "-o", "small.npy")
    assert report["stream_bytes_read"] < report["stream_bytes"] / 10
    for bad in ["0:99,:,:", "40", "5:5", "a", "0,0,0,0", "3:1"]:
        leeway.fails(2, "decompress", "a.lwy", f"--region={bad}", "-o", "never.npy")


@pytest.mark.parametrize("bound", [["--abs", "0.01"], ["--rel", "1e-4"], ["--psnr", "60"], ["--l2", "3"], ["--lossless"],
                                   ["--abs", "0.1", "--psnr", "50", "--rel", "0.01"]], ids=" ".join)
@pytest.mark.parametrize("recipe", ["balanced", "sz1.4", "lossless", "linear+lorenzo:order=2+huffman"])
def test_every_bound_verifies(leeway, field, bound, recipe):
    leeway("compress", field, *bound, "--recipe", recipe, "-o", "a.lwy")
    report = leeway.json("verify", "a.lwy", "--against", field)
    assert report["verified"] and report["complaints"] == []
    compared = leeway.json("compare", field, "a.lwy")
    if "--psnr" in bound and compared["psnr"] != "inf":
        assert compared["psnr"] >= float(bound[bound.index("--psnr") + 1])
    if bound == ["--lossless"]:
        assert compared["max_abs"] == 0


def test_a_size_instead_of_an_error(leeway, field):
    for size in (["--ratio", "12"], ["--rate", "2.667"]):
        report = leeway.json("compress", field, *size, "-o", "a.lwy", "-f")
        assert report["size_reached"] and report["ratio"] == pytest.approx(12, rel=0.03)
        assert leeway.json("verify", "a.lwy", "--against", field)["verified"]
    chunks = leeway.json("inspect", "--chunks", "a.lwy")
    info = leeway.json("inspect", "a.lwy")
    assert len(chunks) == info["chunks"] and all(c["max_error"] <= c["bound"] <= info["bound"]["absolute"] for c in chunks)
    assert "largest error" in leeway("inspect", "--chunks", "a.lwy")
    capped = leeway.run("compress", field, "--ratio", "100", "--abs", "1e-3", "-o", "b.lwy")
    assert capped.returncode == 0 and b"the other bounds win" in capped.stderr
    assert leeway.json("compare", field, "b.lwy")["max_abs"] <= 1e-3
    assert "positive" in leeway.fails(2, "compress", field, "--ratio", "-3", "-o", "c.lwy")


def test_a_bound_relative_to_each_value(leeway):
    values = np.exp2(np.random.default_rng(3).normal(0, 20, (50, 60))).astype("f4")
    values[::7, ::3] *= -1
    values[3, :] = 0
    np.save(leeway.folder / "a.npy", values)
    for recipe in ("balanced", "fast", "small"):
        leeway("compress", "a.npy", "--pointwise", "1e-3", "--preset", recipe, "-o", "a.lwy", "-f")
        assert leeway.json("verify", "a.lwy", "--against", "a.npy")["verified"]
        leeway("decompress", "a.lwy", "-o", "b.npy", "-f")
        decoded = np.load(leeway.folder / "b.npy")
        assert (np.abs(decoded.astype("f8") - values) <= 1e-3 * np.abs(values.astype("f8"))).all()
    assert "quantize first" in leeway.fails(2, "compress", "a.npy", "--abs", "1", "--recipe", "transpose+lorenzo+linear", "-o", "c.lwy")
    assert "stands alone" in leeway.fails(2, "compress", "a.npy", "--pointwise", "1e-3", "--abs", "1", "-o", "c.lwy")
    leeway("compress", "a.npy", "--abs", "1", "--recipe", "log+linear+huffman", "-o", "d.lwy")
    assert leeway.json("verify", "d.lwy", "--against", "a.npy")["verified"]


def test_verify_notices_a_different_original(leeway, field):
    leeway("compress", field, "--abs", "0.01", "-o", "a.lwy")
    values = values_of(leeway, field)
    values[1234] += 0.5
    values.tofile(leeway.folder / "other_40x50x60.f32")
    done = leeway.run("verify", "a.lwy", "--against", "other_40x50x60.f32")
    assert done.returncode == 3 and b"exceeds the bound" in done.stderr
    values[77] = np.nan
    values.tofile(leeway.folder / "other_40x50x60.f32")
    assert b"special values" in leeway.run("verify", "a.lwy", "--against", "other_40x50x60.f32").stderr


def test_special_values_survive(leeway):
    array = np.linspace(0, 30, 6000, dtype=np.float32).reshape(60, 100)
    array[::7, ::5] = np.nan
    array[1::7, ::5] = 1e20
    array[2::7, ::5] = -9999
    array[3, 3], array[4, 4] = np.inf, -np.inf
    np.save(leeway.folder / "sst.npy", array)
    report = leeway.json("compress", "sst.npy", "--rel", "1e-3", "-o", "sst.lwy")
    assert report["bound"]["absolute"] == pytest.approx(0.03, rel=1e-3)
    leeway("decompress", "sst.lwy", "-o", "back.npy")
    back = np.load(leeway.folder / "back.npy")
    special = ~np.isfinite(array) | (array == 1e20) | (array == -9999)
    assert (back.view(np.uint32)[special] == array.view(np.uint32)[special]).all()
    assert np.abs(back[~special].astype(float) - array[~special]).max() <= report["bound"]["absolute"]
    assert leeway.json("compare", "sst.npy", "sst.lwy")["special_mismatches"] == 0


def test_declared_fill_values(leeway):
    leeway("sample", "counts", "--shape", "300x600")
    leeway("compress", "counts_300x600.i32", "--abs", "3", "--fill", "-1", "--fill", "-2", "-o", "a.lwy")
    leeway("decompress", "a.lwy", "-o", "back.npy")
    original, back = values_of(leeway, "counts_300x600.i32", np.int32), np.load(leeway.folder / "back.npy").ravel()
    assert (back[original < 0] == original[original < 0]).all()
    assert np.abs(back - original).max() <= 3
    leeway.fails(2, "compress", "counts_300x600.i32", "--abs", "3", "--fill", "0.5", "-o", "never.lwy")


def test_threads_and_memory_do_not_change_the_bytes(leeway, field):
    streams = set()
    for threads in ["1", "2", "5"]:
        leeway("compress", field, "--rel", "1e-3", "--chunk", "16x16x16", "--threads", threads, "-o", "a.lwy", "--force")
        streams.add((leeway.folder / "a.lwy").read_bytes())
    leeway("compress", field, "--rel", "1e-3", "--chunk", "16x16x16", "--memory", "1M", "-o", "a.lwy", "--force")
    streams.add((leeway.folder / "a.lwy").read_bytes())
    assert len(streams) == 1


def test_salvage(leeway, field):
    leeway("compress", field, "--abs", "0.01", "--chunk", "10x50x60", "-o", "a.lwy")
    leeway("decompress", "a.lwy", "-o", "whole.npy")
    damaged = bytearray((leeway.folder / "a.lwy").read_bytes())
    damaged[len(damaged) // 2] ^= 255
    (leeway.folder / "bad.lwy").write_bytes(damaged)
    assert "damaged stream" in leeway.fails(1, "decompress", "bad.lwy", "-o", "never.npy")
    leeway.fails(1, "verify", "bad.lwy")
    done = leeway.run("decompress", "bad.lwy", "--salvage", "-o", "saved.npy")
    assert done.returncode == 0 and b"1 of 4 chunks are lost" in done.stderr
    whole, saved = np.load(leeway.folder / "whole.npy"), np.load(leeway.folder / "saved.npy")
    lost = np.isnan(saved)
    assert lost.sum() == 10 * 50 * 60 and (saved[~lost] == whole[~lost]).all()
    (leeway.folder / "cut.lwy").write_bytes(bytes(damaged[: len(damaged) * 3 // 4]))
    assert leeway.run("decompress", "cut.lwy", "--salvage", "-o", "cut.npy").returncode == 0


# ---- bad input: a clear line, the right exit code, nothing left behind ----


def test_update(leeway):
    rng = np.random.default_rng(4)
    field = np.cumsum(rng.standard_normal((24, 40, 300)), axis=2).astype(np.float32)
    np.save(leeway.folder / "f.npy", field)
    leeway("compress", "f.npy", "--abs", 0.01, "--recipe", "fast", "-o", "f.lwy")
    before = np.load(leeway.folder / "f.npy")
    patch = rng.standard_normal((6, 300)).astype(np.float32)
    np.save(leeway.folder / "p.npy", patch)
    report = leeway.json("update", "f.lwy", "p.npy", "--region", "3:9,7,:")
    assert 0 < report["chunks"] < report["chunks_in_all"] and report["max_error"] <= 0.01
    before[3:9, 7] = patch
    np.save(leeway.folder / "g.npy", before)
    leeway("verify", "f.lwy", "--against", "g.npy")
    patch.tofile(leeway.folder / "p.raw")  # takes shape and type from region and stream
    assert "chunks written again" in leeway("update", "f.lwy", "p.raw", "--region", "3:9,8,:")
    leeway.fails(2, "update", "f.lwy", "p.npy", "--region", "3:8,7,:")
    leeway.fails(2, "update", "f.lwy", "p.npy", "--region", "3:9,70,:")
    leeway.fails(1, "update", "nothing.lwy", "p.npy", "--region", "3:9,7,:")


def test_a_region_touches_a_small_part_of_the_stream(leeway):
    leeway("sample", "turbulence", "--shape", "128x128x512", "-o", "t.npy")
    leeway("compress", "t.npy", "--rel", "1e-3", "--recipe", "fast", "-o", "t.lwy")
    report = leeway.json("decompress", "t.lwy", "--region", "40:72,30:46,100:132", "-o", "r.npy")
    assert report["stream_bytes_read"] < 0.06 * report["stream_bytes"]


def test_wrong_usage(leeway, field):
    np.zeros(100, np.float32).tofile(leeway.folder / "noname.bin")
    f = leeway.fails
    assert "--shape" in f(2, "compress", "noname.bin", "--abs", "1", "--dtype", "f32")
    assert "--dtype" in f(2, "compress", "noname.bin", "--abs", "1", "--shape", "100")
    assert "400 bytes" in f(2, "compress", "noname.bin", "--abs", "1", "--shape", "101", "--dtype", "f32")
    assert "not a shape" in f(2, "compress", "noname.bin", "--abs", "1", "--shape", "10y10", "--dtype", "f32")
    assert "f33" in f(2, "compress", "noname.bin", "--abs", "1", "--shape", "100", "--dtype", "f33")
    assert "there are" in f(2, "compress", field, "--abs", "1", "--recipe", "nonsense")
    assert "bound is needed" in f(2, "compress", field)
    for value in ["0", "-1", "nan", "inf"]:
        assert "positive number" in f(2, "compress", field, f"--abs={value}")
        assert "positive number" in f(2, "compress", field, f"--rel={value}")
    f(2, "compress", field, "--abs", "much")
    f(2, "compress", field, "--abs", "1", "--no-such-flag")
    f(2, "compress", field, "--abs", "1", "--memory", "lots")
    f(2, "compress", field, "--abs", "1", "--preset", "balanced", "--recipe", "plain")
    f(2, "compress")
    f(2, "explode")
    f(2)
    f(2, "sample", "nothing")
    f(2, "bench", field, "--abs", "1", "--repeat", "0")


def test_failures(leeway, field):
    (leeway.folder / "empty_10.f32").write_bytes(b"")
    (leeway.folder / "folder").mkdir()
    (leeway.folder / "text.lwy").write_text("hello")
    (leeway.folder / "nothing.lwy").write_bytes(b"")
    f = leeway.fails
    assert "empty" in f(1, "compress", "empty_10.f32", "--abs", "1")
    assert "directory" in f(1, "compress", "folder", "--abs", "1")
    assert "there is no file" in f(1, "compress", "missing_10.f32", "--abs", "1")
    assert "cannot write" in f(1, "compress", field, "--abs", "1", "-o", "no/such/folder/a.lwy")
    assert "directory" in f(1, "compress", field, "--abs", "1", "-o", "folder")
    assert "not a leeway stream" in f(1, "decompress", "text.lwy", "-o", "a.raw")
    assert "not a leeway stream" in f(1, "inspect", "nothing.lwy")
    f(1, "inspect", "missing.lwy")
    leeway("compress", field, "--abs", "1", "-o", "a.lwy")
    assert "--force" in f(1, "compress", field, "--abs", "1", "-o", "a.lwy")
    leeway("compress", field, "--abs", "1", "-o", "a.lwy", "--force")
    whole = (leeway.folder / "a.lwy").read_bytes()
    for size in [1, 20, len(whole) // 2, len(whole) - 1]:
        (leeway.folder / "cut.lwy").write_bytes(whole[:size])
        f(1, "decompress", "cut.lwy", "-o", "never.raw")
        f(1, "verify", "cut.lwy")


@pytest.mark.skipif(os.geteuid() != 0 and not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error(leeway, field):
    done = leeway.run("compress", field, "--abs", "1e-5", "-o", "/dev/full")
    assert done.returncode == 1 and b"cannot write" in done.stderr


def test_interrupting_leaves_nothing_behind(leeway):
    leeway("sample", "turbulence", "--shape", "64x256x256")
    process = subprocess.Popen([BUILD / "leeway", "compress", "turbulence_64x256x256.f32", "--abs", "1e-7", "--recipe",
                                "lorenzo+linear+huffman+zstd:level=19", "-o", "a.lwy"], cwd=leeway.folder)
    for _ in range(500):
        if any(".tmp" in path.name for path in leeway.folder.iterdir()):
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() != 0
    assert [path.name for path in leeway.folder.iterdir()] == ["turbulence_64x256x256.f32"]


def test_long_work_shows_its_progress_on_a_terminal(leeway):
    leeway("sample", "turbulence", "--shape", "128x256x256", "-o", "t_128x256x256.f32")
    terminal, other_end = os.openpty()
    process = subprocess.Popen([BUILD / "leeway", "compress", "t_128x256x256.f32", "--abs", "1e-4", "--chunk", "16x32x32",
                                "--recipe", "lorenzo+linear+raw+zstd:level=19", "--threads", "1", "-o", "a.lwy"],
                               cwd=leeway.folder, stderr=other_end, stdout=subprocess.DEVNULL)
    os.close(other_end)
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:
        pass  # the terminal closes with the process
    assert process.wait() == 0
    assert b"compressing [" in shown and b"%" in shown


def test_empty_arrays(leeway):
    np.save(leeway.folder / "none.npy", np.zeros((3, 0, 4), np.float32))
    leeway("compress", "none.npy", "--abs", "1", "-o", "none.lwy")
    leeway("verify", "none.lwy", "--against", "none.npy")
    leeway("decompress", "none.lwy", "-o", "back.npy")
    assert np.load(leeway.folder / "back.npy").shape == (3, 0, 4)


# ---- the other verbs ----


def test_help_has_examples(leeway):
    assert all(verb in leeway("--help") for verb in VERBS)
    for verb in VERBS:
        text = leeway(verb, "--help")
        assert "Examples:" in text and f"leeway {verb}" in text
    assert leeway("--version").startswith("leeway ")


def test_lossless_says_which_recipe_it_uses(leeway, field):
    def complaint(*options):
        return leeway.run("compress", field, "-f", "-o", "a.lwy", *options).stderr.decode()

    used = "--lossless codes every chunk by 'exact+lorenzo+huffman+zstd', not by "
    assert used + "'small', which is for chunks with losses" in complaint("--lossless", "--preset", "small")
    for options in [["--lossless"], ["--lossless", "--recipe", "lossless"], ["--lossless", "--recipe", "fpzip-like"],
                    ["--abs", "1", "--recipe", "fpzip-like"], ["--lossless", "--recipe", "lz4"]]:
        assert "--lossless codes" not in complaint(*options)
        assert leeway.json("compare", field, "a.lwy")["max_abs"] == 0


def test_a_recipe_without_loss_is_used_as_it_is(leeway, field):
    """Also where the built-in recipe makes smaller streams, so that a lossless stage can be measured alone."""
    sizes = {}
    for recipe in ["deflate:level=9", "zstd", "lossless"]:
        for bound in [["--lossless"], ["--abs", "1e-9"]]:
            report = leeway.json("compress", field, "-f", "-o", "a.lwy", *bound, "--recipe", recipe)
            assert leeway.json("compare", field, "a.lwy")["max_abs"] == 0
            sizes.setdefault(recipe, set()).add(report["output_bytes"] // 100)
    assert all(len(found) == 1 for found in sizes.values())
    assert len(set(map(min, sizes.values()))) == 3


def test_recipes_and_stages(leeway):
    names = {entry["name"] for entry in leeway.json("recipes")}
    assert {"balanced", "sz1.4", "wavesz", "lossless"} <= names
    assert "re-implementations" in leeway("recipes") and "re-implementation" in leeway("recipes", "--help")
    stages = {entry["name"]: entry for entry in leeway.json("stages")}
    assert stages["lorenzo"]["params"][0]["name"] == "order"
    assert stages["ghost"]["traits"] == {"chunk_values": 1 << 20, "floating_only": True, "needs_step": True, "one_grid": True}
    assert stages["linear"]["traits"] == {}
    assert "| predictor | `lorenzo` |" in leeway("stages", "--markdown")
    text = leeway("stages")
    assert "[chunk_values=32768, narrow_codes, unpacked]" in text and "narrow_codes          the encoder takes" in text


@pytest.mark.parametrize("kind", ["turbulence", "climate", "particles", "wave", "counts", "integrals"])
def test_samples_are_made_from_their_seed(leeway, kind):
    shape = "50x200" if kind != "integrals" else "10000"
    outputs = [leeway.run("sample", kind, "--shape", shape, "--seed", seed, "-o", "-").stdout for seed in ["3", "3", "4"]]
    assert outputs[0] == outputs[1] != outputs[2]
    leeway("sample", kind, "--shape", shape, "--dtype", "f64", "-o", "a.npy")
    leeway("compress", "a.npy", "--rel", "1e-3", "-o", "a.lwy")
    leeway("verify", "a.lwy", "--against", "a.npy")


def test_turbulence_has_its_spectrum(leeway):
    leeway("sample", "turbulence", "--shape", "128x128x128", "-o", "t.npy")
    field = np.load(leeway.folder / "t.npy").astype(np.float64)
    energy = np.abs(np.fft.fftn(field)) ** 2
    k = np.fft.fftfreq(128, 1 / 128)
    radius = np.sqrt(k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, :] ** 2).round().astype(int)
    spectrum = np.bincount(radius.ravel(), energy.ravel())
    slope = np.polyfit(np.log(np.arange(4, 60)), np.log(spectrum[4:60]), 1)[0]
    assert slope == pytest.approx(-5 / 3, abs=0.1)


def test_bench(leeway, field):
    rows = leeway.json("bench", field, "--rel", "1e-3", "--recipes", "balanced,sz1.4", "--threads", "1", "--repeat", "2")
    assert [row["recipe"] for row in rows] == ["balanced", "sz1.4"]
    for row in rows:
        assert {"ratio", "compress_mb_s", "decompress_mb_s", "memcpy_mb_s", "error_over_bound", "psnr"} <= set(row)
        assert row["ratio"] > 1 and 0 < row["error_over_bound"] <= 1
    assert "balanced" in leeway("bench", field, "--abs", "0.1", "--repeat", "1")


def test_inspect_and_doctor(leeway, field):
    leeway("compress", field, "--rel", "1e-3", "--psnr", "50", "-o", "a.lwy")
    info = leeway.json("inspect", "a.lwy")
    assert info["shape"] == [40, 50, 60] and info["dtype"] == "f32" and info["bound"]["asked"] == {"rel": 0.001, "psnr": 50.0}
    assert "largest error" in leeway("inspect", "a.lwy")
    said = leeway.json("doctor")
    assert said["healthy"] is True and "Open MPI" in said["mpi"]["tried_with"]


def test_compare_json(leeway, field):
    leeway("compress", field, "--abs", "0.05", "-o", "a.lwy")
    report = leeway.json("compare", field, "a.lwy")
    original = values_of(leeway, field).astype(np.float64)
    leeway("decompress", "a.lwy", "-o", "b.npy")
    error = original - np.load(leeway.folder / "b.npy").ravel()
    assert report["max_abs"] == pytest.approx(np.abs(error).max())
    assert report["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
    assert report["psnr"] == pytest.approx(20 * np.log10(np.ptp(original) / report["rmse"]))
    assert report["pearson"] == pytest.approx(np.corrcoef(original, original - error)[0, 1])
    assert 0.9 < report["ssim"] <= 1


def test_files_larger_than_the_memory_limit(leeway):
    """The tool needs less memory than the input has bytes: files are streamed both ways, chunk by chunk."""
    size = 384 << 20
    with open(leeway.folder / "big_96x1024x1024.f32", "wb") as out:
        tile = np.sin(np.arange(1 << 20, dtype=np.float32) * np.float32(0.001)).tobytes()
        for _ in range(96):
            out.write(tile)
    assert os.path.getsize(leeway.folder / "big_96x1024x1024.f32") == size
    script = ("import resource, subprocess, sys\n"
              "done = subprocess.run(sys.argv[1:]).returncode\n"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
              "sys.exit(done)")
    for arguments in [["compress", "big_96x1024x1024.f32", "--abs", "1e-4", "-o", "a.lwy", "--threads", "1", "--quiet"],
                      ["decompress", "a.lwy", "-o", "b.raw", "--threads", "1", "--quiet"]]:
        done = subprocess.run(["python3", "-c", script, str(BUILD / "leeway"), *arguments], cwd=leeway.folder,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) * 1024 < size * 0.9, arguments
    leeway("verify", "a.lwy", "--against", "big_96x1024x1024.f32")


def wave_cycles(rows, length, depth):
    """The schedule of waveSZ, point by point: when does each start?"""
    start, clock = {}, -1
    for column in range(rows + length - 1):
        for row in range(max(0, column - length + 1), min(column, rows - 1) + 1):
            needs = [start[n] + depth for n in ((row, column - 1), (row - 1, column - 1), (row - 1, column - 2)) if n in start]
            if row == max(0, column - length + 1):  # a column starts when all of it can run through
                clock = max([clock + 1] + needs)
            else:
                clock += 1
            assert all(clock >= need for need in needs)
            start[row, column] = clock
    return clock + 1 + depth


@pytest.mark.parametrize("shape, depth", [((20, 50), 5), ((20, 50), 40), ((50, 20), 7), ((9, 9), 118), ((4, 6, 8), 3)])
def test_model_fpga_runs_the_schedule(leeway, shape, depth):
    values = np.cumsum(np.random.default_rng(1).standard_normal(shape), axis=-1).astype("f4")
    np.save(leeway.folder / "a.npy", values)
    report = leeway.json("model", "fpga", "a.npy", "--depth", depth, "--clock", 100)
    rows, length = shape[0] - 1, values.size // shape[0] - 1
    assert report["cycles"] == wave_cycles(rows, length, depth)
    assert report["points"] == rows * length == sum(phase["points"] for phase in report["phases"])
    assert report["starts_before_its_neighbours_end"] == 0 and report["codes_equal_those_of_wavesz"]
    assert report["mb_s"] == pytest.approx(values.nbytes / 1e6 / (report["cycles"] / 100e6))
    assert leeway.json("model", "fpga", "a.npy", "--depth", depth, "--lanes", 2)["cycles"] < report["cycles"]


def test_model_fpga_prints_the_papers(leeway, field):
    for design, least in (("wavesz", 6), ("ceaz", 8), ("ghostsz", 3)):
        rows = leeway.json("model", "fpga", "--design", design)
        assert len(rows) >= least
        if design != "ghostsz":
            assert all(abs(row["difference"]) < 0.03 for row in rows if row["unit"] != "s"), rows
        assert rows[0]["what"] in leeway("model", "fpga", "--design", design)
    assert leeway.json("model", "fpga", field, "--design", "ceaz", "--lanes", 1)["mb_s"] == pytest.approx(4 * 260, rel=0.01)
    assert leeway.json("model", "fpga", field, "--design", "ghostsz")["mb_s"] > 0
    assert "no design" in leeway.fails(2, "model", "fpga", "--design", "abacus")


def test_smaller_bounds_in_regions(leeway, field):
    leeway("compress", field, "--rel", "1e-2", "--region-bound", "0:10,:,:=1e-5", "--region-bound", "39,49,59=0", "--chunk", "20x20x20", "-o", "a.lwy")
    leeway("decompress", "a.lwy", "-o", "b.npy")
    error = np.abs(np.load(leeway.folder / "b.npy").astype("f8") - values_of(leeway, field).reshape(40, 50, 60))
    assert error[:10].max() <= 1e-5 and error[39, 49, 59] == 0 and error[20:].max() > 1e-3
    info = leeway.json("inspect", "a.lwy")
    assert [region["bound"] for region in info["regions"]] == [1e-5, 0]
    leeway("verify", "a.lwy", "--against", field)
    bounds = np.full((40, 50, 60), np.inf, "f4")
    bounds[0, 0, 0] = 1e-6
    np.save(leeway.folder / "bounds.npy", bounds)
    leeway("compress", field, "--rel", "1e-2", "--bounds", "bounds.npy", "--chunk", "20x20x20", "-o", "c.lwy")
    assert os.path.getsize(leeway.folder / "c.lwy") < os.path.getsize(leeway.folder / "a.lwy")
    # With elementwise, only the value itself pays; and verify looks at each.
    leeway("compress", field, "--rel", "1e-2", "--bounds", "bounds.npy", "--recipe", "pyramid+elementwise+rans", "-o", "e.lwy")
    assert os.path.getsize(leeway.folder / "e.lwy") < os.path.getsize(leeway.folder / "c.lwy")
    leeway("verify", "e.lwy", "--against", field, "--bounds", "bounds.npy")
    leeway("compress", field, "--rel", "1e-2", "-o", "plain.lwy")
    assert "1 values exceed their own bounds" in leeway.fails(3, "verify", "plain.lwy", "--against", field, "--bounds", "bounds.npy")
    assert "--against" in leeway.fails(2, "verify", "e.lwy", "--bounds", "bounds.npy")
    leeway.fails(2, "compress", field, "--rel", "1e-2", "--region-bound", "0:41=1", "-o", "d.lwy")
    leeway.fails(2, "compress", field, "--rel", "1e-2", "--region-bound", "0:4", "-o", "d.lwy")


def test_critical_points_stay(leeway, field):
    y, x = np.mgrid[0:60, 0:70] / 5
    np.save(leeway.folder / "flow.npy", np.stack([np.sin(x) + np.cos(1.7 * y), np.cos(1.3 * x) - np.sin(y)]))
    leeway("compress", "flow.npy", "--rel", "0.05", "--recipe", "cpsz", "-o", "a.lwy")
    leeway("compress", "flow.npy", "--rel", "0.05", "-o", "b.lwy")
    points = leeway.json("verify", "a.lwy", "--against", "flow.npy", "--critical-points")["critical_points"]
    assert points["before"] == points["after"] > 10 and points["lost"] == points["gained"] == 0
    assert f"{points['before']} critical points" in leeway("verify", "a.lwy", "--against", "flow.npy", "--critical-points")
    assert "are lost" in leeway.fails(3, "verify", "b.lwy", "--against", "flow.npy", "--critical-points")
    assert "no vector field" in leeway.fails(2, "compress", field, "--rel", "0.05", "--recipe", "cpsz", "-o", "c.lwy")


def test_auto_says_what_it_chose(leeway, field):
    report = leeway.json("compress", field, "--rel", "1e-3", "--recipe", "auto", "-o", "a.lwy")
    assert report["recipe"].startswith("pyramid") and "|" in report["recipe"]
    leeway("compress", field, "--rel", "1e-3", "--recipe", "small", "-o", "b.lwy")
    assert report["output_bytes"] <= leeway.json("inspect", "b.lwy")["stream_bytes"]  # parameters are searched
    assert leeway.json("inspect", "a.lwy")["recipe"] == report["recipe"]
    leeway("verify", "a.lwy", "--against", field)
    assert "auto" in leeway("recipes")


def test_advice_for_an_aim(leeway, field):
    for aim in ("ratio", "counts", "speed"):
        advice = leeway.json("advise", field, "--rel", "1e-3", "--for", aim)
        assert advice["for"] == aim and advice["choice"] in [entry["recipe"] for entry in advice["tried"]]
    assert "sz3-pastri" in leeway("advise", field, "--rel", "1e-3", "--for", "pastri")
    assert "there are ratio, pastri" in leeway.fails(2, "advise", field, "--rel", "1e-3", "--for", "luck")
