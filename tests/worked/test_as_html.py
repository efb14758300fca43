"""The pages in a real browser: no complaint, nothing fetched, and the player plays."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eckart import worked
from eckart.worked.as_html import html
from eckart.worked.exercises.sheet import sheet
from eckart.worked.messages import LANGUAGES
from tests.analysis.report.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: pages were checked for form only")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    pytest.importorskip("websocket")
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


def load(browser: Browser, file: Path) -> None:
    """Open a page and wait until it is complete."""
    browser.call("Page.navigate", url=file.as_uri())
    deadline = time.monotonic() + 60
    while browser.js("document.readyState + location.href") != f"complete{file.as_uri()}":
        assert time.monotonic() < deadline, "the page did not load"
        time.sleep(0.02)


def test_pages_load_without_complaint(browser: Browser, tmp_path: Path) -> None:
    for place, name in enumerate(LANGUAGES):
        with worked.language(name):
            alone = worked.svd("3 0; 4 5").at("full").html() if place % 2 else worked.isomap("0 2; 0 0; 1 0").html()
            pages = [alone, sheet(["kernel_pca" if place % 2 else "pca"], seed=place).key("html")]
        for number, page in enumerate(pages):
            file = tmp_path / f"{name}{number}.html"
            file.write_text(page, encoding="utf-8")
            load(browser, file)
    assert browser.complaints == []
    assert all(address.startswith("file:") for address in browser.asked)


def test_the_player_shows_step_after_step(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "pca.html"
    file.write_text(worked.pca("1 2; 2 1; 3 4; 4 3").html(), encoding="utf-8")
    load(browser, file)

    def shown() -> int:
        return int(browser.js("[...document.querySelectorAll('.step')].filter(s => !s.hidden).length"))

    def click(name: str) -> None:
        browser.js(f"document.querySelector('[data-do={name}]').click()")

    everything = shown()
    click("start")
    assert shown() == 1
    click("next")
    assert shown() == 2
    assert browser.js("document.querySelectorAll('.step')[1].querySelector('.result').hidden") is True
    click("result")
    assert browser.js("document.querySelectorAll('.step')[1].querySelector('.result').hidden") is False
    click("previous")
    click("previous")
    assert shown() == 1
    click("all")
    assert shown() == everything
    assert browser.complaints == []


def test_an_exercise_in_a_notebook_starts_with_its_question(browser: Browser, tmp_path: Path) -> None:
    made = worked.exercise("determinant", seed=3)
    file = tmp_path / "exercise.html"
    file.write_text(html(made, playing=True), encoding="utf-8")
    load(browser, file)
    visible = "[...document.querySelectorAll('.step, .answer')].filter(one => !one.hidden).length"
    assert browser.js(visible) == 1
    browser.js("document.querySelector('[data-do=all]').click()")
    assert int(browser.js(visible)) > 2
    assert browser.complaints == []


def test_keys_of_presenters(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "eigen.html"
    file.write_text(worked.eigen("2 1; 3 2").html(), encoding="utf-8")
    load(browser, file)

    def press(key: str) -> str:
        browser.js(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: {key!r}, bubbles: true}}))")
        return str(browser.js("document.querySelector('.place').textContent"))

    count = int(browser.js("document.querySelectorAll('.step').length"))
    assert press("s") == f"1 / {count}"
    assert press("PageDown") == f"2 / {count}"
    assert browser.js("document.querySelectorAll('.step')[1].querySelector('.result').hidden") is True
    assert press("PageDown") == f"2 / {count}"
    assert browser.js("document.querySelectorAll('.step')[1].querySelector('.result').hidden") is False
    assert press("End") == f"{count} / {count}"
    assert press("Home") == f"1 / {count}"
    assert press("PageUp") == f"1 / {count}"
    assert press("Escape") == ""
    assert browser.complaints == []


def test_results_can_be_covered(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "eigen.html"
    file.write_text(worked.eigen("2 1; 3 2").html(), encoding="utf-8")
    load(browser, file)

    def hidden() -> int:
        return int(browser.js("[...document.querySelectorAll('.result')].filter(part => part.hidden).length"))

    results = int(browser.js("document.querySelectorAll('.result').length"))
    browser.js("document.querySelector('[data-do=cover]').click()")
    assert hidden() == results - 1  # the question itself stays
    browser.js("document.querySelector('.reveal').click()")
    assert hidden() == results - 2
    browser.js("document.querySelector('[data-do=all]').click()")
    assert hidden() == 0
    assert browser.complaints == []


def test_pages_fit_a_phone(browser: Browser, tmp_path: Path) -> None:
    for name in ("svd", "deflation"):
        file = tmp_path / f"{name}.html"
        file.write_text(getattr(worked, name)("1 3 5; 2 4 1; 6 1 9").at("full").html(), encoding="utf-8")
        browser.look(390)
        load(browser, file)
        assert browser.js("document.documentElement.scrollWidth") <= 390
    browser.look(1280)
