# SPDX-License-Identifier: BSD-3-Clause
"""decoder/leeway_decode.h decodes what the library decodes, bit for bit, and refuses the rest."""
import itertools
import re
import subprocess

import numpy as np
import pytest
import reference_decoder
from conftest import ROOT, Tool

from decoder.compiled import STRICT, driver  # noqa: F401

pytestmark = pytest.mark.xdist_group("decoder")  # in one process, which compiles the driver once for each variant
GOLDEN = sorted((ROOT / "tests/golden").glob("*.lwy"))
DTYPES = ["f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
PRESETS = ["fast", "balanced", "small", "smallest", "lossless"]
STAGES = {"log", "lorenzo", "blocks", "interp", "pyramid", "wavelet", "linear", "exact", "truncate", "huffman", "rans", "pack", "fixed", "raw",
          "zstd", "store"}
QUANTIZERS = {"linear", "exact", "truncate"}


def facts(driver, stream):
    """What `driver info` prints."""
    return dict(line.split(" ", 1) if " " in line else (line, "") for line in driver("info", stream).splitlines())


def outside(recipe):
    """Why a recipe is not in the subset; "" if it is."""
    stages = [stage.partition(":") for stage in recipe.split("+")]
    names = [name for name, _, _ in stages]
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        return f"the stage '{unknown[0]}'"
    if "beyond=planes" in recipe:
        return "beyond=planes"
    quantizer = next((i for i, name in enumerate(names) if name in QUANTIZERS), len(names))
    if "lorenzo" in names[:quantizer] and quantizer < len(names):
        return "lorenzo before the quantizer"
    return ""


# ---- golden streams ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recipes(driver):
    return {path.stem: facts(driver(), path)["recipe"] for path in GOLDEN}


@pytest.mark.parametrize("variant", ["c99", "c17", "c++11", "sanitized", "libzstd"])
def test_golden_streams(driver, recipes, variant):
    found = driver(variant).compare(*GOLDEN)
    assert len(found) == len(GOLDEN)
    skipped = {}
    for path in GOLDEN:
        recipe = recipes[path.stem]
        # A chunk that holds a constant, or is kept without loss, does not need the recipe.
        if outside(recipe) and found[path.stem] != "same":
            assert found[path.stem].startswith("unsupported: "), (path.stem, recipe, found[path.stem])
            assert outside(recipe) in found[path.stem]
            skipped[path.stem] = recipe
        else:
            assert found[path.stem] == "same", (path.stem, recipe, found[path.stem])
    assert len(found) - len(skipped) >= 82
    assert {outside(recipe) for recipe in skipped.values()} == {
        "lorenzo before the quantizer", "beyond=planes",
        *(f"the stage '{name}'" for name in ("adaptive", "arithmetic", "bitshuffle", "composite", "cross", "deflate", "dft", "elementwise", "ghost", "lag", "linearize",
                                              "logscale", "pattern", "regression", "residual", "reshape", "transpose", "wavefront"))}


def kinds_of(path):
    """The kinds of the payloads of a stream."""
    stream = path.read_bytes()
    return {stream[m.start() + 64] for m in re.finditer(b"LWYc", stream) if m.start() + 64 < len(stream)}


def test_every_kind_of_payload_is_read(driver, leeway):
    read = driver().compare(*GOLDEN)
    seen = set().union(*(kinds_of(path) for path in GOLDEN if read[path.stem] == "same"))
    noise = make(leeway, "noise", np.random.default_rng(1).integers(0, 1 << 63, 500), "i64", "--lossless")
    assert driver("sanitized").compare(noise) == {"noise": "same"}
    # constant, coded, lossless, stored, levels, narrow, layered; tightened needs a stage that is not in here
    assert {0, 1, 2, 3, 4, 6, 7} <= seen | kinds_of(noise)


def test_what_a_stream_states(driver, leeway):
    for path in GOLDEN:
        stated, told = leeway.json("inspect", path), driver()("info", path).splitlines()
        values = dict(line.split(" ", 1) if " " in line else (line, "") for line in told)
        assert values["dtype"] == stated["dtype"] and values["recipe"] == stated["recipe"]
        for name in ("shape", "chunk"):
            assert [int(n) for n in values[name].split()] == stated[name]
        grid = [-(-n // c) for n, c in zip(stated["shape"], stated["chunk"])]
        assert [int(n) for n in values["grid"].split()] == grid and int(values["chunks"]) == stated["chunks"]
        assert float(values["abs_bound"]) == stated["bound"]["absolute"]
        asked = {line.split()[1]: float(line.split()[2]) for line in told if line.startswith("bound ")}
        assert asked == {kind: 0.0 if kind == "lossless" else value for kind, value in stated["bound"]["asked"].items()}
        assert [float(values["min"]), float(values["max"])] == (stated["range"] or [0, 0])
        assert float(values["max_error"]) == stated["max_error"]
        assert int(values["special"]) == stated["special_values"] and int(values["exact"]) == stated["exact_values"]
        assert values["decoded_hash"] == stated["decoded_hash"]
        assert (values["brief"] == "1") == (stated["form"] == "brief")


# ---- streams made by the tool --------------------------------------------------------------------------------------


def field(dtype, shape, seed=0, special=True):
    """Something smooth with noise, and what types have for special values; as bytes of the type."""
    random = np.random.default_rng(seed)
    x = 40 * np.sin(np.arange(np.prod(shape)).reshape(shape) * 0.011) + 30 + random.normal(0, 0.5, shape)
    for axis, n in enumerate(shape):
        x += np.cos(np.arange(n) * (0.3 + axis)).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    if dtype in ("f32", "f64", "f16", "bf16"):
        values = x.astype({"f64": "f8", "f16": "f2"}.get(dtype, "f4"))
        if special:
            flat = values.reshape(-1)
            flat[3::97], flat[5::211], flat[7::301], flat[11::53] = np.nan, np.inf, -np.inf, -9999
        return (values.view("u4") >> 16).astype("u2") if dtype == "bf16" else values
    return np.clip(x, 0, 120).astype(f"{dtype[0]}{int(dtype[1:]) // 8}") * (1 << 40 if dtype[1:] == "64" else 1)


def make(leeway, name, values, dtype, *options):
    """A stream and, beside it, what the library decodes."""
    raw = leeway.folder / f"{name}.bin"
    raw.write_bytes(values.tobytes())
    shape = "x".join(map(str, values.shape))
    leeway("compress", raw, "--shape", shape, "--dtype", dtype, "-o", f"{name}.lwy", "-q", "--threads", 1, *options)
    leeway("decompress", f"{name}.lwy", "-o", f"{name}.raw", "-q", "--threads", 1)
    return leeway.folder / f"{name}.lwy"


SHAPES = [(700,), (40, 33), (9, 14, 40), (3, 5, 12, 17), (1, 31, 1, 6)]


@pytest.mark.parametrize("preset", PRESETS)
def test_types_presets_shapes(driver, leeway, preset):
    streams = []
    for k, dtype in enumerate(DTYPES):
        for shape in (SHAPES[k % 5], SHAPES[(k + 2) % 5]):
            bound = ["--lossless"] if preset == "lossless" else ["--abs", "3" if dtype[0] in "iu" else "0.05"]
            if dtype[1:] == "64" and dtype[0] in "iu" and bound[0] == "--abs":
                bound[1] = "1e12"
            fill = ["--fill", "-9999"] if dtype in ("f32", "f64", "f16", "bf16") else []
            form = ["--brief"] if k % 3 == 0 else []
            name = f"{preset}_{dtype}_{'x'.join(map(str, shape))}"
            streams.append(make(leeway, name, field(dtype, shape, k), dtype, "--preset", preset, *bound, *fill, *form))
    assert set(driver("sanitized").compare(*streams).values()) == {"same"}


LARGE = {
    "tiles": ("f32", (70, 80, 90), ["--preset", "small", "--abs", "0.05"]),
    "levels": ("f32", (70, 80, 90), ["--recipe", "pyramid+linear+rans", "--abs", "0.05"]),
    "few_tiles": ("u16", (300, 500), ["--recipe", "pyramid:tile=12,taps=0+linear+rans", "--abs", "2"]),
    "taps": ("f64", (60, 50, 70), ["--preset", "smallest", "--abs", "0.01"]),
    "frozen": ("f32", (12, 110, 120), ["--recipe", "pyramid:frozen=1,taps=9,gain=0+linear+rans", "--abs", "0.05"]),
    "flat": ("f32", (50, 4000), ["--recipe", "pyramid:frozen=3,taps=10,every=2,gain=0+linear+rans", "--abs", "0.05"]),
    "four_axes": ("f32", (9, 12, 37, 41), ["--preset", "small", "--abs", "0.05"]),
    "many_chunks": ("f32", (70, 80, 90), ["--preset", "fast", "--abs", "0.05"]),
    "chunks": ("i32", (70, 80, 90), ["--preset", "small", "--abs", "2", "--chunk", "33x80x41"]),
    "pointwise": ("f64", (40, 50, 61), ["--preset", "small", "--pointwise", "1e-3"]),
    "long_rows": ("f32", (40, 5000), ["--preset", "small", "--rel", "1e-4"]),
    "causal": ("f32", (40, 50, 60), ["--recipe", "linear+lorenzo+rans", "--abs", "0.01"]),
    "interp": ("f64", (41, 50, 60), ["--recipe", "sz3-interp", "--abs", "0.01"]),
    "zstd": ("f32", (200, 999), ["--recipe", "linear+lorenzo+huffman+zstd:level=19", "--abs", "2"]),
    "noise": ("f64", (200, 300), ["--preset", "balanced", "--abs", "1e-13"]),
    "region": ("f32", (40, 50, 60), ["--preset", "fast", "--abs", "0.1", "--region-bound", "0:10,:,:=1e-6"]),
}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    tool = Tool(tmp_path_factory.mktemp("large"))
    return {name: make(tool, name, field(dtype, shape), dtype, *options) for name, (dtype, shape, options) in LARGE.items()}


def test_large_streams(driver, large):
    assert set(driver("c17").compare(*large.values()).values()) == {"same"}
    some = [large[name] for name in ("few_tiles", "causal", "chunks")]
    assert set(driver("sanitized").compare(*some).values()) == {"same"}


@pytest.mark.parametrize("name", ["tiles", "few_tiles", "many_chunks", "chunks", "pointwise", "four_axes", "long_rows"])
def test_boxes(driver, large, tmp_path, name):
    dtype, shape, _ = LARGE[name]
    kind = f"V{np.dtype(reference_dtype(dtype)).itemsize}"
    whole = np.frombuffer(large[name].with_suffix(".raw").read_bytes(), kind).reshape(shape)
    random = np.random.default_rng(5)
    for _ in range(12):
        first = [int(random.integers(0, n)) for n in shape]
        extents = [int(random.integers(1, n - f + 1)) for n, f in zip(shape, first)]
        driver()("box", large[name], tmp_path / "box", *(f"{f}:{e}" for f, e in zip(first, extents)))
        expected = whole[tuple(slice(f, f + e) for f, e in zip(first, extents))]
        assert (tmp_path / "box").read_bytes() == expected.tobytes(), (first, extents)
    driver()("box", large[name], tmp_path / "box", *("0:0" for _ in shape))
    assert (tmp_path / "box").read_bytes() == b""
    assert "not inside" in driver()("box", large[name], tmp_path / "box", *(f"1:{n}" for n in shape), status=1)


def reference_dtype(dtype):
    return {"bf16": "u2", "f16": "f2"}.get(dtype, f"{dtype[0]}{int(dtype[1:]) // 8}")


@pytest.mark.parametrize("name", LARGE)
def test_levels(driver, large, leeway, tmp_path, name):
    for level in (1, 2, 3, 4, 7):
        leeway("decompress", large[name], "--level", level, "-o", f"{level}.raw", "-q")
        driver()("level", large[name], tmp_path / "level", level)
        assert (tmp_path / "level").read_bytes() == (leeway.folder / f"{level}.raw").read_bytes(), level


def test_a_level_needs_a_part_of_the_stream_only(driver, large, tmp_path):
    stream = bytearray(large["levels"].read_bytes())
    assert facts(driver(), large["levels"])["levels"] == "2"
    driver()("level", large["levels"], tmp_path / "before", 1)
    frame = stream.index(b"LWYc") + 64
    assert stream[frame] == 4  # a payload with levels: its table says where level 1 ends
    end = frame + 2 + 12 * stream[frame + 1] + int.from_bytes(stream[frame + 2 : frame + 6], "little")
    for at in range(end, end + 200):
        stream[at] ^= 255
    (tmp_path / "damaged.lwy").write_bytes(stream)
    driver()("level", tmp_path / "damaged.lwy", tmp_path / "after", 1)
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    assert "checksum differs" in driver()("whole", tmp_path / "damaged.lwy", tmp_path / "after", status=2)
    stream[end - 1] ^= 255
    (tmp_path / "damaged.lwy").write_bytes(stream)
    assert "level" in driver()("level", tmp_path / "damaged.lwy", tmp_path / "after", 1, status=2)


def test_a_box_needs_its_chunks_only(driver, large, tmp_path):
    stream = bytearray(large["chunks"].read_bytes())
    last = stream.rindex(b"LWYc") + 70
    stream[last] ^= 1
    (tmp_path / "damaged.lwy").write_bytes(stream)
    driver()("box", tmp_path / "damaged.lwy", tmp_path / "out", "0:33", "0:80", "0:41")
    assert "checksum differs" in driver()("whole", tmp_path / "damaged.lwy", tmp_path / "out", status=2)


# ---- damaged, unfinished, hostile ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["v1_34_f32_updated", "v1_116_f32_layered"])
def test_interrupted_updates(driver, tmp_path, name):
    """Of a stream cut anywhere, the last whole state, or nothing, just as the reference decoder says."""
    stream = (ROOT / f"tests/golden/{name}.lwy").read_bytes()
    tails = [m.start() for m in re.finditer(b"LWYend\r\n", stream)]
    states = set()
    for cut in itertools.chain(range(tails[0], tails[-1] + 8, 7), range(len(stream) - 30, len(stream) + 1)):
        (tmp_path / "cut.lwy").write_bytes(stream[:cut])
        try:
            _, expected = reference_decoder.decode(stream[:cut])
        except Exception:  # the reference decoder is not careful about what it raises
            driver()("whole", tmp_path / "cut.lwy", tmp_path / "out", status=2)
            continue
        driver()("whole", tmp_path / "cut.lwy", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == expected, cut
        states.add(expected)
    assert len(states) > 1


def test_damage_is_refused(driver):
    """Not one damaged stream of the subset goes through unnoticed, but where its bytes did not change or are not used."""
    refused, read = map(int, re.findall(r"\d+", driver("sanitized")("mutate", 25, *GOLDEN)))
    assert refused > 50 * read


def test_damage_behind_the_checksums_breaks_nothing(driver):
    read = driver().compare(*GOLDEN)
    driver("unguarded")("mutate", 6, *(path for path in GOLDEN if read[path.stem] == "same"))


def test_every_allocation_may_fail(driver):
    names = ["00_f32_9x10x11", "24_f32_9x10x11", "35_f32_9x10x11", "44_f32_9x10x11", "71_f32_30x40", "109_f32_24x33x34", "116_f32_layered",
             "117_f32_layered_by_marks", "46_f32_9x10x60", "119_f32_brief_9x10x11"]
    driver("sanitized")("starve", *(ROOT / f"tests/golden/v1_{name}.lwy" for name in names))


def test_messages(driver, tmp_path):
    def say(content, status=2):
        (tmp_path / "in.lwy").write_bytes(content)
        return driver()("whole", tmp_path / "in.lwy", tmp_path / "out", status=status)

    stream = (ROOT / "tests/golden/v1_00_f32_9x10x11.lwy").read_bytes()
    assert say(b"") == say(b"PK\3\4 something else") == "this is not a leeway stream"
    assert say(stream[:30]) == "the header ends too early"
    assert say(stream[:-1]) == "the end of the stream is missing or damaged"
    assert say(stream[:8] + b"\2" + stream[9:], status=3) == "the stream has another version of the format"
    assert say(b"\x89LWb\2" + 20 * b"\0", status=3) == "the stream has another version of the brief form"
    sz14 = (ROOT / "tests/golden/v1_13_f32_9x10x11.lwy").read_bytes()
    assert say(sz14, status=3) == "this small decoder does not know the stage 'deflate' of the stream; the leeway library does"


# ---- the file itself -----------------------------------------------------------------------------------------------


def test_recipe_numbers_are_those_of_the_format():
    header, text = ((ROOT / path).read_text() for path in ("decoder/leeway_decode.h", "docs/FORMAT.md"))
    table = re.search(r"lwyi_recipes\[\] = \{(.*?)\};", header, re.S).group(1)
    table = re.sub(r'"\n *"', "", table)  # a recipe may take several lines
    assert re.findall(r'"([^"]+)"', table) == [row.replace("\\|", "|") for row in re.findall(r"^\| \d+ \| `([^`]+)` \|$", text, re.M)]


def test_parameters_are_those_of_the_library(leeway):
    header = (ROOT / "decoder/leeway_decode.h").read_text()
    known = {(stage.lower(), name): (float(usual), float(low), float(high), words)
             for stage, name, usual, low, high, words in re.findall(
                 r'\{LWYI_(\w+), "(\w+)", (-?[\d.]+), (-?[\d.]+), (-?[\d.]+), ("[^"]*"|NULL), LWYI_\w+\}', header)}
    assert len(known) > 20
    for stage in leeway.json("stages"):
        if stage["name"] not in STAGES:
            continue
        for p in stage["params"]:
            usual, low, high, words = known.pop((stage["name"], p["name"]))
            if words == "NULL":
                assert [usual, low, high] == [float(p["default"]), *map(float, p["range"].split(" to "))]
            else:
                assert words.strip('"').split() == p["range"].split(" or ") and words.strip('"').split()[int(usual)] == p["default"]
    assert not known


@pytest.mark.parametrize("language", [["clang", "-x", "c", "-std=c99"], ["clang++", "-x", "c++", "-std=c++11"], ["c++", "-x", "c++", "-std=c++20"],
                                      ["cc", "-std=c99", "-DLEEWAY_DECODE_NO_MALLOC"]], ids=lambda words: words[0] + words[-1])
def test_no_warnings(language):
    command = [*language, *STRICT, "-fsyntax-only", ROOT / "tests/decoder/driver.c"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_fused_operations_are_off():
    """The compiler is told by the file itself, where it would fuse by default."""
    command = ["-O1", "-march=haswell", "-S", "-o", "-", "-x", "c", "-DLEEWAY_DECODE_IMPLEMENTATION", ROOT / "decoder/leeway_decode.h"]
    for compiler in ("gcc", "clang"):
        done = subprocess.run([compiler, *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "vmulss" in done.stdout and "vfmadd" not in done.stdout and "vfnmadd" not in done.stdout


def test_unlwy(tmp_path):
    subprocess.run(["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", ROOT / "decoder/unlwy.c", "-o", tmp_path / "unlwy"],
                   check=True)
    for name in ("00_f32_9x10x11", "08_i64_300", "03_f16_7x8x9", "23_f32_scalar", "22_f32_0x3", "119_f32_brief_9x10x11"):
        path = ROOT / f"tests/golden/v1_{name}.lwy"
        subprocess.run([tmp_path / "unlwy", path, tmp_path / "out.npy"], check=True)
        array, expected = np.load(tmp_path / "out.npy"), path.with_suffix(".raw").read_bytes()
        assert array.tobytes() == expected
        header, _ = reference_decoder.decode(path.read_bytes())
        assert list(array.shape) == header["shape"] and array.dtype == reference_dtype(header["dtype"])
        subprocess.run([tmp_path / "unlwy", path, tmp_path / "out.raw"], check=True)
        assert (tmp_path / "out.raw").read_bytes() == expected
    done = subprocess.run([tmp_path / "unlwy", tmp_path / "unlwy", tmp_path / "x"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "unlwy: this is not a leeway stream\n"
