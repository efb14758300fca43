"""Bounds of similarities against cosines and dot products in extended precision."""

import numpy as np
import pytest

import eckart as ek

WIDE = np.longdouble


def standard(rows, weights=None):
    """Rows minus their weighted mean, in extended precision."""
    rows = rows.astype(WIDE)
    weights = np.ones(len(rows), WIDE) if weights is None else weights.astype(WIDE)
    return rows - (weights[:, None] * rows).sum(axis=0) / weights.sum()


def check(found, vectors, one, *, cosine):
    """The bounds contain the similarities of complete vectors, and proved results are the best ones in order."""
    exact = vectors @ vectors[one]
    if cosine:
        exact = exact / np.sqrt((vectors**2).sum(axis=1) * (vectors[one] ** 2).sum())
    there = exact[found.indices]
    assert np.all(found.lower <= there + 1e-15 * np.abs(there))
    assert np.all(there <= found.upper + 1e-15 * np.abs(there))
    order = [i for i in np.argsort(-exact) if i != one]
    assert list(found.indices[: found.proved]) == order[: found.proved]
    assert not found.set_proved or set(found.indices) == set(order[: len(found)])


@pytest.mark.parametrize("by", ["cosine", "dot"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kept", [True, False])
def test_bounds_hold_for_rows_near_a_large_mean(by, dtype, kept):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((20, 12)) + 10.0 ** rng.uniform(0, 6) * rng.standard_normal(12)
        data[3] = data.mean(axis=0) + 1e-6 * rng.standard_normal(12)
        data = data.astype(dtype)
        d = ek.decompose(data, "pca", k=10, left=kept)
        space = ek.concepts(d) if kept else ek.concepts(d, data)
        for row in (0, 3):
            check(space.similar_rows(row, 5, by=by, proof=True), standard(data), row, cosine=by == "cosine")


@pytest.mark.parametrize("size", [1e-100, 1e100, 1e-170, 1e150])
def test_cosines_of_values_whose_squares_leave_the_range(size):
    data = np.random.default_rng(1).standard_normal((30, 4)) * size
    data[5] *= 1e-90
    space = ek.concepts(ek.decompose(data, "svd", k=4), data)
    exact = data.astype(WIDE) / size
    check(space.similar_rows(0, 29, proof=True), exact, 0, cosine=True)
    check(space.similar_columns(0, 3, proof=True), exact.T, 0, cosine=True)


@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_rows_of_a_fit_that_ended_early(shape):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal(shape) * 0.9 ** np.arange(shape[1])
        with pytest.warns(ek.errors.AccuracyWarning):
            d = ek.decompose(data, "svd", k=6, left=True, solver="lanczos", max_passes=3)
        space = ek.concepts(d)
        check(space.similar_rows(1, 5, by="dot", proof=True), data.astype(WIDE), 1, cosine=False)
        check(space.similar_columns(2, 5, by="dot", proof=True), data.T.astype(WIDE), 2, cosine=False)


def test_columns_in_the_space_of_the_smallest_components():
    """Residuals are relative to the largest value of the matrix, not to the largest that was computed."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        data = (rng.standard_normal((50, 8)) * 10.0 ** -np.arange(8)).astype("float32")
        d = ek.decompose(data, "svd", k=4, which="smallest")
        check(ek.concepts(d).similar_columns(7, 5, by="dot", proof=True), data.T.astype(WIDE), 7, cosine=False)


def test_weighted_rows():
    rng = np.random.default_rng(5)
    data, weights = rng.standard_normal((40, 6)) + 50.0, 10.0 ** rng.uniform(-8, 0, 40)
    space = ek.concepts(ek.decompose(data, "pca", k=5, left=True, sample_weight=weights))
    for row in range(0, 40, 7):
        check(space.similar_rows(row, 5, proof=True), standard(data, weights), row, cosine=True)


def test_complete_concepts_prove_the_whole_order():
    data = np.random.default_rng(3).standard_normal((30, 4))
    for found in (
        ek.concepts(ek.decompose(data, "pca", k=4), data).similar_rows(0, 29, proof=True),
        ek.concepts(ek.decompose(data, "svd", k=4)).similar_columns(0, 3, proof=True),
    ):
        assert found.proved == len(found)
        assert np.all(found.upper - found.lower < 1e-9)


@pytest.mark.parametrize("weight", [None, 1e-30, 1e30])
def test_rows_that_are_shorter_than_rounding_errors(weight):
    """Their coordinates are 0, which is an error of up to their lengths. Large weights do not make rows short."""
    data = np.exp(5.0 * np.random.default_rng(2).standard_normal((110, 3))).astype("float32")
    weights = None if weight is None else np.full(110, weight)
    space = ek.concepts(ek.decompose(data, "svd", k=2, left=True, sample_weight=weights))
    for row in np.argsort(-np.linalg.norm(data, axis=1))[:3]:
        check(space.similar_rows(row, 109, by="dot", proof=True), data.astype(WIDE), row, cosine=False)


def test_rows_whose_scores_overflow_are_still_candidates():
    data = np.array([[1, 2, 0], [2e19, -2e19, 1e19], [-1e19, 1e19, 3e19], [1e18, 0, 1e18]], "float32")
    found = ek.concepts(ek.decompose(data, "svd", k=2), data).similar_rows(1, 2, by="dot", proof=True)
    check(found, data.astype(WIDE), 1, cosine=False)


@pytest.mark.parametrize("size", [1e-180, 1e-160, 1e154, 1e180])
def test_dot_products_outside_the_range_of_float64(size):
    """A product of two lengths can overflow or underflow although the lengths do not."""
    data = np.random.default_rng(1).standard_normal((12, 4)) * size
    exact, largest = data.astype(WIDE), np.finfo(float).max
    space = ek.concepts(ek.decompose(data, "svd", k=2), data)
    for vectors, found in (
        (exact, space.similar_rows(0, 11, by="dot", proof=True)),
        (exact.T, space.similar_columns(0, 3, by="dot", proof=True)),
    ):
        there = (vectors @ vectors[0])[found.indices]
        assert np.all(found.lower <= there)
        assert np.all(there <= found.upper)
        assert np.all(found.lower <= largest)
