"""eckart report FOLDER: a page for each table, refusals by name, one index."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from eckart import datasets
from eckart.cli import main


def test_index_lists_answers_and_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tables").mkdir()
    Path("tables", "arrests.csv").write_bytes(datasets.path("usarrests").read_bytes())
    Path("tables", "<b>.csv").write_text("a,b\nx,y\n")
    done = CliRunner().invoke(main, ["report", "tables", "--scale", "-o", "pages"])
    assert done.exit_code == 0, done.output
    index = Path("pages", "index.html").read_text(encoding="utf-8")
    assert 'href="arrests.csv.html"' in index
    assert "Keep 1 component" in index
    assert "no numeric column" in index
    assert "<b>" not in index
    assert Path("pages", "arrests.csv.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    done = CliRunner().invoke(main, ["report", "tables", "-o", "all.html"])
    assert (done.exit_code, "-o all" in done.output, Path("all.html").exists()) == (2, True, False)
