"""Tables of rows: weights that stand for repeated rows, whole lengths, T2 and Q with limits, causes, words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import eckart as ek
from eckart.analysis import limits
from eckart.errors import ParameterError
from eckart.text import Table
from tests.samples import arrests, built, usarrests

supplementary, tables = ek.supplementary, ek.tables


def numbers(table: Table, *columns: str) -> np.ndarray:
    indices = [table.columns.index(c) for c in columns] if columns else range(1, len(table.columns))
    return np.array([[row[i] for i in indices] for row in table.rows], dtype=float)


def random_table(seed: int, rows: int = 40, columns: int = 6) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + random.normal(size=columns)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal to 1e-10 of the largest entry of each column."""
    largest = np.maximum(np.abs(expected).max(axis=0), 1e-300)
    np.testing.assert_allclose(found / largest, expected / largest, rtol=0, atol=1e-10)


@settings(max_examples=15)
@given(st.integers(0, 2**16), st.booleans(), st.integers(1, 6), st.sampled_from([(40, 6), (9, 12)]))
def test_weights_are_repeated_rows(seed: int, scale: bool, k: int, shape: tuple[int, int]) -> None:
    data = random_table(seed, *shape)
    times = np.random.default_rng(seed + 1).integers(1, 4, len(data))
    weighted = ek.decompose(data, k=k, scale=scale, left=True, sample_weight=times.astype(float))
    repeated = ek.decompose(np.repeat(data, times, axis=0), k=k, scale=scale, left=True)
    first = np.cumsum(times) - times  # the first copy of each row
    for view in (tables.scores, tables.cos2, tables.row_quality, tables.rotated_scores):
        same(numbers(view(weighted)), numbers(view(repeated))[first])
    same(
        numbers(tables.row_contributions(weighted)), np.add.reduceat(numbers(tables.row_contributions(repeated)), first)
    )
    measures = ("T2", "T2 / limit", "Q", "Q / limit")
    same(numbers(tables.outliers(weighted), *measures), numbers(tables.outliers(repeated), *measures)[first])
    for view in (tables.eigenvalues, tables.loadings, tables.correlations, tables.contributions, tables.column_cos2,
                 tables.rotated_loadings, tables.rotated_variances, tables.thresholds):  # fmt: skip
        same(numbers(view(weighted)), numbers(view(repeated)))
    errors = [tables.reconstruction_error(d) for d in (weighted, repeated)]
    same(*(numbers(table, "error", "share lost") for table in errors))
    # Bounds include rounding, which depends on the number of rows; after all components there is nothing else.
    np.testing.assert_allclose(*(numbers(table, "lower", "upper") for table in errors), atol=1e-6)
    same(*(numbers(tables.outlier_limits(d), "limit") for d in (weighted, repeated)))


@pytest.mark.parametrize(("method", "freedom"), [("pca", 37), ("svd", 38)])
def test_limits_name_their_degrees_of_freedom(method: Literal["pca", "svd"], freedom: int) -> None:
    """Subtracting the means costs one; the limit is the quantile of the law that the table names."""
    d = ek.decompose(random_table(0), method, k=2, left=True)
    _, _, limit, law = tables.outlier_limits(d).rows[0]
    assert law == f"Beta, 2 and {freedom} degrees of freedom"
    assert limit == pytest.approx((39 * 39 / 40 if method == "pca" else 39) * stats.beta.ppf(0.95, 1, freedom / 2))


def test_variances_left_out_do_not_reach_the_last_one_kept() -> None:
    """With a tie, T2 of a row that is left out tends to 0, and a limit of 0 would flag every new row."""
    limits = []
    for seed in range(30):
        d = ek.decompose(np.random.default_rng(seed).normal(size=(15, 8)), k=1, left=True)
        limits.append({(row[0], row[1]): row[2] for row in tables.outlier_limits(d).rows}["T2", "new"])
    assert min(limits) > 1  # the limit of F is 4.9; that of white noise, whose largest variance is near 2.7, 1.8


