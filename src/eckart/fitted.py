"""decomposition_of: the Decomposition of a fitted estimator, so that public functions accept both."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

from eckart.cleanup import RemovedOnError
from eckart.documentation import document
from eckart.errors import InputError
from eckart.options import hint_keywords
from eckart.result import Decomposition

P = ParamSpec("P")
R = TypeVar("R")


class FittedEstimator(Protocol):
    """An estimator of Eckart after `fit`."""

    @property
    def decomposition_(self) -> Decomposition: ...


def is_model(given: object) -> bool:
    """Whether `given` is a Decomposition or an estimator, fitted or not, as opposed to data."""
    return isinstance(given, Decomposition) or (hasattr(given, "fit") and hasattr(given, "get_params"))


def decomposition_of(given: object) -> Decomposition:
    """The Decomposition itself, or that of a fitted estimator, with the estimator's column names.

    Examples
    --------
    >>> import eckart as ek
    >>> from eckart.fitted import decomposition_of
    >>> decomposition_of(ek.PCA(1).fit([[0.0, 1.0], [1.0, 3.0], [2.0, 4.0]])).k
    1
    """
    if isinstance(given, Decomposition):
        return given
    found = getattr(given, "decomposition_", None)
    if not isinstance(found, Decomposition):
        _refuse(given)
    names = getattr(given, "feature_names_in_", None)
    if found.column_names is None and names is not None and len(names) == found.columns:
        return replace(found, column_names=tuple(map(str, names)))
    return found


def takes_fitted(
    function: Callable[Concatenate[Decomposition, P], R],
) -> Callable[Concatenate[Decomposition | FittedEstimator, P], R]:
    """Let `function` take a fitted estimator as its first argument, as well as a Decomposition.

    These functions share the entry for that argument, so `document` completes their docstrings as well. Unknown
    keyword arguments are refused with the name to use instead.
    """
    first = next(iter(inspect.signature(function).parameters))
    function = hint_keywords(function)

    @functools.wraps(function)
    def accepting(*args: Any, **options: Any) -> R:
        if args:
            args = (decomposition_of(args[0]), *args[1:])
        elif first in options:
            options[first] = decomposition_of(options[first])
        with RemovedOnError():
            return function(*args, **options)

    return document(accepting)


def _step_of(given: object) -> str | None:
    """The step of a scikit-learn pipeline to pass instead, as typed; None if it is not a pipeline."""
    steps = getattr(given, "steps", None)
    if not isinstance(steps, list) or not steps or not hasattr(given, "named_steps"):
        return None
    mine = [name for name, step in steps if hasattr(step, "decomposition_")]
    return f"pipeline[{(mine or ['pca'])[0]!r}]"


def _refuse(given: object) -> NoReturn:
    import eckart  # only its list of names

    kind = type(given).__name__
    if (step := _step_of(given)) is not None:
        raise InputError(
            f"This {kind} has several steps. Pass the step that is a fitted Eckart estimator, such as {step}. Its data "
            "are those that the steps before it return, such as pipeline[:-1].transform(X)."
        )
    if hasattr(given, "support_") or hasattr(given, "row_factors_"):
        raise InputError(
            f"This {kind} has no components: it is not a decomposition. Expected a Decomposition or a fitted estimator "
            "such as eckart.PCA."
        )
    if hasattr(given, "fit") and type(given).__module__.partition(".")[0] == "eckart":
        raise InputError(f"This {kind} is not fitted yet. Call fit with the data first.")
    if hasattr(given, "best_estimator_"):
        raise InputError(f"This {kind} is a search over estimators. Pass the one that it selected, best_estimator_.")
    if hasattr(given, "fit"):
        same = f"eckart.{kind}" if kind in eckart.__all__ else "an Eckart estimator, such as eckart.PCA,"
        raise InputError(f"This {kind} is from another library, so it has no certificate. Use {same} instead.")
    raise InputError(
        f"Expected a Decomposition or a fitted estimator, but got an object of type {kind}. To "
        "decompose data, call eckart.decompose(data, k=2)."
    )
