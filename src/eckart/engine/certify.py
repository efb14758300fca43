"""From the result of a solver to a Decomposition: signs, units, certificate, notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import EPSILON, Array, astype, from_numpy
from eckart.engine.backends.orthogonal import signs_of
from eckart.engine.certificate import undetermined_groups
from eckart.engine.choose import Choice
from eckart.engine.matrix import Opened
from eckart.engine.returned import (
    EPSILON_SINGLE,
    Measured,
    explained,
    explained_by_smallest,
    is_single,
    residual_bounds,
    unit_of,
)
from eckart.engine.settings import Settings
from eckart.engine.solution import Solution
from eckart.engine.standardize.moments import Moments
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import euclidean
from eckart.engine.threads import threads
from eckart.engine.vectors import Errors, both_sides
from eckart.errors import NotFiniteError
from eckart.formatting import certified_share, counted
from eckart.notes import Note
from eckart.result import Certificate, Decomposition, Plan, SolveInfo, SVDDetails
from eckart.wording import SCALE

_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


def assemble(
    opened: Opened,
    problem: Problem,
    solution: Solution,
    settings: Settings,
    choice: Choice,
    *,
    seed: int | None,
    keep_left: bool,
    weight: float | None = None,
) -> Decomposition[SVDDetails]:
    """The decomposition in the units, the dtype and the library of the data.

    `weight` is the sum of the row weights, if there are any: that of the moments is rounded.
    """
    values = np.sqrt(solution.values)
    smallest = settings.which == "smallest"
    sides = both_sides(problem, solution, values, keep_left=keep_left, smallest=smallest)
    right, left = sides.right, sides.left
    signs = signs_of(right)
    dtype, moments = opened.matrix.dtype, problem.moments
    kind = np.float32 if is_single(dtype) else np.float64

    def unit(numbers: np.ndarray) -> np.ndarray:
        """Undo the power of two that B was scaled by."""
        return np.ldexp(numbers, -moments.unit) if moments.unit else numbers

    def device(numbers: np.ndarray | None) -> Array | None:
        return None if numbers is None else from_numpy(np.asarray(numbers, kind), problem.prototype)

    scaled = unit(values)
    tolerance = settings.accuracy(opened.matrix.precision, min(opened.matrix.shape))
    check_range(scaled, dtype, "singular values", nonzero=bool(np.any(solution.lower[: len(values)] > 0.0)))
    return Decomposition(
        method=settings.method,
        values=device(scaled),
        right=astype(right * signs, dtype),
        rows=opened.matrix.shape[0],
        columns=opened.matrix.shape[1],
        norm=float(unit(np.sqrt(problem.total))),
        weight=moments.weight if weight is None else weight,
        left=None if left is None else astype(left * signs, dtype),
        mean=device(None if moments.mean is None else moments.restored(moments.mean)),
        scale=device(None if moments.scale is None else _scales(moments)),
        which=settings.which,
        row_names=opened.metadata.row_names,
        column_names=opened.metadata.column_names,
        rank=numerical_rank(solution, sum(problem.shape), len(moments.constant)),
        certificate=_certificate(solution, problem, settings, unit, dtype, sides.errors, tolerance),  # type: ignore[arg-type]
        plan=as_plan(opened, settings, choice),
        info=as_info(solution, problem, seed),
        notes=(*opened.metadata.all_notes, *notes_on(problem, settings, opened)),
        details=_details(problem, solution, unit, rows=keep_left),
    )


def _scales(moments: Moments) -> np.ndarray:
    """Scales in the units of the data; 1 for columns that are not scaled."""
    assert moments.scale is not None
    scale: np.ndarray = np.ldexp(moments.restored(moments.scale), moments.unit)
    scale[moments.unscaled] = 1.0
    return scale


def _details(
    problem: Problem, solution: Solution, unit: Callable[[np.ndarray], np.ndarray], *, rows: bool
) -> SVDDetails:
    """Norms of the columns of B, of its rows (each times the root of its weight) and of the residual, if known."""
    moments, rest = problem.moments, solution.remaining_squares
    columns = np.sqrt(moments.squares)
    return SVDDetails(
        column_norms=unit(columns if moments.scale is None else columns / moments.scale),
        row_norms=unit(np.sqrt(problem.row_squares)) if rows and problem.row_squares is not None else None,
        row_weights=problem.weights if rows else None,
        residual_schatten4=None if rest is None else float(unit(rest**0.25)),
    )


def check_range(values: np.ndarray, dtype: object, name: str, *, nonzero: bool = False) -> None:
    """Refuse values that the dtype of the data cannot represent; with `nonzero`, also if it rounds all to zero."""
    single = is_single(dtype)
    kind = "float32" if single else "float64"
    largest = float(np.maximum.reduce(values, initial=0.0))  # NaN if one of them is
    if not largest <= (_LARGEST_SINGLE if single else _LARGEST):
        about = f": the largest is about {largest:.3g}" if np.isfinite(largest) else ""
        remedy = "Convert the data to float64, or divide them" if single else "Divide the data"
        raise NotFiniteError(f"The {name} overflow {kind}{about}. {remedy} by a large number first.")
    if nonzero and largest <= 0.5 * float(np.finfo(kind).smallest_subnormal):
        remedy = "Convert the data to float64, or multiply them" if single else "Multiply the data"
        raise NotFiniteError(
            f"The {name} underflow {kind}, so all of them would be zero. {remedy} or their weights by a large number "
            "first."
        )


def _certificate(
    solution: Solution,
    problem: Problem,
    settings: Settings,
    unit: Callable[[np.ndarray], np.ndarray],
    dtype: object,
    errors: Errors,
    tolerance: float,
) -> Certificate | Callable[[], Certificate]:
    """The certificate, or a function that computes it if the solution has nothing of the size of the data."""
    measured = Measured(
        problem.total, problem.total_error(), problem.shape, problem.precision, tolerance, problem.transposed,
        problem.passes, problem.moments.unit,
    )  # fmt: skip

    def make() -> Certificate:
        with np.errstate(all="ignore"):
            return certify(solution, measured, settings, unit, dtype, errors)

    return make() if solution.long_vectors is not None or measured.transposed else make


def certify(
    solution: Solution,
    problem: Measured,
    settings: Settings,
    unit: Callable[[np.ndarray], np.ndarray],
    dtype: object,
    errors: Errors,
) -> Certificate:
    """The bounds of the solver as shares, singular values and angles."""
    k, total, smallest = len(solution.values), problem.total, settings.which == "smallest"
    residuals = residual_bounds(solution, problem, errors, dtype, smallest=smallest)
    if smallest:
        low, high = explained_by_smallest(solution, problem, errors, residuals, unit_of(dtype))
    else:
        low, high = explained(solution, total, problem.total_error, unit_of(dtype))
    return Certificate(
        explained=(low, high),
        # Rounded outwards by one unit: undoing the power of two may lead to subnormal numbers.
        lower=np.maximum(np.nextafter(unit(np.sqrt(solution.lower[:k])), -np.inf), 0.0),
        upper=np.nextafter(unit(np.sqrt(solution.upper[:k])), np.inf),
        residuals=residuals,
        angle=angle_bound(solution, settings, unit_of(dtype), errors.moved, transposed=problem.transposed),
        undetermined=ties(solution, settings, problem.precision),
        failure_probability=solution.failure_probability,
        rounding=solution.rounding / total if total else 0.0,
        tolerance=problem.tolerance,
        proved=bool(solution.proved),
        passes=problem.passes,
        summary=summary_of(solution, low, high, smallest=smallest),
    )


def _next_bound(solution: Solution) -> float:
    """Upper bound of l_k+1; infinite if none is known."""
    k = len(solution.values)
    if len(solution.upper) > k:
        return float(solution.upper[k])
    return float("inf") if solution.spectrum is None else float(solution.spectrum[k]) + solution.rounding


def angle_bound(
    solution: Solution, settings: Settings, unit: float, moved: np.ndarray | None = None, *, transposed: bool = False
) -> float:
    """sin(largest angle) <= ||R||_F / (l_k - upper bound of l_k+1), plus the rounding of the vectors.

    1 without a gap; 0 if the components span the whole space. All right vectors of a wide matrix span its row space,
    and beyond it there are only zeros: l_k+1 = 0.
    """
    k = len(solution.values)
    if solution.spectrum is not None and k == len(solution.spectrum):
        if not transposed:
            return 0.0
        beyond = 0.0
    elif settings.which == "smallest":
        return 1.0
    else:
        beyond = _next_bound(solution)
    gap = solution.least - solution.rounding - beyond
    if gap <= 0.0:
        return 1.0
    residuals = solution.residuals
    if transposed and solution.long_vectors is None:
        residuals = residuals * np.sqrt(solution.largest_bound / np.maximum(solution.values, 1e-300))
    rotated = 0.0 if moved is None else euclidean(moved)
    return float(min(1.0, euclidean(residuals) / gap + unit * k**0.5 + rotated))


def _bounds_and_next(solution: Solution, *, with_next: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the computed values, and of the next one if the spectrum is known; as many lower as upper bounds."""
    k, lower, upper = len(solution.values), solution.lower, solution.upper
    if with_next and solution.spectrum is not None and len(upper) == k < len(solution.spectrum):
        beyond = solution.spectrum[k : k + 1]
        lower = np.append(lower, np.maximum(beyond - solution.rounding, 0.0))
        upper = np.append(upper, beyond + solution.rounding)
    if len(lower) < len(upper):
        lower = np.append(lower, np.zeros(len(upper) - len(lower)))
    return lower, upper


