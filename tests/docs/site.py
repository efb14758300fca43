"""Open every built page in Chromium: `python -m tests.docs.site docs/_build/html` (`make docs-check`).

Each page is opened 1280 and 390 pixels wide. There must be no console error, no request to the network, no formula
left as source, no heading cut off, no internal parameter in a signature, and no content wider than the window.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.analysis.report.browser import CHROMIUM, Browser

WIDTHS = (1280, 390)
IGNORED = ("_modules", "_static", "genindex", "py-modindex", "search")
MATH_DONE = "!document.querySelector('.math') || (window.MathJax?.startup?.promise?.then(() => true) ?? false)"
RAW_MATH = r"[...document.querySelectorAll('.math')].filter(n => !n.querySelector('mjx-container')).length"
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
CUT = (
    "[...document.querySelectorAll('h1, h2, h3')].filter(n => n.scrollWidth > n.clientWidth + 2).map(n => n.innerText)"
)

HIDDEN = "[...document.querySelectorAll('dt.sig .sig-param')].map(n => n.innerText).filter(t => /^\\*{0,2}_/.test(t))"


def pages_of(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if not page.relative_to(site).parts[0].startswith(IGNORED)]


def faults_of(browser: Browser, page: Path, width: int) -> list[str]:
    """What is wrong with one page at one width."""
    browser.look(width)
    browser.complaints.clear()
    browser.asked.clear()
    browser.call("Page.navigate", url=page.as_uri())
    end = time.monotonic() + 20
    while browser.js("document.readyState") != "complete" or not browser.js(MATH_DONE):
        if time.monotonic() > end:
            return ["not loaded within 20 s"]
        time.sleep(0.02)
    found = [f"console: {text}" for text in browser.complaints]
    found += [f"request to {url}" for url in browser.asked if not url.startswith(("file:", "data:", "blob:"))]
    if raw := browser.js(RAW_MATH):
        found.append(f"{raw} formulas not rendered")
    found += [f"heading cut off: {text}" for text in browser.js(CUT)]
    found += [f"signature shows the internal parameter {text}" for text in browser.js(HIDDEN)]
    if (wider := browser.js(OVERFLOW)) > 2:
        found.append(f"{wider} pixels wider than the window")
    return found


def check(site: Path, pages: list[Path] | None = None, pictures: Path | None = None) -> list[str]:
    """All faults, each with its page and width."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder))
        try:
            for page in pages or pages_of(site):
                for width in WIDTHS:
                    name = page.relative_to(site).as_posix()
                    faults += [f"{name} at {width} px: {fault}" for fault in faults_of(browser, page, width)]
                    if pictures is not None:
                        browser.picture(pictures / f"{name.replace('/', '-')}-{width}.png", whole=False)
        finally:
            browser.close()
    return faults


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    if CHROMIUM is None:
        print("Chromium is not installed: apt-get install chromium")  # noqa: T201
        return 1
    faults = check(site)
    print(*faults, f"{len(pages_of(site))} pages, {len(faults)} faults", sep="\n")  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
