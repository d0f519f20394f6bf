# SPDX-License-Identifier: BSD-3-Clause
"""The viewer of decoder/web in a real browser: it shows the values that the library decodes."""
import functools
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import numpy as np
import pytest
import xxhash
from conftest import BUILD, ROOT

from decoder.browser import Browser
from decoder.test_decoder import field, make, reference_dtype

GOLDEN = ROOT / "tests/golden"
pytestmark = [
    pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium (scripts/setup.sh installs it)"),
    pytest.mark.skipif(not pathlib.Path("/usr/include/wasm32-wasi").exists() or not shutil.which("wasm-ld"),
                       reason="nothing to compile WebAssembly with (scripts/setup.sh installs it)"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """The built page, in a folder that a server shows."""
    folder = tmp_path_factory.mktemp("web")
    done = subprocess.run([ROOT / "scripts/web.sh", folder], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LEEWAY_BUILD": str(BUILD)})
    assert done.returncode == 0, done.stderr

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    browser.window(1200, 900)
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, web):
    """opened(stream): the browser, with the page that shows it."""
    folder, address = web

    def show(stream, state="done"):
        place = pathlib.Path(tempfile.mkdtemp(dir=folder))  # one for each, because browsers remember what they were given
        shutil.copy(stream, place / "shown.lwy")
        browser.open(f"{address}/index.html?url=/{place.name}/shown.lwy", state)
        assert not browser.complaints
        return browser

    return show


def facts(browser):
    return dict(browser.run("[...document.querySelectorAll('dt')].map(dt => [dt.textContent, dt.nextElementSibling.textContent])"))


def settle(browser):
    browser.wait("asked === answered && !ask.again")


def shown(browser):
    """The slice that the page shows, as numbers."""
    settle(browser)
    rows, columns, level = browser.run("[slice.rows, slice.columns, slice.level]")
    values = browser.run("Array.from(slice.values, x => Number.isNaN(x) ? 'nan' : String(x))")
    return np.array([float(x.replace("Infinity", "inf")) for x in values]).reshape(rows, columns), level


def numbers(raw, dtype):
    if dtype == "bf16":
        return (np.frombuffer(raw, "u2").astype("u4") << 16).view("f4").astype(float)
    return np.frombuffer(raw, reference_dtype(dtype)).astype(float)


STREAMS = {
    "f32_small": ("f32", (24, 70, 90), ["--preset", "small", "--abs", "0.05", "--fill", "-9999"]),
    "f64_smallest": ("f64", (12, 40, 60), ["--preset", "smallest", "--abs", "0.01"]),
    "f16_fast": ("f16", (8, 30, 40), ["--preset", "fast", "--abs", "0.1"]),
    "bf16_balanced": ("bf16", (8, 30, 40), ["--preset", "balanced", "--abs", "0.5"]),
    "i16_balanced": ("i16", (5, 6, 20, 30), ["--preset", "balanced", "--abs", "2"]),
    "u8_small": ("u8", (60, 61), ["--preset", "small", "--abs", "3"]),
    "i64_lossless": ("i64", (20, 30), ["--preset", "lossless", "--lossless"]),
    "u32_brief": ("u32", (9, 20, 30), ["--preset", "small", "--abs", "2", "--brief"]),
    "f32_chunks": ("f32", (70, 80, 90), ["--preset", "fast", "--rel", "1e-3"]),
    "f64_pointwise": ("f64", (20, 30, 40), ["--preset", "small", "--pointwise", "1e-3"]),
}


@pytest.mark.parametrize("name", STREAMS)
def test_values(opened, leeway, name):
    dtype, shape, options = STREAMS[name]
    stream = make(leeway, name, field(dtype, shape), dtype, *options)
    raw = stream.with_suffix(".raw").read_bytes()
    browser = opened(stream)
    # All values, bit for bit.
    assert facts(browser)["XXH3 of the values"] == xxhash.xxh3_64_hexdigest(raw)
    # The slice on the screen.
    whole = numbers(raw, dtype).reshape(shape)
    middle = tuple(n // 2 for n in shape[:-2])
    values, level = shown(browser)
    assert level == 0
    np.testing.assert_array_equal(values, whole[middle])
    if len(shape) < 3:
        return
    # Another plane, another index.
    browser.run("{ $('plane').value = '0,1'; choosePlane(); }")
    last = len(shape) - 1
    browser.run(f"{{ const slider = $('axis-{last}'); slider.value = 3; slider.dispatchEvent(new Event('input')); }}")
    settle(browser)
    rest = [n // 2 for n in shape[2:]]
    rest[-1] = 3
    np.testing.assert_array_equal(shown(browser)[0], whole[(slice(None), slice(None), *rest)])


@pytest.mark.parametrize("path", ["v1_02_f64_500", "v1_23_f32_scalar", "v1_34_f32_updated", "v1_116_f32_layered", "v1_40_f32_3x4x5x6x7",
                                  "v1_125_f64_brief_30x40"])
def test_golden_streams(opened, path):
    browser = opened(GOLDEN / f"{path}.lwy")
    assert facts(browser)["XXH3 of the values"] == xxhash.xxh3_64_hexdigest((GOLDEN / f"{path}.raw").read_bytes())


def test_an_array_without_values(opened):
    browser = opened(GOLDEN / "v1_22_f32_0x3.lwy")
    assert browser.run("$('readout').textContent") == "The array has no values."


def test_what_the_stream_states(opened, leeway):
    stream = make(leeway, "a", field("f32", (24, 70, 90)), "f32", "--preset", "small", "--rel", "1e-3", "--fill", "-9999")
    told, stated = facts(opened(stream)), leeway.json("inspect", stream)
    assert told["Type"] == "f32" and told["Shape"] == "24 × 70 × 90" and told["Preset"] == "small"
    assert told["Recipe"].replace("\u200b", "") == stated["recipe"]
    assert told["Bound"] == "rel 0.001" and float(told["Absolute bound"]) == pytest.approx(stated["bound"]["absolute"], rel=1e-5)
    assert float(told["Largest error"]) == pytest.approx(stated["max_error"], rel=1e-5)
    assert float(told["Ratio"]) == pytest.approx(stated["ratio"], rel=5e-3)
    assert int(told["Special values"].replace(",", "")) == stated["special_values"]
    assert told["Fill values"] == "-9999"


def test_levels_come_first_and_can_be_looked_at(browser, opened, leeway):
    """Coarse, then finer; a level that is chosen shows what the library previews."""
    recorder = browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
        window.seen = [];
        window.Worker = class extends Worker {
          constructor(url) {
            super(url);
            this.addEventListener("message", ({ data }) => data.complete && seen.push(data.level));
          }
        };""")
    stream = make(leeway, "a", field("f32", (60, 70, 90)), "f32", "--preset", "small", "--abs", "0.05")
    opened(stream)
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=recorder["identifier"])
    assert browser.run("seen") == [2, 1, 0]
    for level in (1, 2):
        leeway("decompress", stream, "--level", level, "-o", f"{level}.raw", "-q")
        coarse = np.frombuffer((leeway.folder / f"{level}.raw").read_bytes(), "f4").reshape([-(-n >> level) for n in (60, 70, 90)])
        browser.run(f"{{ $('detail').value = '{level}'; ask(); }}")
        values, found = shown(browser)
        assert found == level
        np.testing.assert_array_equal(values, coarse[30 >> level])
        assert f"every {['', '2nd', '4th'][level]} value" in browser.run("$('state').textContent")


def test_the_value_at_the_cursor(opened, leeway):
    values = field("f32", (24, 70, 90), special=False)
    stream = make(leeway, "a", values, "f32", "--preset", "balanced", "--abs", "0.05")
    whole = np.frombuffer(stream.with_suffix(".raw").read_bytes(), "f4").reshape(values.shape)
    browser = opened(stream)
    settle(browser)

    def told():
        at, number = re.fullmatch(r"\[(.*)\] = (.*)", browser.run("$('readout').textContent")).groups()
        return tuple(map(int, at.split(", "))), np.float32(number)

    left, top, width, height = browser.run("(({ left, top, width, height }) => [left, top, width, height])($('picture').getBoundingClientRect())")
    browser.click(left + (17 + 0.5) * width / 90, top + (33 + 0.5) * height / 70)
    assert told() == ((12, 33, 17), whole[12, 33, 17])
    # By keys, from where the pointer was.
    browser.run("$('picture').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        browser.press(key)
    assert told() == ((12, 35, 18), whole[12, 35, 18])
    browser.press("ArrowLeft", shift=True)
    assert told() == ((12, 35, 8), whole[12, 35, 8])
    # It follows the slices.
    browser.run("$('axis-0').focus()")
    browser.press("ArrowRight")
    settle(browser)
    assert told() == ((13, 35, 8), whole[13, 35, 8])
    plane = whole[13]
    assert [np.float32(browser.run(f"$('{id}').textContent")) for id in ("lowest", "highest")] == [plane.min(), plane.max()]


def test_the_picture_has_the_colours_of_the_values(opened, leeway):
    """Ends of the scale where the smallest and the largest value are, nothing where there is a fill value."""
    values = np.linspace(0, 1, 30 * 40, dtype="f4").reshape(30, 40)
    values[10, 10] = np.nan
    browser = opened(make(leeway, "a", values, "f32", "--preset", "fast", "--abs", "1e-4"))
    settle(browser)
    pixel = "(y, x) => { const c = $('picture'); return Array.from(c.getContext('2d').getImageData(Math.floor((x + 0.5) * c.width / 40), Math.floor((y + 0.5) * c.height / 30), 1, 1).data); }"
    assert browser.run(f"({pixel})(0, 0)") == [0x44, 0x01, 0x54, 255]
    assert browser.run(f"({pixel})(29, 39)") == [0xFD, 0xE7, 0x25, 255]
    assert browser.run(f"({pixel})(10, 10)")[3] == 0


def test_files_samples_and_drops(browser, web, leeway, tmp_path):
    """All ways to open a stream, without a server."""
    page = web[0] / "index.html"
    browser.open(page.as_uri(), "empty")
    browser.run("$('sample').click()")
    browser.wait("document.documentElement.dataset.state === 'done'")
    assert facts(browser)["Shape"] == "24 × 180 × 360" and facts(browser)["Fill values"] == "1e20"
    browser.choose_file("#file", GOLDEN / "v1_00_f32_9x10x11.lwy")
    browser.wait("document.documentElement.dataset.state === 'done' && document.title.startsWith('v1_00')")
    assert facts(browser)["XXH3 of the values"] == xxhash.xxh3_64_hexdigest((GOLDEN / "v1_00_f32_9x10x11.raw").read_bytes())
    other = list((GOLDEN / "v1_24_f32_9x10x11.lwy").read_bytes())
    browser.run(f"""{{
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array({other})], "dropped.lwy"));
      dispatchEvent(new DragEvent("drop", {{ dataTransfer: transfer, cancelable: true }}));
    }}""")
    browser.wait("document.documentElement.dataset.state === 'done' && document.title.startsWith('dropped')")
    assert facts(browser)["XXH3 of the values"] == xxhash.xxh3_64_hexdigest((GOLDEN / "v1_24_f32_9x10x11.raw").read_bytes())
    assert not browser.complaints


def test_the_lines_of_the_documentation(browser, web, leeway):
    """decoder/web/leeway.js in a page of one's own."""
    folder, address = web
    code = re.search(r"((?:    .*\n)+)", re.search(r"its functions for other pages:\n\n(.*?)\nErrors", (ROOT / "docs/DECODER.md").read_text(), re.S).group(1)).group(1)
    stream = make(leeway, "field", field("f32", (50, 60, 70)), "f32", "--preset", "small", "--abs", "0.05")
    shutil.copy(stream, folder / "field.lwy")
    (folder / "own.html").write_text("<!DOCTYPE html><html data-state='done'><link rel='icon' href='data:,'><script src='leeway.js'></script>")
    browser.open(f"{address}/own.html")
    answer = browser.run(f"(async () => {{ {code} return [values.constructor.name, Array.from(part), shape, Array.from(coarse)].map(x => JSON.stringify(x)); }})()")
    kind, part, shape, coarse = map(json.loads, answer)
    whole = np.frombuffer(stream.with_suffix(".raw").read_bytes(), "f4").reshape(50, 60, 70)
    as_numbers = lambda values: np.array([np.nan if x is None else x for x in values], "f4")  # JSON has neither NaN nor infinity
    finite = lambda values: np.where(np.isfinite(values), values, np.nan).ravel()
    assert kind == "Float32Array" and shape == [13, 15, 18]
    np.testing.assert_array_equal(as_numbers(part), finite(whole[10]))
    np.testing.assert_array_equal(as_numbers(coarse), finite(whole[::4, ::4, ::4]))
    assert not browser.complaints


def test_another_stream_while_one_is_decoded(browser, web):
    browser.open((web[0] / "index.html").as_uri(), "empty")
    browser.run("openSample(); openSample(); openSample();")
    browser.wait("document.documentElement.dataset.state === 'done'")
    settle(browser)
    assert not browser.complaints and browser.run("$('error').hidden")


def test_errors_are_shown(browser, opened, web, tmp_path):
    error = lambda: browser.run("$('error').hidden ? '' : $('error').textContent")
    opened(GOLDEN / "v1_13_f32_9x10x11.lwy", "error")
    assert error() == "shown.lwy: this small decoder does not know the stage 'deflate' of the stream; the leeway library does"
    assert facts(browser)["Shape"] == "9 × 10 × 11"
    (tmp_path / "no.lwy").write_bytes(b"something else")
    opened(tmp_path / "no.lwy", "error")
    assert error() == "shown.lwy: this is not a leeway stream" and browser.run("$('viewer').hidden")
    damaged = bytearray((GOLDEN / "v1_00_f32_9x10x11.lwy").read_bytes())
    damaged[damaged.index(b"LWYc") + 100] ^= 1
    (tmp_path / "damaged.lwy").write_bytes(damaged)
    opened(tmp_path / "damaged.lwy", "error")
    assert error() == "shown.lwy: a chunk's checksum differs"
    browser.open(f"{web[1]}/index.html?url=/none.lwy", "error")
    assert error() == "none.lwy: the server says 404 File not found"
    # And gone when the next stream is fine.
    browser.run("openSample()")
    browser.wait("document.documentElement.dataset.state === 'done'")
    assert error() == ""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_it_fits_the_screen(browser, web, tmp_path, width, dark):
    browser.window(width, 844, dark=dark, phone=width < 700)
    try:
        browser.open(f"{(web[0] / 'index.html').as_uri()}?sample")
        settle(browser)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground))) < 200) == dark
        size = browser.run("[$('picture').getBoundingClientRect().width, $('picture').getBoundingClientRect().height]")
        assert size[0] > 0.6 * min(width, 900) and size[1] == pytest.approx(size[0] / 2, rel=0.02)
        browser.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 20000
    finally:
        browser.window(1200, 900)


def test_everything_has_a_name(browser, web):
    """For those who hear the page: what can be used says what it is."""
    browser.open(f"{(web[0] / 'index.html').as_uri()}?sample")
    settle(browser)
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {}
    for node in nodes:
        if not node.get("ignored") and "role" in node:
            roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    assert len(roles["slider"]) == 1 and len(roles["spinbutton"]) == 1 and len(roles["combobox"]) == 4 and len(roles["image"]) == 1
    for role in ("slider", "spinbutton", "combobox", "button", "image"):
        assert all(roles[role]), (role, roles[role])
    assert any(name.startswith("Slice along axes 1 and 2 of sea.lwy") for name in roles["image"])
