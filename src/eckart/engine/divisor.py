"""The divisor of standard deviations: n - 1, or n as FactoMineR and prince have it."""

from __future__ import annotations

from dataclasses import replace

from eckart.errors import ParameterError
from eckart.result import Decomposition, SVDDetails


def check_ddof(ddof: int) -> None:
    if ddof not in (0, 1):
        raise ParameterError(f"ddof={ddof!r} is not possible: the divisor of scale is n - ddof, so ddof is 0 or 1.")


def with_divisor_n(d: Decomposition[SVDDetails]) -> Decomposition[SVDDetails]:
    """The decomposition of columns scaled by deviations with divisor n: each is sqrt(n / (n - 1)) times as long.

    One factor for all columns, so components, shares and left vectors stay as they are.
    """
    grow = (d.weight / max(d.weight - 1.0, 1.0)) ** 0.5
    c = d.certificate
    certificate = None if c is None else replace(c, lower=c.lower * grow, upper=c.upper * grow)
    details = d.details
    if details.row_norms is not None:
        details = replace(details, row_norms=details.row_norms * grow)
    return replace(
        d, values=d.values * grow, norm=d.norm * grow, scale=None if d.scale is None else d.scale / grow,
        certificate=certificate, details=details,
    )  # fmt: skip
