"""Tables with one value per line are recognised, and analysed with a note instead of advice."""

from __future__ import annotations

import numpy as np
from click.testing import CliRunner

import eckart as ek
from eckart.cli import main


def test_a_list_of_ratings_is_recognised(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "ratings.csv"
    lines = [f"{rng.integers(1, 60)},{rng.integers(1, 120)},{rng.integers(1, 6)}" for _ in range(400)]
    path.write_text("\n".join(["userId,movieId,rating", *lines]))
    assert any(note.code == "rating_lines" for note in ek.analyze(path).decomposition.notes)


def test_a_long_table_is_not_called_ratings(tmp_path):
    days = [f"2024-01-{day:02d}" for day in range(1, 21)]
    rng = np.random.default_rng(2)
    lines = [f"{name},{day},{rng.normal():.3f}" for name in ("IBM", "AMZN") for day in days]
    path = tmp_path / "stocks.csv"
    path.write_text("symbol,date,price\n" + "\n".join(lines))
    found = ek.analyze(path)
    note = next(note for note in found.decomposition.notes if note.code == "long_table")
    assert "one line per 'date' and one column per 'symbol'" in note
    assert found.clusters is None
    assert found.recommendation.k is None
    assert "Eckart does not recommend a number of components" in found.recommendation.sentence
    said = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "page.html")]).output
    assert "Next" not in said