@given(st.integers(0, 2**16), st.booleans(), st.integers(1, 5))
def test_cut_axes_say_what_all_axes_say(seed: int, scale: bool, k: int) -> None:
    """cos2, correlations, T2 and Q of k axes are those of the first k of all: lengths come from the data."""
    data = random_table(seed)
    cut, whole = (ek.decompose(data, k=components, scale=scale, left=True) for components in (k, None))
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
    cut, whole = (ek.decompose(data, k=components, scale=scale, left=True) for components in (k, None))
    expected = numbers(tables.outliers(cut), "T2", "Q")[row]
    for table in (tables.outlier_columns(cut, row, values=data[row]), tables.outlier_columns(whole, row, k=k)):
        np.testing.assert_allclose(numbers(table, "T2 part", "Q part").sum(axis=0), expected, rtol=1e-6, atol=1e-8)
    alone = tables.outlier_columns(cut, row)
    np.testing.assert_allclose(numbers(alone, "T2 part").sum(), expected[0], rtol=1e-6)
    assert np.isnan(numbers(alone, "Q part")).all()
    assert "pass the row as `values`" in alone.caption


def false_alarms(rows: int, k: int, tables_drawn: int, seed: int, *, cut: bool) -> np.ndarray:
    """Rates of T2 and Q of fitted rows, then of new rows, beyond the 95 % limits."""
    random = np.random.default_rng(seed)
    deviations = np.concatenate([np.linspace(9, 6, k), np.linspace(1.5, 0.7, 10 - k)])
    rates = np.zeros(4)
    for _ in range(tables_drawn):
        data = random.normal(size=(rows, 10)) * deviations
        d = ek.decompose(data, k=k if cut else None, left=True)
        fitted = numbers(tables.outliers(d, k=k), "T2 / limit", "Q / limit") > 1
        others = random.normal(size=(400, 10)) * deviations - np.asarray(d.mean)
        components = np.asarray(d.right)[:, :k]
        scores = others @ components
        t2 = (scores**2 / np.asarray(d.explained_variance)[:k]).sum(axis=1)
        q = (others**2).sum(axis=1) - (scores**2).sum(axis=1)
        limit = numbers(tables.outlier_limits(d, k=k), "limit")[2:, 0]
        rates += [*fitted.mean(axis=0), (t2 > limit[0]).mean(), (q > limit[1]).mean()]
    return rates / tables_drawn


@pytest.mark.parametrize(("rows", "k", "cut"), [(15, 2, False), (15, 5, False), (30, 5, True), (100, 2, False)])
def test_limits_hold_at_their_rate(rows: int, k: int, cut: bool) -> None:
    """5 % of normal rows lie beyond each limit. F for fitted rows gave 0.3 %, limits without estimation 20 %."""
    drawn = 40
    found = false_alarms(rows, k, drawn, 7 + rows + k, cut=cut)
    # Four standard errors of fitted rows; the rate of new rows varies from table to table by about its own size.
    slack = [4 * (0.05 * 0.95 / (rows * drawn)) ** 0.5, 4 * (0.05 * 0.95 / (rows * drawn)) ** 0.5, 0.02, 0.02]
    assert (np.abs(found - 0.05) <= slack).all(), found


@pytest.mark.parametrize(("rows", "columns"), [(15, 80), (20, 50), (30, 80)])
def test_limits_of_scaled_columns_include_the_estimation_of_their_deviations(rows: int, columns: int) -> None:
    """Without it, 10 % of new rows exceed the limit of Q, and to first order still 9 % with 15 rows and 80 columns."""
    random, rates = np.random.default_rng(rows), np.zeros(2)
    axes = np.linalg.qr(random.normal(size=(columns, 2)))[0] * [8.0, 5.0]
    for _ in range(100):
        data, others = (random.normal(size=(n, 2)) @ axes.T + random.normal(size=(n, columns)) for n in (rows, 300))
        d = ek.decompose(data, k=2, scale=True)
        found = numbers(supplementary.rows(d, others), "T2", "Q")
        rates += (found > numbers(tables.outlier_limits(d), "limit")[:, 0]).mean(axis=0) / 100
    assert (np.abs(rates - 0.05) <= 0.02).all(), rates


def test_limits_of_all_scaled_components_are_those_of_the_unscaled() -> None:
    """T2 of all components does not depend on the scale, so it has nothing to add."""
    data = random_table(3) * np.geomspace(1, 100, 6)
    plain, scaled = (ek.decompose(data, scale=scale) for scale in (False, True))
    limit = [numbers(tables.outlier_limits(d), "limit") for d in (plain, scaled)]
    np.testing.assert_allclose(limit[1], limit[0], rtol=1e-6)


