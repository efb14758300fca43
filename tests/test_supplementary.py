"""Rows, columns and categories beside the fit: the same numbers as from their definitions, and honest refusals."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import eckart as ek
from eckart.components import scores
from eckart.errors import InputError, ParameterError
from eckart.text import Table
from tests.samples import usarrests


def numbers(table: Table, *columns: str) -> np.ndarray:
    indices = [table.columns.index(c) for c in columns] if columns else range(1, len(table.columns))
    return np.array([[row[i] for i in indices] for row in table.rows], dtype=float)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_other_rows(kind: Any, scale: bool, method: Any) -> None:
    data, *_ = usarrests()
    fitted, other = data[:40], data[40:]
    d = ek.decompose(fitted, method, k=2, scale=scale)
    table = ek.supplementary.rows(d, kind(other))
    other = np.float32(other).astype(float) if kind.__name__ == "<lambda>" else other
    x = other - (0 if d.mean is None else d.mean)
    x = x if d.scale is None else x / d.scale
    scores = x @ d.right
    square = (x**2).sum(axis=1)
    inside = (scores**2).sum(axis=1)
    t2 = (scores**2 / np.asarray(d.explained_variance)).sum(axis=1)
    expected = np.column_stack([scores, np.sqrt(square), inside / square, t2, square - inside])
    np.testing.assert_allclose(numbers(table), expected, rtol=1e-9, atol=1e-8)
    cosines = numbers(ek.supplementary.row_cos2(d, kind(other)))
    np.testing.assert_allclose(cosines, scores**2 / square[:, None], atol=1e-10)


def test_rows_of_the_fit_are_where_they_were() -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, k=2, scale=True, left=True)
    found = ek.supplementary.rows(d, data)
    np.testing.assert_allclose(numbers(found, "PC1", "PC2"), numbers(ek.tables.scores(d)), atol=1e-10)
    np.testing.assert_allclose(numbers(found, "T2", "Q"), numbers(ek.tables.outliers(d), "T2", "Q"), atol=1e-9)


@pytest.mark.parametrize("power", [-600, 600])
def test_other_rows_of_any_size(power: int) -> None:
    data, *_ = usarrests()
    plain, far = (ek.decompose(data[:40] * size, k=2, scale=True) for size in (1.0, 2.0**power))
    expected = numbers(ek.supplementary.rows(plain, data[40:]))
    np.testing.assert_allclose(numbers(ek.supplementary.rows(far, data[40:] * 2.0**power)), expected, rtol=1e-9)


def test_other_rows_that_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data, *_ = usarrests()
    d = ek.decompose(data[:40], k=2, scale=True)
    expected = numbers(ek.supplementary.rows(d, data))
    monkeypatch.setattr(scores, "open_matrix", lambda given: ek.open_matrix(given, stream=True))
    np.testing.assert_allclose(numbers(ek.supplementary.rows(d, data)), expected, rtol=1e-12)


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_missing_values_of_other_rows_are_imputed_as_in_the_fit(missing: Any) -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(40, 2)) @ random.normal(size=(2, 5)) + 0.3 * random.normal(size=(40, 5))
    table[random.random(table.shape) < 0.1] = np.nan
    d = ek.decompose(table, k=2, missing=missing)
    found = ek.supplementary.rows(d, table)
    np.testing.assert_allclose(numbers(found)[:, :2], ek.project(d, table), atol=1e-12)
    filled = table.copy()
    filled[d.details.missing.rows, d.details.missing.columns] = d.details.missing.values
    # EM imputes the rows of the fit as new rows, up to its tolerance.
    for view in (ek.supplementary.rows, ek.supplementary.row_cos2):
        np.testing.assert_allclose(*(numbers(view(d, given)) for given in (table, filled)), atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_without_all_values_are_refused(bad: float) -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, k=2)
    rows = data[:3].copy()
    rows[1, 2] = bad
    for view in (ek.supplementary.rows, ek.supplementary.row_cos2):
        with pytest.raises(InputError, match=r"row 2, column 3"):
            view(d, rows)


def test_rows_with_other_columns_are_refused() -> None:
    d = ek.decompose(usarrests()[0], k=2)
    with pytest.raises(InputError, match="3 columns"):
        ek.supplementary.rows(d, np.ones((2, 3)))


@given(st.integers(0, 2**16), st.booleans())
def test_other_columns_are_weighted_correlations(seed: int, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    data, other = random.normal(size=(30, 5)), random.normal(size=(30, 2))
    times = random.integers(1, 4, 30) if weighted else np.ones(30, int)
    d = ek.decompose(data, k=3, left=True, sample_weight=times.astype(float) if weighted else None)
    scores = np.repeat((data - d.mean) @ d.right, times, axis=0)
    expected = np.corrcoef(np.repeat(other, times, axis=0).T, scores.T)[:2, 2:]
    table = ek.supplementary.columns(d, other)
    np.testing.assert_allclose(numbers(table)[:, :3], expected, atol=1e-9)
    np.testing.assert_allclose(numbers(table, "explained")[:, 0], (expected**2).sum(axis=1), atol=1e-9)


def test_columns_of_the_fit_are_where_they_were() -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, k=2, scale=True, left=True)
    found = numbers(ek.supplementary.columns(d, data), "PC1", "PC2")
    np.testing.assert_allclose(found, numbers(ek.tables.correlations(d)), atol=1e-12)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_columns_from_mappings_and_frames_keep_names(kind: Any) -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, k=2, scale=True, left=True)
    table = ek.supplementary.columns(d, kind({"first": data[:, 0], "last": data[:, 3]}))
    assert [row[0] for row in table.rows] == ["first", "last"]


def test_gaps_and_constants_in_other_columns() -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, k=2, scale=True, left=True)
    with_gaps = data[:, 0].copy()
    with_gaps[:5] = np.nan
    table = ek.supplementary.columns(d, {"gaps": with_gaps, "constant": np.full(50, 0.1)})
    expected = np.corrcoef(data[5:, 0], numbers(ek.tables.scores(d))[5:, 0])[0, 1]
    assert table.rows[0][1] == pytest.approx(expected)
    assert "5 missing values were ignored" in table.caption
    assert np.isnan(numbers(table)[1]).all()


@pytest.mark.parametrize(
    ("given_", "reason"),
    [(np.ones((3, 1)), "3 values"), ({"a": ["x"] * 50}, "supplementary.categories"), ({}, "at least one")],
)
def test_wrong_columns_are_refused(given_: Any, reason: str) -> None:
    d = ek.decompose(usarrests()[0], k=2, left=True)
    with pytest.raises(InputError, match=reason):
        ek.supplementary.columns(d, given_)


@pytest.mark.parametrize("method", ["svd", "nmf"])
def test_axes_of_other_methods(method: Any) -> None:
    """Scores that are neither centred nor uncorrelated: plain correlations, and R^2 of the regression on all axes."""
    data, *_ = usarrests()
    d = ek.decompose(data[:, :3], method, k=2, left=True)
    scores = numbers(ek.tables.scores(d))
    table = ek.supplementary.columns(d, data[:, 3])
    expected = [np.corrcoef(data[:, 3], score)[0, 1] for score in scores.T]
    np.testing.assert_allclose(numbers(table)[0, :2], expected, atol=1e-9)
    design = np.column_stack([np.ones(50), scores])
    rest = data[:, 3] - design @ np.linalg.lstsq(design, data[:, 3])[0]
    assert numbers(table, "explained")[0, 0] == pytest.approx(1 - rest @ rest / (49 * data[:, 3].var(ddof=1)))
    labels = np.where(data[:, 3] > 20, "high", "low")
    f = stats.f_oneway(scores[labels == "high", 0], scores[labels == "low", 0])
    assert numbers(ek.supplementary.association(d, labels), "F", "p")[0] == pytest.approx([f.statistic, f.pvalue])
    with pytest.raises(ParameterError, match="orthogonal") if method == "nmf" else nullcontext():
        ek.supplementary.rows(d, data[:, :3])


def test_categories_lie_at_their_means() -> None:
    random = np.random.default_rng(1)
    data = random.normal(size=(60, 4))
    labels = random.choice(["a", "b", "c"], 60)
    data[labels == "b"] += 3
    d = ek.decompose(data, left=True)
    scores = numbers(ek.tables.scores(d))
    table = ek.supplementary.categories(d, labels)
    for i, name in enumerate("abc"):
        np.testing.assert_allclose(numbers(table)[i, 1:5], scores[labels == name].mean(axis=0))
    assert abs(numbers(table, "v-test PC1")[1, 0]) > 4
    groups = [scores[labels == name, 0] for name in "abc"]
    f = stats.f_oneway(*groups)
    assert numbers(ek.supplementary.association(d, labels), "F", "p")[0] == pytest.approx([f.statistic, f.pvalue])


@pytest.mark.parametrize("weighted", [False, True])
def test_components_without_variance_have_no_association(weighted: bool) -> None:
    """The scores of the last of 12 components of 12 centred rows are rounding errors."""
    random = np.random.default_rng(2)
    times = random.integers(1, 4, 12).astype(float) if weighted else None
    d = ek.decompose(random.normal(size=(12, 12)), left=True, sample_weight=times)
    found = numbers(ek.supplementary.association(d, random.choice(["a", "b", "c"], 12)))
    assert np.isfinite(found[:-1]).all()
    assert np.isnan(found[-1]).all()


def test_v_tests_of_chance_are_standard_normal() -> None:
    random = np.random.default_rng(0)
    d = ek.decompose(random.normal(size=(100, 3)), left=True)
    drawn = [
        numbers(ek.supplementary.categories(d, random.permutation([0] * 30 + [1] * 70)), "v-test PC1")[0, 0]
        for _ in range(400)
    ]
    assert stats.kstest(drawn, "norm").pvalue > 0.001
    assert np.std(drawn) == pytest.approx(1, abs=0.12)


def test_rows_without_a_category_are_in_none() -> None:
    d = ek.decompose(usarrests()[0], k=2, left=True)
    labels = [None if i < 10 else float("nan") if i < 20 else "x" for i in range(50)]
    table = ek.supplementary.categories(d, labels)
    assert [row[0] for row in table.rows] == ["x"]
    assert table.rows[0][1] == 30
    with pytest.raises(InputError, match="Every category label is missing"):
        ek.supplementary.categories(d, [None] * 50)


@pytest.mark.parametrize("labels", [["a"] * 12, [str(i) for i in range(12)]])
def test_too_few_or_too_many_categories_have_no_f_test(labels: list[str]) -> None:
    d = ek.decompose(np.random.default_rng(0).normal(size=(12, 4)), left=True)
    table = ek.supplementary.association(d, labels)
    assert np.isnan(np.array([row[2:] for row in table.rows], dtype=float)).all()
    assert "needs at least 2 categories, and more rows than categories" in table.caption
    assert table.caption.startswith("1 category;" if len(set(labels)) == 1 else "12 categories;")


def test_limits_that_do_not_exist_are_not_shown_as_numbers() -> None:
    data = np.random.default_rng(1).normal(size=(12, 4))
    assert ", Q none." in ek.supplementary.rows(ek.decompose(data), data).caption
    few = ek.decompose(data, k=2, sample_weight=np.full(12, 0.1))
    assert "T2 none, Q none." in ek.supplementary.rows(few, data).caption
