# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the variables of a file: every kind of them, on the command line and in a bounds file."""
import netCDF4
import numpy as np
import pytest

from hosts.field import wave


def values():
    smooth = wave(special=False)
    return dict(t=smooth * 10 + 280, tas=smooth, q=np.exp(2 * smooth), pr=np.maximum(smooth, 0))


@pytest.fixture
def run(leeway):
    with netCDF4.Dataset(leeway.folder / "run.nc", "w") as file:
        for name, extent in zip("zyx", (20, 48, 64)):
            file.createDimension(name, extent)
        for name, array in values().items():
            file.createVariable(name, "f4", ("z", "y", "x"))[...] = array
        file.createVariable("n", "i4", ("z", "y"))[...] = np.arange(20 * 48).reshape(20, 48)
    return leeway


def judge(leeway, path="out.nc", **bounds):
    """Every variable keeps its bounds, and those that are not named are as they were."""
    with netCDF4.Dataset(leeway.folder / path) as file:
        assert (file["n"][...] == np.arange(20 * 48).reshape(20, 48)).all()
        for name, original in values().items():
            a, b = original.astype("f8"), file[name][...].data.astype("f8")
            error, span = np.abs(a - b), np.ptp(a)
            bound = bounds.get(name, {})
            assert (error.max() > 0) == bool(bound), name
            assert error.max() <= min(bound.get("abs", np.inf), bound.get("rel", np.inf) * span)
            assert "pointwise" not in bound or (error <= bound["pointwise"] * np.abs(a)).all()
            assert np.sqrt((error**2).sum()) <= bound.get("l2", np.inf)
            if "psnr" in bound:
                assert bound["psnr"] <= 20 * np.log10(span / np.sqrt((error**2).mean())) < bound["psnr"] + (4 if name == "pr" else 2)  # zeros do not count
            if bound:
                said = file[name].lossy_compression_bound
                assert said == ",".join(f"{kind}={value:g}" if kind != "rel" else f"rel={value}" for kind, value in bound.items())


@pytest.mark.parametrize("recipe", ["balanced", "small"])
@pytest.mark.parametrize("bound", [dict(psnr=60), dict(l2=30), dict(pointwise=0.001), dict(rel=0.001, psnr=65)])
def test_one_bound_for_all(run, bound, recipe):
    options = [part for kind, value in bound.items() for part in (f"--{kind}", value)]
    run("compress", "run.nc", *options, "--preset", recipe, "--chunk", "7x30x40", "-o", "out.nc")
    judge(run, **dict.fromkeys(values(), bound))
    run("verify", "out.nc", "--against", "run.nc")
    asked = run.json("inspect", "out.nc")
    assert {entry["variable"]: entry["compressed"] for entry in asked} == dict.fromkeys(values(), True) | {"n": False}


def test_one_for_each(run):
    said = run.json("compress", "run.nc", "--variable", "q=pointwise:1e-3", "--variable", "t=psnr:60", "--variable", "tas=abs:0.1,psnr:50",
                    "--variable", "pr=lossless", "-o", "out.nc")
    judge(run, q=dict(pointwise=0.001), t=dict(psnr=60), tas=dict(abs=0.1, psnr=50))
    asked = {entry["variable"]: entry["bound"]["asked"] for entry in said}
    assert asked == dict(q={"pointwise": 1e-3}, t={"psnr": 60}, tas={"abs": 0.1, "psnr": 50}, pr={"lossless": True})


def test_verify_finds_what_is_off(run):
    """Also where the largest error says nothing."""
    run("compress", "run.nc", "--variable", "q=pointwise:1e-3", "--variable", "t=psnr:60", "-o", "out.nc")
    changed = values()
    changed["q"].ravel()[np.argmin(changed["q"])] *= 1.01
    changed["t"] += np.float32(0.03)
    with netCDF4.Dataset(run.folder / "run.nc", "r+") as file:
        for name in "qt":
            file[name][...] = changed[name]
    done = run.run("verify", "out.nc", "--against", "run.nc")
    assert done.returncode == 3 and b"NOT verified: q" in done.stderr and b"NOT verified: t" in done.stderr