def ties(solution: Solution, settings: Settings, precision: str) -> tuple[tuple[int, int], ...]:
    """Groups of components that are determined only together, because their values cannot be separated."""
    k = len(solution.values)
    largest = solution.largest
    if largest == 0.0:
        return ((0, k - 1),)
    slack = 4 * (EPSILON_SINGLE if precision == "float32" else EPSILON) * largest
    rising = settings.which == "smallest"
    lower, upper = _bounds_and_next(solution, with_next=not rising)
    if rising:
        groups = undetermined_groups(lower[::-1], upper[::-1], slack)
        groups = tuple((len(lower) - 1 - last, len(lower) - 1 - first) for first, last in reversed(groups))
    else:
        groups = undetermined_groups(lower, upper, slack)
    return tuple((first, min(last, k - 1)) for first, last in groups if first < k)


def summary_of(solution: Solution, low: float, high: float, *, smallest: bool = False) -> str:
    """The certificate in one sentence."""
    k = len(solution.values)
    if solution.proved:
        chance = solution.failure_probability
        odds = f" (with probability at least 1 - {chance:.0e})" if chance else ""
        return certified_share(k, low, high, odds, smallest=smallest)
    flat = "the singular values at rank k and k + 1 are too close together for a sharp bound"
    if smallest:
        flat = "values this small are below the rounding error"
    elif solution.precision == "float32":
        flat = (
            "the singular values at rank k and k + 1 are too close together, or float32 rounding is "
            "too large, for a sharp bound"
        )
    reason = flat if solution.converged else "the maximum number of passes was reached"
    if solution.undecided:
        reason = "because of rounding errors, it is unclear whether one component fewer explains the requested share"
    return certified_share(k, low, high, f" ({reason})", smallest=smallest, places=2)


