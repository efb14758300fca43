"""leading: the first k components of a decomposition, with valid bounds.

Components of PCA and SVD are nested, so the first k of K are those of a decomposition with k components. With
lambda_i the squared singular values and the bounds lower_i^2 <= lambda_i <= upper_i^2 of the certificate:

- explained by the first k: at least sum lower_i^2 / ||A||^2 - delta, where delta is what the certificate of all K
  components allows for rounding in the vectors and in ||A||^2, which is no less than what k of them need;
- explained by any k components: at most sum upper_i^2 / ||A||^2, enlarged by the same relative rounding;
- sin(angle) <= ||R||_F / (lambda_k - upper_{k+1}^2) with the residuals R of the returned vectors (Davis and Kahan,
  1970).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import EPSILON, to_numpy
from eckart.errors import ParameterError
from eckart.formatting import certified_share
from eckart.result import Certificate, Decomposition, K


def leading(d: Decomposition[K], k: int) -> Decomposition[K]:
    """The decomposition with its first k components only; itself if it has no more."""
    if d.which == "smallest" and k > 0:
        raise ParameterError(
            "The decomposition contains only the smallest components, but this function needs the "
            "largest. Decompose with which='largest'."
        )
    if k >= d.k:
        return d
    return replace(
        d,
        values=d.values[:k],
        right=d.right[:, :k],
        left=None if d.left is None else d.left[:, :k],
        certificate=None if d.certificate is None else _certificate(d, d.certificate, k),
        plan=None if d.plan is None else replace(d.plan, k=k),
        details=d.details.of_leading(k, to_numpy(d.values[k:]).astype(np.float64)),
    )


def _certificate(d: Decomposition, c: Certificate, k: int) -> Certificate:
    if k == 0:
        return _without_components(c)
    low, high = _explained(d, c, k)
    odds = f" (probability of failure at most {c.failure_probability:.0e})" if c.failure_probability else ""
    sentence = certified_share(k, low, high, odds)
    return replace(
        c,
        explained=(low, high),
        lower=c.lower[:k],
        upper=c.upper[:k],
        residuals=c.residuals[:k],
        angle=_angle(d, c, k),
        undetermined=tuple((first, min(last, k - 1)) for first, last in c.undetermined if first < k),
        summary=sentence,
    )


def _without_components(c: Certificate) -> Certificate:
    """No components explain nothing, which needs no proof."""
    empty = c.lower[:0]
    return replace(
        c, explained=(0.0, 0.0), lower=empty, upper=empty, residuals=empty, angle=0.0, undetermined=(),
        rounding=0.0, summary="No components were requested, so nothing is explained.",
    )  # fmt: skip


def _explained(d: Decomposition, c: Certificate, k: int) -> tuple[float, float]:
    if d.norm == 0.0:
        return 0.0, 0.0
    lower, upper = ((np.asarray(bound, np.float64) / d.norm) ** 2 for bound in (c.lower, c.upper))
    everything = float(lower.sum())
    delta = max(everything - c.explained[0], 0.0) + 8 * EPSILON * everything
    low = min(1.0, max(0.0, float(lower[:k].sum()) - delta))
    high = float(upper[:k].sum()) * (1.0 + 2.0 * delta / max(everything, EPSILON))
    return low, min(1.0, max(low, high))


def _angle(d: Decomposition, c: Certificate, k: int) -> float:
    values = to_numpy(d.values).astype(np.float64)
    largest = float(values[0])
    if largest == 0.0:
        return 1.0
    gap = (values[k - 1] / largest) ** 2 - (float(c.upper[k]) / largest) ** 2 - c.rounding * (d.norm / largest) ** 2
    if gap <= 0.0:
        return 1.0
    return float(min(1.0, np.linalg.norm(c.residuals[:k]) / gap + EPSILON * k**0.5))
