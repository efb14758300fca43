"""The report in a browser: quiet, closed, drawn, and every control does what it says. Pictures are kept to look at."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.reporting import report
from eckart.result import SVDDetails
from tests.analysis.report.browser import CHROMIUM, Browser
from tests.analysis.report.test_page import HOSTILE, hostile
from tests.samples import arrests, built, usarrests

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here, so nothing was looked at: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]
PICTURES = Path(os.environ.get("ECKART_PICTURES", "tests/pictures"))
LABELS = {"coast": ["inland" if i % 3 else "sea" for i in range(50)]}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    pytest.importorskip("websocket", reason="websocket-client is not installed: pip install --group test")
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "arrests.html"
    data = usarrests()[0]
    standard = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    d = replace(arrests(4), details=SVDDetails(row_norms=np.linalg.norm(standard, axis=1)))
    report(d, path, data=data, labels=LABELS)
    return path


def shown(browser: Browser, page: Path, *, width: int = 1280, dark: bool = False) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.complaints == []
    assert browser.asked == [page.as_uri()]


def ink(browser: Browser, figure: str) -> int:
    """How many pixels of a figure differ from its first one."""
    return int(
        browser.js(f"""(() => {{ const canvas = document.querySelector('#{figure} canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; let count = 0;
        for (let i = 4; i < pixels.length; i += 4) if (pixels[i] !== pixels[0] || pixels[i + 3] !== pixels[3]) count++;
        return count; }})()""")
    )


def middle(browser: Browser, selector: str) -> tuple[float, float]:
    where = browser.js(f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
        node.scrollIntoView({{block: 'center', behavior: 'instant'}}); const box = node.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
    return where[0], where[1]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_draws_everything_quietly(browser: Browser, page: Path, width: int, dark: bool) -> None:
    shown(browser, page, width=width, dark=dark)
    for figure in ("scree", "loadings", "plane", "errors", "row", "outliers"):
        assert ink(browser, figure) > 500, figure
    assert browser.js("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 26)" if dark else "rgb(255, 255, 255)")
    browser.picture(PICTURES / f"report-{width}-{'dark' if dark else 'light'}.png")


def test_other_axes_and_scalings(browser: Browser, page: Path) -> None:
    shown(browser, page)
    before = browser.js("document.querySelector('#plane canvas').toDataURL()")
    browser.choose("select[name=up]", "2")
    assert browser.js("document.querySelector('#plane canvas').toDataURL()") != before
    browser.choose("select[name=across]", "2")
    assert browser.js("document.querySelector('select[name=up]').value") == "3", "never the same axis twice"
    for scaling, word in (("covariance", "Covariance biplot"), ("correlation", "Correlation circle"), ("form", "Form")):
        browser.choose("select[name=scaling]", scaling)
        assert browser.text("#plane-meaning").startswith(word)
    assert browser.complaints == []


def test_colour_by_words_and_by_numbers(browser: Browser, page: Path) -> None:
    shown(browser, page)
    browser.choose("select[name=colour]", "g0")
    assert "inland (33)" in browser.text("#plane-legend")
    assert browser.js("document.getElementById('plane-ellipses').hidden") is False
    browser.picture(PICTURES / "report-groups.png")
    browser.choose("select[name=colour]", "c1")
    assert "45 to " in browser.text("#plane-legend")
    assert browser.js("document.getElementById('plane-ellipses').hidden") is True
    assert browser.complaints == []


def test_slider_rebuilds_the_row_and_says_the_error(browser: Browser, page: Path) -> None:
    shown(browser, page)
    assert browser.js("document.getElementById('axes-slider').value") == "1", "the recommended number"
    browser.choose("#axes-slider", "2")
    assert browser.text("#axes-used").replace("\u00a0", " ").startswith("2 components explain 86.75 %")
    assert "36.40" in browser.text("#axes-used")
    few = browser.text("#row-table")
    browser.choose("#axes-slider", "4")
    cells = browser.js("[...document.querySelectorAll('#row-table tbody tr')].map(r => r.lastChild.textContent)")
    assert all(abs(float(cell)) < 1e-3 for cell in cells), "all axes give the row back"
    assert few != browser.text("#row-table")
    browser.choose("#axes-slider", "0")
    assert "0.00" in browser.text("#axes-used")
    assert browser.complaints == []


def test_search_finds_rows_and_columns(browser: Browser, page: Path) -> None:
    shown(browser, page)
    browser.js("document.getElementById('find').focus()")
    browser.type("calif")
    assert browser.js("document.querySelectorAll('#find-hits li').length") == 1
    browser.press("Enter", 13)
    assert browser.text("#status").startswith("California: PC1 ")
    assert browser.text("#row-panel .row-name") == "California"
    browser.js("document.getElementById('find').select()")
    browser.type("a")
    for _ in range(2):
        browser.press("ArrowDown", 40)
    assert browser.js("document.querySelectorAll('#find-hits [aria-selected=true]').length") == 1
    browser.js("document.getElementById('find').select()")
    browser.type("urban")
    browser.press("Enter", 13)
    assert browser.text("#status").startswith("UrbanPop: PC1 0.278")
    browser.js("document.getElementById('find').select()")
    browser.type("nobody")
    assert browser.text("#status") == "No row or column in the figures has this name."
    assert browser.complaints == []


def test_pointing_and_clicking(browser: Browser, page: Path) -> None:
    """Along lines across the plane: the row named under the pointer is the one that a click chooses."""
    shown(browser, page)
    x, y = middle(browser, "#plane")
    pointed = set()
    for dx in range(-300, 301, 20):
        for dy in (-40, 20):
            browser.mouse("mouseMoved", x + dx, y + dy)
            text = browser.text("#tip-box")
            if text and text not in pointed:
                pointed.add(text)
                browser.click(x + dx, y + dy)
                assert browser.text("#row-panel .row-name") == text.split("\n")[0]
    assert len(pointed) >= 8
    assert browser.complaints == []


def test_keyboard_alone(browser: Browser, page: Path) -> None:
    shown(browser, page)
    seen = set()
    for _ in range(60):
        browser.press("Tab", 9)
        seen.add(browser.js("(({id, name, tagName}) => id || name || tagName)(document.activeElement)"))
    assert {"across", "up", "scaling", "colour", "find", "plane", "axes-slider", "SUMMARY", "theme"} <= seen
    browser.js("document.getElementById('plane').focus()")
    names = []
    for _ in range(3):
        browser.press("ArrowRight", 39)
        names.append(browser.text("#row-panel .row-name"))
    assert len(set(names)) == 3
    browser.press("Escape", 27)
    assert browser.js("document.getElementById('row-panel').hidden") is True
    assert browser.complaints == []


def test_zoom_and_theme(browser: Browser, page: Path) -> None:
    shown(browser, page)
    picture = "document.querySelector('#plane canvas').toDataURL()"
    whole = browser.js(picture)
    browser.click(*middle(browser, "[data-zoom='0.5']"))
    assert browser.js(picture) != whole
    browser.click(*middle(browser, "[data-zoom='0']"))
    assert browser.js(picture) == whole
    browser.click(*middle(browser, "#theme"))
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert browser.js(picture) != whole
    browser.click(*middle(browser, "#theme"))
    assert browser.js(picture) == whole
    assert browser.complaints == []


def test_downloads(browser: Browser, page: Path, tmp_path: Path) -> None:
    shown(browser, page)
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.js("for (const b of document.querySelectorAll('#plane-tools button')) b.click()")
    for name in ("components", "scores", "loadings", "distances"):
        browser.js(f"document.querySelector('button[data-csv={name}]').click()")
    wanted = ("plane.svg", "plane.png", "components.csv", "scores.csv", "loadings.csv", "distances.csv")
    end = time.monotonic() + 20
    while time.monotonic() < end and not all((tmp_path / name).is_file() for name in wanted):
        time.sleep(0.05)
    assert (tmp_path / "plane.svg").read_text(encoding="utf-8").count("<path") > 50
    assert "California" in (tmp_path / "plane.svg").read_text(encoding="utf-8")
    assert (tmp_path / "plane.png").read_bytes().startswith(b"\x89PNG")
    rows = [line.split(",") for line in (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()]
    d = arrests(4)
    assert d.left is not None
    assert rows[0] == ["row", "PC1", "PC2", "PC3", "PC4"]
    np.testing.assert_allclose([[float(x) for x in row[1:]] for row in rows[1:]], d.left * d.values, atol=1e-6)
    distances = (tmp_path / "distances.csv").read_text(encoding="utf-8").splitlines()
    assert len(distances) == 51
    farthest = int(((d.left[:, 1:] * d.values[1:]) ** 2).sum(axis=1).argmax())  # Q with the one recommended component
    assert max(range(50), key=lambda i: float(distances[i + 1].split(",")[2])) == farthest
    loadings = (tmp_path / "loadings.csv").read_text(encoding="utf-8").splitlines()
    assert float(loadings[2].split(",")[1]) == pytest.approx(0.5831836, abs=1e-7)
    assert browser.complaints == []


def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    name = 'x"><img src=x onerror=alert(1)>.html' if os.name == "posix" else "x.html"
    labels = {HOSTILE[1]: [HOSTILE[i % 3] for i in range(50)]}
    found = replace(ek.analyze(hostile(), data=usarrests()[0], labels=labels), name=HOSTILE[0], reading=HOSTILE)
    found.report(tmp_path / name, title=HOSTILE[0], command=HOSTILE[1])
    browser.open(tmp_path / name)
    browser.choose("select[name=colour]", "g0")
    browser.js("document.getElementById('find').focus()")
    browser.type("script")
    browser.press("Enter", 13)
    x, y = middle(browser, "#plane")
    for dx in range(-300, 301, 60):
        browser.mouse("mouseMoved", x + dx, y)
    browser.picture(PICTURES / "report-hostile.png")
    assert browser.complaints == []
    assert all("names.invalid" not in url for url in browser.asked)
    assert browser.js("document.body.dataset.hit") is None
    assert browser.js("document.querySelectorAll('img, iframe, [onerror], [onload], [onclick]').length") == 0


def test_policy_refuses_what_it_does_not_name(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("</body>", "<script>document.body.dataset.hit = 5</script></body>")
    other = tmp_path / "other.html"
    other.write_text(text, encoding="utf-8")
    browser.open(other)
    end = time.monotonic() + 10
    while not browser.complaints and time.monotonic() < end:
        assert browser.js("document.body.dataset.hit") is None
    assert "Content Security Policy" in browser.complaints[0]
    assert browser.js("document.body.dataset.hit") is None


@pytest.mark.parametrize("method", ["svd", "nmf", "cur", "kernel_pca", "isomap"])
def test_every_method(browser: Browser, tmp_path: Path, method: Any) -> None:
    data, rows, columns = usarrests()
    given = data if method in ("svd", "nmf", "cur") else (data - data.mean(axis=0)) / data.std(axis=0)
    d = ek.decompose(given, method, k=2, left=True).named(rows, columns)
    report(d, tmp_path / f"{method}.html", data=given, labels=LABELS)
    shown(browser, tmp_path / f"{method}.html")
    assert ink(browser, "plane") > 500
    browser.choose("select[name=colour]", "g0")
    browser.choose("select[name=scaling]", "covariance")
    assert browser.complaints == []


def test_few_axes_and_rows_that_were_not_kept(browser: Browser, tmp_path: Path) -> None:
    for k, left in ((1, True), (3, False), (1, False)):
        report(arrests(k, left=left), tmp_path / f"few{k}{left}.html")
        shown(browser, tmp_path / f"few{k}{left}.html")


def test_prints_in_light_colours(browser: Browser, page: Path) -> None:
    shown(browser, page, dark=True)
    printed = browser.call("Page.printToPDF", printBackground=True)
    assert len(printed["data"]) > 50_000
    assert browser.complaints == []


def test_prints_whole_figures_and_the_names_of_rows(browser: Browser, page: Path) -> None:
    """A sheet is narrower than the window for which the figures were drawn, and nothing redraws them."""
    shown(browser, page)
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.js("document.body.style.width = '600px'")
    canvases = "[...document.querySelectorAll('.chart canvas')].filter((canvas) => canvas.offsetParent)"
    assert browser.js(f"{canvases}.length") >= 4
    fits = "canvas.getBoundingClientRect().right <= canvas.closest('.chart').getBoundingClientRect().right + 1"
    assert browser.js(f"{canvases}.every((canvas) => {fits})")
    ratio = "Math.abs(canvas.clientWidth / canvas.clientHeight - canvas.width / canvas.height) < 0.05"
    assert browser.js(f"{canvases}.every((canvas) => {ratio})"), "a figure is distorted"
    assert browser.js("document.querySelector('#row-near').innerText.replaceAll(/[ ,]/g, '').length > 0")
    browser.call("Emulation.setEmulatedMedia", media="")


def test_many_rows_are_drawn_soon_and_stay_fluid(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(100_000, 8)) * [5, 4, 3, 2, 1, 1, 1, 1]
    d = built(data, 5)
    report(d, tmp_path / "many.html", data=data, labels={"side": ["a", "b", "c", "d"] * 25_000})
    shown(browser, tmp_path / "many.html")
    browser.choose("select[name=colour]", "g0")
    assert "a (25,000)" in browser.text("#plane-legend")
    browser.choose("select[name=up]", "3")
    browser.picture(PICTURES / "report-many.png")
    assert ink(browser, "plane") > 10_000
    assert browser.complaints == []
