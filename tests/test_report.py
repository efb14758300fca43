"""The report: one closed page, true numbers, names that cannot do harm; in a browser where one is installed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import arrests, built

from eckart.decomposition import Decomposition
from eckart.errors import FileError
from eckart.views.report import report

HOSTILE = (
    "<script>document.body.dataset.hit = 1</script>",
    '"><img src="http://names.invalid/x" onerror="document.body.dataset.hit = 2">',
    "</script></title></style><script>document.body.dataset.hit = 3</script>",
    "javascript:document.body.dataset.hit = 4",
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium")


def hostile() -> Decomposition:
    d = arrests(4, notes=(*HOSTILE, "\u202eturned", "\ud800"))
    assert d.plan is not None
    assert d.certificate is not None
    plan = replace(d.plan, why=HOSTILE[0], settings={HOSTILE[0]: HOSTILE[1]})
    rows = tuple(f"{HOSTILE[i % 4]} {i}" for i in range(48))
    named = d.named((*rows, "\ud800\x00", "x" * 10_000), HOSTILE)
    return replace(named, plan=plan, certificate=replace(d.certificate, word=HOSTILE[2]))


class Tags(HTMLParser):
    """Every tag, and what lies in scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.inside[self.cdata_elem][-1] += data


def test_page_says_what_was_found(tmp_path: Path) -> None:
    page = report(arrests(3, notes=("Units differ.",)), tmp_path / "r.html", title="Crime & punishment")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    words = re.sub(r"\s+", " ", page)
    for part in (
        "<title>Crime &amp; punishment</title>", "62.01 %", "62.006 %", "62.007 %", "95.66 %", "PC1 (62.0 %)",
        "Assault +0.58, Rape +0.54, Murder +0.54", "Units differ.", "California", "no 3 axes carry more",
        "PC1 is made by Assault, Rape and Murder", "PC1 and PC2 together 86.8 %", "1 read of the data",
    ):  # fmt: skip
        assert part in words
    for fact in ("Seed", "Threads", "Solver", "Accuracy asked for", "NumPy"):
        assert fact in page
    assert len(page) < 100_000


def test_page_is_the_same_each_time() -> None:
    assert report(arrests()) == report(arrests())