@pytest.mark.parametrize("shape", [(30, 8), (30, 40), (300, 20)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_limits_of_few_components_are_those_of_all(shape: tuple[int, int], k: int) -> None:
    """The sum of squares of the variances left out determines Q; white noise instead gave limits 15 % too small."""
    random = np.random.default_rng(k)
    data = random.normal(size=shape) * np.append(np.linspace(9, 6, k), np.geomspace(3, 0.3, shape[1] - k))
    wanted = numbers(tables.outlier_limits(ek.decompose(data, left=True), k=k), "limit")[:, 0]
    for options in ({"k": k, "left": True}, {"k": k + 2, "left": True}):
        found = numbers(tables.outlier_limits(ek.decompose(data, **options), k=k), "limit")[:, 0]
        np.testing.assert_allclose(found, wanted, rtol=0.03)
    new = tables.outlier_limits(ek.decompose(data, k=k))
    np.testing.assert_allclose(numbers(new, "limit")[:, 0], wanted[2:], rtol=0.03)
    assert "white" not in str(new.rows)


def test_a_model_without_the_sum_of_squares_says_what_it_assumes() -> None:
    d = ek.decompose(random_table(5), k=2)
    d = replace(d, details=replace(d.details, residual_schatten4=None))  # as in older files
    assert tables.outlier_limits(d).rows[1][3] == "rows held out, residual assumed to be white noise"


def test_gross_errors_do_not_distort_the_limit() -> None:
    """Five rows with a residual that dominates all Q; the limit stays near that of the other rows."""
    random = np.random.default_rng(8)
    data = random.normal(size=(100, 12)) * np.append([40.0, 30.0], np.ones(10))
    clean = tables.outlier_limits(ek.decompose(data, k=2, left=True)).rows
    data[np.arange(5), np.arange(5) + 4] += 15.0
    spoiled = tables.outlier_limits(ek.decompose(data, k=2, left=True)).rows
    for before, after in zip(clean, spoiled, strict=True):
        assert after[2] == pytest.approx(before[2], rel=0.25), before[:2]
    assert spoiled[1][3] == "moments of Q without outliers"


def test_limits_of_the_smallest_components_hold_at_their_rate() -> None:
    random, deviations, rates = np.random.default_rng(9), np.linspace(3, 0.5, 8), []
    for _ in range(40):
        d = ek.decompose(random.normal(size=(60, 8)) * deviations, k=2, which="smallest")
        limit = numbers(tables.outlier_limits(d), "limit")[:, 0]
        others = random.normal(size=(400, 8)) * deviations - np.asarray(d.mean)
        scores = others @ np.asarray(d.right)
        t2 = (scores**2 / np.asarray(d.explained_variance)).sum(axis=1)
        rates.append([(t2 > limit[0]).mean(), ((others**2).sum(axis=1) - (scores**2).sum(axis=1) > limit[1]).mean()])
    assert (np.abs(np.mean(rates, axis=0) - 0.05) <= 0.02).all()


def test_limits_are_their_laws() -> None:
    d = arrests()
    table = tables.outlier_limits(d, k=2, confidence=0.99)
    assert [row[:2] for row in table.rows] == [("T2", "fitted"), ("Q", "fitted"), ("T2", "new"), ("Q", "new")]
    found = numbers(table, "limit")[:, 0]
    assert found[0] == pytest.approx(49**2 / 50 * stats.beta.ppf(0.99, 1, 47 / 2))
    # Q by drawing points of a sphere; T2 of new rows lies within F and what fitted rows have.
    drawn = np.random.default_rng(0).normal(size=(400_000, 49)) ** 2
    q = 49**2 / 50 * (drawn[:, 2:4] @ np.asarray(d.explained_variance)[2:]) / drawn.sum(axis=1)
    assert (q > found[1]).mean() == pytest.approx(0.01, abs=0.001)
    assert found[0] < found[2] < 1.1 * limits.t2_hotelling(2, 50, 0.99)
    assert found[1] < found[3]
    without = tables.outlier_limits(ek.decompose(usarrests()[0], scale=True), k=2, confidence=0.99)
    np.testing.assert_allclose(numbers(without, "limit")[:, 0], found[2:], rtol=1e-6)


def test_all_components_have_hotellings_law() -> None:
    """With every component kept there is no direction to estimate, and the F law is exact."""
    d = ek.decompose(random_table(1, rows=25, columns=4), left=True)
    found = numbers(tables.outlier_limits(d), "limit")[:, 0]
    assert found[2] == pytest.approx(4 * (25**2 - 1) / (25 * 21) * stats.f.ppf(0.95, 4, 21), rel=0.02)
    assert np.isnan(found[3])


@pytest.mark.parametrize("rows", [8, 11, 20])
def test_one_gross_error_among_few_rows_is_flagged(rows: int) -> None:
    data = np.random.default_rng(rows).normal(size=(rows, 8))
    data[3] += 1e4
    table = tables.outliers(ek.decompose(data, k=2, left=True), only=True)
    assert "4" in [row[0] for row in table.rows]


@pytest.mark.parametrize("freedom", [1, 2, 5, 30])
def test_moments_of_chi_squared_rows_with_and_without_outliers(freedom: int) -> None:
    drawn = 3.0 * np.random.default_rng(0).chisquare(freedom, 100_000)
    mean, square, outlying = limits.typical_moments(drawn, np.ones(len(drawn)))
    assert mean == pytest.approx(3.0 * freedom, rel=0.02)
    assert square == pytest.approx(9.0 * freedom * (freedom + 2), rel=0.03)
    assert outlying < 0.01
    drawn[:5000] *= 1e4
    robust = limits.typical_moments(drawn, np.ones(len(drawn)))
    assert robust[0] == pytest.approx(mean, rel=0.03)
    assert robust[2] > 0.99


@pytest.mark.parametrize("weights", [[3.0, 1.0, -2.0], [1.0, 1.0, 1.0, 0.2, -0.1, -5.0]])
def test_imhof_by_drawing(weights: list[float]) -> None:
    drawn = np.random.default_rng(1).chisquare(1, (400_000, len(weights))) @ np.array(weights)
    found = limits.positive_probability(np.array(weights), np.ones(len(weights)))
    assert found == pytest.approx((drawn > 0).mean(), abs=0.004)


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-5])
def test_rows_at_the_same_distance_have_a_limit(spread: float) -> None:
    """In a two-level design that is left out, all rows have the same Q up to rounding."""
    rng, levels = np.random.default_rng(0), np.tile([1.0, -1.0], 20)
    measured = rng.standard_normal((40, 2)) * [10, 5]
    measured -= np.outer(levels, levels @ measured / 40)
    table = np.column_stack([measured, levels * (1 + spread * rng.standard_normal(40))])
    d = ek.decompose(table, "pca", k=2, left=True)
    limit = next(row[2] for row in ek.tables.outlier_limits(d).rows if row[:2] == ("Q", "fitted"))
    assert 1.0 < limit < np.inf  # Q is 1 for every row, so no row is far away
    assert not any("Q" in row[-1] for row in ek.tables.outliers(d, only=True).rows)


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
    assert "By chance, about" in table.caption


