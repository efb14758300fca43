"""The first k components of a larger decomposition, with the bounds that still hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import to_numpy
from eckart.formatting import certified_share
from eckart.result import Certificate, Decomposition, K


def cut(d: Decomposition[K], k: int) -> Decomposition[K]:
    """The k leading components of d, which contains the whole spectrum."""
    if k >= d.k:
        return d
    certificate = None if d.certificate is None else _cut_certificate(d.certificate, k, d.norm) if k else _none(d)
    left = None if d.left is None else d.left[:, :k]
    details = d.details.of_leading(k, to_numpy(d.values[k:]).astype(np.float64))
    return replace(d, values=d.values[:k], right=d.right[:, :k], left=left, certificate=certificate, details=details)


def _cut_certificate(c: Certificate, k: int, norm: float) -> Certificate:
    lower, upper = c.lower[:k] / (norm or 1.0), c.upper[: k + 1] / (norm or 1.0)
    low = float(np.sum(lower**2))
    high = float(min(1.0, np.sum(upper[:k] ** 2)))
    gap = float(lower[-1] ** 2 - upper[-1] ** 2)
    residual = float(np.linalg.norm(c.residuals[:k])) * float(upper[0]) ** 2
    return replace(
        c,
        explained=(low, high),
        lower=c.lower[:k],
        upper=c.upper[:k],
        residuals=c.residuals[:k],
        angle=min(1.0, residual / gap) if gap > 0.0 else 1.0,
        undetermined=tuple((first, min(last, k - 1)) for first, last in c.undetermined if first < k),
        # sqrt(k) times this is the half width of the interval, as in a certificate that was not cut.
        rounding=float(np.sum(upper[:k] ** 2 - lower**2)) / 2.0 / k**0.5,
        summary=certified_share(k, low, high),
    )


def _none(d: Decomposition) -> Certificate | None:
    """A decomposition without components, which explains nothing and needs no proof."""
    if d.certificate is None:
        return None
    empty = d.certificate.lower[:0]
    return replace(
        d.certificate, explained=(0.0, 0.0), lower=empty, upper=empty, residuals=empty, angle=0.0, undetermined=(),
        rounding=0.0, summary="No components were requested, so nothing is explained.",
    )  # fmt: skip
