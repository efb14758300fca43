"""What parameters may be, in scikit-learn's words, and how its solver names are meant here."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, cast

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

Method = TypeVar("Method", bound=Callable[..., Any])


class WholeNumber(Interval):  # type: ignore[misc]
    """An integer from `least` on; True is a truth value and not the number 1."""

    def __init__(self, least: int) -> None:
        super().__init__(Integral, least, None, closed="left")

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


COUNT = WholeNumber(1)
SHARE = Interval(RealNotInt, 0, 1, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
NORMALIZER = StrOptions({"auto", "QR", "LU", "none"})
RANDOM_STATE = ["random_state", np.random.Generator]
MEMORY = [str, COUNT, None]

EngineSolver = Literal["auto", "exact", "direct", "gram", "lanczos"]
ENGINE: dict[str, EngineSolver] = {
    "auto": "auto",
    "full": "exact",
    "covariance_eigh": "gram",
    "arpack": "lanczos",
    "randomized": "lanczos",
}
"""scikit-learn's name of a solver -> ours."""


def validated(method: Method) -> Method:
    """Check the parameters before `method` runs."""
    return cast("Method", _fit_context(prefer_skip_nested_validation=True)(method))


def engine_solver(solver: EngineSolver, k: int | None, share: float | None, short: int) -> EngineSolver:
    """The solver of the engine; an iterative one gives way when half of all axes or more are wanted."""
    most = share is None and (k is None or 2 * k >= short)
    return "exact" if solver == "lanczos" and most else solver


def accuracy(tol: float) -> float | None:
    """0 means the accuracy that suits the data."""
    return min(float(tol), 0.5) or None
