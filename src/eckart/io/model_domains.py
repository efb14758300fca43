"""Numbers that a saved model may contain: a domain for every field of every result, by its type and name.

A float or an array of floats is finite, and an int is zero or positive, unless `_DOMAINS` says otherwise. A field that
is added to a result is therefore checked without an entry here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from eckart.arrays import is_sparse, to_numpy

Domain = tuple[Callable[[np.ndarray], np.ndarray], str]
"""Which entries belong to the domain, and how to say that all must."""

_FINITE: Domain = (np.isfinite, "finite")
_COUNT: Domain = (lambda a: a >= 0, "zero or positive")
_NOT_NEGATIVE: Domain = (lambda a: np.isfinite(a) & (a >= 0), "zero or positive, and finite")
_POSITIVE: Domain = (lambda a: np.isfinite(a) & (a > 0), "positive and finite")
_BOUND: Domain = (lambda a: a >= 0, "zero or positive")
_SHARE: Domain = (lambda a: (a >= 0) & (a <= 1 + 1e-6), "between 0 and 1")
_SQUARED: Domain = (lambda a: np.abs(a) <= 1e150, "at most 1e150 in magnitude, because its square must be finite")
_EXPONENT: Domain = (lambda a: np.abs(a) <= 2200, "between -2200 and 2200")  # of ratios of float64 numbers
_ANY: Domain = (lambda a: np.ones(a.shape, bool), "a number")

_DOMAINS: Mapping[str, Domain] = {
    **dict.fromkeys(("exponent",), _EXPONENT),
    **dict.fromkeys(("rows", "columns"), _COUNT),
    **dict.fromkeys(
        ("values", "norm", "column_norms", "row_norms", "row_weights", "residual_schatten4"), _NOT_NEGATIVE
    ),
    **dict.fromkeys(("lengths", "word_weights", "mean_length", "column_times", "row_times"), _NOT_NEGATIVE),
    **dict.fromkeys(("explained", "failure_probability", "negative_share"), _SHARE),
    **dict.fromkeys(("lower", "upper", "residuals", "angle", "rounding", "tolerance"), _BOUND),
    **dict.fromkeys(("error", "error_rounding", "relative_error", "best_error", "ratio", "bound", "factor"), _BOUND),
    **dict.fromkeys(("eps", "expected_eps", "approximation_error", "reconstruction_error"), _BOUND),
    **dict.fromkeys(("support_scores", "dual", "means", "grand", "base", "offset", "correlations"), _SQUARED),
    "weight": (lambda a: (a > 0) & (a <= 1e200), "positive and at most 1e200"),  # the sum of the row weights
    **dict.fromkeys(("n_neighbors", "radius", "scale", "gamma", "degree"), _POSITIVE),
    # settings are only shown; the others may be unknown (NaN) or have no bound (infinite)
    **dict.fromkeys(("settings", "history", "seed", "residual_variance", "agreement", "details"), _ANY),
}
_OF_CLASS: Mapping[tuple[str, str], Domain] = {
    ("Imputation", "values"): _FINITE,
    ("Imputation", "errors"): _BOUND,
    ("Imputation", "noise"): _NOT_NEGATIVE,
    ("IsomapDetails", "weight"): _NOT_NEGATIVE,
    ("IsomapDetails", "points"): _SQUARED,
    ("Decomposition", "details"): _FINITE,
}
"""Fields whose name means something else in another class."""


def domain_fault(value: Any, title: str = "") -> str | None:
    """Which number of a result is impossible, such as a negative norm; None if none is."""
    return next(
        (fault for name, domain, number in _numbers(value, title, _FINITE) if (fault := _fault(name, domain, number))),
        None,
    )


def _numbers(value: Any, title: str, domain: Domain) -> Iterator[tuple[str, Domain, Any]]:
    """(name, domain, number or array) of everything in a value."""
    if value is None or isinstance(value, str | bool) or callable(value):
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            item, name = getattr(value, field.name), field.name
            known = _OF_CLASS.get((type(value).__name__, name)) or _DOMAINS.get(name)
            known = known or (_COUNT if isinstance(item, int) else _FINITE)
            yield from _numbers(item, f"{title}.{name}".lstrip("."), known)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{title}[{key!r}]", domain)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item, title, domain)
    else:
        yield title, domain, value


def _fault(name: str, domain: Domain, number: Any) -> str | None:
    plain = isinstance(number, int | float | np.generic)
    if not plain and not hasattr(number, "dtype"):
        return None
    array = np.asarray(float(number) if type(number) is int else number if plain else _host(number))
    if array.dtype.kind not in "iuf":
        return None
    belongs, wanted = domain
    with np.errstate(invalid="ignore"):
        wrong = ~np.asarray(belongs(array))
    if not wrong.any():
        return None
    return f"{name} {'contains' if array.ndim else 'is'} {array[wrong].flat[0]:.6g}, but it must be {wanted}"


def _host(array: Any) -> np.ndarray:
    return to_numpy(array.data if is_sparse(array) else array)