def numerical_rank(solution: Solution, sides: int, constant: int = 0) -> int | None:
    """Number of singular values above (rows + columns) units of rounding times the largest.

    None if not all were computed.

    Eigenvalues of a Gram matrix within its rounding count as zeros only if `constant` columns explain them.
    """
    if solution.spectrum is None:
        return None
    if solution.spectrum_error:
        known = int(np.count_nonzero(solution.spectrum > solution.spectrum_error))
        return known if known >= len(solution.spectrum) - constant else None
    values = np.sqrt(np.maximum(solution.spectrum, 0.0))  # rounding may leave a zero eigenvalue below 0
    return int(np.sum(values > values.max(initial=0.0) * sides * np.finfo(np.float64).eps))


def notes_on(problem: Problem, settings: Settings, opened: Opened) -> tuple[Note, ...]:
    """Notes on the columns: those that do not vary, and units that differ."""
    notes = []
    moments = problem.moments
    if settings.center:
        constant = moments.unscaled if settings.scale else moments.constant
        notes += _note_on_constants(constant, opened, scaled=settings.scale)
    if settings.method == "pca" and settings.center and not settings.scale:
        notes += _note_on_units(moments.squares)
    return (*notes, *problem.notes)


def _note_on_constants(constant: Sequence[int] | np.ndarray, opened: Opened, *, scaled: bool) -> list[Note]:
    if len(constant) == opened.matrix.shape[1]:
        return [Note("no_variance", "All columns are constant, so there is no variance to explain.")]
    if not len(constant):
        return []
    names = opened.metadata.column_names
    listed = ", ".join(str(names[i]) if names else str(i + 1) for i in constant[:5])
    listed += " and others" if len(constant) > 5 else ""
    listed += "" if names else " (counted from 1)"
    treated = f" {'It was' if len(constant) == 1 else 'They were'} not scaled." if scaled else ""
    found = counted(len(constant), "column is constant", "columns are constant")
    return [Note("constant_columns", f"{found}: {listed}.{treated}")]


def _note_on_units(squares: np.ndarray) -> list[Note]:
    low = float(squares.min(initial=np.inf, where=squares > 0.0))
    high = float(squares.max(initial=0.0))
    if high <= 100.0 * low:
        return []
    text = (
        f"The columns were not scaled, and their variances differ by a factor of {high / low:.3g}, so "
        "columns with large values dominate the components. If the columns have different units, use "
        f"{SCALE}."
    )
    return [Note("units_differ", text)]


def as_plan(opened: Opened, settings: Settings, choice: Choice) -> Plan:
    rows, columns = opened.matrix.shape
    chosen: Keywords = {"center": settings.center, "scale": settings.scale, "which": settings.which}
    if settings.target_ratio is not None:
        chosen["explain"] = settings.target_ratio
    if choice.block:
        chosen["block"] = choice.block
    return Plan(
        settings.method, choice.solver, rows, columns, settings.k, choice.passes, choice.peak_bytes, choice.why, chosen
    )


def as_info(solution: Solution, problem: Problem, seed: int | None) -> SolveInfo:
    return SolveInfo(
        solver=solution.solver, passes=problem.passes, steps=solution.steps, block=solution.block,
        basis=solution.basis, restarts=solution.restarts, precision=solution.precision, seed=seed, threads=threads(),
        history=solution.history,
    )  # fmt: skip
