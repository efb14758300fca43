"""Every example on the pages of worked solutions runs and gives what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_pages import ROOT, SYBIL

PAGES = sorted((ROOT / "docs" / "worked").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(ROOT / ".venv" / "bin"), prepend=":")
    for example in SYBIL.parse(page).examples():
        example.evaluate()


def test_every_page_is_in_the_index() -> None:
    text = (ROOT / "docs" / "worked" / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{page.stem}\n" in text for page in PAGES if page.stem != "index")
