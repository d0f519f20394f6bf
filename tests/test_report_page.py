# SPDX-License-Identifier: BSD-3-Clause
"""The page of `leeway report` in a browser: light and dark, wide and narrow, on paper, for keyboards and readers of screens."""
import base64
import shutil

import numpy as np
import pytest

from decoder.browser import Browser

pytestmark = pytest.mark.skipif(not shutil.which("chromium"), reason="there is no chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    from conftest import Tool
    leeway = Tool(tmp_path_factory.mktemp("report"))
    y, x = np.mgrid[:60, :90]
    field = np.stack([np.sin(x / 9 + t) * np.cos(y / 7) + 0.01 * np.sin(x * y) for t in range(4)]).astype("f4")
    field[:, 20:24, 30:34] = np.nan
    np.save(leeway.folder / "wave.npy", field)
    leeway("compress", "wave.npy", "--abs", "0.01", "-o", "wave.lwy")
    leeway("report", "wave.npy", "wave.lwy", "-o", "report.html", "--title", "A <wave> & its \"report\"")
    return leeway.folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def show(browser, page, **window):
    browser.window(**window)
    browser.call("Page.navigate", url=page.as_uri())
    browser.wait("document.readyState === 'complete' && !!document.querySelector('main')")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width, phone", [(1200, False), (360, True)])
def test_it_fits_and_can_be_read(browser, page, width, phone, dark):
    show(browser, page, width=width, height=800, dark=dark, phone=phone)
    assert browser.complaints == [] and browser.run("document.title") == 'A <wave> & its "report"'
    assert not browser.run("document.documentElement.scrollWidth > innerWidth")
    assert browser.run("[...document.images].every(i => i.complete && i.naturalWidth > 0 && i.alt)") and browser.run("document.images.length") > 9
    # Text against its background: at least 4.5 to 1 (WCAG 2, AA).
    contrast = browser.run("""(() => {
        const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
                             return .2126 * r + .7152 * g + .0722 * b };
        const back = light(getComputedStyle(document.body).backgroundColor);
        return Math.min(...['p', '.soft', '.good', '.doubtful', '.bad', 'a', 'figcaption'].map(s => document.querySelector(s)).filter(e => e)
            .map(e => { const t = light(getComputedStyle(e).color); return (Math.max(t, back) + .05) / (Math.min(t, back) + .05) })) })()""")
    assert contrast >= 4.5


def test_flicker_works_without_scripts(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        show_only = lambda: browser.run("getComputedStyle(document.querySelector('.trio .decoded')).animationName")
        browser.window(1200, 800)
        browser.call("Page.navigate", url=page.as_uri())
        browser.wait("document.readyState === 'complete' && !!document.querySelector('.flicker')")
        assert show_only() == "none"
        browser.run("document.querySelector('.flicker').click()")
        assert show_only() == "blink"
        same = browser.run("(() => { const [a, b] = ['.original', '.decoded'].map(s => document.querySelector('.trio ' + s).getBoundingClientRect());"
                           " return Math.abs(a.x - b.x) + Math.abs(a.width - b.width) + Math.abs(a.y - b.y) })()")
        assert same < 1
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_headings_labels_and_paper(browser, page):
    show(browser, page, width=1200, height=800)
    levels = browser.run("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    assert browser.run("[...document.querySelectorAll('svg')].every(s => s.getAttribute('role') === 'img' && s.getAttribute('aria-label'))")
    assert browser.run("[...document.querySelectorAll('input')].every(i => document.querySelector(`label[for=${i.id}]`))")
    assert browser.run("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size === document.querySelectorAll('[id]').length")
    paper = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert paper.startswith(b"%PDF") and paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") <= 12
