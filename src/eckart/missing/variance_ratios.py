"""Explained shares that do not count imputed values as data.

An imputed value is an expectation: it lacks the noise of a true value, so a filled table looks simpler than the
complete one. Given the observed values, the expected sum of squares along a component v is

    v^T A^T A v + sum over rows of weight_i v_m^T C_i v_m

with A the filled table and C_i the covariance of the missing values m of row i under the imputation model.
"""

from __future__ import annotations

import numpy as np

from eckart.missing.covariance_model import conditionals
from eckart.missing.em import GapModel
from eckart.missing.factor_model import Gaps, score_inverses


def expected_variance_ratios(
    values: np.ndarray, right: np.ndarray, norm: float, unit: np.ndarray, model: GapModel, gone: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Share of the expected total sum of squares on each component.

    `values`, `right` and `norm` are those of the filled table, whose columns were divided by `unit`; `gone` (rows x
    columns) marks missing values. Means and loadings of the model are treated as known.
    """
    if norm == 0.0:
        return values * 0.0
    scale = model.scale / unit / norm
    touched = gone.any(axis=1)
    along, within = _gap_squares(right * scale[:, None], model, gone[touched], weights[touched])
    shares: np.ndarray = ((values / norm) ** 2 + along) / (1.0 + float(within @ scale**2))
    return shares


def _gap_squares(
    right: np.ndarray, model: GapModel, gone: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected squares of the missing values about their expectations: along each direction, and in each column."""
    columns = len(model.loadings)
    along, within = np.zeros(right.shape[1]), np.zeros(columns)
    precision = model.precision
    if precision is not None:
        for part in conditionals(np.where(gone, np.nan, 0.0), precision):
            here = right[part.gaps] * np.sqrt(weights[part.rows])[:, None, None]
            along += np.einsum("rgq,rgh,rhq->q", here, part.covariances, here, optimize=True)
            diagonal = np.einsum("rgg->rg", part.covariances) * weights[part.rows][:, None]
            within += np.bincount(part.gaps.ravel(), diagonal.ravel(), columns)
        return along, within
    gaps = Gaps.of(np.where(gone, np.nan, 0.0), weights, np.zeros(columns))
    spread = score_inverses(gaps.patterns, model.factors()).covariance
    counts = np.bincount(gaps.pattern, weights, len(gaps.patterns))
    hidden = (1.0 - gaps.patterns) * counts[:, None]
    own = np.einsum("jk,ukl,jl->uj", model.loadings, spread, model.loadings, optimize=True) + model.noise
    between = np.einsum("uj,jq,jk->uqk", 1.0 - gaps.patterns, right, model.loadings, optimize=True)
    along = np.einsum("u,uqk,ukl,uql->q", counts, between, spread, between, optimize=True)
    along += (hidden @ (model.noise[:, None] * right**2)).sum(axis=0)
    return along, np.einsum("uj,uj->j", hidden, own)
