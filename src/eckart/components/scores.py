"""Scores of rows on the components, and rows from scores, for every kind of matrix.

    scores = (A - 1 mean^T) diag(1/scale) right,    rows = (scores right^T) diag(scale) + 1 mean^T.

Dense NumPy rows and CSR rows use the faster route of `projection`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eckart.arrays import Array, astype, from_numpy, namespace, refuse_other_device, to_numpy, unmasked
from eckart.engine.exponent import safe_exponents, times_power_of_two
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened, stored
from eckart.engine.projection import plain_rows, plain_scores
from eckart.errors import InputError
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix
from eckart.missing.fill import fill_as_fitted, imputation_of
from eckart.result import Decomposition


class _ProjectionTerms(NamedTuple):
    """2^exponent A, the mean in the units of that A, and the components divided by the scales."""

    matrix: Any
    exponent: int
    mean: Array | None
    right: Array


def _projection_terms(d: Decomposition, opened: Opened) -> _ProjectionTerms:
    right = astype(d.right, namespace(d.right).float64)
    matrix, exponent, mean = opened.matrix, opened.exponent, d.mean
    if d.scale is not None:
        scale = astype(d.scale, right.dtype)
        exponents = safe_exponents(to_numpy(scale), matrix.precision)
        if exponent or exponents.any():  # as in the fit: scores have no unit
            matrix, exponent = matrix.in_powers(exponents), 0
            scale = times_power_of_two(scale, exponents)
            mean = None if mean is None else times_power_of_two(astype(mean, scale.dtype), exponents)
        right = right / scale[:, None]
    return _ProjectionTerms(matrix, exponent, mean, right)


def _centred_product(matrix: Any, right: Array, mean: Array | None, exponent: int) -> Array:
    """(A - mean) right for 2^exponent A."""
    # Centre before the product, block by block, if the data are dense, and after it if they are sparse.
    shifted = mean is not None and not matrix.sparse and not exponent
    if shifted:
        matrix = matrix.shifted(_on_device_of(mean, matrix.prototype))
    scores = matrix.matmat(_on_device_of(right, matrix.prototype))
    if exponent:
        exact = times_power_of_two(astype(scores, namespace(scores).float64), -exponent)
        scores = astype(exact, scores.dtype)
    if mean is not None and not shifted:
        mean = _on_device_of(mean, scores)
        scores = scores - astype(mean @ astype(_on_device_of(right, scores), mean.dtype), scores.dtype)
    return scores


def project_on_components(decomposition: Decomposition, data: object, *, whiten: bool = False) -> Array:
    """Scores of rows on the components: (A - mean) / scale right, in one pass.

    Missing values are imputed as in the fit, or refused if the fit had no imputation.
    """
    d = decomposition
    imputed = imputation_of(d) is not None
    plain = None if imputed else plain_scores(d, data, whitening(d) if whiten else None)
    if plain is not None:
        return plain
    opened = open_new_rows(d, data)
    terms = _projection_terms(d, opened)
    right = terms.right / whitening(d) if whiten else terms.right
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _centred_product(terms.matrix, right, terms.mean, terms.exponent)
    if not bool(namespace(scores).all(namespace(scores).isfinite(scores))):
        refuse_not_finite(stored(opened), opened.metadata)
    return scores


def open_new_rows(d: Decomposition, data: object) -> Opened:
    """Rows with the columns of the fit, and with missing values imputed as in the fit."""
    opened = open_matrix(data if imputation_of(d) is None else unmasked(data))
    if opened.matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {counted(opened.matrix.shape[1], 'column')}, but the decomposition has {d.columns}. "
            "Use the same columns in the same order."
        )
    return fill_as_fitted(d, opened)


def reconstruct_from_components(decomposition: Decomposition, scores: Array, *, whiten: bool = False) -> Array:
    """Rows from scores: (scores right^T) scale + mean."""
    d = decomposition
    with np.errstate(over="ignore", under="ignore"):
        plain = plain_rows(d, scores, whitening(d) if whiten else None)
    if plain is not None:
        return plain
    scores = np.asarray(scores) if not hasattr(scores, "shape") else scores
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(
            f"Scores must have the shape (rows, {d.k}) for {counted(d.k, 'component')}, but these "
            f"scores have the shape {tuple(scores.shape)}."
        )
    right = _on_device_of(d.right, scores)
    if whiten:
        right = right * astype(_on_device_of(whitening(d), scores), right.dtype)
    result = scores @ right.T
    if d.scale is not None:
        result = result * astype(_on_device_of(d.scale, result), result.dtype)
    if d.mean is not None:
        result = result + astype(_on_device_of(d.mean, result), result.dtype)
    return result


def whitening(d: Decomposition) -> Array:
    """Standard deviation of the scores on each component; 1 for components without variance, whose scores stay zero."""
    xp = namespace(d.values)
    deviation = astype(d.values, xp.float64) / max(d.weight - 1.0, 1.0) ** 0.5
    return xp.where(deviation > null_level(d), deviation, xp.ones_like(deviation))


def null_level(d: Decomposition) -> float:
    """Deviations at or below this are rounding, not variance."""
    # A weight counts as repeated rows.
    longest = max(float(d.rows), d.weight, float(d.columns))
    return float(d.norm * rounding_unit(d) * longest**0.5 / max(d.weight - 1.0, 1.0) ** 0.5)


def rounding_unit(d: Decomposition) -> float:
    """The machine epsilon of the singular values."""
    return float(np.finfo(np.float32 if str(d.values.dtype).endswith("float32") else np.float64).eps)


def _on_device_of(array: Array, prototype: Array) -> Array:
    """`array` in the library and on the device of `prototype`: NumPy arrays are copied; anything else is refused."""
    if isinstance(array, np.ndarray):
        return from_numpy(array, prototype)
    refuse_other_device(array, prototype, "The decomposition")
    return array
