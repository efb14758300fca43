"""Uncertainty of the fit of a factor model, cell by cell, because scores, means and loadings are estimates.

The joint posterior of all scores and loadings is approximated by a Gaussian at its centre. With the scores eliminated,
the precision of the loadings is (Schur complement; Wiberg 1976 for the least-squares problem)

    L = diag(alpha) (x) I + sum over rows of P_i (x) z_i z_i^T, P_i = (W W^T + Psi)^-1 over the observed columns,

and the fit of cell (i, j) has the variance

    w_j^T Sigma_i w_j + h^T L^-1 h, h = c (x) z_i, c = e_j - w_j^T Sigma_i W^T Psi^-1 (over the observed columns).

The second term is the contribution of the loadings. It is as large as the prior if the observed values do not determine
a cell: a row or column with too few of them, or rows and columns that only determine each other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, polygamma

from eckart.missing.factor_model import Factors, Gaps, score_inverses, scores

_JOINT = 800
"""Up to this many loadings their joint covariance is computed; beyond, one covariance per column."""
_WORK = 4e9
_BLOCK = 2**22


def fit_variances(gaps: Gaps, f: Factors) -> tuple[np.ndarray, np.ndarray]:
    """(fit, variance of the fit) of every cell."""
    inverses = score_inverses(gaps.patterns, f)
    spread = inverses.covariance
    z = scores(gaps.values, gaps.seen, inverses.gain[gaps.pattern], f)
    rows, columns = gaps.values.shape
    size = f.k + 1
    here = f.loadings[:, 1:]
    own_scores = np.einsum("jk,ukl,jl->uj", here, spread, here, optimize=True)
    # Rounding errors of the prior's variance, 1, may exceed the uncertainty of a row without noise.
    variances = np.maximum(own_scores + _second_order(spread, f.covariance), 0.0)[gaps.pattern]
    joint = columns * size <= _JOINT and rows * columns**3 <= _WORK
    if not joint:
        own = np.einsum("rk,jkl,rl->rj", z, f.covariance, z, optimize=True)
        return z @ f.loadings.T, variances + np.maximum(own, 0.0)
    well, ill, ill_variances = _loading_covariance(gaps, f, z, inverses.gain)
    table = well.transpose(0, 2, 1, 3).reshape(columns * columns, size * size)
    for chosen in _blocks(rows, columns + len(ill_variances)):
        pattern = gaps.pattern[chosen]
        outer = (z[chosen, :, None] * z[chosen, None, :]).reshape(len(chosen), size * size)
        between = (outer @ table.T).reshape(len(chosen), columns, columns)
        reach = here @ inverses.gain[pattern] @ here.T  # w_j^T Sigma w_j'
        c = np.eye(columns) - reach * (gaps.patterns / f.weighing)[pattern][:, None, :]
        variances[chosen] += np.maximum(np.einsum("rij,rij->ri", c @ between, c), 0.0)
        along = c @ np.tensordot(z[chosen], ill, ([1], [1]))  # rows x columns x directions
        variances[chosen] += along**2 @ ill_variances
    return z @ f.loadings.T, variances


def _blocks(rows: int, columns: int) -> list[np.ndarray]:
    return np.array_split(np.arange(rows), max(1, rows * columns * columns // _BLOCK))


def _second_order(spread: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """tr(S_j Sigma): the product of the errors of scores and loadings."""
    k = spread.shape[1]
    flat: np.ndarray = spread.reshape(len(spread), k * k) @ covariance[:, 1:, 1:].reshape(len(covariance), k * k).T
    return flat


def information(gaps: Gaps, f: Factors, z: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, vectors) with L^-1 = vectors diag(1 / (1 + values)) vectors^T: the information on the loadings.

    In units of the prior, L is I + data. A direction without information has the value 0: the prior's variance.
    """
    columns, size = f.loadings.shape
    outer = (z[:, :, None] * z[:, None, :]).reshape(len(z), size * size) * gaps.weights[:, None]
    by_pattern = np.zeros((len(gaps.patterns), size * size))
    np.add.at(by_pattern, gaps.pattern, outer)
    data = np.zeros((columns * columns, size * size))
    weight, here = gaps.patterns / f.weighing, f.loadings[:, 1:]
    for chosen in _blocks(len(gaps.patterns), columns):
        inverse = -(here @ gain[chosen] @ here.T) * weight[chosen][:, :, None] * weight[chosen][:, None, :]
        np.einsum("ujj->uj", inverse)[...] += weight[chosen]
        data += inverse.reshape(len(chosen), columns * columns).T @ by_pattern[chosen]
    matrix = data.reshape(columns, columns, size, size).transpose(0, 2, 1, 3).reshape(columns * size, -1)
    unit = 1.0 / np.sqrt(np.tile(f.precision, columns))
    values, vectors = np.linalg.eigh(matrix * unit[:, None] * unit)
    return np.where(values > 1e-13 * values[-1], values, 0.0), vectors * unit[:, None]


def _loading_covariance(gaps: Gaps, f: Factors, z: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, ...]:
    """L^-1 as columns x (1 + k) x columns x (1 + k), and separately its directions of large variance.

    Rotating the scores changes no fit, and in that direction only the prior restricts the loadings. Such directions are
    kept separate, because in the sum their zero effect would be lost in rounding errors.
    """
    columns, size = f.loadings.shape
    values, vectors = information(gaps, f, z, gain)
    ill = values < 1e-9 * values[-1]
    chosen = vectors[:, ~ill]
    well = ((chosen / (1.0 + values[~ill])) @ chosen.T).reshape(columns, size, columns, size)
    return well, vectors[:, ill].reshape(columns, size, int(ill.sum())), 1.0 / (1.0 + values[ill])


def noise_variances(squares: np.ndarray, freedom: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(noise variance, degrees of freedom) of each column, from its residual sum of squares and degrees of freedom.

    Columns with few values borrow from the others: psi_j ~ scaled inverse chi-square(d0, s0). d0 and s0 come from the
    excess spread of log(squares / freedom) over chance (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
    """
    usable = (freedom > 0.5) & (squares > floor * freedom)
    if usable.sum() < 2:
        common = float(np.sum(squares) / max(np.sum(freedom), 1.0))
        return np.maximum(common, floor), np.full(len(squares), max(float(np.sum(freedom)), 1.0))
    half = freedom[usable] / 2.0
    logs = np.log(squares[usable] / freedom[usable]) - digamma(half) + np.log(half)
    excess = float(np.var(logs, ddof=1) - np.mean(polygamma(1, half)))
    prior = 2.0 * _trigamma_inverse(excess) if excess > 1e-3 else 2e3
    center = float(np.exp(np.mean(logs) + digamma(prior / 2.0) - np.log(prior / 2.0)))
    total = prior + np.maximum(freedom, 0.0)
    return np.maximum((prior * center + squares) / total, floor), total


def _trigamma_inverse(value: float) -> float:
    """x with trigamma(x) = value, by Newton's method on 1 / trigamma (Smyth 2004, appendix)."""
    x = 0.5 + 1.0 / value
    for _ in range(50):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1.0 - trigamma / value) / float(polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x