def test_page_is_closed_and_its_policy_names_its_own_parts() -> None:
    tags = Tags(report(arrests()))
    policy = next(str(a["content"]) for _, a in tags.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind, text in (("script", tags.inside["script"][-1]), ("style", tags.inside["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    for tag, attributes in tags.found:
        assert tag not in {"img", "link", "iframe", "object", "embed", "base"}
        assert not {"src", "style", "srcset"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("href", "#")).startswith("#")


def test_page_can_be_read_by_everybody() -> None:
    tags = Tags(report(arrests()))
    kinds = [tag for tag, _ in tags.found]
    assert ("html", {"lang": "en"}) in tags.found
    assert kinds.count("figure") == kinds.count("figcaption") == 3
    assert kinds.count("details") >= 3
    ids = {a["id"] for _, a in tags.found if "id" in a}
    for tag, attributes in tags.found:
        if tag == "svg":
            assert attributes["aria-labelledby"] in ids
    assert "prefers-color-scheme:dark" in tags.inside["style"][0]
    assert "@media print" in tags.inside["style"][0]


def test_hostile_names_add_no_tag() -> None:
    page = report(hostile(), title=HOSTILE[2])
    tags, plain = Tags(page), Tags(report(arrests(4, notes=("a",) * 6)))
    assert {tag for tag, _ in tags.found} == {tag for tag, _ in plain.found}
    assert len(tags.inside["script"]) == 2
    assert json.loads(tags.inside["script"][0])["columns"][0] == HOSTILE[0]
    page.encode("utf-8")
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "x" * 300 not in page


@pytest.mark.parametrize("k", [1, 2])
def test_few_axes(k: int) -> None:
    page = report(arrests(k))
    assert ("A plane needs two axes" in page) == (k == 1)


def test_bare_decomposition() -> None:
    page = report(Decomposition("svd", np.zeros(2), np.eye(3)[:, :2], 4, 3, 0.0, 4.0))
    assert "there is no certificate" in page
    assert "axis 1" in page


def test_rows_that_were_not_kept() -> None:
    page = report(arrests(3, left=False))
    assert "only the columns are drawn" in page
    assert json.loads(Tags(page).inside["script"][0])["scores"] == []


def test_many_rows_and_columns_are_thinned_and_said_so() -> None:
    d = built(np.random.default_rng(0).normal(size=(2500, 60)), 12)
    page = report(d)
    for sentence in (
        "Of 2,500 rows 2,000 are drawn", "The 30 longest of 60 arrows", "20 weaker columns are not drawn",
        "The first 10 of 12 axes", "The first 200 of 2,500 are listed",
    ):  # fmt: skip
        assert sentence in page
    assert page.count("<circle cx") == 2000
    assert len(page) < 600_000


def test_labels_do_not_overlap() -> None:
    from eckart.views import charts

    plane = charts.plane(arrests())
    boxes = []
    for mark in plane["arrows"] + plane["dots"]:
        if mark["anchor"]:
            right, left = charts._sides(mark)
            boxes.append(right if mark["anchor"] == "start" else left)
    assert len(boxes) > 30
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert all(left >= r or right <= x or top >= b or bottom <= y for x, y, r, b in boxes[:i])


def test_never_overwrites_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FileError, match="overwrite=True"):
        report(arrests(), path)
    assert path.read_text() == "mine"
    report(arrests(), path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def browse(page: str, folder: Path) -> tuple[str, str, str]:
    """The page after its script ran, the console's messages, and the browser's log of the network."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        "--disable-component-update", "--disable-sync", "--disable-extensions", f"--user-data-dir={folder / 'profile'}",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--log-net-log={folder / 'net.json'}", "--enable-logging=stderr",
        "--virtual-time-budget=2000", "--dump-dom", f"file://{folder / 'page.html'}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console, (folder / "net.json").read_text(encoding="utf-8")


@in_browser
def test_browser_runs_it_quietly_and_hostile_names_do_nothing(tmp_path: Path) -> None:
    page = report(hostile(), title=HOSTILE[0])
    shown, console, network = browse(page, tmp_path)
    assert console == ""
    assert "names.invalid" not in network
    asked = set(re.findall(r'"url":"https?://([^/"?:]+)', network))
    assert not {host for host in asked if not host.endswith((".google.com", ".googleapis.com"))}  # the browser's own
    assert "google" not in page
    assert "data-hit" not in shown.split("<body", 1)[1].split(">", 1)[0]
    assert '<form class="controls">' in shown  # the script ran: it shows the controls


@in_browser
def test_browser_refuses_what_the_policy_does_not_name(tmp_path: Path) -> None:
    page = report(arrests()).replace("</body>", "<script>document.body.dataset.hit = 5</script></body>")
    shown, console, _ = browse(page, tmp_path)
    assert "Content Security Policy" in console
    assert "data-hit" not in shown


@in_browser
def test_browser_draws_other_planes(tmp_path: Path) -> None:
    driver = """<script>
    const form = document.querySelector(".controls");
    const fire = (name) => form.elements[name].dispatchEvent(new Event("change", {bubbles: true}));
    form.elements.up.value = "2"; fire("up");
    form.elements.scaling.value = "covariance"; fire("scaling");
    form.elements.across.value = "2"; fire("across");
    form.elements.find.value = "calif"; form.elements.find.dispatchEvent(new Event("input"));
    document.body.dataset.told = document.getElementById("told").textContent;
    document.getElementById("plane").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
    document.body.dataset.key = document.getElementById("told").textContent;
    </script></body>"""
    page = re.sub(r"<meta http-equiv[^>]*>", "", report(arrests())).replace("</body>", driver)
    shown, console, _ = browse(page, tmp_path)
    assert console == ""
    assert re.search(r'id="across-label"[^>]*>PC3 \(8.9 %\)', shown)
    assert re.search(r'id="up-label"[^>]*>PC4 \(4.3 %\)', shown)
    assert "Covariance biplot" in shown
    assert re.search(r'data-told="California: PC3 [-.\d]+, PC4 [-.\d]+"', shown)
    assert re.search(r'data-key="\w[\w ]+: PC3', shown)
