"""Clusters of rows: found where they are, and not in distributions without clusters."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("count", [2, 3, 4])
def test_clusters_that_are_there(count: int) -> None:
    rng = np.random.default_rng(count)
    codes = rng.integers(count, size=300)
    middles = 9 * rng.standard_normal((count, 5))
    found = ek.analyze(middles[codes] + rng.standard_normal((300, 5))).clusters
    assert found is not None
    assert found.count == count
    pairs = {(a, b) for a, b in zip(codes.tolist(), found.codes.tolist(), strict=True)}
    assert len(pairs) == count, "every cluster is one group"


def test_one_normal_distribution_has_none() -> None:
    wrong = 0
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        table = rng.standard_normal((80, 2)) @ np.diag([3.0, 1.0]) @ rng.standard_normal((2, 6))
        found = ek.analyze(table + 0.1 * rng.standard_normal((80, 6)), ranks=None).clusters
        assert found is not None
        wrong += found.count > 1
    assert wrong <= 2  # one in 40 is expected; more than 2 of 12 has a probability of 0.3 %


def _few_values(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, (60, 5)).astype(float)


def _skewed(rng: np.random.Generator) -> np.ndarray:
    return np.exp(rng.standard_normal((100, 1)) + 0.4 * rng.standard_normal((100, 6)))


def _heavy(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(3, (100, 5))


def _arc(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, np.pi, 120)
    return np.stack([np.cos(angle), np.sin(angle), angle], axis=1) + 0.05 * rng.standard_normal((120, 3))


def _one_far_row(rng: np.random.Generator) -> np.ndarray:
    table = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((80, 6))
    table[0] += 15
    return table


@pytest.mark.parametrize("draw", [_few_values, _skewed, _heavy, _arc, _one_far_row])
def test_one_mode_has_none(draw) -> None:
    """Values with gaps, skewed and heavy tails, curves and outliers: clearer than in normal samples, but one mode."""
    for seed in range(4):
        found = ek.analyze(draw(np.random.default_rng(200 + seed)), scale=True, rng=0).clusters
        assert found is not None
        assert found.count == 1, found.lines


def test_classes_of_answers_are_found() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(2, size=200)
    answers = (rng.random((200, 12)) < np.where(codes, 0.9, 0.1)[:, None]).astype(float)
    found = ek.analyze(answers).clusters
    assert found is not None
    assert found.count == 2
    assert abs(np.mean(found.codes == codes) - 0.5) > 0.45


@pytest.mark.parametrize("count", [2, 3])
def test_a_few_different_rows_are_the_clusters(count: int) -> None:
    points = np.random.default_rng(count).normal(size=(count, 4))
    found = ek.analyze(np.repeat(points, 20, axis=0)).clusters
    assert found is not None
    assert found.count == count
    assert found.silhouette == pytest.approx(1.0)


def test_a_group_of_one_row_is_called_so() -> None:
    table = np.vstack([np.random.default_rng(0).normal(10.0, 1.0, (49, 3)), np.full((1, 3), 1000.0)])
    found = ek.analyze(table).clusters
    assert found is not None
    assert found.count == 1
    assert "The smallest group has only 1 row" in found.lines[0]


def test_a_partition_with_overlapping_groups_is_mentioned() -> None:
    """Two of the three cultivars of wine overlap: the rule finds two clusters, and says that three stand out more."""
    from sklearn.datasets import load_wine

    found = ek.analyze(load_wine().data, scale=True).clusters
    assert found is not None
    assert found.count == 2
    sentence = "A partition into 3 groups stands out more, with a mean silhouette width of 0.45, but at least two"
    assert sentence in found.lines[0]
