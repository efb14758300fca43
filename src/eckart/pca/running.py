"""The components of a scatter matrix: S = V diag(values^2) V^T, computed on first access."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.api import decompose
from eckart.arrays import EPSILON, Array, astype, from_numpy, is_host, is_numpy, namespace, to_numpy
from eckart.engine.backends.orthogonal import signs_of
from eckart.engine.backends.symmetric import leading_pairs, squares_without
from eckart.engine.certificate import undetermined_groups
from eckart.engine.certify import check_range
from eckart.engine.exponent import times_power_of_two
from eckart.engine.returned import rounding_to_subnormal
from eckart.engine.solution import is_accurate
from eckart.engine.standardize.rounding import lapack_eigenvalue_error
from eckart.formatting import certified_share
from eckart.notes import Note
from eckart.pca.constants import SQUARED_TOLERANCE
from eckart.pca.null_space import settle
from eckart.pca.scatter import Scatter
from eckart.result import Certificate, Decomposition, Plan, SolveInfo, SVDDetails, details_of
from eckart.warning_classes import AccuracyWarning


@dataclass(frozen=True)
class Running:
    """Statistics of the rows seen so far, and the number of components."""

    scatter: Scatter
    k: int
    prototype: Array
    """An empty array that determines library and device."""
    precision: str
    given: Decomposition | None = None
    """The result, if it was computed from the whole data."""

    @cached_property
    def decomposition(self) -> Decomposition:
        if self.given is not None:
            return self.given
        solve = _from_gram if self.scatter.gram is not None else _from_factor
        found = settle(self._finished(solve(self.scatter, self.k)))
        _warn_if_not_proved(found)
        return found

    @property
    def mean(self) -> Array:
        return self._like_data(times_power_of_two(self.scatter.mean, -self.scatter.exponent))

    @property
    def variances(self) -> Array:
        """Column variances with divisor n."""
        with np.errstate(over="ignore", under="ignore"):
            variances = self.scatter.squares / self.scatter.count
            return self._like_data(times_power_of_two(variances, -2 * self.scatter.exponent))

    def _finished(self, d: Decomposition) -> Decomposition:
        """d in the units, the library and the dtype of the data."""
        exponent, c = -self.scatter.exponent, d.certificate
        assert c is not None
        # The vectors are rounded to the dtype of the data.
        unit = float(np.finfo(self.precision).eps)
        complete = d.k >= d.columns
        with np.errstate(over="ignore", under="ignore"):
            values = times_power_of_two(to_numpy(d.values).astype(np.float64), exponent)
            lower, upper = np.ldexp(c.lower, exponent), np.ldexp(c.upper, exponent)
            if exponent:  # outwards by one unit: a power of two may lead to subnormal numbers, which are rounded
                lower, upper = np.maximum(np.nextafter(lower, -np.inf), 0.0), np.nextafter(upper, np.inf)
        rounding = 0.0
        if np.any(c.upper > 0.0):
            rounding = rounding_to_subnormal(float(np.max(c.lower)), self.precision, -exponent)
        # 0 is allowed: later batches may be larger.
        check_range(np.maximum(values, upper), self.precision, "singular values")
        return replace(
            d,
            method="pca",
            values=self._like_data(from_numpy(values, d.values)),
            right=self._like_data(d.right),
            rows=self.scatter.rows,
            weight=float(self.scatter.count),
            norm=float(np.ldexp(self.scatter.total**0.5, exponent)),
            mean=self.mean,
            details=self._details(details_of(d, SVDDetails).residual_schatten4, exponent),
            certificate=replace(
                c,
                explained=c.explained if complete else self._explained(c, unit * d.k**0.5),
                lower=lower,
                upper=upper,
                residuals=np.minimum(c.residuals + 2.0 * unit, 1.0) + rounding,
                angle=c.angle if complete else min(1.0, c.angle + unit * d.k**0.5),
            ),
            plan=_plan(self.scatter, self.k),
            notes=() if self.scatter.exact else (_note(self.scatter),),
        )

    def _explained(self, c: Certificate, moved: float) -> tuple[float, float]:
        """The shares if rounding moves the vectors by `moved` (`engine.returned.explained`)."""
        largest = float(np.max(c.upper, initial=0.0)) ** 2
        lost = (2.0 * moved * float(np.linalg.norm(c.residuals)) + moved**2) * largest
        return max(0.0, c.explained[0] - lost / (self.scatter.total or 1.0)), c.explained[1]

    def _details(self, rest: float | None, exponent: int) -> SVDDetails:
        with np.errstate(over="ignore", under="ignore"):
            columns = np.ldexp(np.sqrt(to_numpy(self.scatter.squares)), exponent)
            return SVDDetails(
                column_norms=columns, residual_schatten4=None if rest is None else float(np.ldexp(rest, exponent))
            )

    def _like_data(self, array: Array) -> Array:
        """The same numbers in the library and the dtype of the data."""
        result = from_numpy(np.ascontiguousarray(array), self.prototype) if is_numpy(array) else array
        return astype(result, getattr(namespace(self.prototype), self.precision))


def _from_factor(scatter: Scatter, k: int) -> Decomposition:
    """Singular values of F; those of S are larger by at most the lost part, up to rounding."""
    factor = scatter.factor
    assert factor is not None
    columns = int(factor.shape[1])
    if factor.shape[0] < k:
        more = from_numpy(np.zeros((k - factor.shape[0], columns)), factor)
        factor = namespace(factor).concat([factor, more])
    d = decompose(factor, "svd", k=min(k + 1, *factor.shape))
    c = d.certificate
    assert c is not None
    lower, upper = np.square(c.lower), np.square(c.upper) + scatter.lost_norm
    found = _certificate(lower, upper, scatter, k, residuals=c.residuals[:k], every=k >= columns)
    if not scatter.exact:
        found = replace(found, angle=1.0, proved=False, summary=f"{found.summary} {_note(scatter)}")
    chance = scatter.failure_probability + c.failure_probability
    found = replace(found, proved=found.proved and c.proved, failure_probability=chance)
    details = details_of(d, SVDDetails).of_leading(k, to_numpy(d.values[k:]).astype(np.float64))
    if not scatter.exact:  # the residual of F lacks what was lost
        details = replace(details, residual_schatten4=None)
    return replace(d, values=d.values[:k], right=d.right[:, :k], certificate=found, details=details)


def _from_gram(scatter: Scatter, k: int) -> Decomposition:
    """Eigenpairs of S; eigenvalues within the rounding of S are zero."""
    gram = scatter.gram
    assert gram is not None
    size = int(gram.shape[0])
    squares, vectors = _pairs(gram, min(k + 1, size))
    error = lapack_eigenvalue_error(size, max(float(np.abs(squares).max(initial=0.0)), 0.0))
    bounds = np.maximum(squares - error, 0.0), np.maximum(squares, 0.0) + error
    squares = np.where(squares > scatter.rounding + error, squares, 0.0)
    right = np.ascontiguousarray(vectors[:, :k]) if is_numpy(vectors) else vectors[:, :k]
    right = right * signs_of(right)
    return Decomposition(
        method="pca",
        values=from_numpy(np.sqrt(squares[:k]), right),
        right=right,
        rows=scatter.rows,
        columns=size,
        norm=scatter.total**0.5,
        weight=float(scatter.count),
        rank=int(np.sum(squares > 0.0)) if k >= size else None,
        certificate=_certificate(*bounds, scatter, k, residuals=np.zeros(k), every=k >= size),
        info=SolveInfo(solver="gram", passes=1),
        details=SVDDetails(residual_schatten4=squares_without(gram, squares[:k], to_numpy(vectors)[:, :k]) ** 0.25),
    )


def _pairs(gram: Array, count: int) -> tuple[np.ndarray, Array]:
    """Leading eigenvalues, decreasing, on the host, and their vectors on the device of S, computed by its library."""
    if is_host(gram):
        values, vectors = leading_pairs(to_numpy(gram), count)
        return values, from_numpy(np.ascontiguousarray(vectors), gram)
    xp, size = namespace(gram), int(gram.shape[0])
    rising, found = xp.linalg.eigh(gram)
    return to_numpy(rising)[::-1][:count].copy(), xp.flip(found[:, size - count :], axis=1)


def _explained(lower: float, upper: float, total: float, error: float) -> tuple[float, float]:
    """The share of a total known to within `error`, from bounds of the explained part."""
    low = max(0.0, lower / (total + error)) if total + error > 0.0 else 0.0
    high = min(1.0, upper / (total - error)) if total > error else float(total > 0.0)
    return min(low, high), high


def _certificate(
    lower: np.ndarray, upper: np.ndarray, scatter: Scatter, k: int, *, residuals: np.ndarray, every: bool
) -> Certificate:
    """The certificate from bounds of the eigenvalues of the computed S: those of S are within its rounding (Weyl)."""
    error, total = scatter.rounding, scatter.total
    half = float(np.max(upper - lower, initial=0.0)) / 2.0 + error
    lower, upper = np.maximum(lower - error, 0.0), upper + error
    largest, last = float(upper[0]), float(lower[k - 1])
    low, high = _explained(float(np.sum(lower[:k])), float(np.sum(upper[:k])), total, error)
    gap = float(lower[k - 1] - upper[k]) if len(upper) > k else float("inf") if every else 0.0
    # Relative to the true largest eigenvalue; no residual exceeds 1.
    residual = np.minimum(residuals + (2.0 * half / max(float(lower[0]), 1e-300) if largest else 0.0), 1.0)
    slack = 4.0 * EPSILON * largest  # as for other solvers (`certify.ties`)
    angle = 0.0 if every else 1.0
    if not every and gap > 0.0:
        angle = min(1.0, float(np.linalg.norm(residual)) * largest / gap)
    return Certificate(
        explained=(low, high),
        lower=np.sqrt(lower[:k]),
        upper=np.sqrt(upper[:k]),
        residuals=residual,
        angle=angle,
        undetermined=tuple((i, min(j, k - 1)) for i, j in undetermined_groups(lower, upper, slack) if i < k),
        failure_probability=scatter.failure_probability,
        rounding=error / total if total else 0.0,
        tolerance=SQUARED_TOLERANCE,
        proved=is_accurate(lower[:k], upper[:k], last, largest, SQUARED_TOLERANCE),
        passes=1,
        summary=certified_share(k, low, high),
    )


def _warn_if_not_proved(d: Decomposition) -> None:
    c = d.certificate
    if c is not None and not c.proved:
        remedy = "Fit all rows at once with eckart.PCA."
        if not d.notes:
            remedy = (
                "Rounding errors in the batches limit the bounds. Scale columns of very different "
                "magnitude, or fit all rows at once with eckart.PCA."
            )
        warnings.warn(
            f"The requested accuracy could not be proved. {c.summary} {remedy}",
            AccuracyWarning,
            stacklevel=4,
        )


def _plan(scatter: Scatter, k: int) -> Plan:
    columns = int(scatter.mean.shape[0])
    held = scatter.gram if scatter.gram is not None else scatter.factor
    assert held is not None
    if scatter.gram is not None:
        why = f"The {columns} x {columns} matrix of cross-products was accumulated batch by batch, without truncation."
    elif scatter.exact:
        why = "There are fewer rows than columns so far, so Eckart stores all rows."
    else:
        why = _note(scatter)
    solver = "gram" if scatter.gram is not None else "direct"
    return Plan("pca", solver, scatter.rows, columns, k, 1, 16 * int(held.shape[0]) * columns, why, {"center": True})


def _note(scatter: Scatter) -> Note:
    assert scatter.factor is not None
    return Note(
        "variance_dropped",
        f"The result is approximate: the cross-products of {scatter.mean.shape[0]:,} columns do not "
        f"fit in memory, so {100 * scatter.lost / (scatter.total or 1.0):.3g} % of the variance "
        "was dropped. The bounds take this into account.",
    )
