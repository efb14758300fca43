"""Each rule against its formula, another way of computing it, or published figures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln
from sklearn.decomposition._pca import _infer_dimension

from eckart.rank.cross_validation import bicross_errors, lost_directions
from eckart.rank.descriptive import count_for, kneedle, pieces
from eckart.rank.edge import tracy_widom, upper_edge
from eckart.rank.minka import log_evidence, minka_rank
from eckart.rank.resampling import flipped as flip
from eckart.rank.resampling import permuted
from eckart.rank.thresholds import coefficient, marchenko_pastur_median, noise_values, threshold

RNG = np.random.default_rng(0)


def test_gavish_donoho_published_figures():
    assert coefficient(1.0) == pytest.approx(4 / 3**0.5)
    # Table IV of the paper: omega(beta)
    for beta, omega in ((0.05, 1.5194), (0.25, 1.8371), (0.5, 2.1711), (1.0, 2.8582)):
        assert coefficient(beta) / marchenko_pastur_median(beta) ** 0.5 == pytest.approx(omega, abs=2e-3)


@pytest.mark.parametrize(("rows", "columns"), [(2000, 400), (1000, 1000)])
def test_marchenko_pastur_median_is_that_of_a_random_matrix(rows, columns):
    values = np.linalg.svd(RNG.standard_normal((rows, columns)), compute_uv=False) ** 2 / rows
    assert np.median(values) == pytest.approx(marchenko_pastur_median(columns / rows), rel=0.02)


def test_edge_of_white_noise_is_known_and_of_other_noise_is_where_it_ends():
    for rows, columns in ((100, 30), (50, 200)):
        assert upper_edge(np.full(columns, 3.0), rows) == pytest.approx(3 * (1 + (columns / rows) ** 0.5) ** 2)
    deviations = np.linspace(0.3, 3, 300)
    drawn = [np.linalg.norm(RNG.standard_normal((600, 300)) * deviations, 2) ** 2 / 600 for _ in range(8)]
    mean_of_tracy_widom = -1.2065
    assert np.mean(drawn) == pytest.approx(upper_edge(deviations**2, 600, mean_of_tracy_widom), rel=0.02)
    assert upper_edge(np.zeros(3), 10) == 0.0


def test_quantile_of_the_edge_is_passed_by_few_noise_tables():
    rng = np.random.default_rng(5)
    deviations = np.linspace(0.5, 2, 40)
    limit = upper_edge(deviations**2, 120, tracy_widom(0.95))
    passed = [np.linalg.norm(rng.standard_normal((120, 40)) * deviations, 2) ** 2 / 120 > limit for _ in range(300)]
    assert 0.01 < np.mean(passed) < 0.10


def test_screenot_in_white_noise_is_gavish_donoho():
    """For white noise the best threshold is known: lambda(beta) sqrt(n)."""
    rows, columns = 800, 400
    noise = np.linalg.svd(RNG.standard_normal((rows, columns)), compute_uv=False)
    assert threshold(noise, columns / rows) == pytest.approx(coefficient(columns / rows) * rows**0.5, rel=0.01)


def test_screenot_imputes_as_published():
    values = np.sort(RNG.random(20))[::-1]
    most = 4
    expected = values.copy()
    for place in range(1, most + 1):
        share = (1 - ((place - 1) / most) ** (2 / 3)) / (2 ** (2 / 3) - 1)
        expected[place - 1] = values[most] + share * (values[most] - values[2 * most])
    assert np.allclose(noise_values(values, most), expected)


@pytest.mark.parametrize("seed", range(8))
def test_minka_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(30, 300)), int(rng.integers(3, 25))
    table = rng.standard_normal((rows, columns)) * rng.uniform(0.2, 4, columns)
    variances = np.linalg.eigvalsh(np.cov(table.T))[::-1]
    assert minka_rank(variances, rows) == _infer_dimension(variances, rows)


def test_minka_evidence_by_its_double_sum():
    """log|A| summed pair by pair, as the paper prints it."""
    variances, rows = np.array([5.0, 3.0, 2.0, 0.7, 0.5, 0.4]), 50
    size = len(variances)
    found = log_evidence(variances, rows)
    slow = []
    for k in range(1, size):
        v = variances[k:].mean()
        hat = np.where(np.arange(size) < k, variances, v)
        total = sum(
            np.log(rows * (1 / hat[j] - 1 / hat[i]) * (variances[i] - variances[j]))
            for i in range(k)
            for j in range(i + 1, size)
        )
        m = size * k - k * (k + 1) / 2
        prior = -k * np.log(2) + sum(
            gammaln((size - i + 1) / 2) - np.log(np.pi) * (size - i + 1) / 2 for i in range(1, k + 1)
        )
        fit = -rows / 2 * (np.log(variances[:k]).sum() + (size - k) * np.log(v))
        slow.append(prior + fit + (m + k) / 2 * np.log(2 * np.pi) - total / 2 - k / 2 * np.log(rows))
    assert np.allclose(found, slow)


def test_broken_stick_by_breaking_sticks():
    assert pieces(7).sum() == pytest.approx(1.0)
    rng = np.random.default_rng(1)
    cuts = np.sort(rng.random((20000, 4)), axis=1)
    lengths = np.diff(np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
    assert np.allclose(np.sort(lengths, axis=1)[:, ::-1].mean(axis=0), pieces(5), atol=5e-3)


def test_kneedle():
    assert kneedle(np.array([10.0, 9, 8, 1, 0.9, 0.8, 0.7, 0.6])) == 3
    assert kneedle(np.linspace(5, 1, 9)) is None
    assert kneedle(np.ones(5)) is None
    x = np.arange(1, 11)
    assert kneedle(10.0 / x) == int(np.argmax((10 - 10 / x) / 9 - (x - 1) / 9))


def test_kneedle_on_cumulative_shares_is_kaiser():
    """Why the scree is taken: C_k - k/p is largest where axes stop to be above the average."""
    shares = np.sort(RNG.dirichlet(np.ones(12)))[::-1]
    distance = np.cumsum(shares) - np.arange(1, 13) / 12
    assert int(np.argmax(distance)) + 1 == int((shares > 1 / 12).sum())


def test_count_for():
    held = np.array([0.5, 0.75, 0.9, 1.0])
    assert [count_for(held, share) for share in (0.1, 0.5, 0.6, 0.9, 0.95, 1.0)] == [1, 1, 2, 3, 4, 4]


def test_bicross_is_the_formula_with_a_pseudo_inverse():
    """Against A12 (A22)_k^+ A21 written out, for one split of each side."""
    table = RNG.standard_normal((14, 3)) @ RNG.standard_normal((3, 10)) + 0.1 * RNG.standard_normal((14, 10)) + 2.0
    found = bicross_errors(table, 3, center=True, rng=np.random.default_rng(9))
    rng = np.random.default_rng(9)
    halves, sides = np.array_split(rng.permutation(14), 2), np.array_split(rng.permutation(10), 2)
    slow = np.zeros(4)
    for i in range(2):
        for j in range(2):
            kept, out, far, near = halves[1 - i], halves[i], sides[j], sides[1 - j]
            mean = table[kept].mean(axis=0)
            centred = table - mean
            left, values, right = np.linalg.svd(centred[np.ix_(kept, near)], full_matrices=False)
            for k in range(4):
                inverse = right[:k].T / values[:k] @ left[:, :k].T
                guess = centred[np.ix_(out, near)] @ inverse @ centred[np.ix_(kept, far)]
                slow[k] += np.sum((centred[np.ix_(out, far)] - guess) ** 2)
    assert np.allclose(found, slow / slow[0], rtol=1e-5)


def test_destroyed_tables_keep_what_they_must():
    dense = np.where(RNG.random((50, 6)) < 0.3, RNG.random((50, 6)), 0.0)
    flipped = flip(dense, np.random.default_rng(0))
    for table in (dense, sparse.csr_array(dense)):
        shuffled = permuted(table, np.random.default_rng(0))
        shuffled = shuffled.toarray() if sparse.issparse(shuffled) else shuffled
        assert np.allclose(np.sort(shuffled, axis=0), np.sort(dense, axis=0))
        assert not np.allclose(shuffled, dense)
        assert np.allclose(np.abs(flipped), dense)
        assert 0.3 < (flipped[dense > 0] > 0).mean() < 0.7


def test_stability_by_projectors():
    table = RNG.standard_normal((40, 5)) * [5, 4, 1, 1, 1]
    found = lost_directions(table, 3, center=True, rng=np.random.default_rng(2), repeats=1)
    order = np.random.default_rng(2).permutation(40)
    components = []
    for half in np.array_split(order, 2):
        part = table[np.sort(half)]
        components.append(np.linalg.svd(part - part.mean(axis=0))[2].T)
    for k in (1, 2, 3):
        projectors = [a[:, :k] @ a[:, :k].T for a in components]
        assert found[k - 1] == pytest.approx(k - np.trace(projectors[0] @ projectors[1]), abs=1e-6)
