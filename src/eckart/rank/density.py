"""Estimates of all singular values: the spectral distribution by stochastic Lanczos quadrature.

For a random vector x of length 1, x^T f(B^T B) x has the mean (1/n) sum f(l_i), and Lanczos from x gives nodes and
weights with x^T f(B^T B) x ~ sum w_j f(t_j). The mean over several vectors is a distribution whose quantiles estimate
the values.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import from_numpy, to_numpy
from eckart.engine.operator import Operator
from eckart.engine.quadrature import lanczos_quadrature

_VECTORS = 8
_STEPS = 40


def with_estimated(
    known: np.ndarray, operator: Operator, count: int, total: float, rng: np.random.Generator
) -> np.ndarray:
    """The known leading eigenvalues of B^T B, and estimates up to `count` in total; their sum is `total`.

    Each Lanczos step is one pass.
    """
    nodes, weights = _quadrature(operator, rng)
    below = nodes <= known[-1]
    order = np.argsort(nodes[below])
    nodes, weights = nodes[below][order], weights[below][order]
    if not nodes.size:
        return np.concatenate([known, np.zeros(count - len(known))])
    middle = (np.cumsum(weights) - weights / 2.0) / weights.sum()
    indices = (np.arange(count - len(known)) + 0.5) / max(count - len(known), 1)
    rest = np.maximum(np.interp(indices, middle, nodes)[::-1], 0.0)
    left = max(total - float(known.sum()), 0.0)
    for _ in range(20):  # scaled to the known sum, and below the known values
        rest = np.minimum(rest * (left / max(float(rest.sum()), 1e-300)), known[-1])
    return np.concatenate([known, rest])


def _quadrature(operator: Operator, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The nodes and weights for several random vectors, together."""
    size = operator.shape[1]
    start = rng.choice([-1.0, 1.0], (size, _VECTORS)) / size**0.5

    def apply(vectors: np.ndarray) -> np.ndarray:
        return to_numpy(operator.normal(from_numpy(vectors, operator.prototype))).astype(np.float64)

    rules = lanczos_quadrature(apply, start, min(_STEPS, size))
    return np.concatenate([nodes for nodes, _ in rules]), np.concatenate([weights for _, weights in rules])
