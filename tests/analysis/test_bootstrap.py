"""The bootstrap: pairing of axes, coverage, repeatability, weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logit

import eckart as ek
from eckart.analysis.alignment import close_groups, pair, rotated_groups
from eckart.errors import ParameterError
from tests.samples import usarrests


@given(st.integers(0, 2**16), st.integers(1, 5))
def test_signs_and_places_do_not_matter(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    components, _ = np.linalg.qr(random.normal(size=(8, k)))
    order, signs = random.permutation(k), random.choice([-1.0, 1.0], k)
    near, _ = np.linalg.qr(components + 0.01 * random.normal(size=components.shape))
    near = near * np.sign((near * components).sum(axis=0))
    indices, turned, cosines = pair(components, (near * signs)[:, order])
    np.testing.assert_array_equal(order[indices], np.arange(k))
    np.testing.assert_allclose((near * signs)[:, order][:, indices] * turned, near)
    assert (cosines > 0.99).all()


def test_a_repetition_is_the_decomposition_of_repeated_rows() -> None:
    data, *_ = usarrests()
    found = ek.bootstrap(data, k=2, scale=True, count=3, rng=5)
    random = np.random.Generator(np.random.Philox(5))
    for i in range(3):
        times = random.multinomial(50, np.full(50, 1 / 50))
        d = ek.decompose(np.repeat(data, times, axis=0), k=2, scale=True)
        np.testing.assert_allclose(found.explained_variance_ratio[i], d.explained_variance_ratio, rtol=1e-9)
        np.testing.assert_allclose(np.abs((found.right[i] * np.asarray(d.right)).sum(axis=0)), 1, atol=1e-9)


def test_intervals_cover_the_truth() -> None:
    """Of 30 tables with a known first axis, about 95 % of the intervals of its loadings hold the truth."""
    random = np.random.default_rng(3)
    truth = np.array([0.8, 0.6, 0.0, 0.0])
    inside = []
    for _ in range(30):
        data = 3 * random.normal(size=(120, 1)) * truth + random.normal(size=(120, 4))
        table = ek.bootstrap(data, k=1, count=80).loadings()
        sign = np.sign(table.rows[0][2])
        low, high = np.sort(sign * np.array([row[3:5] for row in table.rows], dtype=float), axis=1).T
        inside += ((low <= truth) & (truth <= high)).tolist()
    assert 0.88 <= np.mean(inside) <= 0.99


def test_axes_that_change_places_are_paired() -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(100, 4)) * [2.0, 1.97, 0.3, 0.2]
    found = ek.bootstrap(data, k=2, count=100)
    table = found.components()
    assert 0.2 < float(table.rows[0][5]) < 0.9  # often not in its place
    assert found.cosines.min() > 0.5  # and paired all the same


def test_same_seed_same_numbers() -> None:
    data, *_ = usarrests()
    first, second, other = (ek.bootstrap(data, k=2, count=20, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.right, second.right)
    assert not np.array_equal(first.right, other.right)


@pytest.mark.parametrize("kind", [sparse.csr_array, lambda x: ek.datasets.path("usarrests")], ids=["sparse", "path"])
def test_other_kinds_of_data(kind: Any) -> None:
    data, *_ = usarrests()
    expected = ek.bootstrap(data, k=2, count=10)
    found = ek.bootstrap(kind(data), k=2, count=10)
    np.testing.assert_allclose(found.explained_variance_ratio, expected.explained_variance_ratio, rtol=1e-9)


def test_weights_and_few_rows() -> None:
    data, *_ = usarrests()
    weights = np.r_[np.zeros(40), np.ones(10)]
    found = ek.bootstrap(data, k=3, count=10, sample_weight=weights)
    assert found.decomposition.rows == 10
    np.testing.assert_allclose(found.right, ek.bootstrap(data[40:], k=3, count=10).right, atol=1e-9)
    tiny = ek.bootstrap(data[:3], k=2, count=30)
    assert np.isfinite(tiny.right).all()
    assert (tiny.explained_variance_ratio.sum(axis=1) <= 1 + 1e-9).all()


def test_tables_say_what_they_are() -> None:
    data, rows, columns = usarrests()
    found = ek.bootstrap(data, k=2, scale=True, count=50)
    table = found.loadings()
    assert table.columns == ("column", "component", "loading", "lower", "upper", "sign")
    assert len(table.rows) == 8
    assert "ends of the 95 % interval from 50 bootstrap resamples" in table.caption
    assert {row[5] for row in table.rows} <= {"sure", ""}
    assert rows
    assert columns


def test_a_component_close_to_one_that_was_not_requested() -> None:
    """With deviations of 2 and 1.9, the first component of 50 rows lies anywhere in the plane of both."""
    random = np.random.default_rng(3)
    data = random.normal(size=(50, 5)) * (2, 1.9, 0.4, 0.3, 0.2)
    one, two = (ek.bootstrap(data, k=k, count=50) for k in (1, 2))
    assert one.unseparated == (0,)
    assert {row[5] for row in one.loadings().rows} == {""}
    assert "Request more components" in one.loadings().caption
    assert two.groups == ((0, 1),)
    assert two.unseparated == ()


@pytest.mark.parametrize(
    ("options", "named"),
    [({"method": "nmf"}, "method='nmf'"), ({"count": 1}, "count=1 "), ({"confidence": 1.0}, "confidence=1.0 ")],
)
def test_arguments_out_of_range_are_named(options: Any, named: str) -> None:
    with pytest.raises(ParameterError) as refused:
        ek.bootstrap(usarrests()[0], k=2, **options)
    assert named in str(refused.value)
    assert str(refused.value).count("=") == 1


@pytest.mark.parametrize(("rows", "deviations"), [(50, (4, 2, 1, 0.5, 0.4)), (60, (2, 1.9, 0.8, 0.5, 0.3))])
def test_intervals_cover_clear_and_close_components(rows: int, deviations: tuple[float, ...]) -> None:
    """95 % intervals hold the loadings of the true space in the fit's basis; pairing alone gave 70 to 78 %."""
    random = np.random.default_rng(rows)
    inside, sure = [], []
    for _ in range(15):
        basis = np.linalg.qr(random.normal(size=(5, 5)))[0]
        found = ek.bootstrap((random.normal(size=(rows, 5)) * deviations) @ basis.T, k=2, count=100)
        fit = np.asarray(found.decomposition.right)
        truth = basis[:, :2] * np.sign((basis[:, :2] * fit).sum(axis=0))
        truth = rotated_groups(fit, truth, found.groups).T.ravel()
        lines = found.loadings().rows
        low, high = np.array([line[3:5] for line in lines], dtype=float).T
        inside.append(((low <= truth) & (truth <= high)).mean())
        called = np.array([line[5] == "sure" for line in lines])
        sure += (np.sign(truth) == np.sign(fit.T.ravel()))[called].tolist()
    # The loadings of one table are about one independent case, so the error is that of 15 binomial draws at most.
    assert abs(np.mean(inside) - 0.95) < 3 * (0.05 * 0.95 / 15) ** 0.5
    # Wrong in one of a hundred at most: more than four of some fifty would have a probability below 1e-3.
    assert len(sure) - np.sum(sure) <= 4


