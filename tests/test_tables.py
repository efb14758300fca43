"""Tables and the summary: the textbook's numbers, honest bounds, names that cannot do harm."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from eckart import tables
from eckart.analysis.analyze import analyze
from eckart.analysis.labels import component_labels
from eckart.analysis.summary import renderable, summary
from eckart.errors import ParameterError
from eckart.formatting import clean, interval, shorten
from eckart.result import Decomposition
from eckart.text import Table
from tests.samples import arrests, built, usarrests

HOSTILE = ("[red]x[/red]", "\x1b[31mred", "a\u202eb", "\ud800", "\u6f22\u5b57")


def numbers(table: Table) -> np.ndarray:
    return np.array([row[1:] for row in table.rows], dtype=float)


def test_eigenvalues_are_those_of_the_textbook() -> None:
    table = tables.eigenvalues(arrests())
    assert table.columns == ("component", "variance", "share", "cumulative", "lower", "upper")
    np.testing.assert_allclose(numbers(table)[:, 1], [0.62006, 0.24744, 0.08914, 0.04336], atol=5e-6)
    np.testing.assert_allclose(numbers(table)[-1, 2], 1, atol=1e-12)
    _, share, _, lower, upper = numbers(table).T
    assert (lower <= share).all()
    assert (share <= upper).all()


def test_loadings_and_contributions() -> None:
    expected = [0.5358995, 0.5831836, 0.2781909, 0.5434321]
    np.testing.assert_allclose(numbers(tables.loadings(arrests(2)))[:, 0], expected, atol=5e-8)
    parts = numbers(tables.contributions(arrests(2)))
    np.testing.assert_allclose(parts.sum(axis=0), 100)
    np.testing.assert_allclose(parts[:, 0], 100 * np.square(expected), atol=1e-5)
    np.testing.assert_allclose(numbers(tables.row_contributions(arrests())).sum(axis=0), 100)


@pytest.mark.parametrize("scale", [True, False])
def test_correlations_are_correlations(scale: bool) -> None:
    data, *_ = usarrests()
    d = built(data, 4, scale=scale)
    scores = numbers(tables.scores(d))
    expected = [[np.corrcoef(column, score)[0, 1] for score in scores.T] for column in data.T]
    np.testing.assert_allclose(numbers(tables.correlations(d)), expected, atol=1e-10)


def test_correlations_that_are_not_known_are_refused() -> None:
    data, *_ = usarrests()
    with pytest.raises(ParameterError, match="Decompose with scale=True, or compute all components"):
        tables.correlations(built(data, 2))
    with pytest.raises(ParameterError, match="not centred"):
        tables.correlations(built(data, 4, "svd"))


def test_scores_are_the_projected_rows() -> None:
    data, *_ = usarrests()
    d = arrests(2)
    expected = (data - d.mean) / d.scale @ d.right
    np.testing.assert_allclose(numbers(tables.scores(d)), expected, atol=1e-12)
    assert tables.scores(d).rows[0][0] == "Alabama"


@pytest.mark.parametrize("view", [tables.scores, tables.row_contributions, tables.cos2])
def test_rows_that_were_not_kept_are_refused(view: Any) -> None:
    with pytest.raises(ParameterError, match="left is None"):
        view(arrests(left=False))


def test_cos2_says_when_it_is_only_a_bound() -> None:
    whole, cut = tables.cos2(arrests(4)), tables.cos2(arrests(2))
    np.testing.assert_allclose(numbers(whole).sum(axis=1), 1)
    assert (numbers(cut) >= numbers(whole)[:, :2] - 1e-12).all()
    assert "upper bounds" in cut.caption
    assert "upper bounds" not in whole.caption


def test_labels_follow_the_method() -> None:
    d = arrests(2)
    assert component_labels(d) == ("PC1", "PC2")
    assert component_labels(replace(d, method="svd")) == ("component 1", "component 2")
    assert component_labels(replace(d, which="smallest")) == ("minor 1", "minor 2")


def test_without_certificate_nothing_is_called_certified() -> None:
    d = arrests(2, certificate=None)
    table = tables.eigenvalues(d)
    assert np.isnan(numbers(table)[:, 3:]).all()
    assert "not certified" in table.caption
    assert table.cells()[0][-1] == "-"
    assert table.to_dict()["rows"][0][-1] is None
    assert "This result has no certificate" in " ".join(summary(d).split())


def test_svd_shows_singular_values() -> None:
    data, *_ = usarrests()
    table = tables.eigenvalues(built(data, 2, "svd"))
    assert table.columns[1] == "singular value"
    assert "sum of squares" in table.caption


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0.62006, 0.62014), "62.00 to 62.02 %"),
        ((0.5, 0.5), "50.00 %"),
        ((1 - 1e-14, 1.0), "100.00 %"),
        ((-0.1, 1.2), "0.00 to 100.00 %"),
        ((0.1, np.inf), "not known"),
    ],
)
def test_intervals_are_rounded_outward(bounds: tuple[float, float], expected: str) -> None:
    assert interval(*bounds) == expected


def test_zero_matrix_and_zero_columns() -> None:
    zero = np.zeros((3, 2))
    d = Decomposition("pca", np.zeros(2), np.eye(2), 3, 2, 0.0, 3.0, left=np.zeros((3, 2)), mean=np.zeros(2))
    for view in (tables.eigenvalues, tables.correlations, tables.contributions, tables.row_contributions, tables.cos2):
        found = numbers(view(d))[:, :2]
        assert np.isfinite(found).all()
    np.testing.assert_array_equal(numbers(tables.scores(d)), zero)
    assert "All columns are constant, so there is nothing" in summary(d)


def test_table_becomes_frame_json_and_text() -> None:
    table = tables.loadings(arrests(3))
    assert table.to_pandas().loc["Rape", "PC3"] == pytest.approx(0.8178, abs=1e-4)
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["columns"] == ["column", "PC1", "PC2", "PC3"]
    assert "UrbanPop  0.2782   0.8728" in table.text()


def test_csv_is_exact_and_guards_spreadsheets_when_asked() -> None:
    names = ("=cmd()", "a,b", "+1", "plain")
    table = tables.loadings(arrests(2).named(None, names))
    plain, guarded = (list(csv.reader(table.csv(guard=guard).splitlines())) for guard in (False, True))
    assert [row[0] for row in plain[1:]] == list(names)
    assert [row[0] for row in guarded[1:]] == ["'=cmd()", "a,b", "'+1", "plain"]
    np.testing.assert_array_equal(np.array([row[1:] for row in guarded[1:]], dtype=float), arrests(2).right)


def test_limited_tables_are_the_beginning() -> None:
    assert tables.scores(arrests(), limit=3).rows == tables.scores(arrests()).rows[:3]
    assert tables.contributions(arrests(), limit=2).rows == tables.contributions(arrests()).rows[:2]


def test_wide_and_long_tables_fit_and_say_what_is_missing() -> None:
    table = tables.loadings(built(np.random.default_rng(0).normal(size=(90, 60)), 50))
    text = table.text(limit=10)
    assert max(map(len, text.splitlines())) <= 80
    assert "50 more rows and 42 more columns" in text
    console = Console(width=80, record=True, file=None, color_system=None)
    with console.capture() as capture:
        console.print(table.rich(limit=10))
    assert "\u2026" not in capture.get()
    assert max(map(len, capture.get().splitlines())) <= 80


def test_names_are_inert() -> None:
    d = built(np.random.default_rng(0).normal(size=(9, 5)), 3, column_names=HOSTILE)
    with (console := Console(width=80, force_terminal=True, color_system="truecolor")).capture() as capture:
        console.print(renderable(analyze(d)), tables.loadings(d).rich())
    assert "\\ud800" in tables.loadings(d).text()
    for text in (capture.get(), summary(d), tables.loadings(d).text()):
        text.encode("utf-8")
        assert "[red]x[/red]" in text
        assert "\x1b[31mred" not in text
        assert "\u202e" not in text


def test_clean_keeps_what_people_write() -> None:
    assert clean("naïve 漢字 שלום") == "naïve 漢字 שלום"
    assert clean("a\nb\u200f") == "a\\nb\\u200f"
    assert len(shorten("x" * 10_000, 24)) == 24


def test_summary_says_all_that_matters() -> None:
    d = arrests(3, notes=("Assault has the largest unit.",))
    assert d.certificate is not None
    d = replace(d, certificate=replace(d.certificate, undetermined=((1, 2),), proved=False, failure_probability=1e-6))
    text = summary(d)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for part in (
        "50 rows x 4 columns", "Solver 'gram', 1 pass over the data. The columns are few", "95.66 %", "62.006 %",
        "PC1: Assault +0.58, Rape +0.54, Murder +0.54", "was not reached",
        "PC2 to PC3 are determined only as a subspace",
        "Assault has the largest unit.", "no single component can explain more",
        "probability of failure at most 1e-06",
    ):  # fmt: skip
        assert part in flat


def test_less_than_everything_is_not_shown_as_everything() -> None:
    table = Table("t", ("name", "share"), (("a", 0.999977), ("b", 1.0)), "", ("text", "percent"))
    assert [row[1] for row in table.cells()] == [">99.99 %", "100.00 %"]
