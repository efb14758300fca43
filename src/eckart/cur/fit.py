"""CUR: A ~ C U R with columns C and rows R of the data, and its exact error.

values = lengths of the columns of C, right = (U R)^T, coordinates of a row = its entries in the chosen columns.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Unpack, get_args

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, astype, from_numpy, is_numpy, is_sparse, namespace, refuse_other_device
from eckart.components.scores import reconstruct_from_components
from eckart.cur.constants import DEFAULT_K, MOST_TRIED
from eckart.cur.details import CURDetails
from eckart.cur.options import Core, CURKeywords, CUROptions, Selection
from eckart.cur.rank_k import CURSettings, Found, RankComponents, certified_components, fit, raw
from eckart.cur.result import assemble, shortages
from eckart.cur.slices import squares_both_ways
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import all_finite, dense_columns
from eckart.engine.exponent import times_power_of_two
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.settings import generator
from eckart.engine.threads import one_blas_thread
from eckart.errors import AccuracyWarning, DataWarning, InputError, ParameterError
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix
from eckart.options import check_choice, check_count, check_fraction, is_number, memory_bytes
from eckart.result import Decomposition, details_of
from eckart.wording import K, assigned

SELECTIONS: tuple[str, ...] = get_args(Selection)
CORES: tuple[str, ...] = get_args(Core)


def decompose(data: object, **given: Unpack[CURKeywords]) -> Decomposition[CURDetails]:
    """Approximate the matrix by its own columns and rows; `eckart.CUR` describes the parameters.

    With `device`, the components of host data that do not fit there are computed in blocks; the rest runs on the host.

    `k` is the rank that the error is compared with. `explain` and `error` request the smallest k whose CUR explains
    this share of ||A||^2, or has at most this relative error. `parts` contains "columns", "rows" (indices), "C", "R",
    "core" (factors), "error", "best_error", "ratio" and "bounds".

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 1, 0], [2, 2, 0], [0, 0, 3]], "cur", k=2)
    >>> d.details.columns.tolist(), round(d.details.error, 12)
    ([2, 0], 0.0)
    """
    asked = CUROptions(**given)
    memory = memory_bytes(asked.memory)
    opened = open_matrix(data, memory=memory, stream=asked.stream)
    # Open the data again for its components: sparse rows on a GPU as given, everything else as read.
    again = data if isinstance(raw(opened), DeviceCsr) else raw(opened)
    target = _target(asked.explain, asked.error, asked.k)
    _, random = generator(asked.rng)
    wanted = replace(_checked(opened.matrix.shape, asked, int(random.integers(2**62))), memory=memory)
    stream = None if opened.matrix.resident else True
    options = {"tol": asked.tol, "memory": asked.memory, "stream": stream, "device": asked.device}
    if target is not None and (asked.n_columns is not None or asked.n_rows is not None):
        raise ParameterError(
            "The target error determines the numbers of columns and rows. Leave out n_columns "
            "and n_rows, or specify k instead of an error."
        )
    with one_blas_thread():  # more threads would sum in another order
        if target is None:
            rank = _rank(opened.matrix.shape, asked)
            components = certified_components(opened, wanted, again, k=rank, error=None, **options)
            found = fit(opened, components, rank, wanted, None)
        else:
            components, found = _smallest_rank(opened, wanted, again, target, options)
        result = assemble(opened, components, found, wanted, left=asked.left)
    if missing := shortages(found, wanted):
        warnings.warn(" ".join(missing), DataWarning, stacklevel=3)
    return result


def project(decomposition: Decomposition, data: object) -> Array:
    """Entries of each row in the chosen columns, times their scales; dense, rows x columns of C."""
    d, opened = decomposition, open_matrix(data)
    matrix = opened.matrix
    if matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {counted(matrix.shape[1], 'column')}, but the decomposition has {d.columns}. "
            "Use the same columns in the same order."
        )
    if not is_numpy(d.right):
        refuse_other_device(d.right, matrix.prototype, "The decomposition")
    indices = np.asarray(details_of(d, CURDetails).columns)
    if isinstance(matrix.matrix if matrix.resident else None, DeviceCsr):
        entries = times_power_of_two(dense_columns(matrix.matrix, indices), -opened.exponent)
    else:
        entries = matrix.backend.take_columns(matrix.matrix, indices) if matrix.resident else matrix.columns(indices)
    if is_sparse(entries):
        entries = np.ldexp(entries.toarray(), -opened.exponent if matrix.resident else 0)
    _refuse_bad_entries(opened, entries)
    scales = np.asarray(details_of(d, CURDetails).column_scales)
    if np.any(scales != 1.0):
        entries = astype(entries, namespace(entries).float64) * from_numpy(scales, entries)
    return astype(entries, matrix.dtype)


def reconstruct(decomposition: Decomposition, coordinates: Array) -> Array:
    """Whole rows from their entries in the chosen columns: coordinates U R."""
    return reconstruct_from_components(decomposition, coordinates)


def _refuse_bad_entries(opened: Opened, entries: Array) -> None:
    """Check that columns that are not chosen contain numbers too, unless that needs another pass. One sum is enough."""
    matrix = opened.matrix.matrix if opened.matrix.resident else opened.matrix
    seen = matrix if opened.matrix.resident else entries
    if isinstance(seen, DeviceCsr):
        finite = all_finite(seen)
    else:
        values = seen.data if is_sparse(seen) else seen
        xp = namespace(values)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = is_numpy(values) and np.isfinite(np.sum(values, dtype=np.float64))
        finite = bool(whole or xp.all(xp.isfinite(values)))
    if not finite:
        refuse_not_finite(matrix, opened.metadata)


def _target(explain: float | None, error: float | None, k: int | None) -> float | None:
    """The relative error to reach, if it determines k."""
    if sum(option is not None for option in (k, explain, error)) > 1:
        raise ParameterError("k, explain and error each determine the rank. Use only one of them.")
    if explain is not None:
        return math.sqrt(1.0 - check_fraction("explain", explain))
    return None if error is None else check_fraction("error", error)


def _checked(shape: tuple[int, int], asked: CUROptions, seed: int) -> CURSettings:
    check_choice("select", asked.select, SELECTIONS)
    check_choice("core", asked.core, CORES)
    for name, given, most in (("n_columns", asked.n_columns, shape[1]), ("n_rows", asked.n_rows, shape[0])):
        if given is not None and check_count(name, given, None) > most and asked.select != "norm":
            raise ParameterError(
                f"{assigned(name, given)} is too large, because the matrix has only {most} {name.removeprefix('n_')}."
            )
    cutoff = asked.cutoff
    if cutoff is not None and not (is_number(cutoff) and 0.0 <= float(cutoff) < 1.0):
        raise ParameterError(
            f"cutoff={cutoff!r} is out of range. Use a number that is at least 0 and less than 1, such as 1e-10."
        )
    cutoff = None if cutoff is None else float(cutoff)
    return CURSettings(asked.select, asked.core, cutoff, asked.n_columns, asked.n_rows, seed)


def _rank(shape: tuple[int, int], asked: CUROptions) -> int:
    """k as requested, or the largest that the numbers of columns and rows allow."""
    short = min(shape)
    if asked.k is not None:
        return check_count("k", asked.k, short)
    counts = [count for count in (asked.n_columns, asked.n_rows) if count is not None]
    return min([short, *counts]) if counts else min(short, DEFAULT_K)


def _smallest_rank(
    opened: Opened, wanted: CURSettings, given: object, target: float, options: Keywords
) -> tuple[RankComponents, Found]:
    """The smallest k whose CUR reaches the target. It starts at the rank of the best approximation that does."""
    short = min(opened.matrix.shape)
    squares = squares_both_ways(opened.matrix) if wanted.select == "norm" else None
    components = certified_components(opened, wanted, given, k=None, error=target, **options)
    tried: dict[int, Found] = {}

    def meets(k: int) -> bool:
        if k not in tried:
            tried[k] = fit(opened, components, k, wanted, squares)
        return tried[k].error <= target * (1.0 + 1e-12)

    rank = next((k for k in range(1, components.found.k + 1) if components.best(k)[0] <= target), components.found.k)
    low = high = next(k for k in range(1, short + 1) if min(wanted.counts(k, opened.matrix.shape)) >= min(rank, short))
    while not meets(high) and high < short:
        low, high = high + 1, min(short, high + max(4, high // 2))
        if high > components.found.k:
            components = certified_components(opened, wanted, given, k=high, error=None, **options)
    found = tried[_first(meets, low, high)]
    if not found.error + found.rounding <= target * (1.0 + 1e-12):
        found = replace(found, missed=target)
        warnings.warn(_missed(found, wanted, target, reached=meets(found.k)), AccuracyWarning, stacklevel=4)
    return components, found


def _missed(found: Found, wanted: CURSettings, target: float, *, reached: bool) -> str:
    """Why the target is not proved to be reached."""
    drawn = "drawn " if wanted.select in ("norm", "leverage") else ""
    chosen = f"{counted(found.asked[0], f'{drawn}column')} and {counted(found.asked[1], 'row')}"
    taken = f"{chosen} leave a relative error of {found.error:.3g}"
    if reached:
        return (
            f"It is unknown whether a relative error of {target:.3g} was reached: {taken}, with a "
            f"rounding error of up to {found.rounding:.2g}. Allow a larger error, or specify {K}."
        )
    remedy = "Use select='pivot', which reaches every target above the rounding error, or allow" if drawn else "Allow"
    return f"A relative error of {target:.3g} was not reached: {taken}. {remedy} a larger error."


def _first(meets: Callable[[int], bool], low: int, high: int) -> int:
    """The first number from low to high that meets the target; `high` if none below does."""
    while high - low > MOST_TRIED:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle + 1, high)
    for k in range(low, high):
        if meets(k):
            return k
    meets(high)
    return high