def test_components_of_a_group_are_also_matched_separately() -> None:
    """Their variances differ by 2.4 standard errors, so they may well be different components."""
    random = np.random.default_rng(12)
    scores = random.normal(size=(50, 5))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0] * np.sqrt([4 * np.exp(2.4 * 2 / 50**0.5), 4, 0.5, 0.4, 0.3])
    found = ek.bootstrap(scores @ np.linalg.qr(random.normal(size=(5, 5)))[0], k=2, count=100)
    assert found.groups == ((0, 1),)
    assert found.matched.std(axis=0).max() > 2 * found.right.std(axis=0).max()
    low, high = np.array([line[3:5] for line in found.loadings().rows], dtype=float).T
    for drawn in (found.right, found.matched):
        ends = np.quantile(drawn, [0.025, 0.975], axis=0).transpose(0, 2, 1).reshape(2, -1)
        assert (low <= ends[0]).all()
        assert (ends[1] <= high).all()


def test_no_sign_of_a_group_is_sure() -> None:
    """Another sample gives the components of a group other signs: those of the fit were wrong in 15 of 100 cases."""
    random = np.random.default_rng(22)
    basis = np.linalg.qr(random.normal(size=(5, 5)))[0]
    found = ek.bootstrap((random.normal(size=(60, 5)) * (5, 2, 1.9, 0.4, 0.3)) @ basis.T, k=3, count=60)
    assert found.groups == ((1, 2),)
    table = found.loadings()
    assert {line[1] for line in table.rows if line[5] == "sure"} == {"PC1"}
    assert "no sign is certain" in " ".join(table.caption.split())


