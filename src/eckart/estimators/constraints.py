"""Parameter constraints in scikit-learn's notation, and the meaning of its solver names here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, cast

import numpy as np
from sklearn import get_config
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions, make_constraint

from eckart.cleanup import RemovedOnError
from eckart.errors import ParameterError
from eckart.io.read_options import NAMES, NO_OPTIONS
from eckart.options import check_names

Method = TypeVar("Method", bound=Callable[..., Any])


class WholeNumber(Interval):  # type: ignore[misc]
    """An integer of at least `least`; booleans do not count as numbers."""

    def __init__(self, least: int) -> None:
        super().__init__(Integral, least, None, closed="left")

    def is_satisfied_by(self, val: object) -> bool:
        if type(val) is int:
            return bool(val >= self.left)
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
"""scikit-learn's name of a solver -> Eckart's."""


def validated(method: Method) -> Method:
    """Check the names of arguments and the parameters before `method` runs; errors for parameters are scikit-learn's.

    A parameter equal to its default passes immediately, and the constraints of a class are built once. scikit-learn's
    decorator builds them again on every call, which takes longer than a small fit.
    """

    names = tuple(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def checked(self: Any, *args: object, **kwargs: object) -> Any:
        if kwargs:
            _check_keywords(f"{type(self).__name__}.{method.__name__}", kwargs, names)
        given = self.__dict__
        for name, default, allowed in _constraints(cast("Any", type(self))):
            value = given.get(name, default)
            if value is not default and not any(constraint.is_satisfied_by(value) for constraint in allowed):
                if not get_config()["skip_parameter_validation"]:
                    self._validate_params()
                break
        with RemovedOnError():
            return method(self, *args, **kwargs)

    return cast("Method", checked)


def _check_keywords(method: str, given: Iterable[str], names: tuple[str, ...]) -> None:
    """Refuse an unknown argument, with what to do instead."""
    for name in given:
        if name in NAMES and name not in names:
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}: {NO_OPTIONS.format(name=name)}")
    check_names(method, given, names)


@functools.lru_cache(maxsize=64)
def _constraints(kind: Any) -> list[tuple[str, Any, list[Any]]]:
    """(name, default, constraints) of every parameter that is checked."""
    defaults = {name: item.default for name, item in inspect.signature(kind.__init__).parameters.items()}
    allowed = {name: item for name, item in kind._parameter_constraints.items() if item != "no_validation"}
    none = inspect.Parameter.empty  # a subclass may not take the parameter
    return [(name, defaults.get(name, none), [make_constraint(one) for one in item]) for name, item in allowed.items()]


def count_or_share(wanted: float | None, most: int | None = None, beyond: str = "") -> tuple[int | None, float | None]:
    """`n_components` as (number of components, share of the variance): at most one of them.

    A number above `most` is refused with the message `beyond`.
    """
    if wanted is None:
        return None, None
    if not isinstance(wanted, Integral):
        return None, float(wanted)
    if most is not None and int(wanted) > most:
        raise ParameterError(beyond)
    return int(wanted), None


def count_or_share_in(wanted: float | None, shape: tuple[int, int], most: str) -> tuple[int | None, float | None]:
    """The same for a matrix of this shape; `most` says what it has at most min(shape) of."""
    return count_or_share(
        wanted,
        min(shape),
        f"n_components({wanted}) must be <= n_features({shape[1]}) and <= n_samples({shape[0]}): a "
        f"matrix of this shape has at most {most}.",
    )


def engine_solver(solver: EngineSolver, k: int | None, share: float | None, short: int) -> EngineSolver:
    """The solver of the engine; not an iterative one if at least half of all components are requested."""
    most = share is None and (k is None or 2 * k >= short)
    return "exact" if solver == "lanczos" and most else solver


def accuracy(tol: float) -> float | None:
    """0 means the accuracy that suits the data."""
    return min(float(tol), 0.5) or None
