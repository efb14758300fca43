"""Scores and rows of dense NumPy arrays, against the definition in extended precision."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.errors import MissingValuesError


def fitted(offset=0.0, dtype="f8", rows=300, columns=12, **options):
    rng = np.random.default_rng(rows)
    X = (rng.standard_normal((rows, columns)) * np.arange(1, columns + 1) + offset).astype(dtype)
    return ek.PCA(4, **options).fit(X), X


def scores_of(model, X):
    centred = X.astype(np.longdouble) - model.mean_.astype(np.longdouble)
    return centred @ model.components_.T.astype(np.longdouble)


@pytest.mark.parametrize("offset", [0.0, 50.0, 1e7])
@pytest.mark.parametrize(("dtype", "unit"), [("f8", 2e-12), ("f4", 2e-5)])
def test_scores(offset, dtype, unit):
    """Digits are lost to an offset only as far as the entries themselves have lost them."""
    model, X = fitted(offset, dtype)
    expected = scores_of(model, X)
    allowed = unit * float(np.abs(expected).max()) + (np.finfo(dtype).eps * 12 * offset if dtype == "f8" else 0.0)
    assert float(np.abs(model.transform(X) - expected).max()) <= allowed
    assert model.transform(X).dtype == X.dtype


def test_layouts_and_sizes():
    model, X = fitted()
    expected = np.asarray(scores_of(model, X), np.float64)
    for view in (np.asfortranarray(X), X[::-1][::-1], X[:1]):
        np.testing.assert_allclose(model.transform(view), expected[: len(view)], rtol=0, atol=1e-11)


def test_large_products_are_the_same_for_any_number_of_threads():
    model, X = fitted(rows=30_000, columns=60)
    results = []
    for count in (1, 2):
        with threadpool_limits(count):
            results.append((model.transform(X), model.inverse_transform(model.transform(X))))
    assert all(one.tobytes() == two.tobytes() for one, two in zip(*results, strict=True))


def test_whitened_scores_have_unit_variance():
    model, X = fitted(20.0, whiten=True)
    np.testing.assert_allclose(model.transform(X).var(axis=0, ddof=1), 1.0, rtol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)).mean(axis=0), X.mean(axis=0), rtol=1e-10)


def test_missing_values_are_named():
    model, X = fitted()
    X[7, 3] = np.nan
    with pytest.raises(MissingValuesError, match="row 8, column 4"):
        model.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((2, 4), np.nan))


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_extreme_sizes(factor):
    model, X = fitted()
    np.testing.assert_allclose(
        ek.PCA(4).fit(X * factor).transform(X * factor) / factor, model.transform(X), rtol=1e-9, atol=1e-9
    )


def test_rows_from_scores():
    model, X = fitted(3.0)
    scores = model.transform(X)
    np.testing.assert_allclose(model.inverse_transform(scores), scores @ model.components_ + model.mean_, rtol=1e-13)


def test_pickles_hold_the_model_only():
    model, X = fitted(rows=40)
    before = len(pickle.dumps(model))
    model.transform(X)
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