def test_bounds_file(run):
    (run.folder / "bounds.toml").write_text("""
        default = "rel:1e-3"
        recipe = "small"
        exclude = ["p*", "nosuch"]
        [variables]
        "t*" = { psnr = 50, recipe = "fast" }          # a name counts more than a pattern, wherever it stands
        q = { pointwise = 1e-3 }
        tas = "abs:0.1,psnr:60"
        other = "abs:1"                                # of another file
        "others*" = "lossless"
    """)
    run("compress", "run.nc", "--bounds-file", "bounds.toml", "-o", "out.nc")
    judge(run, t=dict(psnr=50), q=dict(pointwise=0.001), tas=dict(abs=0.1, psnr=60))
    recipes = {entry["variable"]: entry.get("recipe") for entry in run.json("inspect", "out.nc")}
    assert recipes["q"].startswith("log+pyramid+linear") and recipes["tas"].startswith("pyramid+linear") and "lorenzo" in recipes["t"]
    # The command line counts more.
    run("compress", "run.nc", "--bounds-file", "bounds.toml", "--variable", "q=abs:0.5", "--variable", "pr=rel:0.01", "--preset", "fast",
        "-o", "out.nc", "--force")
    judge(run, t=dict(psnr=50), q=dict(abs=0.5), tas=dict(abs=0.1, psnr=60), pr=dict(rel=0.01))
    (run.folder / "bounds.toml").write_text('default = { rel = 1e-3 }\n[variables]\nq = { lossless = true }')
    run("compress", "run.nc", "--bounds-file", "bounds.toml", "-o", "out.nc", "--force")
    judge(run, **dict.fromkeys(["t", "tas", "pr"], dict(rel=0.001)))


def test_exclude_counts_more_than_the_bounds_file(run):
    (run.folder / "bounds.toml").write_text("exclude = ['pr']\n[variables]\nt = 'abs:0.01'\n'/tas' = 'abs:0.1'\nq = 'rel:1e-3'\npr = 'abs:1'")
    for left_out, compressed in [(["t"], {"tas", "q"}), (["t*"], {"q"}), (["/q", "tas"], {"t"})]:
        options = [item for name in left_out for item in ("--exclude", name)]
        said = run.json("compress", "run.nc", "--bounds-file", "bounds.toml", *options, "-o", "out.nc", "--force")
        assert {entry["variable"].strip("/") for entry in said} == compressed
        with netCDF4.Dataset(run.folder / "out.nc") as after:
            for name in {"t", "tas", "q", "pr"} - compressed:
                assert (after[name][...].data == values()[name]).all() and "lossy_compression" not in after[name].ncattrs()
    # Who names a variable on the command line means it, whatever pattern leaves it out.
    said = run.json("compress", "run.nc", "--bounds-file", "bounds.toml", "--variable", "t=abs:0.5", "--exclude", "t*", "-o", "out.nc", "-f")
    assert {entry["variable"]: entry["bound"]["asked"] for entry in said} == {"t": {"abs": 0.5}, "q": {"rel": 1e-3}}


def test_names_that_mean_nothing_are_told(run):
    (run.folder / "bounds.toml").write_text("[variables]\nt = 'abs:0.01'\ntsa = 'abs:0.1'\n'w*' = 'abs:1'")
    done = run.run("compress", "run.nc", "--bounds-file", "bounds.toml", "--exclude", "zz*", "-o", "out.nc")
    assert done.returncode == 0 and done.stderr.decode().splitlines() == [
        "leeway: --exclude 'zz*' means no variable of 'run.nc'",
        "leeway: 'bounds.toml': no variable of 'run.nc' is meant by 'tsa', 'w*'"]
    # What is left out is there.
    done = run.run("compress", "run.nc", "--bounds-file", "bounds.toml", "--abs", "1", "--exclude", "t*", "-o", "out.nc", "-f")
    assert b"is meant by 'tsa', 'w*'\n" in done.stderr


