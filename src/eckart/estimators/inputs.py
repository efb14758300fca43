"""From user data to data for the engine, with the checks of widths and names that scikit-learn makes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from eckart.arrays import (
    HOST,
    Array,
    Matrix,
    is_array,
    is_numpy,
    is_off_host,
    is_sparse,
    place_of,
    refuse_other_device,
    to_numpy,
    unmasked,
)
from eckart.engine.blocks.source import RowSource, Source
from eckart.errors import FileError, InputError, ParameterError
from eckart.io.not_tables import not_rectangular
from eckart.io.objects.records import field_names
from eckart.io.open_data import is_frame, open_with
from eckart.io.open_matrix import open_matrix
from eckart.io.read_options import NAMES, NO_OPTIONS
from eckart.io.roles import listed
from eckart.mapped import in_memory, is_mapped, is_mapped_sparse
from eckart.options import memory_bytes

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_OPTION = re.compile(rf"\b({'|'.join(NAMES)})=")
_FRAMES = {"pandas", "polars", "pyarrow", "narwhals", "modin", "cudf", "dask", "dask_expr"}


def take(estimator: BaseEstimator, X: Matrix, *, reset: bool) -> Matrix:
    """X for the engine: not copied, converted or searched for NaN; all that happens while it is read.

    `reset` stores the number and the names of the columns and the device of X; otherwise they are compared with those
    stored.
    """
    if (is_plain(X) or _is_plain_csr(X)) and _take_plain(estimator, X, reset=reset):
        return X
    if getattr(estimator, "missing", "error") != "error":
        X = unmasked(X)
    given, X = X, opened(X, memory_bytes(getattr(estimator, "memory", None)))
    same_device(estimator, X, reset=reset)
    numbers = is_numpy(X) or is_sparse(X)
    # Testing for protocols is slow.
    if not numbers and isinstance(X, Source | RowSource):
        return _take_frame(estimator, given, X, reset=reset)
    if is_off_host(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    return _validated(estimator, given, _refuse_other_kinds(X) if is_numpy(X) else X, reset=reset)


def _validated(estimator: BaseEstimator, given: object, X: Matrix, *, reset: bool) -> Matrix:
    """X after scikit-learn's checks; `given` is what the user passed."""
    try:
        return validate_data(estimator, X, reset=reset, accept_sparse=True, ensure_all_finite=False)
    except (ValueError, OverflowError) as error:
        if isinstance(error, OverflowError) or "array element" in str(error):
            raise not_rectangular(given, error) from error
        raise


def _take_frame(estimator: BaseEstimator, given: Matrix, source: Source | RowSource, *, reset: bool) -> Matrix:
    """Rows of a frame or a file; scikit-learn itself checks the names of frames it knows."""
    if _is_frame(given) and source.shape[1] <= given.shape[1]:
        _refuse_other_columns(given, source)
        if _libraries(given) & {"pandas", "polars"}:
            _refuse_duplicate_names(given)
            validate_data(estimator, given, reset=reset, skip_check_array=True)
            return source
    elif given is not source:  # not opened by the user, who would have seen what was set aside
        _refuse_set_aside(given, source)
    return _take_source(estimator, source, reset=reset)


def _refuse_duplicate_names(frame: Matrix) -> None:
    """Refuse duplicate names, because scikit-learn identifies columns by their names."""
    names = list(frame.columns)
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1] if len(set(names)) < len(names) else []
    if twice:
        raise InputError(
            "Column names must be unique, but these names occur more than once: "
            f"{', '.join(map(repr, twice[:5]))}. Rename the columns, or pass the values without names "
            "with to_numpy()."
        )


def _is_item(first: object) -> bool:
    """Whether a list that begins with this is paths, records, frames or sparse blocks, and not rows of numbers."""
    is_batch = is_frame(first) or is_sparse(first) or field_names(first) is not None
    return isinstance(first, str | os.PathLike | Mapping) or is_dataclass(first) or is_batch


def opened(X: object, memory: int | None) -> Any:
    """X through `open_data`; nested lists are left to scikit-learn's checks, whose messages users know."""
    if isinstance(X, list | tuple) and not hasattr(X, "column_names") and not (X and _is_item(X[0])):
        return X
    try:
        return open_with(X, memory=memory)
    except (ParameterError, FileError, InputError) as error:
        if (option := _OPTION.search(str(error))) is not None:
            raise type(error)(f"{error} {NO_OPTIONS.format(name=option[1])}") from error
        raise


def _is_frame(given: object) -> bool:
    """A data frame whose names scikit-learn checks itself."""
    return bool(_libraries(given) & _FRAMES) and hasattr(given, "shape") and hasattr(given, "columns")


def _libraries(given: object) -> set[str]:
    """The packages of the class of an object and of those it is derived from, such as geopandas and pandas."""
    return {base.__module__.partition(".")[0] for base in type(given).__mro__}