def test_what_is_not_known_of_rows_is_said() -> None:
    d = built(usarrests()[0], 2)
    table = tables.outliers(d)
    assert np.isnan(numbers(table, "Q")).all()
    assert "lengths of the rows were not stored" in table.caption
    assert "unknown" in tables.row_quality(d).caption
    assert "explain all of the variance" in tables.outliers(arrests()).caption


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda d: tables.outliers(d, k=5), "4 components"),
        (lambda d: tables.outliers(d, confidence=1.0), "between 0 and 1"),
        (lambda d: tables.outlier_columns(d, "Atlantis"), "no row 'Atlantis'"),
        (lambda d: tables.outlier_columns(d, 50), "0 to 49"),
        (lambda d: tables.outlier_columns(d, 0, values=[1.0]), "has 1 value,"),
        (lambda d: tables.describe(d, 4), "from 0 to 3"),
        (lambda d: tables.cos2(of_method(d, "nmf")), "orthogonal components"),
        (lambda d: tables.varimax(of_method(d, "kernel_pca")), "orthogonal components"),
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
    assert tables.describe(d, 0).startswith("PC1 explains 62.0 %")
    assert len(tables.description(d).rows) == 2


def test_axes_in_words() -> None:
    d = arrests()
    words = tables.describe(d, 0)
    assert "62.0 % of the variance" in words
    assert "dominated by Assault (+0.58), Rape (+0.54) and Murder (+0.54)" in words
    assert "High on it are Florida, Nevada and California; low on it are North Dakota" in words
    assert "It contrasts" in tables.describe(d, 3)
    assert tables.describe(arrests(left=False), 0).endswith("Murder (+0.54).")
    table = tables.description(d)
    assert table.rows[1][2] == "UrbanPop (+0.87)"
    assert table.rows[0][4] == "Florida, Nevada, California"


