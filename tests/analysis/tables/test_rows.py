"""Tables of rows: weights that stand for repeated rows, whole lengths, T2 and Q with limits, causes, words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import eckart as ek
from eckart.analysis import limits
from eckart.errors import ParameterError
from eckart.text import Table
from tests.samples import arrests, built, usarrests

tables = ek.tables


def numbers(table: Table, *columns: str) -> np.ndarray:
    places = [table.columns.index(c) for c in columns] if columns else range(1, len(table.columns))
    return np.array([[row[i] for i in places] for row in table.rows], dtype=float)


def random_table(seed: int, rows: int = 40, columns: int = 6) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + random.normal(size=columns)


@given(st.integers(0, 2**16), st.booleans(), st.integers(1, 6))
def test_weights_are_repeated_rows(seed: int, scale: bool, k: int) -> None:
    data = random_table(seed)
    times = np.random.default_rng(seed + 1).integers(1, 4, len(data))
    weighted = ek.decompose(data, k=k, scale=scale, left=True, sample_weight=times.astype(float))
    repeated = ek.decompose(np.repeat(data, times, axis=0), k=k, scale=scale, left=True)
    first = np.cumsum(times) - times  # the first copy of each row
    for view in (tables.scores, tables.cos2, tables.row_quality):
        np.testing.assert_allclose(numbers(view(weighted)), numbers(view(repeated))[first], rtol=1e-6, atol=1e-9)
    parts = numbers(tables.row_contributions(repeated))
    together = np.add.reduceat(parts, first)
    np.testing.assert_allclose(numbers(tables.row_contributions(weighted)), together, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        numbers(tables.outliers(weighted), "T2", "Q"),
        numbers(tables.outliers(repeated), "T2", "Q")[first],
        rtol=1e-6,
        atol=1e-9,
    )
    np.testing.assert_allclose(
        numbers(tables.correlations(weighted)), numbers(tables.correlations(repeated)), atol=1e-9
    )
    found = [numbers(tables.outlier_limits(d), "limit") for d in (weighted, repeated)]
    np.testing.assert_allclose(*found, rtol=1e-7)


@given(st.integers(0, 2**16), st.booleans(), st.integers(1, 5))
def test_cut_axes_say_what_all_axes_say(seed: int, scale: bool, k: int) -> None:
    """cos2, correlations, T2 and Q of k axes are those of the first k of all: lengths come from the data."""
    data = random_table(seed)
    cut, whole = (ek.decompose(data, k=axes, scale=scale, left=True) for axes in (k, None))
    for view in (tables.cos2, tables.correlations):
        np.testing.assert_allclose(numbers(view(cut)), numbers(view(whole))[:, :k], atol=1e-9)
    np.testing.assert_allclose(numbers(tables.cos2(whole)).sum(axis=1), 1)
    centred = (data - data.mean(axis=0)) / (data.std(axis=0, ddof=1) if scale else 1)
    scores = centred @ np.asarray(cut.right)
    t2 = (scores**2 / scores.var(axis=0, ddof=1)).sum(axis=1)
    q = ((centred - scores @ np.asarray(cut.right).T) ** 2).sum(axis=1)
    np.testing.assert_allclose(numbers(tables.outliers(cut), "T2", "Q"), np.column_stack([t2, q]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        numbers(tables.outliers(whole, k=k), "T2", "Q"), np.column_stack([t2, q]), rtol=1e-6, atol=1e-8
    )


@given(st.integers(0, 2**16), st.integers(1, 5), st.integers(0, 39), st.booleans())
def test_parts_of_columns_add_up_to_t2_and_q(seed: int, k: int, row: int, scale: bool) -> None:
    data = random_table(seed)
    cut, whole = (ek.decompose(data, k=axes, scale=scale, left=True) for axes in (k, None))
    expected = numbers(tables.outliers(cut), "T2", "Q")[row]
    for table in (tables.outlier_columns(cut, row, values=data[row]), tables.outlier_columns(whole, row, k=k)):
        np.testing.assert_allclose(numbers(table, "T2 part", "Q part").sum(axis=0), expected, rtol=1e-6, atol=1e-8)
    alone = tables.outlier_columns(cut, row)
    np.testing.assert_allclose(numbers(alone, "T2 part").sum(), expected[0], rtol=1e-6)
    assert np.isnan(numbers(alone, "Q part")).all()
    assert "give it as `values`" in alone.caption


def test_limits_hold_at_their_rate() -> None:
    """Of normal rows drawn from the model, about 5 % lie beyond each limit."""
    random = np.random.default_rng(7)
    deviations = np.array([5, 4, 3, 1, 0.9, 0.8, 0.7, 0.6])
    data = random.normal(size=(20_000, 8)) * deviations
    for d in (ek.decompose(data, k=3, left=True), ek.decompose(data, left=True)):
        beyond = (numbers(tables.outliers(d, k=3), "T2 / limit", "Q / limit") > 1).mean(axis=0)
        np.testing.assert_allclose(beyond, 0.05, atol=0.005)


def test_limits_are_their_formulas() -> None:
    d = arrests()
    found = numbers(tables.outlier_limits(d, k=2, confidence=0.99), "limit")[:, 0]
    assert found[0] == pytest.approx(2 * 49 / 48 * stats.f.ppf(0.99, 2, 48))
    left_out = np.asarray(d.variances)[2:]
    one, two, three = ((left_out**i).sum() for i in (1, 2, 3))
    h = 1 - 2 * one * three / (3 * two**2)
    z = stats.norm.ppf(0.99)
    assert found[1] == pytest.approx(
        one * (z * np.sqrt(2 * two * h**2) / one + 1 + two * h * (h - 1) / one**2) ** (1 / h)
    )


@pytest.mark.parametrize("freedom", [1, 2, 5, 30])
def test_limit_of_chi_squared_rows_with_and_without_outliers(freedom: int) -> None:
    drawn = 3.0 * np.random.default_rng(0).chisquare(freedom, 100_000)
    found = limits.box(drawn, np.ones(len(drawn)), 0.95)
    assert found == pytest.approx(3.0 * stats.chi2.ppf(0.95, freedom), rel=0.02)
    drawn[:5000] *= 1e4
    assert limits.box(drawn, np.ones(len(drawn)), 0.95) == pytest.approx(found, rel=0.03)


def test_planted_outliers_are_found_and_explained() -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(200, 2)) @ random.normal(size=(2, 6)) + 0.1 * random.normal(size=(200, 6))
    data[17, 4] += 6  # breaks the pattern: beside the axes
    d = ek.decompose(data, k=2, left=True)
    table = tables.outliers(d, only=True)
    assert table.rows[0][0] == "18"
    assert "Q" in str(table.rows[0][-1])
    assert tables.outlier_columns(d, 17, values=data[17]).rows[0][0] == "x5"
    assert len(table.rows) < 30
    assert "pass each by chance" in table.caption


def test_what_is_not_known_of_rows_is_said() -> None:
    d = built(usarrests()[0], 2)
    table = tables.outliers(d)
    assert np.isnan(numbers(table, "Q")).all()
    assert "lengths were not kept" in table.caption
    assert "not known" in tables.row_quality(d).caption
    assert "leave nothing over" in tables.outliers(arrests()).caption


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda d: tables.outliers(d, k=5), "1 to 4"),
        (lambda d: tables.outliers(d, confidence=1.0), "between 0 and 1"),
        (lambda d: tables.outlier_columns(d, "Atlantis"), "no row 'Atlantis'"),
        (lambda d: tables.outlier_columns(d, 50), "0 to 49"),
        (lambda d: tables.outlier_columns(d, 0, values=[1.0]), "1 values"),
        (lambda d: tables.describe(d, 4), "the last is 3"),
        (lambda d: tables.cos2(of_method(d, "nmf")), "perpendicular"),
        (lambda d: tables.varimax(of_method(d, "kernel_pca")), "perpendicular"),
    ],
)
def test_wrong_wishes_are_refused(call: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        call(arrests())


def of_method(d: Any, method: str) -> Any:
    from dataclasses import replace

    return replace(d, method=method)


def test_kernel_axes_have_no_weights_of_columns() -> None:
    from dataclasses import replace

    d = replace(arrests(2), method="kernel_pca", right=np.empty((4, 0)))
    with pytest.raises(ParameterError, match="supplementary"):
        tables.loadings(d)
    assert tables.describe(d, 0).startswith("PC1 carries 62.0 %")
    assert len(tables.description(d).rows) == 2


def test_axes_in_words() -> None:
    d = arrests()
    words = tables.describe(d, 0)
    assert "62.0 % of the variance" in words
    assert "made by Assault (+0.58), Rape (+0.54) and Murder (+0.54)" in words
    assert "High on it are Florida, Nevada and California; low on it are North Dakota" in words
    assert "It sets" in tables.describe(d, 3)
    assert tables.describe(arrests(left=False), 0).endswith("Murder (+0.54).")
    table = tables.description(d)
    assert table.rows[1][2] == "UrbanPop (+0.87)"
    assert table.rows[0][4] == "Florida, Nevada, California"


def test_columns_of_an_axis_have_the_p_values_of_their_correlations() -> None:
    data, *_ = usarrests()
    d = arrests()
    table = tables.axis_columns(d, 1)
    scores = numbers(tables.scores(d))[:, 1]
    by_name = {row[0]: row for row in table.rows}
    assert list(by_name) == ["UrbanPop", "Murder"]
    for name, column in (("UrbanPop", 2), ("Murder", 0)):
        expected = stats.pearsonr(data[:, column], scores)
        assert by_name[name][1] == pytest.approx(expected.statistic)
        assert by_name[name][2] == pytest.approx(expected.pvalue)
    assert len(tables.axis_columns(d, 1, significance=1.0).rows) == 4


def test_errors_of_reconstruction_are_those_of_the_rebuilt_rows() -> None:
    data, *_ = usarrests()
    d = ek.decompose(data, left=True)
    table = tables.reconstruction_error(d)
    centred = data - data.mean(axis=0)
    right = np.asarray(d.right)
    for k in range(5):
        rebuilt = centred @ right[:, :k] @ right[:, :k].T
        expected = np.linalg.norm(centred - rebuilt) / np.linalg.norm(centred)
        assert table.rows[k][1] == pytest.approx(expected, abs=1e-7)
    low, high = numbers(table, "lower", "upper").T
    assert (low <= high).all()


def test_broken_stick() -> None:
    table = tables.thresholds(arrests())
    np.testing.assert_allclose(numbers(table, "broken stick")[:, 0], [25 / 48, 13 / 48, 7 / 48, 3 / 48])
    np.testing.assert_allclose(numbers(table, "mean share"), 0.25)