def is_plain(X: object) -> bool:
    """Whether X is a plain two-dimensional NumPy array of float32 or float64, so that nothing must be converted."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in _FLOATS or 0 in X.shape:
        return False
    return not is_mapped(X)


def _is_plain_csr(X: Matrix) -> bool:
    """The same for SciPy CSR matrices; the engine checks their indices before using them."""
    plain = is_sparse(X) and X.format == "csr" and X.ndim == 2 and X.dtype in _FLOATS and 0 not in X.shape
    return plain and not is_mapped_sparse(X)


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def _take_plain(estimator: object, X: np.ndarray, *, reset: bool) -> bool:
    """Store or compare the width of X without scikit-learn's search for data frames.

    False leaves it to scikit-learn.
    """
    known = estimator.__dict__
    if reset:
        known.pop("feature_names_in_", None)
        known["n_features_in_"], known["_place"] = X.shape[1], HOST
        return True
    return (
        known.get("n_features_in_") == X.shape[1]
        and known.get("_place", HOST) == HOST
        and "feature_names_in_" not in known
    )


def same_device(estimator: BaseEstimator, X: object, *, reset: bool) -> None:
    """Refuse data of another library or device than those of the fit; `reset` stores the device."""
    now = place_of(X)
    if reset:
        estimator._place = now
    elif hasattr(estimator, "_place"):
        refuse_other_device(estimator._place, now, f"This {type(estimator).__name__}")


def take_scores(X: Array, estimator: object = None) -> Array:
    """Scores to reconstruct rows from: arrays of other libraries unchanged, everything else as a NumPy array."""
    if estimator is not None:
        same_device(estimator, X, reset=False)
    if is_array(X) and not is_numpy(X):
        return X
    if is_numpy(X):
        X = in_memory(X)
    # A sum is not finite if an entry is not; if it overflows, scikit-learn checks every entry.
    if is_plain(X) and np.isfinite(np.add.reduce(X, axis=None)):
        return X
    return check_array(X, dtype=[np.float64, np.float32], input_name="X", ensure_min_features=0)


def take_weights(sample_weight: object) -> Array:
    """Row weights on the host, one number per row."""
    return to_numpy(sample_weight) if sample_weight is not None and is_array(sample_weight) else sample_weight


def _take_source(estimator: BaseEstimator, source: Source | RowSource, *, reset: bool) -> Matrix:
    names = source.metadata.column_names
    if reset:
        estimator.n_features_in_ = source.shape[1]
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return source
    if source.shape[1] != estimator.n_features_in_:
        raise InputError(
            f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and tuple(known) != tuple(names):
        place = next(i for i, (name, other) in enumerate(zip(names, known, strict=True)) if name != other)
        raise InputError(
            f"The feature names should match those that were passed during fit: column {place + 1} is "
            f"{names[place]!r}, but during fit it was {known[place]!r}. Use the same columns in the "
            "same order."
        )
    return source


def _refuse_other_columns(X: Matrix, frame: Source | RowSource) -> None:
    """Other functions treat text columns as labels; an estimator must use every column it is given."""
    if frame.shape[1] == X.shape[1]:
        return
    kept = set(frame.metadata.column_names or ())
    names = [str(name) for name in (X.column_names if hasattr(X, "column_names") else X.columns)]
    others = [repr(name) for name in names if name not in kept]
    raise InputError(
        f"These columns are not numeric: {', '.join(others[:5])}{', ...' if len(others) > 5 else ''}. "
        "Leave them out, or encode them as numbers, for example with "
        "sklearn.compose.ColumnTransformer."
    )


def _refuse_set_aside(given: object, source: Source | RowSource) -> None:
    """The same for files, streams and records; the rows of a file or a stream may have names."""
    from eckart.io.text.delimited import EMPTY

    metadata = source.metadata
    kept = {*(metadata.column_names or ()), *(name for name, role in metadata.column_roles.items() if role == EMPTY)}
    if not isinstance(given, Mapping | list | tuple | np.ndarray):
        kept |= {name for name, role in metadata.roles.items() if role == "row names"}
    if others := [name for name in metadata.column_roles if name not in kept]:
        raise InputError(
            f"These columns are not numeric: {listed(others)}. Leave them out, or encode them as numbers. To choose "
            "columns, open the data first: fit(eckart.open_data(X, columns=[...]))."
        )


def _refuse_other_kinds(X: np.ndarray) -> np.ndarray:
    """Refuse dates, text, records and masked entries before they become numbers; the engine gives the reason."""
    if X.dtype.kind not in "fiubO":
        open_matrix(X)
    if isinstance(X, np.ma.MaskedArray):
        open_matrix(X)
        return X.data
    if X.dtype.kind == "O":
        for place, value in np.ndenumerate(X):
            if isinstance(value, str | bytes):
                where = ", ".join(f"{axis} {index + 1}" for axis, index in zip(("row", "column"), place, strict=False))
                raise InputError(
                    f"{value!r} in {where} is text, not a number. Remove columns of text, or encode them as numbers."
                )
    return X