def test_shares_three_standard_errors_apart() -> None:
    """In half of these samples the components form a group, and shrunk shares alone would miss one truth in ten."""
    random = np.random.default_rng(23)
    deviations = np.array([3, 2, 1, 0.8, 0.6])
    truth = np.square(deviations[:2]) / np.square(deviations).sum()
    inside, grouped = [], 0
    for _ in range(40):
        found = ek.bootstrap(random.normal(size=(60, 5)) * deviations, k=2, count=60)
        low, high = np.array([line[2:4] for line in found.components().rows], dtype=float).T
        inside.append((low <= truth) & (truth <= high))
        grouped += bool(found.groups)
    assert 8 <= grouped <= 32
    # Three errors of 40 binomial draws below 95 %; the shares of a table depend on each other.
    assert np.mean(inside) > 0.95 - 3 * (0.05 * 0.95 / 40) ** 0.5


@pytest.mark.parametrize("deviations", [(4, 2, 1, 0.5, 0.4), (2, 2, 0.8, 0.5, 0.3), (2, 1.95, 1.9, 0.4, 0.3)])
def test_intervals_cover_shares(deviations: tuple[float, ...]) -> None:
    """The largest of equal shares is too large in a sample and again in a resample: percentiles cover almost never."""
    random, k = np.random.default_rng(4), 3 if deviations[2] > 1 else 2
    shares = np.square(deviations[:k]) / np.square(deviations).sum()
    inside = []
    for _ in range(25):
        found = ek.bootstrap(random.normal(size=(60, 5)) * deviations, k=k, count=60).components()
        low, high = np.array([line[2:4] for line in found.rows], dtype=float).T
        inside.append(((low <= shares) & (shares <= high)).mean())
    assert np.mean(inside) > 0.95 - 3 * (0.05 * 0.95 / 25) ** 0.5


def test_equal_shares_are_corrected_for_their_whole_difference() -> None:
    """Shares that differ by chance: subtracting the bias of the resamples leaves half of the difference (0.48)."""
    random, fitted, corrected = np.random.default_rng(4), [], []
    for _ in range(20):
        found = ek.bootstrap(random.normal(size=(60, 4)) * (2, 2, 0.8, 0.5), k=2, count=100)
        first, second = logit(found.corrected_variance_ratio[[0, 2]]).T
        fitted.append(first[0] - second[0])
        corrected.append(first[1] - second[1])
    assert np.mean(corrected) < 0.35 * np.mean(fitted)


def test_components_that_were_not_requested_count_for_the_bias() -> None:
    """Three equal components of 60 rows: the first share is as much too large whether one or three are requested."""
    random, lower = np.random.default_rng(71), []
    for _ in range(10):
        data = random.normal(size=(60, 5)) * (2, 2, 2, 0.4, 0.3)
        one, three = (logit(float(str(ek.bootstrap(data, k=k, count=80).components().rows[0][2]))) for k in (1, 3))
        lower.append(one - three)
    assert abs(np.mean(lower)) < 0.05  # 0.10 if only the plain bias is subtracted