def test_columns_of_a_component_are_those_of_large_correlation() -> None:
    data, *_ = usarrests()
    d = arrests()
    table = tables.component_columns(d, 1, threshold=0.3)
    scores = numbers(tables.scores(d))[:, 1]
    by_name = {row[0]: row for row in table.rows}
    assert list(by_name) == ["UrbanPop", "Murder"]
    for name, column in (("UrbanPop", 2), ("Murder", 0)):
        expected = stats.pearsonr(data[:, column], scores).statistic
        assert by_name[name][1:] == pytest.approx((expected, expected**2))
    assert len(tables.component_columns(d, 1, threshold=0.0).rows) == 4
    assert "p" not in table.columns  # in pure noise most columns would look significant: they made the component


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


@pytest.mark.parametrize("scale", [False, True])
def test_thresholds_do_not_count_constant_columns(scale: bool) -> None:
    data = np.insert(random_table(5), [1, 4], 0.1, axis=1)
    plain, wider = (tables.thresholds(ek.decompose(x, k=3, scale=scale)) for x in (random_table(5), data))
    assert plain.rows == wider.rows


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("combined", [False, True])
def test_single_precision_has_the_limits_of_double(scale: bool, combined: bool) -> None:
    """Rounding errors are no residual, and a column that is the sum of two others adds no component."""
    data = random_table(5).astype(np.float32).astype(np.float64)
    if combined:
        data[:, 5] = data[:, 0] + data[:, 1]
    single, double = (ek.decompose(data.astype(kind), scale=scale, left=True) for kind in (np.float32, np.float64))
    assert tables.complete(single)
    limits = [tables.outlier_limits(d).rows for d in (single, double)]
    assert [row[3] for row in limits[0]] == [row[3] for row in limits[1]]
    np.testing.assert_allclose(*(numbers(tables.outlier_limits(d), "limit") for d in (single, double)), rtol=1e-4)
    assert [row[5] for row in tables.outliers(single).rows] == [row[5] for row in tables.outliers(double).rows]


@pytest.mark.parametrize("total", [0.5, 1.0, 2.5])
def test_weights_that_stand_for_few_rows_have_no_limits(total: float) -> None:
    """T2 = sum t^2 / lambda still follows from the scores and variances that the tables show."""
    data = random_table(6)
    d = ek.decompose(data, k=2, left=True, sample_weight=np.full(len(data), total / len(data)))
    assert [row[3] for row in tables.outlier_limits(d).rows] == ["too few rows"] * 4
    assert not any(row[5] for row in tables.outliers(d).rows)
    expected = (ek.tables.row_scores(d) ** 2 / np.asarray(d.explained_variance)).sum(axis=1)
    np.testing.assert_allclose(numbers(tables.outliers(d), "T2")[:, 0], expected)
    (note,) = [note for note in d.notes if note.code == "few_weights"]
    assert f"multiply the weights by {len(data) / total:.4g}" in note
    caption = tables.outliers(d).caption
    assert "T2 none (too few rows), Q none (too few rows). Without limits, no row counts as an outlier." in caption
    assert not ek.decompose(data, k=2, sample_weight=np.full(len(data), 0.5)).notes


@pytest.mark.parametrize(("rows", "said"), [(8, "fewer than 1 of 8 rows"), (12, "about 1 of 12 rows")])
def test_rows_beyond_a_limit_by_chance_are_not_overstated(rows: int, said: str) -> None:
    data = np.random.default_rng(rows).normal(size=(rows, 5))
    d = ek.decompose(data, k=1, left=True)
    assert f"By chance, {said} exceed each limit." in tables.outliers(d).caption
    assert "exceed the limit." in tables.outliers(ek.decompose(data, left=True)).caption  # only T2 has one


def test_weights_that_overstate_the_number_of_rows_are_noted() -> None:
    """Kish's effective number of rows, (sum w)^2 / sum w^2; whole weights can be counts of equal rows."""
    data = random_table(6)
    uneven = np.geomspace(0.001, 100.0, len(data))
    effective = uneven.sum() ** 2 / (uneven**2).sum()
    (note,) = ek.decompose(data, k=2, sample_weight=uneven).notes
    assert f"effective number of rows is {effective:.4g}" in note
    assert f"multiply the weights by {effective / uneven.sum():.4g}" in note
    for weights in (uneven * effective / uneven.sum(), np.arange(len(data)) * 100.0, np.full(len(data), 1.5)):
        assert not ek.decompose(data, k=2, sample_weight=weights).notes