@pytest.mark.parametrize("text, complaint", [
    ("[variables]\nt = 'abs:x'", "line 2: 't' needs a bound"), ("[variables]\nt = { abs = 'x' }", "abs is a number"),
    ("[variables]\nt = { foo = 3 }", "there is no bound 'foo'"), ("variable = 3", "'variable' means nothing"), ("t = ", "line 1"),
    ("[variables]\nt = { recipe = 'small' }", "needs a bound"), ("recipe = 'nosuch'", "'bounds.toml', line 1: "), ("exclude = 3", "a name or a list of names"),
    ("[variables]\n\nt = { abs = 1, recipe = 'nosuch' }", "'bounds.toml', line 3: 't': "),
    ("[variables]\nt = { lossless = false }", "lossless can only be true"),
    ("default = 'abs:-3'", "must be a positive number"),
])
def test_bounds_files_that_make_no_sense(run, text, complaint):
    (run.folder / "bounds.toml").write_text(text)
    assert complaint in run.fails(2, "compress", "run.nc", "--bounds-file", "bounds.toml", "-o", "out.nc")


def test_a_bounds_file_for_other_files(run):
    (run.folder / "bounds.toml").write_text("[variables]\nnosuch = 'lossless'")
    done = run.run("compress", "run.nc", "--bounds-file", "bounds.toml", "-o", "out.nc")
    assert done.returncode == 2 and b"is meant by 'nosuch'" in done.stderr and b"with variables of this file" in done.stderr


def test_complaints(run):
    assert "there is no bounds file" in run.fails(1, "compress", "run.nc", "--bounds-file", "no.toml", "-o", "out.nc")
    assert "--ratio and --rate need a stream" in run.fails(2, "compress", "run.nc", "--ratio", "10", "-o", "out.nc")
    assert "holds integers" in run.fails(2, "compress", "run.nc", "--variable", "n=pointwise:0.1", "-o", "out.nc")
    np.save(run.folder / "t.npy", values()["t"])
    assert "is for HDF5 and netCDF files" in run.fails(2, "compress", "t.npy", "--abs", "1", "--bounds-file", "bounds.toml")


def test_packed_with_an_offset(run):
    with netCDF4.Dataset(run.folder / "run.nc", "r+") as file:
        file["t"].setncatts(dict(scale_factor=2.0, add_offset=5.0))
        file["q"].scale_factor = 2.0
    assert "add_offset" in run.fails(2, "compress", "run.nc", "--variable", "t=pointwise:0.1", "-o", "out.nc")
    run("compress", "run.nc", "--variable", "q=pointwise:1e-2", "-o", "out.nc")
    with netCDF4.Dataset(run.folder / "run.nc") as before, netCDF4.Dataset(run.folder / "out.nc") as after:
        a, b = before["q"][...].data.astype("f8"), after["q"][...].data.astype("f8")
        assert 0 < np.abs(a - b).max() and (np.abs(a - b) <= 1e-2 * np.abs(a)).all()


def test_chunks_hold_maps(run):
    """The last axes stay whole, as long as 2^20 values allow."""
    with netCDF4.Dataset(run.folder / "wide.nc", "w") as file:
        for name, extent in zip("zyx", (150, 90, 180)):
            file.createDimension(name, extent)
        file.createVariable("t", "f4", ("z", "y", "x"))[...] = 1
        file.createDimension("long", 3000000)
        file.createVariable("line", "f4", ("long",))[...] = 1
    run("compress", "wide.nc", "--abs", "0.1", "--force", "-o", "out.nc")
    chunks = {entry["variable"]: entry["chunk"] for entry in run.json("inspect", "out.nc") if entry["compressed"]}
    assert chunks == {"t": [50, 90, 180], "line": [1000000]}