def test_intervals_contain_the_share_of_the_fit() -> None:
    """The estimate of the bias has an error of its own: without the uncorrected share, 80 % of intervals cover."""
    random, corrected = np.random.default_rng(72), []
    for _ in range(10):
        found = ek.bootstrap(random.normal(size=(100, 6)) * 0.6 ** (np.arange(6) / 2), k=3, count=40)
        share, low, high = np.array([line[1:4] for line in found.components().rows], dtype=float).T
        # Two standard errors to either side of the share, and more on the side of the bias.
        shift = logit(found.corrected_variance_ratio) - logit(share)
        np.testing.assert_allclose(shift[0], 0, atol=1e-12)
        assert (logit(low) - logit(share) - shift.min(axis=0) < -0.2).all()
        assert (logit(high) - logit(share) - shift.max(axis=0) > 0.2).all()
        corrected.append(shift[1:])
    assert np.ptp(corrected, axis=0).max() > 0.1


def test_few_rows_make_equal_variances_differ_more() -> None:
    """Two equal variances of 12 rows differ by three standard errors in 4 % of samples, but are separated in 1 %."""
    random, groups = np.random.default_rng(2), 0
    for _ in range(1000):
        scores = random.normal(size=(12, 2))
        values = np.linalg.svd(scores - scores.mean(axis=0), compute_uv=False)
        groups += bool(close_groups(SimpleNamespace(k=2, values=values, weight=12.0)))  # type: ignore[arg-type]
    assert abs(groups / 1000 - (1 - np.exp(-4.5))) < 3 * (0.011 * 0.989 / 1000) ** 0.5


def test_heavy_tails_do_not_separate_equal_variances() -> None:
    """With the standard errors of normal rows, 13 % of these tables would have two separate components."""
    separated = 0
    for table in range(150):
        data = np.random.default_rng([6, 100, table]).standard_t(5, (100, 3)) * [2.0, 2.0, 0.5]
        separated += not ek.bootstrap(data, k=2, count=2).groups
    assert separated <= 6  # 1.1 % expected


def test_shares_of_0_and_1_have_no_spread() -> None:
    line = np.random.default_rng(0).normal(size=(20, 1)) * [1.0, 2.0]
    rows = ek.bootstrap(line, k=2, count=20).components().rows
    np.testing.assert_allclose([row[1:4] for row in rows], [[1.0] * 3, [0.0] * 3], atol=1e-12)


def test_close_components_are_named_in_the_caption() -> None:
    data = np.random.default_rng(0).normal(size=(100, 4)) * [2.0, 1.97, 0.3, 0.2]
    found = ek.bootstrap(data, k=2, count=20)
    assert found.groups == ((0, 1),)
    assert "Only the subspace spanned by PC1 to PC2 is determined" in found.loadings().caption


def test_weights_count_as_repeated_rows() -> None:
    data, *_ = usarrests()
    times = np.arange(len(data)) % 3 + 1
    found = ek.bootstrap(data, k=2, scale=True, count=20, sample_weight=times)
    expected = ek.bootstrap(np.repeat(data, times, axis=0), k=2, scale=True, count=20)
    np.testing.assert_allclose(found.right, expected.right, atol=1e-9)
    np.testing.assert_allclose(found.explained_variance_ratio, expected.explained_variance_ratio, atol=1e-9)


def test_weights_that_are_not_whole_numbers() -> None:
    """60 rows of weight 2.5 count as 150."""
    data = np.random.default_rng(5).standard_normal((60, 3)) * (3.0, 2.0, 1.0)

    def width(weight: float) -> float:
        rows = ek.bootstrap(data, k=1, count=200, sample_weight=np.full(60, weight)).loadings().rows
        return float(np.mean([row[4] - row[3] for row in rows]))

    assert 0.55 < width(2.5) / width(1.0) < 0.72  # 1 / sqrt(2.5) = 0.63


def test_few_resamples_do_not_make_signs_sure() -> None:
    """Loadings of 0 on a clear component: a sign is called sure in at most 1 % of them, whatever the count."""
    random, sure, lengths = np.random.default_rng(8), [], []
    for _ in range(40):
        data = random.normal(size=(60, 6)) * [4, 1, 1, 1, 1, 1]
        for count in (3, 20):
            lines = ek.bootstrap(data, k=1, count=count).loadings().rows
            sure += [line[5] == "sure" for line in lines[1:]]
            lengths += [line[4] - line[3] for line in lines]
    assert np.mean(sure) < 0.03
    assert max(lengths) <= 2.0
